// Conditions of Jobs.
import { formatTime } from "../../api/clock.ts";
import type { Job, JobCondition, JobStatus } from "../../api/types/batch-v1.ts";

export function hasCondition(
  status: JobStatus | undefined,
  type: string,
): boolean {
  return (
    status?.conditions?.some(
      (condition) => condition.type === type && condition.status === "True",
    ) ?? false
  );
}

/** How a Job ends, as its conditions say. */
export interface Verdict {
  readonly reason: string;
  readonly message: string;
}

/** What a condition that holds says. */
export function verdictOf(
  status: JobStatus,
  type: "FailureTarget" | "SuccessCriteriaMet",
): Verdict | undefined {
  const found = status.conditions?.find(
    (condition) => condition.type === type && condition.status === "True",
  );
  return found && { reason: found.reason ?? "", message: found.message ?? "" };
}

export function isFinished(job: Job): boolean {
  return (
    hasCondition(job.status, "Complete") || hasCondition(job.status, "Failed")
  );
}

export function withJobCondition(
  status: JobStatus,
  condition: Omit<JobCondition, "lastProbeTime" | "lastTransitionTime">,
  nowMs: number,
): JobStatus {
  const time = formatTime(nowMs);
  const next = { ...condition, lastProbeTime: time, lastTransitionTime: time };
  const conditions = status.conditions ?? [];
  return {
    ...status,
    conditions: [
      ...conditions.filter(({ type }) => type !== condition.type),
      next,
    ],
  };
}
