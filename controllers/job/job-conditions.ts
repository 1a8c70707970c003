// Conditions of Jobs.
import {
  findCondition,
  isConditionTrue,
  putCondition,
} from "../../api/objects/conditions.ts";
import { formatTime } from "../../api/clock.ts";
import type { Job, JobCondition, JobStatus } from "../../api/types/batch-v1.ts";

export function hasCondition(
  status: JobStatus | undefined,
  type: string,
): boolean {
  return isConditionTrue(status?.conditions, type);
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
  const found = findCondition(status.conditions, type);
  if (found?.status !== "True") return undefined;
  return { reason: found.reason ?? "", message: found.message ?? "" };
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
  return { ...status, conditions: putCondition(status.conditions, next) };
}
