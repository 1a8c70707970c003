// The node's pressure and what is done about it: signals looked at, unused images removed, pods ended.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { podRequests } from "../../api/objects/pod-resources.ts";
import type { Runtime } from "../../cri/runtime.ts";
import { EvictionManager } from "../../eviction/eviction-manager.ts";
import type { ImageGarbage } from "../../eviction/image-garbage.ts";
import {
  PressureMonitor,
  type NodePressure,
} from "../../eviction/pressure-monitor.ts";
import {
  readSignals,
  type SignalPaths,
  type Signals,
} from "../../eviction/signals.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { podUsage } from "../stats/pod-usage.ts";
import { isCriticalPod } from "./node-admission.ts";

interface PressureControlOptions {
  config: AgentConfig;
  runtime: Runtime;
  images: ImageGarbage;
  /** Pods that run or will, not those that end. */
  pods: () => readonly Pod[];
  evict: (pod: Pod, message: string) => void;
  onChange: (pressure: NodePressure) => void;
  clock: Clock;
  logger: Logger;
}

export class PressureControl {
  readonly #monitor: PressureMonitor;

  constructor(options: PressureControlOptions) {
    const { config, runtime, images, pods, evict, clock, logger } = options;
    const paths = (): SignalPaths => ({
      nodefs: config.rootDirectory,
      imagefs: undefined,
    });
    const eviction = new EvictionManager({
      thresholds: config.evictionHard,
      pods: () =>
        pods().map((pod) => ({
          pod,
          critical: isCriticalPod(pod),
          requests: podRequests(pod.spec),
        })),
      usage: (chosen, disk) => podUsage(runtime, config, chosen, disk),
      reclaimDisk: async () => {
        await images
          .collect(true)
          .catch((error: unknown) =>
            logger.warn({ err: error }, "can't give back disk space"),
          );
      },
      readSignals: () => readSignals(paths()),
      evict,
      logger,
    });
    this.#monitor = new PressureMonitor({
      thresholds: config.evictionHard,
      transitionPeriodMs: config.evictionPressureTransitionPeriodMs,
      paths,
      clock,
      logger,
      onChange: options.onChange,
      onSignals: (signals: Signals) => void eviction.look(signals),
    });
  }

  start(): void {
    this.#monitor.start();
  }

  stop(): void {
    this.#monitor.stop();
  }
}
