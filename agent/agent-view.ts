// The agent as its ports see it: pods with their statuses, what the runtime runs, access to containers, statistics.
import type { Clock } from "../api/clock.ts";
import type { DirectoryView, NodeAgentView } from "../api/contracts.ts";
import type { Pod } from "../api/types/core-v1.ts";
import { within } from "../cri/deadline.ts";
import type { AgentConfig } from "./config/agent-config.ts";
import { kubeletConfiguration } from "./config/kubelet-configuration.ts";
import type { MetricSources } from "./metrics/metric-sources.ts";
import type { PressureControl } from "./node/pressure.ts";
import type { PodAccess } from "./pod-access.ts";
import { runtimePodAsPod } from "./pods/runtime/reconstructed-pod.ts";
import type { RuntimePods } from "./pods/runtime/runtime-pods.ts";
import type { ProbeManager } from "./probes/probe-manager.ts";
import { machineFigures } from "./stats/containers/machine-figures.ts";
import type { StatsSummary } from "./stats/summary.ts";

interface AgentViewOptions {
  settings: AgentConfig;
  /** With status. */
  pods: () => readonly Pod[];
  runtimePods: Pick<RuntimePods, "relist" | "uids" | "get" | "refresh">;
  access: PodAccess;
  stats: StatsSummary;
  containerFigures: NodeAgentView["containerFigures"];
  volumeStats: NodeAgentView["volumeStats"];
  pressure: Pick<PressureControl, "evictions">;
  metrics: Pick<MetricSources, "families">;
  probes: Pick<ProbeManager, "metrics">;
  healthy: () => Promise<void>;
  clock: Clock;
  directory: DirectoryView | undefined;
}

/** For clients that ask which pods run while the runtime hangs. */
const listPatienceMs = 10_000;

export function agentView(options: AgentViewOptions): NodeAgentView {
  const { settings, pods, runtimePods, access, stats, clock } = options;
  return {
    nodeName: settings.nodeName,
    pods,
    pod: (namespace, name) => access.find(namespace, name),
    async runningPods() {
      await within(clock, listPatienceMs, runtimePods.relist());
      const found = await Promise.all(
        runtimePods.uids().map(async (uid) => {
          const known = runtimePods.get(uid)!;
          return runtimePodAsPod(await runtimePods.refresh(uid, known));
        }),
      );
      return found.filter((pod): pod is Pod => pod !== undefined);
    },
    logs: (namespace, name, chosen) => access.logs(namespace, name, chosen),
    exec: (namespace, name, chosen) => access.exec(namespace, name, chosen),
    attach: (namespace, name, chosen) => access.attach(namespace, name, chosen),
    portForward: (namespace, name, port) =>
      access.portForward(namespace, name, port),
    checkpoint: (namespace, name, container, timeoutSeconds) =>
      access.checkpoint(namespace, name, container, timeoutSeconds),
    statsSummary: (onlyCpuAndMemory) => stats.summary(onlyCpuAndMemory),
    containerFigures: options.containerFigures,
    machineFigures,
    volumeStats: options.volumeStats,
    config: () => kubeletConfiguration(settings),
    evictions: () => options.pressure.evictions,
    metrics: () => options.metrics.families(),
    probeMetrics: () => options.probes.metrics.families(),
    healthy: options.healthy,
    ...(options.directory ? { directory: options.directory } : {}),
  };
}
