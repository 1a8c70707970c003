// What is removed when a file system is short, before a pod ends for it.
import type { Logger } from "pino";
import type { Garbage } from "../../eviction/disk-layout.ts";
import type { ContainerGarbage } from "../pods/clean/container-garbage.ts";

interface ReclaimSources {
  /** Ended containers: they hold images and their own layers and logs. */
  readonly containers: Pick<ContainerGarbage, "collect">;
  readonly images: { collect(force: boolean): Promise<unknown> };
  readonly logger: Logger;
}

/** Never rejects: what can't be removed is logged. */
export async function reclaimDisk(
  { containers, images, logger }: ReclaimSources,
  garbage: Garbage,
): Promise<void> {
  // An evicted pod's containers would keep its image, and the end of one pod after the other would give nothing back.
  if (garbage.containers || garbage.images)
    await containers
      .collect(garbage.containers ? "over" : "evicted")
      .catch((error: unknown) =>
        logger.warn({ err: error }, "can't remove ended containers"),
      );
  if (garbage.images)
    await images
      .collect(true)
      .catch((error: unknown) =>
        logger.warn({ err: error }, "can't give back disk space"),
      );
}
