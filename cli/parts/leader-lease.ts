// The Lease that candidates for leadership compete for, out of a part's --leader-elect-* options. A problem with them is a
// UsageError.
import { randomUUID } from "node:crypto";
import * as os from "node:os";
import type { OptionValues } from "../options/parse.ts";
import { UsageError } from "../options/table.ts";

export interface LeaderLease {
  readonly namespace: string;
  readonly name: string;
  /** Of this candidate: another one on each call. */
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** @param name where no option gives one, such as kube-scheduler */
export function leaderLease(values: OptionValues, name: string): LeaderLease {
  const leaseDurationMs = values.number("leader-elect-lease-duration");
  const renewDeadlineMs = values.number("leader-elect-renew-deadline");
  if (renewDeadlineMs >= leaseDurationMs)
    throw new UsageError(
      "--leader-elect-renew-deadline must be less than --leader-elect-lease-duration",
    );
  return {
    namespace: values.text("leader-elect-resource-namespace"),
    name: values.optionalText("leader-elect-resource-name") ?? name,
    identity: `${os.hostname()}_${randomUUID()}`,
    leaseDurationMs,
    renewDeadlineMs,
    retryPeriodMs: values.number("leader-elect-retry-period"),
  };
}
