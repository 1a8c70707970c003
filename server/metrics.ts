// The metric families of /metrics/resource and /metrics/cadvisor, made from the stats summary: the names, types
// and labels of the reference, as far as the summary has the figures.
import type { NodeAgentView } from "../api/contracts.ts";
import { Family, type Labels } from "../api/metrics/family.ts";

/** The parts of the kubelet's stats.Summary that are used here. */
interface Cpu {
  time?: string;
  usageCoreNanoSeconds?: number;
}
interface Memory {
  time?: string;
  workingSetBytes?: number;
  usageBytes?: number;
  rssBytes?: number;
  pageFaults?: number;
  majorPageFaults?: number;
}
interface Swap {
  time?: string;
  swapUsageBytes?: number;
}
interface Interface {
  name?: string;
  rxBytes?: number;
  rxErrors?: number;
  txBytes?: number;
  txErrors?: number;
}
interface Network extends Interface {
  interfaces?: Interface[];
}
interface Container {
  name: string;
  startTime?: string;
  cpu?: Cpu;
  memory?: Memory;
  swap?: Swap;
  rootfs?: { usedBytes?: number; inodesUsed?: number };
}
interface Summary {
  node?: {
    nodeName?: string;
    startTime?: string;
    cpu?: Cpu;
    memory?: Memory;
    swap?: Swap;
    network?: Network;
  };
  pods?: {
    podRef?: { name?: string; namespace?: string };
    cpu?: Cpu;
    memory?: Memory;
    swap?: Swap;
    network?: Network;
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

/** In the order they are written. */
function cadvisorFamilies() {
  return {
    cpu: new Family(
      "container_cpu_usage_seconds_total",
      "counter",
      "Cumulative cpu time consumed in seconds.",
    ),
    workingSet: new Family(
      "container_memory_working_set_bytes",
      "gauge",
      "Current working set in bytes.",
    ),
    usage: new Family(
      "container_memory_usage_bytes",
      "gauge",
      "Current memory usage in bytes, including all memory regardless of when it was accessed",
    ),
    rss: new Family("container_memory_rss", "gauge", "Size of RSS in bytes."),
    faults: new Family(
      "container_memory_failures_total",
      "counter",
      "Cumulative count of memory allocation failures.",
    ),
    fsUsage: new Family(
      "container_fs_usage_bytes",
      "gauge",
      "Number of bytes that are consumed by the container on this filesystem.",
    ),
    fsInodes: new Family(
      "container_fs_inodes_total",
      "gauge",
      "Number of Inodes",
    ),
    start: new Family(
      "container_start_time_seconds",
      "gauge",
      "Start time of the container since unix epoch in seconds.",
    ),
    received: new Family(
      "container_network_receive_bytes_total",
      "counter",
      "Cumulative count of bytes received",
    ),
    receiveErrors: new Family(
      "container_network_receive_errors_total",
      "counter",
      "Cumulative count of errors encountered while receiving",
    ),
    sent: new Family(
      "container_network_transmit_bytes_total",
      "counter",
      "Cumulative count of bytes transmitted",
    ),
    sendErrors: new Family(
      "container_network_transmit_errors_total",
      "counter",
      "Cumulative count of errors encountered while transmitting",
    ),
  };
}

type CadvisorFamilies = ReturnType<typeof cadvisorFamilies>;

function addNetwork(
  to: CadvisorFamilies,
  labels: Labels,
  stats: Network | undefined,
): void {
  const interfaces =
    stats?.interfaces ?? (stats?.name === undefined ? [] : [stats]);
  for (const device of interfaces) {
    const own = { ...labels, interface: device.name ?? "" };
    to.received.add(own, device.rxBytes);
    to.receiveErrors.add(own, device.rxErrors);
    to.sent.add(own, device.txBytes);
    to.sendErrors.add(own, device.txErrors);
  }
}

function addAmounts(
  to: CadvisorFamilies,
  labels: Labels,
  { cpu, memory }: { cpu?: Cpu; memory?: Memory },
): void {
  to.cpu.add({ ...labels, cpu: "total" }, seconds(cpu), cpu?.time);
  to.workingSet.add(labels, memory?.workingSetBytes, memory?.time);
  to.usage.add(labels, memory?.usageBytes, memory?.time);
  to.rss.add(labels, memory?.rssBytes, memory?.time);
  to.faults.add(
    { ...labels, failure_type: "pgfault", scope: "container" },
    memory?.pageFaults,
  );
  to.faults.add(
    { ...labels, failure_type: "pgmajfault", scope: "container" },
    memory?.majorPageFaults,
  );
}

export function cadvisorMetrics(summary: Summary): Family[] {
  const families = cadvisorFamilies();
  const root = {
    container: "",
    id: "/",
    image: "",
    name: "",
    namespace: "",
    pod: "",
  };
  if (summary.node !== undefined) {
    addAmounts(families, root, summary.node);
    addNetwork(families, root, summary.node.network);
    families.start.add(root, epochSeconds(summary.node.startTime));
  }
  for (const pod of summary.pods ?? []) {
    const base = {
      id: "",
      image: "",
      name: "",
      namespace: pod.podRef?.namespace ?? "",
      pod: pod.podRef?.name ?? "",
    };
    addAmounts(families, { container: "", ...base }, pod);
    addNetwork(families, { container: "", ...base }, pod.network);
    for (const container of pod.containers ?? []) {
      const labels = { container: container.name, ...base };
      addAmounts(families, labels, container);
      families.fsUsage.add(
        { ...labels, device: "" },
        container.rootfs?.usedBytes,
      );
      families.start.add(labels, epochSeconds(container.startTime));
    }
  }
  return Object.values(families);
}

/** The summary, or an empty one with `failed`. */
export async function readSummary(
  view: NodeAgentView,
): Promise<{ summary: Summary; failed: boolean }> {
  try {
    return {
      summary: (await view.statsSummary(false)) as Summary,
      failed: false,
    };
  } catch {
    return { summary: {}, failed: true };
  }
}
