// Lists of status conditions, as all kinds have them: one of a type, transition times that only change with the status.

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

export function findCondition<C extends { type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

export function isConditionTrue(
  conditions: readonly Pick<Condition, "type" | "status">[] | undefined,
  type: string,
): boolean {
  return findCondition(conditions, type)?.status === "True";
}

/** When a condition came to its status: what the old one says while the status is the same, else `time`. */
export function transitionTime(
  old: Pick<Condition, "status" | "lastTransitionTime"> | undefined,
  status: string,
  time: string,
): string {
  return old?.status === status ? old.lastTransitionTime || time : time;
}

/**
 * The list with the condition set in its place; lastTransitionTime is `time` when the status changed and what it was
 * otherwise. Returns the list given when nothing but times would change; a generation that is not given is no change.
 */
export function setCondition<C extends Condition>(
  conditions: readonly C[] | undefined,
  condition: C,
  time: string,
): readonly C[] {
  const list = conditions ?? [];
  const old = findCondition(list, condition.type);
  if (
    old &&
    old.status === condition.status &&
    old.reason === condition.reason &&
    old.message === condition.message &&
    (condition.observedGeneration === undefined ||
      old.observedGeneration === condition.observedGeneration)
  )
    return list;
  const next = {
    ...condition,
    lastTransitionTime: transitionTime(old, condition.status, time),
  };
  return old
    ? list.map((other) => (other === old ? next : other))
    : [...list, next];
}

/** The list with the condition at its end, in place of the one of its type. */
export function putCondition<C extends { type: string }>(
  conditions: readonly C[] | undefined,
  condition: C,
): C[] {
  return [...withoutCondition(conditions, condition.type), condition];
}

export function withoutCondition<C extends { type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): readonly C[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}
