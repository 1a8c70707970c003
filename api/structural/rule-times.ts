// How long the rules of custom resources took to be compiled and to be evaluated on an object, pauses left out, with the
// reference's names. The first evaluation of a schema's rules compiles them: its time is in both.
import { Histograms, usualSeconds } from "../metrics/counted.ts";
import type { Family } from "../metrics/family.ts";

export class RuleTimes {
  readonly #compiled = new Histograms(
    {
      name: "apiserver_cel_compilation_duration_seconds",
      help: "How long compiling the rules of a part of a schema took.",
    },
    usualSeconds,
  );
  readonly #evaluated = new Histograms(
    {
      name: "apiserver_cel_evaluation_duration_seconds",
      help: "How long evaluating the rules of a schema on an object took.",
    },
    usualSeconds,
  );

  readonly compiled = (seconds: number): void =>
    this.#compiled.observe(seconds);
  readonly evaluated = (seconds: number): void =>
    this.#evaluated.observe(seconds);

  families(): Family[] {
    return [this.#compiled.family(), this.#evaluated.family()];
  }
}
