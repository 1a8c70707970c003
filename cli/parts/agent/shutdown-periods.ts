// shutdownGracePeriod, shutdownGracePeriodCriticalPods and shutdownGracePeriodByPodPriority of KubeletConfiguration, made
// into periods by priority as the reference makes them.
import {
  isGateOn,
  type AgentGate,
} from "../../../agent/config/feature-gates.ts";
import { systemPriority } from "../../../agent/pods/shape/critical-pod.ts";
import type { ShutdownPeriod } from "../../../agent/config/shutdown-period.ts";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";

/** None: the machine's shutdown is not held up. @throws UsageError naming the field */
export function shutdownPeriods(
  values: OptionValues,
  featureGates: Readonly<Record<string, boolean>>,
): readonly ShutdownPeriod[] {
  const totalMs = values.number("shutdown-grace-period");
  const criticalMs = values.number("shutdown-grace-period-critical-pods");
  const byPriority = values
    .list("shutdown-grace-period-by-pod-priority")
    .map(readPeriod);
  const needs = (gate: AgentGate, asked: boolean, fields: string): void => {
    if (asked && !isGateOn({ featureGates }, gate))
      throw new UsageError(`${fields} requires feature gate ${gate}`);
  };
  needs(
    "GracefulNodeShutdown",
    totalMs > 0 || criticalMs > 0,
    "specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods",
  );
  needs(
    "GracefulNodeShutdownBasedOnPodPriority",
    byPriority.length > 0,
    "specifying shutdownGracePeriodByPodPriority",
  );
  for (const [field, durationMs] of [
    ["shutdownGracePeriod", totalMs],
    ["shutdownGracePeriodCriticalPods", criticalMs],
  ] as const)
    if (durationMs > 0 && durationMs < 1000)
      throw new UsageError(
        `${field}: must be either zero or otherwise >= 1 sec`,
      );
  if (criticalMs > totalMs)
    throw new UsageError(
      "shutdownGracePeriodCriticalPods: must be less than or equal to shutdownGracePeriod",
    );
  if (byPriority.length > 0 && totalMs > 0)
    throw new UsageError(
      "shutdownGracePeriodByPodPriority: cannot be set together with shutdownGracePeriod",
    );
  if (byPriority.length > 0) return byPriority;
  if (totalMs === 0) return [];
  const seconds = (durationMs: number): number => Math.floor(durationMs / 1000);
  return [
    { priority: 0, graceSeconds: seconds(totalMs - criticalMs) },
    { priority: systemPriority, graceSeconds: seconds(criticalMs) },
  ];
}

function readPeriod(text: string): ShutdownPeriod {
  const match = /^(-?\d+)=(\d+)$/.exec(text);
  const priority = Number(match?.[1]);
  const graceSeconds = Number(match?.[2]);
  if (!match || Math.abs(priority) > 0x7fffffff || graceSeconds > 0x7fffffff)
    throw new UsageError(
      "shutdownGracePeriodByPodPriority: each item needs a priority and shutdownGracePeriodSeconds, both whole numbers",
    );
  return { priority, graceSeconds };
}
