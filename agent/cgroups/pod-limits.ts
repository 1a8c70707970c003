// What a pod's own cgroup is held to: what the pod says as a whole, else the sums over its containers, where each of them
// has a limit.
import { qosClass } from "../../api/objects/pod-qos.ts";
import { podLimits } from "../../api/objects/pod-resources.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import {
  cpuQuota,
  cpuShares,
  podResources,
} from "../resources/linux-resources.ts";
import type { CgroupLimits } from "./cgroup-driver.ts";

/**
 * @param hugepageSizes of the machine, as the kernel's files name them (2MB): a pod may use only what it asked for
 * @param memoryMin whether requested memory is kept from reclaim
 */
export function podCgroupLimits(
  pod: Pod,
  config: Pick<
    AgentConfig,
    "cpuCfsQuota" | "cpuCfsQuotaPeriodMs" | "podMaxPids"
  >,
  hugepageSizes: readonly string[],
  memoryMin: boolean,
): CgroupLimits {
  const resources = podResources(pod);
  const cpuPeriod = config.cpuCfsQuotaPeriodMs * 1000;
  const limits: CgroupLimits = {
    cpuShares:
      qosClass(pod) === "BestEffort"
        ? 2
        : cpuShares(resources.cpuRequestMillis),
  };
  if (config.cpuCfsQuota && resources.cpuLimited) {
    const quota = cpuQuota(resources.cpuLimitMillis, cpuPeriod);
    if (quota !== undefined)
      Object.assign(limits, { cpuQuota: quota, cpuPeriod });
  }
  if (resources.memoryLimited && resources.memoryLimitBytes > 0)
    limits.memoryLimitBytes = resources.memoryLimitBytes;
  if (memoryMin && resources.memoryRequestBytes > 0)
    limits.memoryMinBytes = resources.memoryRequestBytes;
  if (hugepageSizes.length > 0) {
    const allowed = podLimits(pod.spec);
    limits.hugepageLimits = Object.fromEntries(
      hugepageSizes.map((size) => [
        size,
        allowed.get(`hugepages-${size.replace(/B$/, "i")}`) ?? 0,
      ]),
    );
  }
  if (config.podMaxPids > 0) limits.maxPids = config.podMaxPids;
  return limits;
}
