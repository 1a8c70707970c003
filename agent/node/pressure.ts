// The node's pressure and what is done about it: signals looked at, unused images removed, pods ended.
import { stat } from "node:fs/promises";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { podRequests } from "../../api/objects/pod-resources.ts";
import type { Runtime } from "../../cri/runtime.ts";
import {
  EvictionManager,
  type Eviction,
} from "../../eviction/eviction-manager.ts";
import {
  diskLayout,
  together,
  type DiskLayout,
} from "../../eviction/disk-layout.ts";
import type { ImageGarbage } from "../../eviction/image-garbage.ts";
import type { NodePressure } from "../../eviction/pressure-state.ts";
import { readSignals, type Signal } from "../../eviction/signals.ts";
import {
  followingSignals,
  parseThresholds,
  type Threshold,
} from "../../eviction/thresholds.ts";
import type { CgroupManager } from "../cgroups/cgroup-manager.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { PodEvents } from "../events/pod-events.ts";
import type { ContainerGarbage } from "../pods/clean/container-garbage.ts";
import { podUsage } from "../stats/pod-usage.ts";
import { isCriticalPod } from "../pods/shape/critical-pod.ts";
import { reclaimDisk } from "./reclaim-disk.ts";

interface PressureControlOptions {
  readonly config: AgentConfig;
  readonly runtime: Runtime;
  readonly cgroups: CgroupManager;
  readonly images: ImageGarbage;
  readonly containers: Pick<ContainerGarbage, "collect">;
  readonly events: Pick<PodEvents, "node" | "pod">;
  /** Pods that run or will, not those that end. */
  readonly pods: () => readonly Pod[];
  readonly isEnded: (uid: string) => boolean;
  readonly evict: (pod: Pod, eviction: Eviction) => void;
  readonly onChange: (pressure: NodePressure) => void;
  /** With each look, once a second: what the node's file system has left. */
  readonly onDiskSpace: (bytes: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often the images' file system is looked for: it moves with the runtime's configuration only. */
const imageFsEveryMs = 300_000;

export class PressureControl {
  readonly #options: PressureControlOptions;
  readonly #manager: EvictionManager;
  readonly #evictions = new Map<string, number>();
  #imageFs: string | undefined;
  #imageFsFound = false;
  #layersFs: string | undefined;
  #diskLayout: DiskLayout = together;
  #imageFsAtMs = 0;

  constructor(options: PressureControlOptions) {
    const { config, pods, events } = options;
    this.#options = options;
    this.#manager = new EvictionManager({
      ...options,
      thresholds: agentThresholds(config),
      transitionPeriodMs: config.evictionPressureTransitionPeriodMs,
      maxPodGraceSeconds: config.evictionMaxPodGraceSeconds,
      localStorageLimits: config.localStorageCapacityIsolation,
      pods: () =>
        pods().map((pod) => ({
          pod,
          critical: isCriticalPod(pod),
          requests: podRequests(pod.spec),
        })),
      usage: (chosen, disk) => podUsage(options, chosen, disk),
      reclaimDisk: (garbage) => reclaimDisk(options, garbage),
      readSignals: async () => {
        const search = this.#findImageFs();
        // A runtime that hangs holds up no look at the memory.
        if (!this.#imageFsFound) await search;
        const signals = await readSignals({
          nodefs: config.rootDirectory,
          imagefs: this.#imageFs,
          containerfs: this.#layersFs,
          podsMemory: () => this.#podsMemory(),
        });
        const disk = signals.get("nodefs.available");
        if (disk) options.onDiskSpace(disk.available);
        return signals;
      },
      diskLayout: () => this.#diskLayout,
      onReclaim: (message) =>
        events.node("Warning", "EvictionThresholdMet", message),
      onOverdue: (pod) =>
        events.pod(
          pod,
          "Warning",
          "ExceededGracePeriod",
          "Container runtime did not kill the pod within specified grace period.",
        ),
      onEviction: (signal) =>
        this.#evictions.set(signal, (this.#evictions.get(signal) ?? 0) + 1),
    });
  }

  /** How many pods were ended since the start, by the signal or limit that asked for it. */
  get evictions(): ReadonlyMap<string, number> {
    return this.#evictions;
  }

  start(): void {
    const { config, logger } = this.#options;
    for (const signal of followingSignals)
      if (signal in config.evictionHard || signal in config.evictionSoft)
        logger.warn(
          { signal },
          "the threshold is ignored: this file system follows imagefs or nodefs",
        );
    this.#manager.start();
  }

  stop(): void {
    this.#manager.stop();
  }

  async #podsMemory(): Promise<Signal | undefined> {
    const usage = await this.#options.cgroups.usage();
    const { workingSetBytes, memoryLimitBytes } = usage;
    return workingSetBytes === undefined || memoryLimitBytes === undefined
      ? undefined
      : {
          available: memoryLimitBytes - workingSetBytes,
          capacity: memoryLimitBytes,
        };
  }

  async #findImageFs(): Promise<void> {
    const { clock, runtime, config } = this.#options;
    const nowMs = clock.monotonic();
    if (nowMs < this.#imageFsAtMs) return;
    this.#imageFsAtMs = nowMs + imageFsEveryMs;
    const [found] = await runtime.imageFsInfo().catch(() => []);
    if (!found) {
      // The runtime is away: the next look asks again.
      this.#imageFsAtMs = 0;
      return;
    }
    const device = (path: string): Promise<number | undefined> =>
      stat(path).then(
        ({ dev }) => dev,
        () => undefined,
      );
    const [node, images, layers] = await Promise.all([
      device(config.rootDirectory),
      device(found.mountpoint),
      device(found.layers?.mountpoint ?? found.mountpoint),
    ]);
    this.#imageFs = images === undefined ? undefined : found.mountpoint;
    this.#diskLayout = diskLayout({ node, images, layers });
    this.#layersFs =
      this.#diskLayout.layers === "layers"
        ? found.layers?.mountpoint
        : undefined;
    this.#imageFsFound = true;
  }
}

/** @throws Error that names the signal and its value */
export function agentThresholds(config: AgentConfig): Threshold[] {
  return parseThresholds({
    hard: config.evictionHard,
    soft: config.evictionSoft,
    softGracePeriod: config.evictionSoftGracePeriod,
    minimumReclaim: config.evictionMinimumReclaim,
    enforcePods:
      config.cgroupsPerQos && config.enforceNodeAllocatable.includes("pods"),
  });
}
