// One value on its way through a schema: what failed, what matched, where it is.
// Invariants: at most `maxProblems` problems are noted; `failures` counts all of them.
import type { ValueProblem } from "./value-problems.ts";

/** Of one object: schemas that multiply alternatives with items would take minutes. */
export const maxVisits = 20_000_000;
const maxProblems = 1000;

/** The schema and the value together take too long. */
export class TooCostly extends Error {}

/** Of one step, in visits: about a quarter of a millisecond. */
const stepWork = 4000;
/** That many characters are matched with a pattern while one value is visited. */
const charactersPerVisit = 8;

export interface Mark {
  readonly failures: number;
  readonly problems: number;
}

/** One value on its way through a schema. */
export class Run {
  visits = 0;
  failures = 0;
  matches = 0;
  readonly problems: ValueProblem[] = [];
  /** Problems are counted and not noted. */
  quiet = false;
  readonly path: (string | number)[] = [];
  #stepEnd = stepWork;
  #extra = 0;

  /** Has this step been long enough? */
  endsStep(): boolean {
    const work = this.visits + this.#extra;
    if (work < this.#stepEnd) return false;
    this.#stepEnd = work + stepWork;
    return true;
  }

  /** A text of that length was matched with a pattern. */
  worked(characters: number): void {
    this.#extra += characters / charactersPerVisit;
  }

  /** Back to where the path has that many parts. */
  leave(depth: number): void {
    while (this.path.length > depth) this.path.pop();
  }

  mark(): Mark {
    return { failures: this.failures, problems: this.problems.length };
  }

  /** Forgets what failed since then. */
  return(to: Mark): void {
    this.failures = to.failures;
    this.problems.length = Math.min(to.problems, this.problems.length);
  }

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
