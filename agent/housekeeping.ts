// What is done now and then: unused images, directories, cgroups and logs of pods that are no more. Only called when all
// sources are complete; a pod with a worker or anything in the runtime is never touched.
import type { Logger } from "pino";
import type { Clock, Timer } from "../api/clock.ts";
import { gauge } from "../api/metrics/counted.ts";
import type { Family } from "../api/metrics/family.ts";
import type { Tracer } from "../api/tracing/tracer.ts";
import type { ImageGarbage } from "../eviction/image-garbage.ts";
import type { PodEvents } from "./events/pod-events.ts";
import type { CgroupManager } from "./cgroups/cgroup-manager.ts";
import type { HostFiles } from "./pods/start/host-files.ts";
import type { PodClaims } from "./resources/claims/pod-claims.ts";
import type { ResourceManagers } from "./resources/resource-managers.ts";
import type { VolumeManager } from "./volumes/volume-manager.ts";

interface HousekeepingOptions {
  images: Pick<ImageGarbage, "collect" | "observe">;
  containers: { collect(): Promise<unknown> };
  cgroups: Pick<CgroupManager, "removePod">;
  resources: Pick<ResourceManagers, "releaseOthers">;
  claims: Pick<PodClaims, "unprepareOthers">;
  hostFiles: Pick<HostFiles, "uids" | "removeLogs" | "removePodDirectory">;
  volumes: Pick<VolumeManager, "uids" | "unmount" | "releaseOthers">;
  events: Pick<PodEvents, "node">;
  /** The pod has a worker, or the runtime has something of it. */
  isKnown: (uid: string) => boolean;
  clock: Clock;
  logger: Logger;
  tracer?: Pick<Tracer, "root"> | undefined;
}

const imagesEveryMs = 300_000;
const containersEveryMs = 60_000;

export class Housekeeping {
  readonly #options: HousekeepingOptions;
  #timer: Timer | undefined;
  #containersTimer: Timer | undefined;
  #stopped = false;
  #sweeping = false;
  #imagesFailed = false;
  /** Pods whose rests the last sweep removed, and those it could not. */
  #swept = { cleaned: 0, failed: 0 };

  constructor(options: HousekeepingOptions) {
    this.#options = options;
  }

  start(): void {
    const { images, logger } = this.#options;
    images
      .observe()
      .catch((error: unknown) =>
        logger.warn({ err: error }, "can't look at the images"),
      );
    this.#startImages();
    this.#startContainers();
  }

  #startContainers(): void {
    const { clock, containers, logger, tracer } = this.#options;
    const collect = (): Promise<unknown> => containers.collect();
    this.#containersTimer = clock.after(containersEveryMs, () => {
      (tracer?.root("Containers/GarbageCollect", {}, collect) ?? collect())
        .catch((error: unknown) =>
          logger.warn({ err: error }, "can't remove ended containers"),
        )
        .finally(() => {
          if (!this.#stopped) this.#startContainers();
        });
    });
  }

  #startImages(): void {
    const { images, tracer } = this.#options;
    const collect = (): Promise<unknown> => images.collect();
    this.#timer = this.#options.clock.after(imagesEveryMs, () => {
      (tracer?.root("Images/GarbageCollect", {}, collect) ?? collect())
        .then(
          () => (this.#imagesFailed = false),
          (error: unknown) => this.#imagesStay(error),
        )
        .finally(() => {
          if (!this.#stopped) this.#startImages();
        });
    });
  }

  /** Only a failure that repeats is an event, as at the reference: the first may be a runtime that has just started. */
  #imagesStay(error: unknown): void {
    const { logger, events } = this.#options;
    logger.warn({ err: error }, "can't collect unused images");
    if (this.#imagesFailed)
      events.node("Warning", "ImageGCFailed", (error as Error).message);
    this.#imagesFailed = true;
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#containersTimer?.cancel();
  }

  /** Removes what pods left behind that ended while no agent ran, or whose removal failed. */
  sweep(): void {
    if (this.#sweeping || this.#stopped) return;
    this.#options.resources.releaseOthers(this.#options.isKnown);
    this.#options.claims.unprepareOthers(this.#options.isKnown);
    this.#sweeping = true;
    this.#sweep()
      .catch((error: unknown) =>
        this.#options.logger.warn(
          { err: error },
          "can't remove what old pods left",
        ),
      )
      .finally(() => (this.#sweeping = false));
  }

  async #sweep(): Promise<void> {
    const { hostFiles, volumes, isKnown, logger } = this.#options;
    await volumes.releaseOthers(isKnown);
    const uids = new Set([
      ...(await hostFiles.uids()),
      ...(await volumes.uids()),
    ]);
    const swept = { cleaned: 0, failed: 0 };
    for (const uid of uids) {
      if (isKnown(uid) || this.#stopped) continue;
      logger.info({ uid }, "removing what a pod left behind");
      try {
        await this.#removeRests(uid);
        swept.cleaned++;
      } catch (error) {
        // A volume that can't be unmounted keeps the rests of no other pod.
        logger.warn({ err: error, uid }, "can't remove what a pod left behind");
        swept.failed++;
      }
    }
    this.#swept = swept;
  }

  async #removeRests(uid: string): Promise<void> {
    const { hostFiles, volumes, cgroups } = this.#options;
    await volumes.unmount(uid);
    await cgroups.removePod(uid);
    await hostFiles.removeLogs(uid);
    // Last: it is the record by which the rest is found.
    await hostFiles.removePodDirectory(uid);
  }

  families(): Family[] {
    return [
      gauge(
        "kubelet_orphan_pod_cleaned_volumes",
        "Pods of no source whose volumes the last sweep removed.",
        this.#swept.cleaned,
      ),
      gauge(
        "kubelet_orphan_pod_cleaned_volumes_errors",
        "Pods of no source whose volumes the last sweep could not remove.",
        this.#swept.failed,
      ),
    ];
  }
}
