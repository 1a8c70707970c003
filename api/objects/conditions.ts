// Lists of status conditions, as all kinds have them: one of a type, transition times that only change with the status.

interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export function findCondition<C extends { type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/**
 * The list with the condition set; lastTransitionTime is `time` when the status changed and what it was otherwise. The
 * list given comes back when nothing but times would change.
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
    old.message === condition.message
  )
    return list;
  const lastTransitionTime =
    old?.status === condition.status ? old.lastTransitionTime : time;
  const next = { ...condition, lastTransitionTime };
  return old
    ? list.map((other) => (other === old ? next : other))
    : [...list, next];
}

export function withoutCondition<C extends { type: string }>(
  conditions: readonly C[] | undefined,
  type: string,
): readonly C[] {
  return (conditions ?? []).filter((condition) => condition.type !== type);
}
