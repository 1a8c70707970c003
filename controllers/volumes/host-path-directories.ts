// The directories of --enable-hostpath-provisioner: /tmp/hostpath_pv/<uid of the claim>, on this machine alone.
//
// Everyone may write into /tmp, and pods into their directory, also while it is removed. So the directory above is used
// only if it is this user's and no other may write into it, and removal works on descriptors: no link is followed,
// whenever it is put there, and no file system that is mounted below is entered. Two descriptors are open at most,
// however deep a tree is: a directory is emptied by moving those in it to the top.
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, opendir, rename, rmdir, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";

/** Where the reference has them. */
const root = "/tmp/hostpath_pv";
const uid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

export class HostPathDirectories {
  constructor(private readonly above: string = root) {}

  /** Makes a claim's directory, or finds the one that was made before, and gives its path. */
  async make(claimUid: string): Promise<string> {
    if (!uid.test(claimUid)) throw new Error(`"${claimUid}" is no uid`);
    await mkdir(this.above, { mode: 0o750 }).catch(unless("EEXIST"));
    const above = await this.#openAbove();
    try {
      const path = inside(above, claimUid);
      await mkdir(path, { mode: 0o750 }).catch(unless("EEXIST"));
      await (await openDirectory(path)).close();
    } finally {
      await above.close();
    }
    return `${this.above}/${claimUid}`;
  }

  /** Removes a directory that make() made, with all that is in it; one that is gone is no failure. */
  async remove(path: string): Promise<void> {
    const name = path.slice(this.above.length + 1);
    if (!path.startsWith(`${this.above}/`) || !uid.test(name))
      throw new Error(
        `host_path deleter only supports ${this.above}/<uid> but received provided ${path}`,
      );
    const above = await this.#openAbove().catch(unless("ENOENT"));
    if (!above) return;
    try {
      const top = await openDirectory(inside(above, name)).catch(
        unless("ENOENT"),
      );
      if (!top) return;
      try {
        await empty(top);
      } finally {
        await top.close();
      }
      await rmdir(inside(above, name)).catch(unless("ENOENT"));
    } finally {
      await above.close();
    }
  }

  async #openAbove(): Promise<FileHandle> {
    const handle = await openDirectory(this.above);
    const { uid: owner, mode } = await handle.stat();
    if (owner === process.geteuid?.() && (mode & 0o022) === 0) return handle;
    await handle.close();
    throw new Error(
      `${this.above} must be a directory of user ${process.geteuid?.()} that nobody else may write into`,
    );
  }
}

/** Looks at the top of a tree; each takes its uppermost directories away. */
const roundsATry = 10_000;

async function empty(top: FileHandle): Promise<void> {
  for (let round = 0; round < roundsATry; round += 1) {
    let found = false;
    for await (const entry of await opendir(inside(top))) {
      found = true;
      if (entry.isDirectory()) await flatten(top, entry.name);
      else await unlink(inside(top, entry.name)).catch(unless(...changed));
    }
    if (!found) return;
  }
  throw new Error("the directory is not empty yet");
}

/** Removes a directory of the top when its own directories have been moved there. */
async function flatten(top: FileHandle, name: string): Promise<void> {
  const directory = await openDirectory(inside(top, name)).catch(
    unless(...changed, "ELOOP"),
  );
  if (!directory) return;
  try {
    for await (const entry of await opendir(inside(directory))) {
      const path = inside(directory, entry.name);
      await (
        entry.isDirectory()
          ? rename(path, inside(top, randomUUID()))
          : unlink(path)
      ).catch(unless(...changed));
    }
  } finally {
    await directory.close();
  }
  await rmdir(inside(top, name)).catch(unless(...changed));
}

/** Codes that say that an entry is not what it was when it was read: the next round looks again. */
const changed = ["ENOENT", "ENOTDIR", "EISDIR", "ENOTEMPTY"];

/** A link in the last place is refused. */
const openDirectory = (path: string): Promise<FileHandle> =>
  open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

const inside = ({ fd }: FileHandle, name = "."): string =>
  `/proc/self/fd/${fd}/${name}`;

const unless =
  (...codes: string[]) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (!codes.includes(error.code ?? "")) throw error;
  };
