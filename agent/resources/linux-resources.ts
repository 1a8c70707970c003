// From requests and limits to cgroup values, as the reference maps them: shares from the request, quota from the limit,
// oom_score_adj from the quality of service.
import {
  podLevelResources,
  podLimits,
  podRequests,
  resourceAmount,
} from "../../api/objects/pod-resources.ts";
import { parseQuantity, quantityValue } from "../../api/quantity.ts";
import type { Container, Pod } from "../../api/types/core-v1.ts";
import type { LinuxResources } from "../../cri/runtime.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { isCriticalPod } from "../pods/shape/critical-pod.ts";
import { cpuMillis, isSidecar, memoryBytes } from "../pods/shape/pod-shape.ts";
import {
  containerMemoryControl,
  type MemoryControl,
} from "./memory-control.ts";
import { qosClass } from "../../api/objects/pod-qos.ts";

const minShares = 2;
const maxShares = 262_144;
const minQuotaMicroseconds = 1000;

export function cpuShares(milliCpu: number): number {
  return Math.min(
    maxShares,
    Math.max(minShares, Math.floor((milliCpu * 1024) / 1000)),
  );
}

/** Microseconds of each period; undefined: no limit. */
export function cpuQuota(
  milliCpu: number,
  periodMicroseconds: number,
): number | undefined {
  if (milliCpu <= 0) return undefined;
  return Math.max(
    minQuotaMicroseconds,
    Math.floor((milliCpu * periodMicroseconds) / 1000),
  );
}

export interface ResourceLimits {
  config: Pick<
    AgentConfig,
    "cgroupsPerQos" | "cpuCfsQuota" | "cpuCfsQuotaPeriodMs"
  >;
  machineMemoryBytes: number;
  /** No process may go below it where CAP_SYS_RESOURCE is missing; undefined: no bound. */
  lowestOomScoreAdj: number | undefined;
  /** Of the machine, as the kernel's files name them (2MB). */
  hugepageSizes: readonly string[];
  /** undefined: memory has its limit alone. */
  memory?: MemoryControl;
}

export function containerResources(
  pod: Pod,
  container: Container,
  limits: ResourceLimits,
): LinuxResources {
  const resources = container.resources;
  const limited = limitsOf(pod, container);
  const requests = { ...limited, ...resources?.requests };
  const periodMicroseconds = limits.config.cpuCfsQuotaPeriodMs * 1000;
  const result: LinuxResources = {
    cpuShares: cpuShares(cpuMillis(requests)),
    oomScoreAdj: clamp(
      oomScoreAdj(pod, container, limits.machineMemoryBytes),
      limits.lowestOomScoreAdj,
    ),
  };
  const memoryLimitBytes = memoryBytes(limited);
  if (memoryLimitBytes > 0) result.memoryLimitBytes = memoryLimitBytes;
  if (limits.config.cpuCfsQuota) {
    const quota = cpuQuota(cpuMillis(limited), periodMicroseconds);
    if (quota !== undefined) {
      result.cpuQuota = quota;
      result.cpuPeriod = periodMicroseconds;
    }
  }
  const hugepageLimits = hugepages(pod, container, limits);
  if (hugepageLimits.length > 0) result.hugepageLimits = hugepageLimits;
  if (limits.memory)
    Object.assign(
      result,
      containerMemoryControl(pod, container, limits.memory, isCriticalPod(pod)),
    );
  return result;
}

/** A container without a limit of its own is held to the pod's as a whole. */
function limitsOf(
  { spec }: Pod,
  { resources }: Container,
): Record<string, string> {
  const limits = { ...resources?.limits };
  for (const name of podLevelResources) {
    const ofPod = spec.resources?.limits?.[name];
    if (ofPod !== undefined && resourceAmount(name, limits[name] ?? "0") === 0)
      limits[name] = ofPod;
  }
  return limits;
}

/**
 * Of every size what the container asks for, and nothing of the others: the pod's cgroup counts what another of its
 * containers may have. Where the pod asks for none its cgroup says so alone.
 */
function hugepages(
  { spec }: Pod,
  { resources }: Container,
  { config, hugepageSizes }: ResourceLimits,
): { pageSize: string; limitBytes: number }[] {
  const prefix = "hugepages-";
  const isAsked = [...(spec.initContainers ?? []), ...spec.containers].some(
    (each) =>
      Object.keys(each.resources?.limits ?? {}).some((name) =>
        name.startsWith(prefix),
      ),
  );
  if (!isAsked && config.cgroupsPerQos) return [];
  return hugepageSizes.map((pageSize) => {
    const text = resources?.limits?.[`${prefix}${pageSize.replace(/B$/, "i")}`];
    const limitBytes = quantityValue(parseQuantity(text ?? "0"));
    return { pageSize, limitBytes };
  });
}

