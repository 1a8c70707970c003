// Warnings about jobs, and about those that a CronJob makes.
import type { JobSpec } from "../../../api/types/batch-v1.ts";
import { templateWarnings } from "../core/template-warnings.ts";

/** @param field "spec" */
export function* jobWarnings(
  field: string,
  spec: JobSpec | undefined,
): Iterable<string> {
  const { completions = 0, parallelism = 0, completionMode } = spec ?? {};
  if (
    completionMode === "Indexed" &&
    completions > 100_000 &&
    parallelism > 10_000
  )
    yield `${field}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail`;
  yield* templateWarnings(`${field}.template`, spec?.template);
}
