// The file `userns` in a pod's directory: which ids of the host the pod's user namespace has, in the reference's form, so
// that a node can change between it and this agent.
//
//   {"uidMappings":[{"hostId":131072,"containerId":0,"length":65536}],"gidMappings":[…the same…]}
import { open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { IdMapping } from "../../../cri/user-mappings.ts";
import { rangeLength } from "./subordinate-ids.ts";

/** The first id; undefined: there is no file. @throws Error where it is not what this agent would write */
export async function readRange(path: string): Promise<number | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What lies beside the pods' directories is no pod.
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  try {
    return firstId(text);
  } catch (error) {
    throw new Error(
      `invalid user namespace mappings file ${path}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

function firstId(text: string): number {
  const record = JSON.parse(text) as Record<string, unknown> | null;
  const start = rangeStart(record?.["uidMappings"]);
  if (rangeStart(record?.["gidMappings"]) !== start)
    throw new Error("GID and UID mapping should be identical");
  return start;
}

function rangeStart(mappings: unknown): number {
  const [mapping, ...more] = Array.isArray(mappings)
    ? (mappings as (Partial<IdMapping> | null)[])
    : [];
  if (!mapping || more.length > 0)
    throw new Error("no more and no less than one mapping is allowed");
  const { hostId, containerId, length } = mapping;
  if (containerId !== 0) throw new Error("ID 0 must be mapped");
  if (length !== rangeLength)
    throw new Error(`wrong user namespace length ${length}`);
  if (
    !Number.isSafeInteger(hostId) ||
    hostId! < rangeLength ||
    hostId! % rangeLength !== 0 ||
    hostId! >= 2 ** 32
  )
    throw new Error(`wrong user namespace offset specified ${hostId}`);
  return hostId!;
}

/** Resolves when it is on the disk; the directory is there. */
export async function writeRange(path: string, hostId: number): Promise<void> {
  const mappings: IdMapping[] = [
    { hostId, containerId: 0, length: rangeLength },
  ];
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    await file.writeFile(
      JSON.stringify({ uidMappings: mappings, gidMappings: mappings }),
    );
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
  const directory = await open(dirname(path), "r");
  await directory.sync().finally(() => directory.close());
}

export async function removeRange(path: string): Promise<void> {
  await rm(path, { force: true });
}