/** What the node itself needs; what only the cluster needs is killed in the order of its class. */
function isNodeCritical(pod: Pod): boolean {
  return (
    isCriticalPod(pod) && pod.spec.priorityClassName === "system-node-critical"
  );
}

export function oomScoreAdj(
  pod: Pod,
  container: Container,
  machineMemoryBytes: number,
): number {
  if (isNodeCritical(pod)) return -997;
  const qos = qosClass(pod);
  if (qos === "Guaranteed") return -997;
  if (qos === "BestEffort") return 1000;
  const requestOf = ({ resources }: Container): number =>
    memoryBytes({ ...resources?.limits, ...resources?.requests });
  // A sidecar is not killed before the containers it serves.
  const own = isInitSidecar(pod, container)
    ? Math.max(
        requestOf(container),
        Math.min(...pod.spec.containers.map(requestOf)),
      )
    : requestOf(container);
  const requested = own + unclaimedMemoryShare(pod);
  const adjustment =
    1000 - Math.floor((1000 * requested) / Math.max(1, machineMemoryBytes));
  if (adjustment < 3) return 3;
  return adjustment === 1000 ? 999 : adjustment;
}

/** What the pod as a whole asks for beyond its containers, in equal shares. */
function unclaimedMemoryShare({ spec }: Pod): number {
  const { resources, ...rest } = spec;
  const ofPod = memoryBytes(resources?.requests);
  if (ofPod === 0) return 0;
  const ofContainers = podRequests(rest, { overhead: false }).get("memory");
  const count = spec.containers.length + (spec.initContainers?.length ?? 0);
  return Math.floor((ofPod - (ofContainers ?? 0)) / count);
}

function isInitSidecar(pod: Pod, container: Container): boolean {
  return (
    isSidecar(container) &&
    (pod.spec.initContainers ?? []).some(({ name }) => name === container.name)
  );
}

function clamp(value: number, lowest: number | undefined): number {
  return lowest === undefined ? value : Math.max(value, lowest);
}

interface PodResources {
  cpuRequestMillis: number;
  cpuLimitMillis: number;
  memoryRequestBytes: number;
  memoryLimitBytes: number;
  /** The pod has a limit as a whole, or every container has one, so that the sum is one too. */
  cpuLimited: boolean;
  memoryLimited: boolean;
}

/** What the pod's cgroup gets. */
export function podResources({ spec }: Pod): PodResources {
  const requests = podRequests(spec, { fromLimits: true });
  const limits = podLimits(spec);
  const hasLimit = (
    name: string,
    { resources }: Pick<Container, "resources">,
  ): boolean => resourceAmount(name, resources?.limits?.[name] ?? "0") > 0;
  const isLimited = (name: string): boolean =>
    hasLimit(name, spec) ||
    (spec.containers.every((container) => hasLimit(name, container)) &&
      initsAreLimited((container) => hasLimit(name, container)));
  // What an init container may use is counted with the sidecars before it: their limit makes it limited, too.
  const initsAreLimited = (
    isLimitedItself: (container: Container) => boolean,
  ): boolean => {
    let afterLimited = false;
    return (spec.initContainers ?? []).every((container) => {
      const limited = afterLimited || isLimitedItself(container);
      if (isSidecar(container)) afterLimited = limited;
      return limited;
    });
  };
  return {
    cpuRequestMillis: requests.get("cpu") ?? 0,
    cpuLimitMillis: limits.get("cpu") ?? 0,
    memoryRequestBytes: requests.get("memory") ?? 0,
    memoryLimitBytes: limits.get("memory") ?? 0,
    cpuLimited: isLimited("cpu"),
    memoryLimited: isLimited("memory"),
  };
}

/** CAP_SYS_RESOURCE is bit 24 of the effective set; `status` is the text of /proc/self/status. */
export function hasSysResource(status: string): boolean {
  const match = /^CapEff:\s*([0-9a-f]+)/m.exec(status);
  return match !== null && (BigInt(`0x${match[1]!}`) & (1n << 24n)) !== 0n;
}
