// What the agent's ports read, put together.
import { join } from "node:path";
import type { Pod } from "../api/types/core-v1.ts";
import type { AgentParts, Wired } from "./agent-parts.ts";
import { PodAccess } from "./pod-access.ts";
import { podFullName } from "./pods/shape/pod-shape.ts";
import { directoryView } from "./directory-view.ts";
import { podLogDirectory } from "./pods/shape/pod-names.ts";
import { StatsSummary } from "./stats/summary.ts";
import { directoryUsage } from "./volumes/files/directory-usage.ts";
import { VolumeStatistics } from "./volumes/volume-statistics.ts";
import type { ContainerFigures, VolumeStats } from "../api/contracts.ts";
import { containerFigures } from "./stats/containers/container-figures.ts";

/** What the agent's ports read. */
export function wireViews(
  parts: Wired & Pick<AgentParts, "sources">,
): Pick<
  AgentParts,
  "pods" | "access" | "stats" | "directory" | "containerFigures" | "volumeStats"
> {
  const { settings, runtime, clock, runtimePods, changes } = parts;
  const { workers, reports, cgroups } = parts;
  const withStatus = (pod: Pod): Pod => {
    const status = reports.statuses.get(pod);
    return status ? { ...pod, status } : pod;
  };
  const pods = (): readonly Pod[] =>
    workers.list().map(({ pod }) => withStatus(pod));
  const access = new PodAccess({
    runtime,
    rootDirectory: settings.rootDirectory,
    clock,
    pod: (namespace, name) => {
      const found = workers
        .list()
        .find(({ pod }) => podFullName(pod) === `${namespace}/${name}`);
      return found && withStatus(found.pod);
    },
    refresh: (pod) =>
      runtimePods.refresh(pod.metadata.uid ?? "", {
        name: pod.metadata.name,
        namespace: pod.metadata.namespace ?? "default",
      }),
    onChange: (uid, listener) => changes.onPod(uid, listener),
  });
  const volumeStatistics = new VolumeStatistics({
    periodMs: settings.volumeStatsAggPeriodMs,
    clock,
    mounted: (uid) => parts.volumes.mountedOf(uid),
    onAbnormal: (pod, volume, message) =>
      parts.events.pod(
        pod,
        "Warning",
        "VolumeConditionAbnormal",
        `Volume ${volume}: ${message}`,
      ),
  });
  const figures = (): Promise<readonly ContainerFigures[]> =>
    containerFigures({
      mount: settings.cgroupMount,
      rootDirectory: settings.rootDirectory,
      pods,
      runtimePods: () => runtimePods.list(),
      cgroups,
      clock,
    });
  const stats = new StatsSummary({
    runtime,
    nodeName: settings.nodeName,
    rootDirectory: settings.rootDirectory,
    pods,
    volumes: (pod) => volumeStatistics.of(pod),
    podUsage: (pod) => cgroups.podUsage(pod),
    figures,
    logs: (pod, container) =>
      directoryUsage(join(podLogDirectory(settings, pod), container)),
    startedAtMs: clock.now(),
    system: {
      mount: settings.cgroupMount,
      cgroups: {
        kubelet: settings.kubeletCgroups,
        runtime: settings.runtimeCgroups,
        misc: settings.systemCgroups,
        pods: settings.cgroupsPerQos ? cgroups.root : "",
      },
    },
    clock,
  });
  const directory =
    parts.local &&
    directoryView({
      local: parts.local,
      events: parts.local.events,
      pod: (namespace, name) => access.find(namespace, name),
      removeManifest: (pod) => parts.sources.removeManifest(pod),
    });
  const volumeStats = async (): Promise<readonly VolumeStats[]> =>
    (await Promise.all(pods().map((pod) => volumeStatistics.of(pod)))).flat();
  return {
    pods,
    access,
    stats,
    directory,
    containerFigures: figures,
    volumeStats,
  };
}
