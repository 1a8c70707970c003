// One value on its way through a schema: what failed, what matched, where it is.
// Invariants: at most `maxProblems` problems are noted; `failures` counts all of them.
import type { ValueProblem } from "./value-problems.ts";

/** Of one object: schemas that multiply alternatives with items would take minutes. */
export const maxVisits = 20_000_000;
const maxProblems = 1000;

/** The schema and the value together take too long. */
export class TooCostly extends Error {}

/** One value on its way through a schema. */
export class Run {
  visits = 0;
  failures = 0;
  matches = 0;
  readonly problems: ValueProblem[] = [];
  /** Problems are counted and not noted. */
  quiet = false;
  readonly path: (string | number)[] = [];

  fail(problem: Omit<ValueProblem, "path">, below?: string): void {
    this.failures++;
    if (this.quiet || this.problems.length >= maxProblems) return;
    const path = this.#where();
    this.problems.push({
      ...problem,
      path: below === undefined ? path : `${path}.${below}`,
    });
  }

  #where(): string {
    let path = "";
    for (const step of this.path)
      if (typeof step === "number") path += `[${step}]`;
      else path += path === "" ? step : `.${step}`;
    return path;
  }
}
