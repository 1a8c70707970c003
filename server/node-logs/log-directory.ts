// Files below the node's log directory. A path never leads out of it, also not through links: what was opened is looked at
// once more by its descriptor, so that a link put in its way meanwhile is noticed. Only regular files and directories.
import { constants } from "node:fs";
import {
  open,
  readdir,
  readlink,
  realpath,
  type FileHandle,
} from "node:fs/promises";
import * as path from "node:path";

export interface FileEntry {
  readonly kind: "file";
  readonly handle: FileHandle;
  readonly size: number;
}

type LogEntry =
  FileEntry | { readonly kind: "directory"; readonly names: readonly string[] };

/** A directory's listing is cut there. */
const maxNames = 10_000;

/** Undefined: there is no such file or directory, or it lies outside. The caller closes the handle. */
export async function openLog(
  root: string,
  name: string,
): Promise<LogEntry | undefined> {
  if (name.includes("\0")) return undefined;
  let handle: FileHandle | undefined;
  try {
    const top = await realpath(root);
    const place = await realpath(path.join(top, path.join("/", name)));
    // A pipe without a writer must not hold the request.
    handle = await open(place, constants.O_RDONLY | constants.O_NONBLOCK);
    const actual = await readlink(`/proc/self/fd/${handle.fd}`);
    if (actual !== top && !actual.startsWith(`${top}/`)) return undefined;
    const stat = await handle.stat();
    if (stat.isDirectory())
      return {
        kind: "directory",
        names: await namesIn(`/proc/self/fd/${handle.fd}`),
      };
    if (!stat.isFile()) return undefined;
    const kept = handle;
    handle = undefined;
    return { kind: "file", handle: kept, size: stat.size };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG", "ENXIO"].includes(code))
      return undefined;
    throw error;
  } finally {
    await handle?.close();
  }
}

/** Directories end in a slash, as the reference lists them. */
async function namesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .slice(0, maxNames)
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .sort();
}
