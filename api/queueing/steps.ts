// Computations that pause between their steps, so that a long one lets others have the event loop.

/** Yields between steps; the objects it was given belong to it until it returns. */
export type Steps<T> = Generator<void, T>;

/** What is made in one step. */
export function* oneStep<T>(make: () => T): Steps<T> {
  yield;
  return make();
}

/** The same steps; the time that they take, pauses left out, is reported in seconds when they are over. */
export function* timed<T>(
  steps: Steps<T>,
  report: ((seconds: number) => void) | undefined,
): Steps<T> {
  if (!report) return yield* steps;
  let ms = 0;
  for (;;) {
    const startMs = performance.now();
    const step = steps.next();
    ms += performance.now() - startMs;
    if (step.done) {
      report(ms / 1000);
      return step.value;
    }
    yield;
  }
}

/** Runs all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Resolves when the work may go on; undefined: it may at once. */
export type Pause = () => Promise<void> | undefined;

/** The result at once unless a pause is needed. */
export function started<T>(steps: Steps<T>, pause: Pause): T | Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const paused = pause();
    if (paused) return paused.then(() => paced(steps, pause));
  }
}

export async function paced<T>(steps: Steps<T>, pause: Pause): Promise<T> {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    const paused = pause();
    if (paused) await paused;
  }
}

/** Counts small pieces of work: a step has about as many. */
export class Pace {
  #pieces = 0;

  constructor(private readonly perStep = 1000) {}

  /** One piece more has been done; is it time for the next step? */
  isOver(): boolean {
    if (++this.#pieces < this.perStep) return false;
    this.#pieces = 0;
    return true;
  }
}
