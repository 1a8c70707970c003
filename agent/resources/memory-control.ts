// How the kernel treats a container's memory beside its limit: what of it is kept from reclaim or slowed down (gate
// MemoryQoS), how much may be swapped out, and whether an out-of-memory kill takes the whole container. Rules are the
// reference's; all but the swap limit of version 1 needs cgroup v2.
import { existsSync, readFileSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { qosClass } from "../../api/objects/pod-qos.ts";
import type { Container, Pod } from "../../api/types/core-v1.ts";
import type { LinuxResources } from "../../cri/runtime.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { isGateOn } from "../config/feature-gates.ts";
import { memoryBytes } from "../pods/shape/pod-shape.ts";

export interface MemoryControl {
  readonly version: 1 | 2;
  /** Part of the way from the request to the limit from which on allocations are slowed down; undefined: none are. */
  readonly throttlingFactor: number | undefined;
  /** Of the node; undefined: not known. */
  readonly allocatableBytes: () => number | undefined;
  /** undefined: the kernel does not count swap. */
  readonly swap: "none" | "limited" | undefined;
  readonly machineBytes: number;
  readonly swapBytes: number;
  /** All processes of a container end together. */
  readonly killsWhole: boolean;
}

const pageBytes = 4096;
const cgroup2Magic = 0x63_67_72_70;

/** As the machine is and the settings ask. */
export function memoryControl(
  config: Pick<
    AgentConfig,
    | "cgroupMount"
    | "featureGates"
    | "memoryThrottlingFactor"
    | "singleProcessOomKill"
    | "swapBehavior"
  >,
  machineBytes: number,
  allocatableBytes: () => number | undefined,
): MemoryControl {
  const version = isUnifiedMount(config.cgroupMount) ? 2 : 1;
  const limited =
    config.swapBehavior === "LimitedSwap" && isGateOn(config, "NodeSwap");
  return {
    version,
    throttlingFactor:
      version === 2 && isGateOn(config, "MemoryQoS")
        ? config.memoryThrottlingFactor
        : undefined,
    allocatableBytes,
    swap: countsSwap(config.cgroupMount, version)
      ? limited && version === 2
        ? "limited"
        : "none"
      : undefined,
    machineBytes,
    swapBytes: limited ? swapTotal() : 0,
    killsWhole: version === 2 && !config.singleProcessOomKill,
  };
}

function isUnifiedMount(mount: string): boolean {
  try {
    return statfsSync(mount).type === cgroup2Magic;
  } catch {
    return false;
  }
}

/** Version 2 has no such file in its root: our own cgroup is looked at. */
function countsSwap(mount: string, version: 1 | 2): boolean {
  if (version === 1)
    return existsSync(join(mount, "memory/memory.memsw.limit_in_bytes"));
  const own = /^0::(.*)$/m.exec(textOf("/proc/self/cgroup"))?.[1] ?? "/";
  return existsSync(join(mount, own, "memory.swap.max"));
}

function swapTotal(): number {
  const text = textOf("/proc/meminfo");
  return Number(/^SwapTotal:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** @param critical whether the pod is static or belongs to the system: it is never swapped out */
export function containerMemoryControl(
  pod: Pod,
  { resources }: Container,
  control: MemoryControl,
  critical: boolean,
): Pick<LinuxResources, "unified" | "memorySwapLimitBytes"> {
  const limit = memoryBytes(resources?.limits);
  const request = memoryBytes({ ...resources?.limits, ...resources?.requests });
  if (control.version === 1)
    // Memory and swap together: without a memory limit the kernel has nothing to hold it to.
    return control.swap && limit > 0 ? { memorySwapLimitBytes: limit } : {};
  const unified: Record<string, string> = {};
  if (control.killsWhole) unified["memory.oom.group"] = "1";
  if (control.swap)
    unified["memory.swap.max"] = String(
      swapLimit(pod, request, limit, control, critical),
    );
  if (control.throttlingFactor !== undefined) {
    if (request > 0) unified["memory.min"] = String(request);
    const high = throttledAt(request, limit, control);
    if (high !== undefined) unified["memory.high"] = String(high);
  }
  return Object.keys(unified).length > 0 ? { unified } : {};
}

/** A Burstable container's share of the swap is its share of the memory. */
function swapLimit(
  pod: Pod,
  request: number,
  limit: number,
  { swap, machineBytes, swapBytes }: MemoryControl,
  critical: boolean,
): number {
  const mayUse =
    swap === "limited" &&
    !critical &&
    qosClass(pod) === "Burstable" &&
    request > 0 &&
    request !== limit &&
    request <= machineBytes;
  return mayUse ? Math.floor((request / machineBytes) * swapBytes) : 0;
}

function throttledAt(
  request: number,
  limit: number,
  { throttlingFactor = 0, allocatableBytes }: MemoryControl,
): number | undefined {
  if (request === limit) return undefined;
  const most = limit > 0 ? limit : allocatableBytes();
  if (!most) return undefined;
  const at = request + (most - request) * throttlingFactor;
  const high = Math.floor(at / pageBytes) * pageBytes;
  return high > request ? high : undefined;
}
