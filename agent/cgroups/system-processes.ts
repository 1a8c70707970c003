// --system-cgroups: processes that are in the root of a hierarchy of cgroups are moved into one cgroup, at the start and
// once a minute, so that the root's share is not what they compete by. Process 1 and the kernel's own threads stay, and
// so does what is in any other cgroup already, as at the reference.
import {
  mkdir,
  readdir,
  readFile,
  readlink,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { fillCpuset } from "./cpuset-values.ts";

interface SystemProcessesOptions {
  /** Where the cgroup file systems are mounted. */
  readonly mount: string;
  /** Absolute below each hierarchy's root, e.g. /system. */
  readonly cgroup: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const everyMs = 60_000;
/** Processes start others while they are moved. */
const maxRounds = 10;

export class SystemProcesses {
  readonly #options: SystemProcessesOptions;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: SystemProcessesOptions) {
    this.#options = options;
  }

  /** Resolves when the first move was tried; what can't be moved is logged and tried again. */
  async start(): Promise<void> {
    const { cgroup, clock, logger } = this.#options;
    await this.gather().catch((error: unknown) =>
      logger.warn({ err: error, cgroup }, "processes can't be moved"),
    );
    if (!this.#stopped)
      this.#timer = clock.after(everyMs, () => void this.start());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** @throws Error naming the last process that can't be moved */
  async gather(): Promise<void> {
    const { mount, cgroup } = this.#options;
    for (const root of await hierarchies(mount)) {
      const target = join(root, cgroup);
      for (let round = 0; round < maxRounds; round++) {
        const movable = await movableProcesses(root);
        if (movable.length === 0) break;
        await makeCgroup(root, cgroup);
        await moveAll(movable, target);
      }
    }
  }
}

/** Root directories: one of version 2, or those of version 1 that account for something. */
async function hierarchies(mount: string): Promise<string[]> {
  const entries = await readdir(mount, { withFileTypes: true });
  if (entries.some(({ name }) => name === "cgroup.procs")) return [mount];
  return entries
    .filter(
      (entry) =>
        entry.isDirectory() && !["systemd", "unified"].includes(entry.name),
    )
    .map(({ name }) => join(mount, name));
}

async function movableProcesses(root: string): Promise<number[]> {
  const text = await readFile(join(root, "cgroup.procs"), "utf8");
  const found: number[] = [];
  for (const pid of text.split("\n").map(Number)) {
    // 0: a process that this namespace can't name.
    if (pid <= 1) continue;
    if (await hasProgram(pid)) found.push(pid);
  }
  return found;
}

/** Threads of the kernel have none, nor has a process that has ended. */
async function hasProgram(pid: number): Promise<boolean> {
  try {
    await readlink(`/proc/${pid}/exe`);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}

async function makeCgroup(root: string, cgroup: string): Promise<void> {
  let directory = root;
  for (const name of cgroup.split("/").filter(Boolean)) {
    directory = join(directory, name);
    await mkdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    await fillCpuset(directory);
  }
}

async function moveAll(pids: readonly number[], target: string): Promise<void> {
  let failed: Error | undefined;
  for (const pid of pids)
    await writeFile(join(target, "cgroup.procs"), `${pid}\n`).catch(
      (error: NodeJS.ErrnoException) => {
        // It has ended.
        if (error.code !== "ESRCH")
          failed = new Error(
            `failed to move PID ${pid} into the system container ${JSON.stringify(target)}: ${error.message}`,
          );
      },
    );
  if (failed) throw failed;
}
