// What pods use, for eviction: memory and processes from the pod's cgroup, writable layers from the runtime, logs, emptyDir
// volumes and the agent's files that containers write by reading their directories. Only asked for while the node is short
// or a pod has limits of its own.
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../api/clock.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { Runtime } from "../../cri/runtime.ts";
import type { ContainerStats } from "../../cri/usage.ts";
import type {
  ContainerUsage,
  DiskUsage,
  PodUsage,
} from "../../eviction/pod-usage.ts";
import type { CgroupManager } from "../cgroups/cgroup-manager.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { containerNameLabel, podUidLabel } from "../pods/shape/labels.ts";
import { podLogDirectory } from "../pods/shape/pod-names.ts";
import {
  blockBytes,
  directoryUsage,
} from "../volumes/files/directory-usage.ts";
import { propagatedMounts } from "../volumes/propagated-mounts.ts";
import { emptyDirPath } from "../volumes/types/empty-dir.ts";

const nothing: DiskUsage = { bytes: 0, inodes: 0 };

interface PodUsageSources {
  readonly runtime: Pick<Runtime, "containerStats">;
  readonly cgroups: Pick<CgroupManager, "podUsage">;
  readonly config: AgentConfig;
  readonly clock: Clock;
}

/** Where memory is short the runtime may need minutes for an answer. */
const runtimePatienceMs = 2000;

/** By uid; with `disk` volumes and logs too. */
export async function podUsage(
  sources: PodUsageSources,
  pods: readonly Pod[],
  disk: boolean,
): Promise<Map<string, PodUsage>> {
  const { config, cgroups } = sources;
  const ofCgroups = await Promise.all(pods.map((pod) => cgroups.podUsage(pod)));
  // A pod without a cgroup uses nothing yet, where others have theirs.
  const sufficient =
    !disk &&
    ofCgroups.some(({ workingSetBytes }) => workingSetBytes !== undefined);
  const stats = await containerStats(sources, sufficient);
  const usage = new Map<string, PodUsage>();
  for (const [index, pod] of pods.entries()) {
    const uid = pod.metadata.uid ?? "";
    const containers: ContainerUsage[] = [];
    for (const container of stats)
      if (container.labels[podUidLabel] === uid)
        containers.push(await containerUsage(config, pod, container, disk));
    const emptyDirs = new Map<string, DiskUsage>();
    for (const { name, emptyDir } of disk ? (pod.spec.volumes ?? []) : [])
      if (emptyDir && emptyDir.medium !== "Memory") {
        const path = emptyDirPath(config, uid, name);
        const mounts = await propagatedMounts(pod, name, path);
        emptyDirs.set(name, await directoryUsage(path, mounts));
      }
    const { processes = 0, workingSetBytes: memoryBytes } = ofCgroups[index]!;
    const agentFiles = disk ? await agentFilesUsage(config, uid) : nothing;
    usage.set(uid, {
      ...{ containers, emptyDirs, agentFiles, processes },
      ...(memoryBytes === undefined ? {} : { memoryBytes }),
    });
  }
  return usage;
}

/** @param optional what cgroups say is enough: a runtime that does not answer soon is not waited for */
async function containerStats(
  { runtime, clock }: PodUsageSources,
  optional: boolean,
): Promise<readonly ContainerStats[]> {
  const answer = runtime.containerStats();
  if (!optional) return await answer;
  return await new Promise((resolve) => {
    const timer = clock.after(runtimePatienceMs, () => resolve([]));
    void answer
      .catch(() => [])
      .then((stats) => {
        timer.cancel();
        resolve(stats);
      });
  });
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

/** They lie on the node's disk, and a container may write as much into them as it likes. */
export async function agentFilesUsage(
  { rootDirectory }: Pick<AgentConfig, "rootDirectory">,
  uid: string,
): Promise<DiskUsage> {
  const directory = join(rootDirectory, "pods", uid);
  const hosts = await lstat(join(directory, "etc-hosts")).catch(
    () => undefined,
  );
  const messages = await directoryUsage(join(directory, "containers"));
  return {
    bytes: messages.bytes + (hosts ? hosts.blocks * blockBytes : 0),
    inodes: messages.inodes + (hosts ? 1 : 0),
  };
}
