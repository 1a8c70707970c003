// The strategic merge patch that turns one PodStatus into another. Lists that merge by key (conditions, addresses) are
// handled so that what others own survives: only our conditions are sent, addresses are replaced as a whole.
import type { PodCondition, PodStatus } from "../../api/types/core-v1.ts";
import { kubeletDisruption, ownConditions } from "../status/pod-status.ts";

/** undefined: nothing differs. */
export function statusPatch(
  before: PodStatus,
  after: PodStatus,
): Record<string, unknown> | undefined {
  const patch: Record<string, unknown> = {};
  const old = before as Record<string, unknown>;
  const wanted = after as Record<string, unknown>;
  for (const key of new Set([...Object.keys(old), ...Object.keys(wanted)])) {
    if (key === "conditions") continue;
    if (JSON.stringify(old[key]) === JSON.stringify(wanted[key])) continue;
    const value = wanted[key];
    if (
      (key === "podIPs" || key === "hostIPs") &&
      Array.isArray(value) &&
      Array.isArray(old[key])
    )
      patch[key] = [...(value as unknown[]), { $patch: "replace" }];
    else patch[key] = value ?? null;
  }
  const changed = changedConditions(
    before.conditions ?? [],
    after.conditions ?? [],
  );
  if (changed.length > 0) patch.conditions = changed;
  return Object.keys(patch).length > 0 ? patch : undefined;
}

function changedConditions(
  before: PodCondition[],
  after: PodCondition[],
): unknown[] {
  const same = (a: PodCondition, b: PodCondition | undefined): boolean =>
    b !== undefined &&
    a.status === b.status &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.lastTransitionTime === b.lastTransitionTime;
  return after
    .filter(
      ({ type, reason }) =>
        ownConditions.has(type) ||
        // Others set it too, with reasons of their own.
        (type === "DisruptionTarget" && reason === kubeletDisruption),
    )
    .filter(
      (condition) =>
        !same(
          condition,
          before.find(({ type }) => type === condition.type),
        ),
    )
    .map((condition) => ({
      ...condition,
      reason: condition.reason ?? null,
      message: condition.message ?? null,
    }));
}

/** Of a status, what clients other than the agent write. */
const othersFields = new Set([
  "nominatedNodeName",
  "resourceClaimStatuses",
  "resize",
]);

/**
 * What the agent would have to write so that `served` says what `own` says; undefined: it says that. The order of fields and
 * what is empty do not count: an API server may keep both otherwise.
 */
export function servedDrift(
  served: PodStatus,
  own: PodStatus,
): string | undefined {
  const patch = statusPatch(comparable(served), comparable(own));
  return patch && JSON.stringify(patch);
}

/** What was served, as far as the agent is to change it: of what others write nothing differs from what it has. */
export function ownPart(served: PodStatus, own: PodStatus): PodStatus {
  const ofOthers = Object.entries(own).filter(([name]) =>
    othersFields.has(name),
  );
  const fields = Object.entries(served).filter(
    ([name]) => !othersFields.has(name),
  );
  return Object.fromEntries([...fields, ...ofOthers]) as PodStatus;
}

function comparable(status: PodStatus): PodStatus {
  const fields = Object.entries(status).filter(
    ([name]) => !othersFields.has(name),
  );
  return (ordered(Object.fromEntries(fields)) ?? {}) as PodStatus;
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => ordered(item) ?? {});
    return items.length > 0 ? items : undefined;
  }
  if (typeof value !== "object" || value === null) return value || undefined;
  const fields = Object.entries(value)
    .map(([name, field]) => [name, ordered(field)] as const)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}
