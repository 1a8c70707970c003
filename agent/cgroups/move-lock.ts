// Spares containers' starts the kernel's wait at the first move of a process into a cgroup. All moves of the machine
// share one lock (cgroup_threadgroup_rwsem); when it was not taken for some ten milliseconds the kernel waits for a grace
// period of RCU, 10 to 14 ms, before the next, and runc and crun move a process for each container. A write of this
// process into the cgroup where it is already takes the lock and moves nothing: repeated while a container starts, it has
// the first of these waits pass beside the runtime's other work, and spares the others. The mount option favordynmods
// does the same for the whole machine, until its next boot.
// Invariant: nothing depends on it; where such a write is refused it is not tried again.
import { constants } from "node:fs";
import { open, readFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../api/clock.ts";

/** Shorter than a grace period of RCU. */
const everyMs = 4;
/** A runtime that hangs must not cost more. */
const longestMs = 1000;
const self = Buffer.from("0");

export class MoveLock {
  readonly #mount: string;
  readonly #clock: Clock;
  #calls = 0;
  #untilMs = 0;
  #writing = false;
  #refused = false;

  /** @param mount where the cgroup file systems are mounted */
  constructor(mount: string, clock: Clock) {
    this.#mount = mount;
    this.#clock = clock;
  }

  /** @param call of the runtime, which moves a process after some 20 ms; as it resolves or rejects */
  async during<T>(call: () => Promise<T>): Promise<T> {
    this.#calls++;
    this.#untilMs = this.#clock.monotonic() + longestMs;
    if (!this.#writing && !this.#refused) void this.#hold();
    try {
      return await call();
    } finally {
      this.#calls--;
    }
  }

  async #hold(): Promise<void> {
    this.#writing = true;
    let file: FileHandle | undefined;
    try {
      file = await ownProcesses(this.#mount);
      while (this.#calls > 0 && this.#clock.monotonic() < this.#untilMs) {
        await file.write(self);
        await new Promise<void>((resolve) =>
          this.#clock.after(everyMs, resolve),
        );
      }
    } catch {
      this.#refused = true;
    } finally {
      this.#writing = false;
      await file?.close().catch(() => undefined);
    }
  }
}

/** The processes of the cgroup where this process is; in any hierarchy, as all share the lock. */
async function ownProcesses(mount: string): Promise<FileHandle> {
  const lines = (await readFile("/proc/self/cgroup", "utf8"))
    .trim()
    .split("\n");
  for (const line of lines) {
    const [, controllers = "", ...path] = line.split(":");
    const hierarchy = controllers.replace(/^name=/, "");
    const group = join(mount, hierarchy, path.join(":"), "cgroup.procs");
    const file = await open(group, constants.O_WRONLY).catch(() => undefined);
    if (file) return file;
  }
  throw new Error("no hierarchy of cgroups can be written");
}
