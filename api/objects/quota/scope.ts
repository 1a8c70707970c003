// Which objects a ResourceQuota counts: without scopes all, with scopes only the pods that every scope holds for.
import type { AnyObject } from "../../object.ts";
import { qosClass } from "../pod-qos.ts";
import type { Pod, ResourceQuota } from "../../types/core-v1.ts";

export interface QuotaScope {
  readonly scopeName: string;
  /** Exists, DoesNotExist, In, NotIn. */
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

/** Both notations of a quota in one. */
export const scopesOf = ({ spec }: ResourceQuota): QuotaScope[] => [
  ...(spec?.scopes ?? []).map((scopeName) => ({
    scopeName,
    operator: "Exists",
  })),
  ...(spec?.scopeSelector?.matchExpressions ?? []),
];

export function isInQuotaScope(
  quota: ResourceQuota,
  resource: string,
  object: Readonly<AnyObject>,
): boolean {
  const scopes = scopesOf(quota);
  if (scopes.length === 0) return true;
  if (resource !== "pods") return false;
  return scopes.every((scope) => holdsFor(scope, object as unknown as Pod));
}

/** Does one scope hold for a pod? */
export function holdsFor(
  { scopeName, operator, values }: QuotaScope,
  pod: Pod,
): boolean {
  switch (scopeName) {
    case "Terminating":
      return isTerminating(pod);
    case "NotTerminating":
      return !isTerminating(pod);
    case "BestEffort":
      return isBestEffort(pod);
    case "NotBestEffort":
      return !isBestEffort(pod);
    case "CrossNamespacePodAffinity":
      return reachesOtherNamespaces(pod);
    case "PriorityClass": {
      const name = pod.spec.priorityClassName ?? "";
      if (operator === "Exists") return name !== "";
      if (operator === "DoesNotExist") return name === "";
      return (operator === "In") === (values ?? []).includes(name);
    }
    default:
      return false;
  }
}

function isTerminating({ spec }: Pod): boolean {
  return (
    spec.activeDeadlineSeconds !== undefined && spec.activeDeadlineSeconds >= 0
  );
}

function isBestEffort(pod: Pod): boolean {
  return (pod.status?.qosClass ?? qosClass(pod)) === "BestEffort";
}

function reachesOtherNamespaces({ spec }: Pod): boolean {
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  return [podAffinity, podAntiAffinity].some((affinity) =>
    [
      ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
        ({ podAffinityTerm }) => podAffinityTerm,
      ),
    ].some(
      (term) => (term.namespaces?.length ?? 0) > 0 || term.namespaceSelector,
    ),
  );
}
