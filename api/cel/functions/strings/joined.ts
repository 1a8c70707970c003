// A text that is put together in steps.
import { CostExceeded } from "../../evaluation/cost-exceeded.ts";
import type { Pace, Steps } from "../../../queueing/steps.ts";

/** Nothing an expression makes may be longer: it would cost far more than any limit to look at it. */
export const maxResultLength = 1 << 26;

/** Puts many parts together, some at a time: one call that joins a million of them would take long. */
export class Joined {
  readonly #chunks: string[] = [];
  #parts: string[] = [];
  #length = 0;
  #isFirst = true;

  constructor(
    private readonly separator: string,
    private readonly pace: Pace,
  ) {}

  *add(part: string): Steps<void> {
    this.#parts.push(part);
    this.#length += part.length + this.separator.length;
    if (this.#length > maxResultLength) throw new CostExceeded();
    if (!this.pace.isOver()) return;
    this.#flush();
    yield;
  }

  #flush(): void {
    if (this.#parts.length === 0) return;
    const text = this.#parts.join(this.separator);
    this.#chunks.push(this.#isFirst ? text : this.separator + text);
    this.#isFirst = false;
    this.#parts = [];
  }

  text(): string {
    this.#flush();
    return this.#chunks.length === 1 ? this.#chunks[0]! : this.#chunks.join("");
  }
}
