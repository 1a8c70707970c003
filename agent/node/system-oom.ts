// Reports each process that the kernel ended because the machine ran out of memory (event SystemOOM of the Node), as the
// kubelet does. Ends within a cgroup's own limit are reported by its container, not here. The kernel's log is read only
// when its count of such ends has grown: each ten seconds one number is looked at.
import { constants } from "node:fs";
import { open, readFile, type FileHandle } from "node:fs/promises";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { PodEvents } from "../events/pod-events.ts";

interface SystemOomOptions {
  readonly events: Pick<PodEvents, "node">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: the machine's. */
  readonly kernel?: KernelLog;
}

interface KernelLog {
  /** How many processes were ended for lack of memory since the boot; undefined: the kernel does not count them. */
  oomKills(): Promise<number | undefined>;
  /** Since the boot, by the log's own clock. */
  nowSeconds(): number;
  /** Every record that the log still has, the oldest first. */
  records(): AsyncIterable<string>;
}

interface OomVictim {
  readonly pid: number;
  readonly process: string;
}

const lookEveryMs = 10_000;
/** Of one look: a machine that lacks memory for long ends processes by the hundred. */
const maxEvents = 20;

export class SystemOom {
  readonly #options: SystemOomOptions;
  readonly #kernel: KernelLog;
  readonly #parser = new OomParser();
  #timer: Timer | undefined;
  #kills: number | undefined;
  /** What the log had before is of an earlier look. */
  #sinceSeconds = 0;
  #lastSequence = -1;
  #stopped = false;

  constructor(options: SystemOomOptions) {
    this.#options = options;
    this.#kernel = options.kernel ?? machineLog;
  }

  start(): void {
    this.#begin().catch((error: unknown) => this.#failed(error));
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #begin(): Promise<void> {
    this.#sinceSeconds = this.#kernel.nowSeconds();
    this.#kills = await this.#kernel.oomKills();
    if (this.#kills !== undefined) this.#again();
  }

  #again(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.after(lookEveryMs, () => {
      this.#look().then(
        () => this.#again(),
        (error: unknown) => this.#failed(error),
      );
    });
  }

  /**
   * In a container there may be no log of the kernel, or none that may be read. What else fails may do so for the lack of
   * memory that is to be reported: it is read again.
   */
  #failed(error: unknown): void {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["ENOENT", "EACCES", "EPERM"].includes(code)) return this.#again();
    this.#options.logger.warn(
      { err: error },
      "processes that the kernel ends for lack of memory are not reported",
    );
  }

  async #look(): Promise<void> {
    const kills = await this.#kernel.oomKills();
    if (kills === this.#kills) return;
    let left = maxEvents;
    for await (const text of this.#kernel.records()) {
      const record = parseRecord(text);
      if (!record || record.sequence <= this.#lastSequence) continue;
      this.#lastSequence = record.sequence;
      if (record.atSeconds < this.#sinceSeconds) continue;
      const victim = this.#parser.next(record.message);
      if (!victim || left-- <= 0) continue;
      this.#options.events.node(
        "Warning",
        "SystemOOM",
        `System OOM encountered, victim process: ${victim.process}, pid: ${victim.pid}`,
      );
    }
    this.#kills = kills;
  }
}

/** Puts together what the kernel writes in several lines about one end. */
export class OomParser {
  /** undefined: outside of such lines. */
  #ofMachine: boolean | undefined;

  /** Returns the process when the line ends the report of one that was ended for the machine's lack of memory. */
  next(line: string): OomVictim | undefined {
    if (line.includes("invoked oom-killer:")) {
      this.#ofMachine = true;
      return undefined;
    }
    if (this.#ofMachine === undefined) return undefined;
    const group =
      /^[^,]*/.exec(after(line, ",oom_memcg=") ?? "")?.[0] ||
      /^\S*/.exec(after(line, "killed as a result of limit of ") ?? "")?.[0];
    if (group && group !== "/") this.#ofMachine = false;
    const killed = /^(\d+) \((.+?)\)/.exec(
      after(line, "Killed process ") ?? "",
    );
    if (!killed) return undefined;
    const ofMachine = this.#ofMachine;
    this.#ofMachine = undefined;
    return ofMachine
      ? { pid: Number(killed[1]), process: killed[2]! }
      : undefined;
  }
}

/** What follows the first such text. */
function after(line: string, text: string): string | undefined {
  const at = line.indexOf(text);
  return at < 0 ? undefined : line.slice(at + text.length);
}

/** `6,1234,36749061082,-;text` and lines of properties after it. */
function parseRecord(
  text: string,
): { sequence: number; atSeconds: number; message: string } | undefined {
  const found = /^\d+,(\d+),(\d+),[^;]*;([^\n]*)/.exec(text);
  if (!found) return undefined;
  return {
    sequence: Number(found[1]),
    atSeconds: Number(found[2]) / 1e6,
    message: found[3]!,
  };
}

/** Unlike /proc/uptime this clock stops while the machine sleeps, as that of the log does. */
export function logSeconds(): number {
  return Number(process.hrtime.bigint()) / 1e9;
}

const machineLog: KernelLog = {
  async oomKills() {
    const text = await readFile("/proc/vmstat", "utf8");
    const count = /^oom_kill (\d+)$/m.exec(text)?.[1];
    return count === undefined ? undefined : Number(count);
  },
  nowSeconds: logSeconds,
  async *records() {
    const log = await open(
      "/dev/kmsg",
      constants.O_RDONLY | constants.O_NONBLOCK,
    );
    try {
      const buffer = Buffer.alloc(8192);
      for (;;) {
        const length = await readRecord(log, buffer);
        if (length === undefined) return;
        yield buffer.toString("utf8", 0, length);
      }
    } finally {
      await log.close();
    }
  },
};

/** One record a read; undefined after the last. The kernel says EPIPE when the next one was overwritten meanwhile. */
async function readRecord(
  log: FileHandle,
  buffer: Buffer,
): Promise<number | undefined> {
  try {
    return (await log.read(buffer, 0, buffer.length, null)).bytesRead;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EAGAIN") return undefined;
    if (code === "EPIPE") return 0;
    throw error;
  }
}
