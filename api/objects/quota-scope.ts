// Which objects a ResourceQuota counts: without scopes all, with scopes only the pods that every scope holds for.
import type { AnyObject } from "../object.ts";
import { qosClass } from "./pod-qos.ts";
import type { Pod, ResourceQuota } from "../types/core-v1.ts";

export function isInQuotaScope(
  { spec }: ResourceQuota,
  resource: string,
  object: Readonly<AnyObject>,
): boolean {
  const expressions = [
    ...(spec?.scopes ?? []).map((scopeName) => ({
      scopeName,
      operator: "Exists",
      values: undefined,
    })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ];
  if (expressions.length === 0) return true;
  if (resource !== "pods") return false;
  const pod = object as unknown as Pod;
  return expressions.every(({ scopeName, operator, values }) => {
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
  });
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
