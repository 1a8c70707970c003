// One process on a directory: an flock(2) on the file `lock` in it, which the kernel holds as long as the process has the
// file open, and gives back whatever way the process ends. It also holds between containers that share the directory.
//
// Node can't call flock; the program flock (util-linux, busybox) can lock a descriptor it inherits. The lock belongs to the
// open file, which it shares with this process, so it stays when that program has ended, a few milliseconds later.
//
// The file names its owner (pid, start time), for the message, and because earlier versions took that for the lock: a
// server of such a version that still runs is respected, and respects this one.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { StoreError } from "../store.ts";

/** What `flock -n` exits with while another has the lock. */
const HELD = 1;

export interface Releasable {
  release(): Promise<void>;
}

/** Makes this process the directory's only user; see DirectoryLock.acquire. */
export type AcquireLock = (directory: string) => Promise<Releasable>;

export class DirectoryLock implements Releasable {
  readonly #handle: fs.promises.FileHandle;

  private constructor(handle: fs.promises.FileHandle) {
    this.#handle = handle;
  }

  /** Rejects with a StoreError "locked" while another live process (or another store of this one) holds it. */
  static async acquire(directory: string): Promise<DirectoryLock> {
    const file = path.join(directory, "lock");
    const { O_RDWR, O_CREAT } = fs.constants;
    for (let attempt = 0; attempt < 5; attempt++) {
      const handle = await fs.promises.open(file, O_RDWR | O_CREAT, 0o600);
      try {
        const locked = await lockDescriptor(handle.fd);
        const owner = readOwner(await handle.readFile("utf8"));
        if (!locked || (owner && owner.pid !== process.pid && isAlive(owner)))
          throw new StoreError(
            "locked",
            `${directory} is in use by ${owner ? `process ${owner.pid}` : "another process"}`,
          );
        if (await isStill(file, handle)) {
          await handle.truncate();
          const start = startTime(process.pid) ?? "?";
          await handle.write(`${process.pid} ${start}\n`, 0);
          return new DirectoryLock(handle);
        }
      } catch (error) {
        await handle.close();
        throw error;
      }
      // An earlier version removes the file when it stops: this lock is on a file that has no name any more.
      await handle.close();
    }
    throw new StoreError("locked", `${directory} is being opened by others`);
  }

  async release(): Promise<void> {
    // Closing gives the lock back; without an owner in it no earlier version waits for this process to end.
    await this.#handle.truncate().catch(() => undefined);
    await this.#handle.close().catch(() => undefined);
  }
}

/** False while another has the lock. Rejects when it can't be asked for. */
async function lockDescriptor(fd: number): Promise<boolean> {
  const code = await new Promise<number | null>((resolve, reject) => {
    const child = spawn("flock", ["-n", "3"], {
      stdio: ["ignore", "ignore", "ignore", fd],
    });
    child.once("error", (error) =>
      reject(
        new StoreError(
          "unavailable",
          `the program flock (of util-linux) is needed to lock the store: ${error.message}`,
          { cause: error },
        ),
      ),
    );
    child.once("exit", resolve);
  });
  if (code !== 0 && code !== HELD)
    throw new StoreError("unavailable", `flock failed with ${code}`);
  return code === 0;
}

/** Is the open file the one that has the name? */
async function isStill(
  file: string,
  handle: fs.promises.FileHandle,
): Promise<boolean> {
  const mine = await handle.stat();
  const named = await fs.promises.stat(file).catch(() => undefined);
  return named?.ino === mine.ino && named.dev === mine.dev;
}

interface Owner {
  readonly pid: number;
  readonly start: string;
}

function readOwner(content: string): Owner | undefined {
  const [pid, start] = content.trim().split(" ");
  return Number(pid) > 0 && start ? { pid: Number(pid), start } : undefined;
}

function isAlive({ pid, start }: Owner): boolean {
  const now = startTime(pid);
  return now !== undefined && (start === "?" || now === start);
}

/** Ticks since boot at which the process started; undefined when there is none (or it is a zombie). */
function startTime(pid: number): string | undefined {
  try {
    const fields = fs
      .readFileSync(`/proc/${pid}/stat`, "utf8")
      .split(") ")
      .at(-1)!
      .split(" ");
    return fields[0] === "Z" ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
