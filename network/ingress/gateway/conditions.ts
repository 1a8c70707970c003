// Conditions of the Gateway API's objects: built each time, with the time of the last change of those that are as
// they were.
import type { Condition } from "./objects.ts";

/** Without what is filled in when it is written. */
export type PlannedCondition = Pick<
  Condition,
  "type" | "status" | "reason" | "message"
>;

export function yes(
  type: string,
  reason: string = type,
  message = "",
): PlannedCondition {
  return { type, status: "True", reason, message };
}

export function no(
  type: string,
  reason: string,
  message: string,
): PlannedCondition {
  return { type, status: "False", reason, message };
}

/** @param time RFC 3339, of those that change */
export function conditionsWith(
  planned: readonly PlannedCondition[],
  before: readonly Condition[] | undefined,
  generation: number | undefined,
  time: string,
): Condition[] {
  return planned.map((each) => {
    const known = before?.find(({ type }) => type === each.type);
    return {
      ...each,
      ...(generation === undefined ? {} : { observedGeneration: generation }),
      lastTransitionTime:
        known?.status === each.status ? known.lastTransitionTime : time,
    };
  });
}
