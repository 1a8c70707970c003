// How long random input runs: a fixed number of runs of a fixed seed in the suite, so that a slow machine tests the
// same as a fast one; FUZZ_SECONDS=600 runs longer, with seeds of its own.
import type { Parameters } from "fast-check";

const seconds = Number(process.env["FUZZ_SECONDS"] ?? 0);
if (seconds > 0) jest.setTimeout((seconds + 60) * 1000);

/** The parameters of a property; a file's properties share FUZZ_SECONDS by their `share` (0 to 1) of it. */
export function fuzzParameters<T>({
  runs,
  seed,
  share,
}: {
  runs: number;
  seed: number;
  share: number;
}): Parameters<T> {
  if (seconds === 0) return { numRuns: runs, seed };
  return {
    numRuns: 1_000_000_000,
    interruptAfterTimeLimit: seconds * 1000 * share,
    markInterruptAsFailure: false,
  };
}
