// Limits of a cgroup as properties of a systemd unit, by the version of cgroups that the machine has. Pure.
import type { CgroupLimits } from "../cgroup-driver.ts";
import { cpuWeight } from "../v2.ts";

/** Name, D-Bus signature, and the value as busctl reads it. */
export type UnitProperty = readonly [name: string, type: string, value: string];

/** systemd keeps quotas in whole steps of ten milliseconds a second. */
const quotaStepMicroseconds = 10_000;

export function unitProperties(
  limits: CgroupLimits,
  version: 1 | 2,
): UnitProperty[] {
  const properties: UnitProperty[] = [];
  const add = (name: string, value: number | undefined): void => {
    if (value !== undefined) properties.push([name, "t", String(value)]);
  };
  if (version === 2) {
    if (limits.cpuShares !== undefined)
      add("CPUWeight", cpuWeight(limits.cpuShares));
    add("MemoryMax", limits.memoryLimitBytes);
    add("MemoryMin", limits.memoryMinBytes);
  } else {
    add("CPUShares", limits.cpuShares);
    add("MemoryLimit", limits.memoryLimitBytes);
  }
  if (limits.cpuQuota !== undefined) {
    const aSecond =
      (limits.cpuQuota * 1_000_000) / (limits.cpuPeriod ?? 100_000);
    add(
      "CPUQuotaPerSecUSec",
      Math.ceil(aSecond / quotaStepMicroseconds) * quotaStepMicroseconds,
    );
    if (version === 2) add("CPUQuotaPeriodUSec", limits.cpuPeriod);
  }
  if (limits.maxPids !== undefined && limits.maxPids > 0)
    add("TasksMax", limits.maxPids);
  return properties;
}
