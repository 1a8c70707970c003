// The metric families of /metrics/resource, and those of volumes for /metrics, made from the stats summary: the names,
// types and labels of the reference, as far as the summary has the figures.
import type { NodeAgentView, VolumeStats } from "../api/contracts.ts";
import { Family } from "../api/metrics/family.ts";

/** The parts of the kubelet's stats.Summary that are used here. */
interface Cpu {
  time?: string;
  usageCoreNanoSeconds?: number;
}
interface Memory {
  time?: string;
  workingSetBytes?: number;
}
interface Swap {
  time?: string;
  swapUsageBytes?: number;
}
interface Container {
  name: string;
  startTime?: string;
  cpu?: Cpu;
  memory?: Memory;
  swap?: Swap;
}
interface Summary {
  node?: {
    nodeName?: string;
    startTime?: string;
    cpu?: Cpu;
    memory?: Memory;
    swap?: Swap;
  };
  pods?: {
    podRef?: { name?: string; namespace?: string };
    cpu?: Cpu;
    memory?: Memory;
    swap?: Swap;
    containers?: Container[];
  }[];
}

const seconds = (cpu: Cpu | undefined): number | undefined =>
  cpu?.usageCoreNanoSeconds === undefined
    ? undefined
    : cpu.usageCoreNanoSeconds / 1e9;
const epochSeconds = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : Date.parse(time) / 1000;

export function resourceMetrics(summary: Summary, failed: boolean): Family[] {
  const containerCpu = new Family(
    "container_cpu_usage_seconds_total",
    "counter",
    "[STABLE] Cumulative cpu time consumed by the container in core-seconds",
  );
  const containerMemory = new Family(
    "container_memory_working_set_bytes",
    "gauge",
    "[STABLE] Current working set of the container in bytes",
  );
  const containerStart = new Family(
    "container_start_time_seconds",
    "gauge",
    "[STABLE] Start time of the container since unix epoch in seconds",
  );
  const containerSwap = new Family(
    "container_swap_usage_bytes",
    "gauge",
    "[ALPHA] Current amount of the container swap usage in bytes. Reported only on non-windows systems",
  );
  const nodeCpu = new Family(
    "node_cpu_usage_seconds_total",
    "counter",
    "[STABLE] Cumulative cpu time consumed by the node in core-seconds",
  );
  const nodeMemory = new Family(
    "node_memory_working_set_bytes",
    "gauge",
    "[STABLE] Current working set of the node in bytes",
  );
  const nodeSwap = new Family(
    "node_swap_usage_bytes",
    "gauge",
    "[ALPHA] Current swap usage of the node in bytes. Reported only on non-windows systems",
  );
  const podCpu = new Family(
    "pod_cpu_usage_seconds_total",
    "counter",
    "[STABLE] Cumulative cpu time consumed by the pod in core-seconds",
  );
  const podMemory = new Family(
    "pod_memory_working_set_bytes",
    "gauge",
    "[STABLE] Current working set of the pod in bytes",
  );
  const podSwap = new Family(
    "pod_swap_usage_bytes",
    "gauge",
    "[ALPHA] Current amount of the pod swap usage in bytes. Reported only on non-windows systems",
  );
  const error = new Family(
    "resource_scrape_error",
    "gauge",
    "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise",
  );
  const { node, pods = [] } = summary;
  nodeCpu.add({}, seconds(node?.cpu), node?.cpu?.time);
  nodeMemory.add({}, node?.memory?.workingSetBytes, node?.memory?.time);
  nodeSwap.add({}, node?.swap?.swapUsageBytes, node?.swap?.time);
  for (const pod of pods) {
    const labels = {
      namespace: pod.podRef?.namespace ?? "",
      pod: pod.podRef?.name ?? "",
    };
    podCpu.add(labels, seconds(pod.cpu), pod.cpu?.time);
    podMemory.add(labels, pod.memory?.workingSetBytes, pod.memory?.time);
    podSwap.add(labels, pod.swap?.swapUsageBytes, pod.swap?.time);
    for (const container of pod.containers ?? []) {
      const own = { container: container.name, ...labels };
      containerCpu.add(own, seconds(container.cpu), container.cpu?.time);
      containerMemory.add(
        own,
        container.memory?.workingSetBytes,
        container.memory?.time,
      );
      containerStart.add(own, epochSeconds(container.startTime));
      containerSwap.add(
        own,
        container.swap?.swapUsageBytes,
        container.swap?.time,
      );
    }
  }
  error.add({}, failed ? 1 : 0);
  return [
    containerCpu,
    containerMemory,
    containerStart,
    containerSwap,
    nodeCpu,
    nodeMemory,
    nodeSwap,
    podCpu,
    podMemory,
    podSwap,
    error,
  ];
}

const volumeFigures = [
  ["capacity_bytes", "capacityBytes", "Capacity in bytes of the volume"],
  [
    "available_bytes",
    "availableBytes",
    "Number of available bytes in the volume",
  ],
  ["used_bytes", "usedBytes", "Number of used bytes in the volume"],
  ["inodes", "inodes", "Maximum number of inodes in the volume"],
  ["inodes_free", "inodesFree", "Number of free inodes in the volume"],
  ["inodes_used", "inodesUsed", "Number of used inodes in the volume"],
] as const;

/** Of claims; one that several pods use is there once. */
export function volumeMetrics(volumes: readonly VolumeStats[]): Family[] {
  const families = volumeFigures.map(
    ([name, , help]) =>
      new Family(`kubelet_volume_stats_${name}`, "gauge", `[ALPHA] ${help}`),
  );
  const abnormal = new Family(
    "kubelet_volume_stats_health_status_abnormal",
    "gauge",
    "[ALPHA] Abnormal volume health status. The count is either 1 or 0. 1 indicates the volume is unhealthy, 0 indicates volume is healthy",
  );
  const seen = new Set<string>();
  for (const volume of volumes) {
    const { pvcRef, volumeHealthStats } = volume;
    if (!pvcRef || seen.has(`${pvcRef.namespace}/${pvcRef.name}`)) continue;
    seen.add(`${pvcRef.namespace}/${pvcRef.name}`);
    const labels = {
      namespace: pvcRef.namespace,
      persistentvolumeclaim: pvcRef.name,
    };
    for (const [index, [, of]] of volumeFigures.entries())
      families[index]!.add(labels, volume[of]);
    if (volumeHealthStats)
      abnormal.add(labels, volumeHealthStats.abnormal ? 1 : 0);
  }
  return [...families, abnormal];
}

/** The summary, or an empty one with `failed`. */
export async function readSummary(
  view: NodeAgentView,
): Promise<{ summary: Summary; failed: boolean }> {
  try {
    return {
      summary: (await view.statsSummary(true)) as Summary,
      failed: false,
    };
  } catch {
    return { summary: {}, failed: true };
  }
}
