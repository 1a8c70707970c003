// Writes a set of files into a volume so that readers see all of the old or all of the new: the files lie in a dated
// directory, `..data` is a link to it that is swapped by rename, and the visible names are links through `..data`.
//
//   token        → ..data/token
//   ..data       → ..2026_11_21_00_00_00.123456789
//   ..2026_…/token
//
// Nothing is written when the content is what is there already. What others made beside these names stays: runtimes make
// the places for mounts below the volume there, and to remove one is to unmount it in the containers that run.
import { randomInt } from "node:crypto";
import { dirname, join, posix } from "node:path";
import { pooledCalls, TooManyEntries, type FileCalls } from "./file-calls.ts";

export interface PayloadFile {
  data: Buffer;
  mode: number;
  /** Owner; root by default. */
  userId?: number;
}

/** By path relative to the volume. */
type Payload = ReadonlyMap<string, PayloadFile>;

const dataLink = "..data";
/** A directory of content as it is named here; the reference's have fewer digits. */
const datedName = /^\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+$/;

/** Throws for paths that would leave the volume or clash with the writer's own names. */
export function checkPayloadPath(path: string): void {
  if (
    path === "" ||
    path.startsWith("/") ||
    path.startsWith("..") ||
    path.split("/").includes("..")
  )
    throw new Error(`invalid path: must be relative, without '..': "${path}"`);
  if (path.length > 4096)
    throw new Error(
      "invalid path: must be less than or equal to 4096 characters",
    );
  if (path.split("/").some((name) => Buffer.byteLength(name) > 255))
    throw new Error(
      "invalid path: filenames must be less than or equal to 255 characters",
    );
}

/**
 * Resolves to whether content was written.
 * @param groupId owning group of files and directories (fsGroup)
 * @param calls how files are written and read
 */
export async function writePayload(
  directory: string,
  files: Payload,
  groupId?: number,
  calls: FileCalls = pooledCalls,
): Promise<boolean> {
  for (const path of files.keys()) checkPayloadPath(path);
  const payload = new Map(
    [...files].map(([path, file]) => [onDisk(path), file]),
  );
  const write = (by: FileCalls): Promise<boolean> =>
    new PayloadWriter(directory, payload, groupId, by).write();
  try {
    return await write(calls);
  } catch (error) {
    // What was there before is larger.
    if (!(error instanceof TooManyEntries)) throw error;
    return await write(pooledCalls);
  }
}

/** "./name", "a//b" and "c/" as they are found again. */
function onDisk(path: string): string {
  return posix.normalize(path).replace(/\/$/, "");
}

/** A payload was written there before. */
export async function isWritten(directory: string): Promise<boolean> {
  return await pooledCalls.readlink(join(directory, dataLink)).then(
    () => true,
    () => false,
  );
}

class PayloadWriter {
  readonly #directory: string;
  readonly #payload: Payload;
  readonly #groupId: number | undefined;
  readonly #calls: FileCalls;

  constructor(
    directory: string,
    payload: Payload,
    groupId: number | undefined,
    calls: FileCalls,
  ) {
    this.#directory = directory;
    this.#payload = payload;
    this.#groupId = groupId;
    this.#calls = calls;
  }

