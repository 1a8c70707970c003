// The nft processes that this program started last, so that the monitor knows which reports are about changes of our own, and
// a process learns that the kernel has its transaction. The kernel reports a process by its number on the machine. In a PID
// namespace, as a container has one, that number means nothing: there our own processes are counted, and of as many
// transactions about our tables nothing more is asked.
import { readlinkSync } from "node:fs";
import { systemClock, type Clock } from "../../api/clock.ts";

/** Numbers come round again: old ones are forgotten. */
const kept = 64;
/** A process that ended without a report changed nothing, or the report is still on its way. */
const reportPatienceMs = 2000;

export class OwnProcesses {
  readonly #numbered: boolean;
  readonly #clock: Clock;
  readonly #committed = new Map<number, () => void>();
  /** Without a report so far. */
  readonly #ended = new Set<number>();

  /** @param numbered reports have the numbers that our processes have here */
  constructor(numbered = inFirstPidNamespace(), clock: Clock = systemClock) {
    this.#numbered = numbered;
    this.#clock = clock;
  }

  /** @param onCommitted the monitor saw the process's transaction; never called where nothing is monitored */
  add(pid: number, onCommitted: () => void): void {
    this.#forget(pid);
    this.#committed.set(pid, onCommitted);
    const [oldest] = this.#committed.keys();
    if (this.#committed.size > kept && oldest !== undefined)
      this.#forget(oldest);
  }

  /** The process is gone; `failed`: without a transaction. */
  ended(pid: number, failed: boolean): void {
    if (this.#numbered || !this.#committed.has(pid)) return;
    if (failed) return this.#forget(pid);
    this.#ended.add(pid);
    this.#clock.after(reportPatienceMs, () => {
      if (this.#ended.has(pid)) this.#forget(pid);
    });
  }

  /** A monitor begins: of what is over it reports nothing. */
  monitored(): void {
    for (const pid of this.#ended) this.#forget(pid);
  }

  /** Whether a reported transaction about our tables is our own. */
  made(pid: number): boolean {
    if (this.#numbered) return this.#committed.has(pid);
    const [oldest] = this.#committed.keys();
    if (oldest === undefined) return false;
    this.#forget(oldest);
    return true;
  }

  committed(pid: number): void {
    if (this.#numbered) this.#committed.get(pid)?.();
  }

  #forget(pid: number): void {
    this.#committed.delete(pid);
    this.#ended.delete(pid);
  }
}

function inFirstPidNamespace(): boolean {
  try {
    // PROC_PID_INIT_INO of the kernel.
    return readlinkSync("/proc/self/ns/pid") === "pid:[4026531836]";
  } catch {
    return true;
  }
}
