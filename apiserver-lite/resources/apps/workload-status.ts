// The counters in the status of workloads: none is negative, some stay within others.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { nonNegative } from "../field-checks.ts";

type Counters = Readonly<Record<string, unknown>>;

const count = (status: Counters, name: string): number =>
  (status[name] as number | undefined) ?? 0;

/** `within`: pairs of a counter and the one it may not exceed, with the words for that one. */
export function validateCounters(
  given: object | undefined,
  counters: readonly string[],
  within: readonly (readonly [counter: string, limit: string, words: string])[],
): FieldError[] {
  const status = (given ?? {}) as Counters;
  return [
    ...counters.flatMap((name) =>
      nonNegative(`status.${name}`, count(status, name)),
    ),
    ...within
      .filter(([name, limit]) => count(status, name) > count(status, limit))
      .map(([name, , words]) =>
        fieldErrors.invalid(
          `status.${name}`,
          count(status, name),
          `cannot be greater than ${words}`,
        ),
      ),
  ];
}

/** Pairs for `within`: each of them at most status.replicas. */
export const withinReplicas = (
  ...names: string[]
): (readonly [string, string, string])[] =>
  names.map((name) => [name, "replicas", "status.replicas"] as const);

/** Of replica sets and replication controllers. */
export const validateReplicaStatus = (
  status: object | undefined,
): FieldError[] =>
  validateCounters(
    status,
    [
      "replicas",
      "fullyLabeledReplicas",
      "readyReplicas",
      "availableReplicas",
      "observedGeneration",
    ],
    [
      ...withinReplicas(
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
      ),
      ["availableReplicas", "readyReplicas", "readyReplicas"],
    ],
  );

/** How often names collided only grows. */
export function validateCollisions(
  now: number | undefined,
  was: number | undefined,
): FieldError[] {
  if (was === undefined || (now !== undefined && now >= was)) return [];
  return [
    fieldErrors.invalid("status.collisionCount", now, "cannot be decremented"),
  ];
}
