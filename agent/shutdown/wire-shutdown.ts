// The parts of the machine's shutdown, put together for one agent.
import { join } from "node:path";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { isGateOn } from "../config/feature-gates.ts";
import type { PodEvents } from "../events/pod-events.ts";
import type { MetricSources } from "../metrics/metric-sources.ts";
import type { EndRequest } from "../pods/worker/worker-state.ts";
import { logind } from "./logind.ts";
import { NodeShutdown } from "./node-shutdown.ts";
import { ShutdownTimes } from "./shutdown-times.ts";

interface ShutdownContext {
  readonly settings: AgentConfig;
  readonly workers: {
    live(): readonly { readonly pod: Pod }[];
    end(uid: string, request: EndRequest): void;
  };
  readonly metrics: MetricSources;
  readonly onMachineFile: ((file: string) => Promise<void>) | undefined;
  readonly onChange: (active: boolean) => void;
  readonly events: PodEvents;
  readonly clock: Clock;
  readonly logger: Logger;
}

export function wireShutdown(context: ShutdownContext): NodeShutdown {
  const { settings, workers, metrics, onMachineFile } = context;
  const times = new ShutdownTimes(
    join(settings.rootDirectory, "graceful_node_shutdown_state"),
  );
  // Behind that gate, as at the reference.
  const measured = isGateOn(settings, "GracefulNodeShutdownBasedOnPodPriority");
  if (measured && settings.shutdownPeriods.length > 0)
    metrics.add(() => times.families());
  return new NodeShutdown({
    ...context,
    periods: settings.shutdownPeriods,
    source: logind({
      configurationDirectory: "/etc/systemd/logind.conf.d",
      onMachineFile: async (file) => onMachineFile?.(file),
    }),
    pods: () => workers.live().map(({ pod }) => pod),
    endPod: (uid, request) => workers.end(uid, request),
    times,
  });
}
