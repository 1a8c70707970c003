// How long an evaluation has run, its pauses left out: by the clock or, where a busy machine let the process wait, by the
// processor. Between two pauses the lesser of the two counts.
import { CostExceeded } from "./cost-exceeded.ts";

/** Milliseconds that one evaluation may run, whatever it costs by the model: some steps cost less than they take. */
const maxRunMs = 3000;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

export class RunTime {
  #beganMs = performance.now();
  /** Undefined: not asked for since the last pause. */
  #beganCpuMs: number | undefined;
  #ranMs = 0;

  /** Throws CostExceeded. */
  check(): void {
    const began = (this.#beganCpuMs ??= cpuMs());
    const ms = performance.now() - this.#beganMs;
    if (this.#ranMs + ms < maxRunMs) return;
    if (this.#ranMs + Math.min(ms, cpuMs() - began) >= maxRunMs)
      throw new CostExceeded();
  }

  pause(): void {
    const ms = performance.now() - this.#beganMs;
    const cpu = cpuMs() - (this.#beganCpuMs ?? -Infinity);
    this.#ranMs += Math.min(ms, cpu);
  }

  goOn(): void {
    this.#beganMs = performance.now();
    this.#beganCpuMs = cpuMs();
  }
}
