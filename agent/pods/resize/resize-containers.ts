// Brings running containers and their pod's cgroup to the resources they were given, in the reference's order: memory before
// cpu; the pod's cgroup grows before its containers and shrinks after them; containers that give back come first; a memory
// limit is never set below what the pod uses.
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import type { LinuxResources, Runtime } from "../../../cri/runtime.ts";
import {
  containerResources,
  cpuQuota,
  cpuShares,
  podResources,
  type ResourceLimits,
} from "../../resources/linux-resources.ts";
import {
  readLimits,
  readMemoryUsage,
  type CgroupFiles,
} from "./container-cgroup.ts";
import type {
  ActualResources,
  ContainerResize,
  ResizedResource,
} from "./container-resources.ts";

export interface ResizeActuation {
  readonly runtime: Pick<Runtime, "updateContainerResources">;
  readonly cgroups: {
    podPath(pod: Pod): string;
    /** Sets all of the pod's limits. */
    createPod(pod: Pod): Promise<string>;
    limit(
      path: string,
      limits: {
        cpuShares?: number;
        cpuQuota?: number;
        cpuPeriod?: number;
        memoryLimitBytes?: number;
      },
    ): Promise<void>;
  };
  readonly files: CgroupFiles;
  readonly resourceLimits: ResourceLimits;
}

/** Of one running container, without a restart. */
export interface Change extends ContainerResize {
  readonly id: string;
  readonly container: Container;
}

interface PodResize {
  /** With what it was given. */
  readonly pod: Pod;
  readonly changes: readonly Change[];
  /** By container id. */
  readonly actual: ReadonlyMap<string, ActualResources>;
  /** What a container has now. */
  readonly read: (id: string) => Promise<LinuxResources | undefined>;
  /** What is known of a container's resources is no longer so. */
  readonly onUpdate: (id: string) => void;
}

/** Rejects at the first step that fails; those before it were done. */
export async function resizeContainers(
  context: ResizeActuation,
  resize: PodResize,
): Promise<void> {
  for (const name of ["memory", "cpu"] as const) {
    const ofIt = resize.changes.filter((change) => change[name] !== 0);
    if (ofIt.length === 0) continue;
    if (name === "memory") await growMemory(context, resize.pod);
    else await growCpu(context, resize.pod);
    for (const change of ofIt.sort((a, b) => a[name] - b[name]))
      await update(context, resize, change, name);
  }
  await context.cgroups.createPod(resize.pod);
}

async function growMemory(
  { cgroups, files }: ResizeActuation,
  pod: Pod,
): Promise<void> {
  const path = cgroups.podPath(pod);
  const { memoryLimited, memoryLimitBytes } = podResources(pod);
  const has = await readLimits(files, path);
  if (!has || !memoryLimited) return;
  const usage = await readMemoryUsage(files, path);
  if (usage !== undefined && usage >= memoryLimitBytes)
    throw new Error(
      `aborting attempt to set pod memory limit less than current memory usage for pod ${pod.metadata.name}`,
    );
  if (memoryLimitBytes > (has.memoryLimitBytes ?? Infinity))
    await cgroups.limit(path, { memoryLimitBytes });
}

async function growCpu(
  { cgroups, files, resourceLimits: { config } }: ResizeActuation,
  pod: Pod,
): Promise<void> {
  const path = cgroups.podPath(pod);
  const wanted = podResources(pod);
  const has = await readLimits(files, path);
  if (!has) return;
  const cpuPeriod = config.cpuCfsQuotaPeriodMs * 1000;
  const quota =
    config.cpuCfsQuota && wanted.cpuLimited
      ? cpuQuota(wanted.cpuLimitMillis, cpuPeriod)
      : undefined;
  const hasQuota = has.cpuQuota ?? -1;
  if (quota !== undefined && hasQuota > 0 && quota > hasQuota)
    await cgroups.limit(path, { cpuQuota: quota, cpuPeriod });
  const shares = cpuShares(wanted.cpuRequestMillis);
  if (shares > (has.cpuShares ?? 0))
    await cgroups.limit(path, { cpuShares: shares });
}

async function update(
  { runtime, resourceLimits }: ResizeActuation,
  { pod, actual, read, onUpdate }: PodResize,
  { id, container }: Change,
  name: ResizedResource,
): Promise<void> {
  const {
    oomScoreAdj: _,
    hugepageLimits: __,
    memoryLimitBytes,
    ...cpu
  } = containerResources(pod, container, resourceLimits);
  const had = actual.get(id)?.memoryLimitBytes;
  // Both are sent, as runtimes take what is not named for no limit; of the other one what the container has by now.
  const memory =
    name === "memory" ? memoryLimitBytes : (memoryLimitBytes ?? had);
  onUpdate(id);
  await runtime.updateContainerResources(id, {
    ...(name === "cpu" ? cpu : cpuOf(await read(id), cpu)),
    ...(memory === undefined ? {} : { memoryLimitBytes: memory }),
  });
}

function cpuOf(
  read: LinuxResources | undefined,
  wanted: LinuxResources,
): LinuxResources {
  if (!read) return wanted;
  const { cpuShares: shares, cpuQuota: quota = -1, cpuPeriod } = read;
  return {
    ...(shares === undefined ? {} : { cpuShares: shares }),
    ...(quota > 0
      ? {
          cpuQuota: quota,
          ...(cpuPeriod === undefined ? {} : { cpuPeriod }),
        }
      : {}),
  };
}
