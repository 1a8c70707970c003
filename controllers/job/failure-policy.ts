// What a failed pod means by the Job's podFailurePolicy: the first rule that matches says.
import type { Job, PodFailurePolicyRule } from "../../api/types/batch-v1.ts";
import type { Pod } from "../../api/types/core-v1.ts";

type FailureVerdict =
  | { action: "Count" | "Ignore" | "FailIndex"; matched: boolean }
  | { action: "FailJob"; message: string; matched: true };

export function failureVerdict(job: Job, pod: Pod): FailureVerdict {
  const rules = job.spec.podFailurePolicy?.rules ?? [];
  for (const [index, rule] of rules.entries()) {
    const match = matchOf(rule, pod);
    if (!match) continue;
    const { action } = rule;
    if (action === "FailJob")
      return {
        action,
        matched: true,
        message: `${match} matching FailJob rule at index ${index}`,
      };
    if (action === "Ignore" || action === "FailIndex")
      return { action, matched: true };
    return { action: "Count", matched: true };
  }
  return { action: "Count", matched: false };
}

/** A text of what matched. */
function matchOf(rule: PodFailurePolicyRule, pod: Pod): string | undefined {
  const name = `${pod.metadata.namespace}/${pod.metadata.name}`;
  if (rule.onExitCodes) {
    const { containerName, operator, values } = rule.onExitCodes;
    const statuses = [
      ...(pod.status?.initContainerStatuses ?? []),
      ...(pod.status?.containerStatuses ?? []),
    ];
    for (const { name: container, state } of statuses) {
      const code = state?.terminated?.exitCode;
      if (code === undefined || code === 0) continue;
      if (containerName && containerName !== container) continue;
      if (values.includes(code) === (operator === "In"))
        return `Container ${container} for pod ${name} failed with exit code ${code}`;
    }
    return undefined;
  }
  for (const pattern of rule.onPodConditions ?? [])
    for (const { type, status } of pod.status?.conditions ?? [])
      if (type === pattern.type && status === (pattern.status ?? "True"))
        return `Pod ${name} has condition ${type}`;
  return undefined;
}
