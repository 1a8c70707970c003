// What a running container has of cpu and memory, and how that differs from what it is to have. Pure. Amounts come from the
// runtime or the kernel: cpu shares and quotas are rounded, memory limits are whole pages, so that equal amounts may look
// different; the least the kernel can do counts as equal to all below it, as at the reference.
import { resourceAmount } from "../../../api/objects/pod-resources.ts";
import type {
  Container,
  ResourceRequirements,
} from "../../../api/types/core-v1.ts";
import type { LinuxResources } from "../../../cri/runtime.ts";
import { cpuWeight as weightOf } from "../../cgroups/v2.ts";
import { cpuShares } from "../../resources/linux-resources.ts";

/** undefined: not limited, or not reported. */
export interface ActualResources {
  readonly cpuRequestMillis?: number;
  readonly cpuLimitMillis?: number;
  readonly memoryLimitBytes?: number;
  /** Of cgroup version 2, where it is all that is known of the request: several requests have the same weight. */
  readonly cpuWeight?: number;
}

export type ResizedResource = "cpu" | "memory";

/** How much more, less or as much a container is to have: > 0, < 0, 0. */
export interface ContainerResize {
  readonly cpu: number;
  readonly memory: number;
  /** Its policy asks for a restart. */
  readonly restart: boolean;
}

/** Least shares of the kernel: as much as 2 m. */
const leastRequestMillis = 2;
/** Least quota of the kernel, 1 ms in each 100 ms. */
const leastLimitMillis = 10;
const pageBytes = 4096;
/** Where there is no limit version 1 of cgroups says the greatest number of pages. */
const unlimitedBytes = 2 ** 62;

export function actualResources(resources: LinuxResources): ActualResources {
  const { cpuShares = 0, cpuQuota = 0, cpuPeriod = 0 } = resources;
  const { memoryLimitBytes = 0 } = resources;
  const cpuWeight = resources.unified?.["cpu.weight"];
  return {
    ...(cpuWeight === undefined ? {} : { cpuWeight: Number(cpuWeight) }),
    ...(cpuShares > 0
      ? { cpuRequestMillis: Math.ceil((cpuShares * 1000) / 1024) }
      : {}),
    ...(cpuQuota > 0 && cpuPeriod > 0
      ? { cpuLimitMillis: Math.floor((cpuQuota * 1000) / cpuPeriod) }
      : {}),
    ...(memoryLimitBytes > 0 && memoryLimitBytes < unlimitedBytes
      ? { memoryLimitBytes }
      : {}),
  };
}

export function amountIn(
  list: Readonly<Record<string, string>> | undefined,
  name: ResizedResource,
): number {
  return resourceAmount(name, list?.[name] ?? "0");
}

function difference(wanted: number, actual: number, least: number): number {
  return wanted <= least && actual <= least ? 0 : wanted - actual;
}

function requestDifference(wanted: number, actual: ActualResources): number {
  if (actual.cpuWeight === weightOf(cpuShares(wanted))) return 0;
  return difference(wanted, actual.cpuRequestMillis ?? 0, leastRequestMillis);
}

function memoryDifference(wanted: number, actual: number): number {
  return Math.floor(wanted / pageBytes) === Math.floor(actual / pageBytes)
    ? 0
    : wanted - actual;
}

/** undefined: it has what it is to have. `container` with the resources it was given. */
export function containerResize(
  container: Container,
  actual: ActualResources,
): ContainerResize | undefined {
  const { limits, requests } = container.resources ?? {};
  const cpuLimit = difference(
    amountIn(limits, "cpu"),
    actual.cpuLimitMillis ?? 0,
    leastLimitMillis,
  );
  const cpuRequest = requestDifference(amountIn(requests, "cpu"), actual);
  const memory = memoryDifference(
    amountIn(limits, "memory"),
    actual.memoryLimitBytes ?? 0,
  );
  const cpu = cpuLimit || cpuRequest;
  if (cpu === 0 && memory === 0) return undefined;
  const restarts = (name: ResizedResource): boolean =>
    (container.resizePolicy ?? []).some(
      (policy) =>
        policy.resourceName === name &&
        policy.restartPolicy === "RestartContainer",
    );
  return {
    cpu,
    memory,
    restart:
      (cpu !== 0 && restarts("cpu")) || (memory !== 0 && restarts("memory")),
  };
}

/** Has the container what it was given, of what its resources name? */
export function hasAllocated(
  { resources }: Container,
  actual: ActualResources,
): boolean {
  const { limits, requests } = resources ?? {};
  return (
    (requests?.cpu === undefined ||
      requestDifference(amountIn(requests, "cpu"), actual) === 0) &&
    (limits?.cpu === undefined ||
      difference(
        amountIn(limits, "cpu"),
        actual.cpuLimitMillis ?? 0,
        leastLimitMillis,
      ) === 0) &&
    (limits?.memory === undefined ||
      memoryDifference(
        amountIn(limits, "memory"),
        actual.memoryLimitBytes ?? 0,
      ) === 0)
  );
}

/** For the container's status: what was given, with the amounts that it has where those are others. */
export function reportedResources(
  given: ResourceRequirements,
  actual: ActualResources | undefined,
  before: ResourceRequirements | undefined,
): ResourceRequirements {
  const reported: ResourceRequirements = { ...given };
  if (given.limits) {
    const limits = { ...given.limits };
    const cpu = actual?.cpuLimitMillis;
    if (cpu === undefined) keepBefore(limits, before?.limits, "cpu");
    else if (difference(amountIn(limits, "cpu"), cpu, leastLimitMillis) !== 0)
      limits.cpu = cpuText(cpu);
    const memory = actual?.memoryLimitBytes;
    if (memory === undefined) keepBefore(limits, before?.limits, "memory");
    else if (memoryDifference(amountIn(limits, "memory"), memory) !== 0)
      limits.memory = memoryText(memory);
    reported.limits = limits;
  }
  if (given.requests) {
    const requests = { ...given.requests };
    const cpu = actual?.cpuRequestMillis;
    if (actual === undefined || cpu === undefined)
      keepBefore(requests, before?.requests, "cpu");
    else if (requestDifference(amountIn(requests, "cpu"), actual) !== 0)
      requests.cpu = cpuText(cpu);
    reported.requests = requests;
  }
  return reported;
}

function keepBefore(
  list: Record<string, string>,
  before: Readonly<Record<string, string>> | undefined,
  name: ResizedResource,
): void {
  const known = before?.[name];
  if (known !== undefined) list[name] = known;
}

function cpuText(millis: number): string {
  return millis % 1000 === 0 ? String(millis / 1000) : `${millis}m`;
}

function memoryText(bytes: number): string {
  for (const [unit, suffix] of [
    [1024 ** 3, "Gi"],
    [1024 ** 2, "Mi"],
    [1024, "Ki"],
  ] as const)
    if (bytes % unit === 0) return `${bytes / unit}${suffix}`;
  return String(bytes);
}
