// From requests and limits to cgroup values, as the reference maps them: shares from the request, quota from the limit,
// oom_score_adj from the quality of service.
import { parseQuantity, quantityValue } from "../../api/quantity.ts";
import type {
  Container,
  Pod,
  ResourceRequirements,
} from "../../api/types/core-v1.ts";
import type { LinuxResources } from "../../cri/runtime.ts";
import type { AgentConfig } from "../config.ts";
import { cpuMillis, isSidecar, memoryBytes, qosClass } from "./pod-shape.ts";

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
  config: Pick<AgentConfig, "cpuCfsQuota" | "cpuCfsQuotaPeriodMs">;
  machineMemoryBytes: number;
  /** No process may go below it where CAP_SYS_RESOURCE is missing; undefined: no bound. */
  lowestOomScoreAdj: number | undefined;
}

export function containerResources(
  pod: Pod,
  container: Container,
  limits: ResourceLimits,
): LinuxResources {
  const resources = container.resources;
  const requests = { ...resources?.limits, ...resources?.requests };
  const periodMicroseconds = limits.config.cpuCfsQuotaPeriodMs * 1000;
  const result: LinuxResources = {
    cpuShares: cpuShares(cpuMillis(requests)),
    oomScoreAdj: clamp(
      oomScoreAdj(pod, container, limits.machineMemoryBytes),
      limits.lowestOomScoreAdj,
    ),
  };
  const memoryLimitBytes = memoryBytes(resources?.limits);
  if (memoryLimitBytes > 0) result.memoryLimitBytes = memoryLimitBytes;
  if (limits.config.cpuCfsQuota) {
    const quota = cpuQuota(cpuMillis(resources?.limits), periodMicroseconds);
    if (quota !== undefined) {
      result.cpuQuota = quota;
      result.cpuPeriod = periodMicroseconds;
    }
  }
  const hugepageLimits = hugepages(resources);
  if (hugepageLimits.length > 0) result.hugepageLimits = hugepageLimits;
  return result;
}

function hugepages(
  resources: ResourceRequirements | undefined,
): { pageSize: string; limitBytes: number }[] {
  return Object.entries(resources?.limits ?? {})
    .filter(([name]) => name.startsWith("hugepages-"))
    .map(([name, text]) => ({
      pageSize: name.slice("hugepages-".length).replace(/i$/, "B"),
      limitBytes: quantityValue(parseQuantity(text)),
    }));
}

export function oomScoreAdj(
  pod: Pod,
  container: Container,
  machineMemoryBytes: number,
): number {
  if (
    (pod.spec.priority ?? 0) >= 2_000_000_000 ||
    pod.spec.priorityClassName === "system-node-critical"
  )
    return -997;
  const qos = qosClass(pod);
  if (qos === "Guaranteed") return -997;
  if (qos === "BestEffort") return 1000;
  const requested = memoryBytes({
    ...container.resources?.limits,
    ...container.resources?.requests,
  });
  const adjustment =
    1000 - Math.floor((1000 * requested) / Math.max(1, machineMemoryBytes));
  if (adjustment < 3) return 3;
  return adjustment === 1000 ? 999 : adjustment;
}

function clamp(value: number, lowest: number | undefined): number {
  return lowest === undefined ? value : Math.max(value, lowest);
}

export interface PodResources {
  cpuRequestMillis: number;
  cpuLimitMillis: number;
  memoryRequestBytes: number;
  memoryLimitBytes: number;
  /** Every container has a limit, so that the sum is one too. */
  cpuLimited: boolean;
  memoryLimited: boolean;
}

/** What the pod as a whole asks for: the greater of its app containers with sidecars, and each init container's moment. */
export function podResources(pod: Pod): PodResources {
  const zero = { cpuRequest: 0, cpuLimit: 0, memoryRequest: 0, memoryLimit: 0 };
  const of = (container: Container): typeof zero => {
    const limits = container.resources?.limits;
    const requests = { ...limits, ...container.resources?.requests };
    return {
      cpuRequest: cpuMillis(requests),
      cpuLimit: cpuMillis(limits),
      memoryRequest: memoryBytes(requests),
      memoryLimit: memoryBytes(limits),
    };
  };
  const add = (a: typeof zero, b: typeof zero): typeof zero => ({
    cpuRequest: a.cpuRequest + b.cpuRequest,
    cpuLimit: a.cpuLimit + b.cpuLimit,
    memoryRequest: a.memoryRequest + b.memoryRequest,
    memoryLimit: a.memoryLimit + b.memoryLimit,
  });
  const max = (a: typeof zero, b: typeof zero): typeof zero => ({
    cpuRequest: Math.max(a.cpuRequest, b.cpuRequest),
    cpuLimit: Math.max(a.cpuLimit, b.cpuLimit),
    memoryRequest: Math.max(a.memoryRequest, b.memoryRequest),
    memoryLimit: Math.max(a.memoryLimit, b.memoryLimit),
  });
  let cpuLimited = true;
  let memoryLimited = true;
  let running = zero;
  let peak = zero;
  for (const container of pod.spec.initContainers ?? []) {
    const own = of(container);
    if (own.cpuLimit === 0) cpuLimited = false;
    if (own.memoryLimit === 0) memoryLimited = false;
    if (isSidecar(container)) {
      running = add(running, own);
      peak = max(peak, running);
    } else peak = max(peak, add(running, own));
  }
  for (const container of pod.spec.containers) {
    const own = of(container);
    if (own.cpuLimit === 0) cpuLimited = false;
    if (own.memoryLimit === 0) memoryLimited = false;
    running = add(running, own);
  }
  const total = max(peak, running);
  const overheadCpu = cpuMillis(pod.spec.overhead);
  const overheadMemory = memoryBytes(pod.spec.overhead);
  return {
    cpuRequestMillis: total.cpuRequest + overheadCpu,
    cpuLimitMillis: total.cpuLimit + (total.cpuLimit > 0 ? overheadCpu : 0),
    memoryRequestBytes: total.memoryRequest + overheadMemory,
    memoryLimitBytes:
      total.memoryLimit + (total.memoryLimit > 0 ? overheadMemory : 0),
    cpuLimited,
    memoryLimited,
  };
}

/** CAP_SYS_RESOURCE is bit 24 of the effective set; `status` is the text of /proc/self/status. */
export function hasSysResource(status: string): boolean {
  const match = /^CapEff:\s*([0-9a-f]+)/m.exec(status);
  return match !== null && (BigInt(`0x${match[1]!}`) & (1n << 24n)) !== 0n;
}
