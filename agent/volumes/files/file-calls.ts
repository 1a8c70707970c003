// The calls to the file system that a volume's writer makes, in two forms: through Node's pool of threads, for whatever may
// wait for a disk, and at once, for a few small files that lie in memory. A call through the pool costs the processor some
// 45 µs, the call itself 3 to 10: a pod's token is thirty of them at its start and as many again each minute.
// Invariant: what is done at once between two turns of the event loop is bounded, for all pods together.
import * as fs from "node:fs";
import * as promises from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";

export interface FileCalls {
  chmod(path: string, mode: number): Promise<void>;
  chown(path: string, userId: number, groupId: number): Promise<void>;
  lstat(path: string): Promise<fs.Stats>;
  mkdir(path: string, options: { mode: number }): Promise<unknown>;
  readdir(path: string): Promise<fs.Dirent[]>;
  readFile(path: string): Promise<Buffer>;
  readlink(path: string): Promise<string>;
  rename(from: string, to: string): Promise<void>;
  /** With everything below it; it may be absent. */
  remove(path: string): Promise<void>;
  stat(path: string): Promise<fs.Stats>;
  symlink(target: string, path: string): Promise<void>;
  writeFile(
    path: string,
    data: Buffer,
    options: { mode: number },
  ): Promise<void>;
}

const remove = (path: string): Promise<void> =>
  promises.rm(path, { recursive: true, force: true });

export const pooledCalls: FileCalls = {
  ...promises,
  readdir: (path) => promises.readdir(path, { withFileTypes: true }),
  readFile: (path) => promises.readFile(path),
  readlink: (path) => promises.readlink(path),
  lstat: (path) => promises.lstat(path),
  stat: (path) => promises.stat(path),
  remove,
};

/** More entries than are looked at at once. */
export class TooManyEntries extends Error {}

const maxEntries = 64;
/** Neither follows a link nor waits for the other end of a pipe, which a container that may do all can put there. */
const directRead =
  fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK;

function readAtOnce(path: string): Buffer {
  const descriptor = fs.openSync(path, directRead);
  try {
    return fs.readFileSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

function fewEntries(path: string): fs.Dirent[] {
  const entries: fs.Dirent[] = [];
  const directory = fs.opendirSync(path);
  try {
    for (let entry; (entry = directory.readSync()); entries.push(entry))
      if (entries.length === maxEntries) throw new TooManyEntries(path);
  } finally {
    directory.closeSync();
  }
  return entries;
}

/** For what is on a tmpfs and small. What removes may meet more than was written: it goes through the pool. */
export const directCalls: FileCalls = {
  chmod: async (path, mode) => fs.chmodSync(path, mode),
  chown: async (path, userId, groupId) => fs.chownSync(path, userId, groupId),
  lstat: async (path) => fs.lstatSync(path),
  mkdir: async (path, options) => fs.mkdirSync(path, options),
  readdir: async (path) => fewEntries(path),
  readFile: async (path) => readAtOnce(path),
  readlink: async (path) => fs.readlinkSync(path),
  rename: async (from, to) => fs.renameSync(from, to),
  remove,
  stat: async (path) => fs.statSync(path),
  symlink: async (target, path) => fs.symlinkSync(target, path),
  writeFile: async (path, data, options) =>
    fs.writeFileSync(path, data, options),
};

/** Calls that are made at once between two turns of the event loop: some 2 ms. */
const directPerTurn = 250;
let reserved = 0;

/** False: so many would hold the event loop, and go through the pool. */
function reserveDirectCalls(count: number): boolean {
  if (reserved + count > directPerTurn) return false;
  if (reserved === 0)
    setImmediate(() => {
      reserved = 0;
    });
  reserved += count;
  return true;
}

/** Resolves when so many may be made, in this turn of the event loop or a later one. */
export async function directTurn(count: number): Promise<void> {
  while (!reserveDirectCalls(count)) await nextTurn();
}

/** How a payload that lies in memory is written, or compared with what is there. */
export function memoryCalls(
  files: ReadonlyMap<string, { readonly data: Buffer }>,
): FileCalls {
  let count = 18;
  // A segment is a directory to be made, owned and listed; a page is copied in some microseconds.
  for (const [path, { data }] of files)
    count += 6 * path.split("/").length + (data.length >> 12);
  return reserveDirectCalls(count) ? directCalls : pooledCalls;
}