  async write(): Promise<boolean> {
    const current = await this.#calls
      .readlink(join(this.#directory, dataLink))
      .catch(() => undefined);
    const isCurrent =
      current !== undefined &&
      (await this.#isSame(join(this.#directory, current)));
    const dated = isCurrent ? current : await this.#writeContent();
    // Also when the content stayed: its writer may have been killed before it came to the links.
    await this.#showLinks();
    await this.#removeOld(dated);
    return !isCurrent;
  }

  /** Resolves to the name of the new directory, to which `..data` leads then. A failure leaves nothing of it. */
  async #writeContent(): Promise<string> {
    const dated = `..${new Date().toISOString().slice(0, 19).replace(/[-T:]/g, "_")}.${randomInt(1e9).toString().padStart(9, "0")}`;
    const target = join(this.#directory, dated);
    try {
      await this.#writeFiles(target);
      await this.#lead(dated);
    } catch (error) {
      await this.#calls.remove(target).catch(() => undefined);
      throw error;
    }
    return dated;
  }

  async #writeFiles(target: string): Promise<void> {
    await this.#calls.mkdir(target, { mode: 0o755 });
    await this.#ownDirectory(target);
    for (const [path, file] of this.#payload) {
      const parent = dirname(path);
      if (parent !== ".") await this.#makeParents(target, parent);
      await this.#writeFile(join(target, path), file);
    }
    const mode = this.#groupId === undefined ? 0o755 : 0o2755;
    await this.#calls.chmod(target, mode);
  }

  /** Readers see the content in that directory from then on. */
  async #lead(dated: string): Promise<void> {
    const calls = this.#calls;
    const temporary = join(this.#directory, `${dataLink}_tmp`);
    await calls.symlink(dated, temporary).catch(async (error: unknown) => {
      // Of a writer that was killed.
      ignore("EEXIST")(error);
      await calls.remove(temporary);
      await calls.symlink(dated, temporary);
    });
    await calls.rename(temporary, join(this.#directory, dataLink));
  }

  async #writeFile(
    path: string,
    { data, mode, userId }: PayloadFile,
  ): Promise<void> {
    await this.#calls.writeFile(path, data, { mode: 0o600 });
    if (this.#groupId !== undefined || userId !== undefined)
      await this.#calls
        .chown(
          path,
          userId ?? process.getuid?.() ?? 0,
          this.#groupId ?? process.getgid?.() ?? 0,
        )
        .catch(ignore("EPERM"));
    await this.#calls.chmod(path, this.#shownMode(mode));
  }

  #shownMode(mode: number): number {
    return this.#groupId === undefined ? mode : mode | 0o440;
  }

  #visibleNames(): Set<string> {
    return new Set(
      [...this.#payload.keys()].map((path) => path.split("/")[0]!),
    );
  }

  async #showLinks(): Promise<void> {
    for (const name of this.#visibleNames())
      await this.#calls
        .symlink(join(dataLink, name), join(this.#directory, name))
        .catch(ignore("EEXIST"));
  }

  /** Links to what is no more in the payload, and earlier content, also of a writer that was killed. */
  async #removeOld(dated: string): Promise<void> {
    const visible = this.#visibleNames();
    for (const { name } of await this.#calls.readdir(this.#directory)) {
      if (name === dataLink || name === dated || visible.has(name)) continue;
      const path = join(this.#directory, name);
      const target = await this.#calls.readlink(path).catch(() => undefined);
      if (target === join(dataLink, name) || datedName.test(name))
        await this.#calls.remove(path);
    }
  }

  async #makeParents(root: string, path: string): Promise<void> {
    let directory = root;
    for (const segment of path.split("/")) {
      directory = join(directory, segment);
      await this.#calls
        .mkdir(directory, { mode: 0o755 })
        .catch(ignore("EEXIST"));
      await this.#ownDirectory(directory);
    }
  }

  async #ownDirectory(path: string): Promise<void> {
    if (this.#groupId === undefined) return;
    const { uid, mode } = await this.#calls.stat(path);
    await this.#calls.chown(path, uid, this.#groupId).catch(ignore("EPERM"));
    await this.#calls.chmod(path, (mode & 0o7777) | 0o2550);
  }

  async #isSame(directory: string): Promise<boolean> {
    const present = await this.#filesBelow(directory, "").catch(
      (error: unknown) => {
        if (error instanceof TooManyEntries) throw error;
        return undefined;
      },
    );
    if (!present || present.length !== this.#payload.size) return false;
    for (const path of present) {
      const wanted = this.#payload.get(path);
      if (!wanted || !(await this.#isWritten(join(directory, path), wanted)))
        return false;
    }
    return true;
  }

  /** What else a container may have put there is not read. */
  async #isWritten(
    path: string,
    { data, mode }: PayloadFile,
  ): Promise<boolean> {
    const found = await this.#calls.lstat(path);
    return (
      found.isFile() &&
      found.size === data.length &&
      (found.mode & 0o777) === (this.#shownMode(mode) & 0o777) &&
      data.equals(await this.#calls.readFile(path))
    );
  }

  async #filesBelow(root: string, below: string): Promise<string[]> {
    const result: string[] = [];
    for (const entry of await this.#calls.readdir(join(root, below))) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory())
        result.push(...(await this.#filesBelow(root, path)));
      else result.push(path);
    }
    return result;
  }
}

function ignore(code: string): (error: unknown) => void {
  return (error) => {
    if ((error as NodeJS.ErrnoException).code !== code) throw error;
  };
}
