// One process on a directory: a file naming the owner's pid and its start time, so that a dead owner's lock, even with
// its pid in use again, is taken over and a live owner's is not.
import * as fs from "node:fs";
import * as path from "node:path";
import { StoreError } from "../store.ts";

export class DirectoryLock {
  readonly #file: string;
  readonly #token: string;

  private constructor(file: string, token: string) {
    this.#file = file;
    this.#token = token;
  }

  /** Fails with a StoreError "locked" while another live process (or another store of this one) holds it. */
  static acquire(directory: string): DirectoryLock {
    const file = path.join(directory, "lock");
    const token = `${process.pid} ${startTime(process.pid) ?? "?"} ${Math.random().toString(36).slice(2)}\n`;
    const own = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    fs.writeFileSync(own, token, { mode: 0o600 });
    try {
      // A link is made whole or not at all: nobody ever reads a half-written lock.
      for (let attempt = 0; attempt < 5; attempt++) {
        try {
          fs.linkSync(own, file);
          return new DirectoryLock(file, token);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        }
        const owner = readOwner(file);
        if (owner && isAlive(owner)) {
          throw new StoreError(
            "locked",
            `${directory} is in use by process ${owner.pid}`,
          );
        }
        fs.rmSync(file, { force: true });
      }
      throw new StoreError("locked", `${directory} is being opened by others`);
    } finally {
      fs.rmSync(own, { force: true });
    }
  }

  release(): void {
    try {
      if (fs.readFileSync(this.#file, "utf8") === this.#token)
        fs.rmSync(this.#file, { force: true });
    } catch {
      // Gone already, with the directory perhaps.
    }
  }
}

interface Owner {
  readonly pid: number;
  readonly start: string;
}

function readOwner(file: string): Owner | undefined {
  try {
    const [pid, start] = fs.readFileSync(file, "utf8").split(" ");
    return Number(pid) > 0 && start ? { pid: Number(pid), start } : undefined;
  } catch {
    return undefined;
  }
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
