// The nft processes that this program started last: by their numbers the monitor knows which reports are about changes of our
// own, and a process learns that the kernel has its transaction. Numbers come round again: old ones are forgotten.

const kept = 64;

export class OwnProcesses {
  readonly #committed = new Map<number, () => void>();

  /** @param onCommitted the monitor saw the process's transaction; never called where nothing is monitored */
  add(pid: number, onCommitted: () => void): void {
    this.#committed.delete(pid);
    this.#committed.set(pid, onCommitted);
    const [oldest] = this.#committed.keys();
    if (this.#committed.size > kept && oldest !== undefined)
      this.#committed.delete(oldest);
  }

  has(pid: number): boolean {
    return this.#committed.has(pid);
  }

  committed(pid: number): void {
    this.#committed.get(pid)?.();
  }
}
