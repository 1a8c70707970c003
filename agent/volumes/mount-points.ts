// Places for mounts of a container below a volume whose files the agent writes (configMap, secret, ...). Such a volume is
// mounted read-only, and a runtime that does so at once, as runc, can't make the place itself. Example: with a configMap
// at /etc/app and an emptyDir at /etc/app/cache/tmp, `cache/tmp` is made in the configMap's directory. The reference
// makes directories alone, where a file's sub-path then can't be mounted.
import { open, stat } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { makeDirectory } from "../../cri/directories.ts";
import type { Mount } from "../../cri/runtime.ts";
import { isThere } from "./files/is-there.ts";
import { ensureAnswer } from "./files/remote-usage.ts";

/** @param written those of `mounts` whose volumes the agent writes */
export async function makeMountPoints(
  mounts: readonly Mount[],
  written: ReadonlySet<Mount>,
): Promise<void> {
  for (const mount of mounts) {
    const place = pathOf(mount);
    const outer = nearestAbove(place, mounts);
    if (!outer || !written.has(outer)) continue;
    const name = posix.relative(pathOf(outer), place);
    // The writer's own names.
    if (name.startsWith("..")) continue;
    await makePlace(join(outer.hostPath, name), mount);
  }
}

function pathOf({ containerPath }: Mount): string {
  return posix.normalize(containerPath).replace(/(?<=.)\/$/, "");
}

/** The mount in which the place lies. */
function nearestAbove(
  place: string,
  mounts: readonly Mount[],
): Mount | undefined {
  let nearest: Mount | undefined;
  for (const mount of mounts) {
    const path = pathOf(mount);
    if (!place.startsWith(`${path}/`)) continue;
    if (!nearest || path.length > pathOf(nearest).length) nearest = mount;
  }
  return nearest;
}

/** What is there already stays, also a link to one of the volume's files. */
async function makePlace(place: string, mount: Mount): Promise<void> {
  if (await isThere(place)) return;
  if (!(await isFile(mount))) return makeDirectory(place, 0o755);
  await makeDirectory(dirname(place), 0o755);
  await (await open(place, "a", 0o644)).close();
}

/** A runtime makes what is not there a directory. */
async function isFile({ hostPath, image }: Mount): Promise<boolean> {
  if (image) return false;
  return await ensureAnswer(hostPath)
    .then(() => stat(hostPath))
    .then(
      (found) => !found.isDirectory(),
      () => false,
    );
}
