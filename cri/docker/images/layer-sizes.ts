// What the layers of images take, each counted once: as the daemon has noted it down when it unpacked them. Its own answer
// takes a walk through all images, containers and volumes.
//
//   ROOT/image/<storage driver>/layerdb/sha256/<chain id>/size     bytes, in decimal
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DaemonFacts } from "../requests.ts";

/** undefined: images are not kept so, as with the images of containerd, or this process can't read there. */
export async function layerBytes({
  rootDirectory,
  storageDriver,
}: Pick<DaemonFacts, "rootDirectory" | "storageDriver">): Promise<
  number | undefined
> {
  const directory = join(
    ...[rootDirectory, "image", storageDriver, "layerdb", "sha256"],
  );
  try {
    let sum = 0;
    for (const layer of await readdir(directory)) {
      const size = await sizeOf(join(directory, layer));
      if (size === undefined) return undefined;
      sum += size;
    }
    return sum;
  } catch {
    return undefined;
  }
}

/** 0 for a layer that went meanwhile. */
async function sizeOf(layer: string): Promise<number | undefined> {
  let text: string;
  try {
    text = await readFile(join(layer, "size"), "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
  return /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
}
