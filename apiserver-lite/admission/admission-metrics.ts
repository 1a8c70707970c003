// How long admission took: each of its two steps, and each plug-in in it, with the reference's names. A plug-in begins
// where the one before it ended, so that each costs one look at the clock. The reference's summary of the steps is left out:
// its quantiles need a window of time.
import { Histograms } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { Histogram } from "../../api/metrics/histogram.ts";

export type AdmissionStep = "admit" | "validate";

const bounds = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
const help = (what: string): string =>
  `How long ${what} took in seconds, by operation, kind of step, and whether it refused.`;

export class AdmissionMetrics {
  readonly #steps = new Histograms(
    {
      name: "apiserver_admission_step_admission_duration_seconds",
      help: help("a step of admission"),
      labels: ["type", "operation", "rejected"],
    },
    bounds,
  );
  readonly #plugins = new Histograms(
    {
      name: "apiserver_admission_controller_admission_duration_seconds",
      help: help("a plug-in of admission"),
      labels: ["name", "type", "operation", "rejected"],
    },
    bounds,
  );

  /** Of plug-ins that do not refuse, by step, operation and name: every write passes some forty. */
  readonly #passed = {
    admit: new Map<string, Map<string, Histogram>>(),
    validate: new Map<string, Map<string, Histogram>>(),
  };

  /** @param beganMs of performance.now() */
  step(
    step: AdmissionStep,
    operation: string,
    beganMs: number,
    rejected: boolean,
  ): void {
    const seconds = (performance.now() - beganMs) / 1000;
    this.#steps.observe(seconds, step, operation, String(rejected));
  }

  /** @param beganMs of performance.now(). Returns now: the next one's begin. */
  plugin(
    name: string,
    step: AdmissionStep,
    operation: string,
    beganMs: number,
    rejected: boolean,
  ): number {
    const nowMs = performance.now();
    const seconds = (nowMs - beganMs) / 1000;
    if (rejected) this.#plugins.observe(seconds, name, step, operation, "true");
    else this.#passedBy(name, step, operation)?.observe(seconds);
    return nowMs;
  }

  #passedBy(
    name: string,
    step: AdmissionStep,
    operation: string,
  ): Histogram | undefined {
    const known = this.#passed[step].get(operation)?.get(name);
    if (known) return known;
    const made = this.#plugins.at(name, step, operation, "false");
    if (!made) return undefined;
    let ofOperation = this.#passed[step].get(operation);
    if (!ofOperation)
      this.#passed[step].set(operation, (ofOperation = new Map()));
    ofOperation.set(name, made);
    return made;
  }

  families(): Family[] {
    return [this.#steps.family(), this.#plugins.family()];
  }
}
