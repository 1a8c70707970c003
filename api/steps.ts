// Computations that pause between their steps, so that those over a large object can take a turn of the event loop for each.
// A step of an object just below the limit of what is stored takes some milliseconds, of an ordinary one some microseconds.

/** Yields between steps; the objects it was given belong to it until it returns. */
export type Steps<T> = Generator<void, T>;

/** Runs all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
