// What pods use, for eviction: memory and writable layers from the runtime, processes from the pod's cgroup, logs and
// emptyDir volumes by reading their directories. Only asked for while the node is short or a pod has limits of its own.
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Pod } from "../../api/types/core-v1.ts";
import type { ContainerStats, Runtime } from "../../cri/runtime.ts";
import type {
  ContainerUsage,
  DiskUsage,
  PodUsage,
} from "../../eviction/pod-usage.ts";
import type { CgroupManager } from "../cgroups/cgroup-manager.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { containerNameLabel, podUidLabel } from "../pods/shape/labels.ts";
import { podLogDirectory } from "../pods/shape/pod-names.ts";
import { emptyDirPath } from "../volumes/types/empty-dir.ts";

const blockBytes = 512;
const nothing: DiskUsage = { bytes: 0, inodes: 0 };

/** Of all files and directories below, each inode once; what vanishes meanwhile counts nothing. */
async function directoryUsage(path: string): Promise<DiskUsage> {
  const seen = new Set<number>();
  const pending = [path];
  const sum = { bytes: 0, inodes: 0 };
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const directory = next;
    const entries = await readdir(directory, { withFileTypes: true }).catch(
      () => [],
    );
    for (const entry of entries) {
      const child = join(directory, entry.name);
      const found = await lstat(child).catch(() => undefined);
      if (!found || (found.nlink > 1 && seen.has(found.ino))) continue;
      if (found.nlink > 1) seen.add(found.ino);
      sum.bytes += found.blocks * blockBytes;
      sum.inodes++;
      if (entry.isDirectory()) pending.push(child);
    }
  }
  return sum;
}

interface PodUsageSources {
  readonly runtime: Pick<Runtime, "containerStats">;
  readonly cgroups: Pick<CgroupManager, "podUsage">;
  readonly config: AgentConfig;
}

/** By uid; with `disk` volumes and logs too. */
export async function podUsage(
  sources: PodUsageSources,
  pods: readonly Pod[],
  disk: boolean,
): Promise<Map<string, PodUsage>> {
  const { config, cgroups } = sources;
  const stats = await sources.runtime.containerStats();
  const usage = new Map<string, PodUsage>();
  for (const pod of pods) {
    const uid = pod.metadata.uid ?? "";
    const containers: ContainerUsage[] = [];
    for (const container of stats)
      if (container.labels[podUidLabel] === uid)
        containers.push(await containerUsage(config, pod, container, disk));
    const emptyDirs = new Map<string, DiskUsage>();
    for (const { name, emptyDir } of disk ? (pod.spec.volumes ?? []) : [])
      if (emptyDir && emptyDir.medium !== "Memory")
        emptyDirs.set(
          name,
          await directoryUsage(emptyDirPath(config, uid, name)),
        );
    const { processes = 0 } = await cgroups.podUsage(pod);
    usage.set(uid, { containers, emptyDirs, processes });
  }
  return usage;
}

async function containerUsage(
  config: AgentConfig,
  pod: Pod,
  container: ContainerStats,
  disk: boolean,
): Promise<ContainerUsage> {
  const name = container.labels[containerNameLabel] ?? container.name;
  return {
    name,
    memoryBytes: container.memoryWorkingSetBytes ?? 0,
    writableLayer: {
      bytes: container.writableLayer?.usedBytes ?? 0,
      inodes: container.writableLayer?.inodesUsed ?? 0,
    },
    logs: disk
      ? await directoryUsage(join(podLogDirectory(config, pod), name))
      : nothing,
  };
}
