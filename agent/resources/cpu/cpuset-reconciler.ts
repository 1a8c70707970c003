// Keeps running containers on the CPUs they are to have: after a change of the shared pool, and at intervals for what a
// runtime lost or an earlier agent did not get to. Invariants: one pass at a time; a container is updated only when its
// CPUs are others than those it was given last.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";

export interface RunningContainer {
  readonly id: string;
  readonly uid: string;
  readonly name: string;
}

interface CpusetReconcilerOptions {
  readonly running: () => readonly RunningContainer[];
  /** In the kernel's list form; "": they are not restricted. */
  readonly cpusOf: (uid: string, container: string) => string;
  readonly update: (id: string, cpus: string) => Promise<void>;
  readonly periodMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class CpusetReconciler {
  readonly #options: CpusetReconcilerOptions;
  readonly #applied = new Map<string, string>();
  #timer: Timer | undefined;
  #pass: Promise<void> | undefined;
  #again = false;
  #stopped = false;

  constructor(options: CpusetReconcilerOptions) {
    this.#options = options;
  }

  start(): void {
    const { clock, periodMs } = this.#options;
    this.#timer = clock.after(periodMs, () => {
      void this.reconcile();
      this.start();
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Resolves when every container that runs now was looked at. Never rejects. */
  async reconcile(): Promise<void> {
    if (this.#pass) {
      this.#again = true;
      return await this.#pass;
    }
    this.#pass = this.#reconcile().finally(() => (this.#pass = undefined));
    await this.#pass;
  }

  async #reconcile(): Promise<void> {
    do {
      this.#again = false;
      const running = this.#options.running();
      const ids = new Set(running.map(({ id }) => id));
      for (const id of this.#applied.keys())
        if (!ids.has(id)) this.#applied.delete(id);
      for (const container of running) {
        if (this.#stopped) return;
        await this.#apply(container);
      }
    } while (this.#again);
  }

  async #apply({ id, uid, name }: RunningContainer): Promise<void> {
    const { cpusOf, update, logger } = this.#options;
    const cpus = cpusOf(uid, name);
    if (cpus === "" || this.#applied.get(id) === cpus) return;
    try {
      await update(id, cpus);
      this.#applied.set(id, cpus);
    } catch (error) {
      // It may have ended just now; else the next pass tries again.
      logger.debug({ err: error, uid, name, cpus }, "can't move a container");
    }
  }
}
