// Removes images that no container uses when their file system is fuller than the high threshold, those unused for
// longest first, until it is emptier than the low one. Pinned images, images in use and images younger than the minimum
// age are never touched.
import { statfs } from "node:fs/promises";
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import { formatDuration } from "../api/duration.ts";
import { Counters } from "../api/metrics/counted.ts";
import type { Family } from "../api/metrics/family.ts";

/** What is needed of an image. */
interface Image {
  id: string;
  repoTags: readonly string[];
  repoDigests: readonly string[];
  sizeBytes: number;
  pinned: boolean;
}

/** What is needed of the container runtime. */
export interface ImageStore {
  listImages(): Promise<readonly Image[]>;
  listContainers(): Promise<readonly { image: string; imageRef: string }[]>;
  removeImage(id: string): Promise<void>;
  imageFsInfo(): Promise<readonly { mountpoint: string }[]>;
}

interface ImageGarbageOptions {
  runtime: ImageStore;
  /** Images that containers have as volumes; absent: there are none. */
  mounted?: (() => Promise<readonly string[]>) | undefined;
  /** Name of an image that is used by what is no container: sandboxes. */
  sandboxImage?: string;
  clock: Clock;
  logger: Logger;
  highThresholdPercent: number;
  lowThresholdPercent: number;
  minimumAgeMs: number;
  /** Images unused for longer are removed whatever the disk's use; 0: none for its age. */
  maximumAgeMs?: number;
  onFailure: (reason: string, message: string) => void;
  /** Replaced in tests. */
  filesystem?: (
    mountpoint: string,
  ) => Promise<{ capacityBytes: number; availableBytes: number }>;
}

interface Seen {
  firstMs: number;
  lastUsedMs: number;
}

export class ImageGarbage {
  readonly #options: ImageGarbageOptions;
  readonly #seen = new Map<string, Seen>();
  readonly #removed = new Counters({
    name: "kubelet_image_garbage_collected_total",
    help: "Unused images that were removed, for their age or for space.",
    labels: ["reason"],
  });
  #running: { force: boolean; freed: Promise<number> } | undefined;

  constructor(options: ImageGarbageOptions) {
    this.#options = options;
  }

  families(): Family[] {
    return [this.#removed.family()];
  }

  /** Images count their age from when they were first seen; what is here at the start is seen then, as at the reference. */
  async observe(): Promise<void> {
    await this.#unused();
  }

  /**
   * Resolves to the bytes given back; rejects when images could not be removed, or what is unused does not suffice.
   * Overlapping calls are one. `force`: whatever the thresholds, all that is unused; one of those waits for the end of one
   * that removes less.
   */
  collect(force = false): Promise<number> {
    const running = this.#running;
    if (running && (running.force || !force)) return running.freed;
    const freed = (running?.freed ?? Promise.resolve(0))
      .catch(() => 0)
      .then(() => this.#collect(force))
      .finally(() => {
        if (this.#running === mine) this.#running = undefined;
      });
    const mine = { force, freed };
    this.#running = mine;
    return freed;
  }

  async #collect(force: boolean): Promise<number> {
    const { maximumAgeMs = 0 } = this.#options;
    const all = await this.#unused();
    if (force) return (await this.#remove(all, Infinity, "space")).freedBytes;
    const old = all.filter((image) => this.#isTooOld(image));
    const { errors } = await this.#remove(old, Infinity, "age");
    // An image that stays whatever its age does not keep the others.
    const freedBytes = await this.#freeSpace(
      all.filter((image) => !old.includes(image)),
    );
    if (errors.length > 0)
      throw new Error(
        `wanted to free images older than ${formatDuration(maximumAgeMs)}, encountered errors in image deletion: ${errors.join(", ")}`,
      );
    return freedBytes;
  }

  async #freeSpace(unused: readonly Image[]): Promise<number> {
    const { highThresholdPercent, lowThresholdPercent } = this.#options;
    if (highThresholdPercent >= 100) return 0;
    const usage = await this.#usage();
    if (!usage) return 0;
    if (usage.capacityBytes === 0)
      throw this.#failure(
        "InvalidDiskCapacity",
        "invalid capacity 0 on image filesystem",
      );
    const usedPercent =
      100 - Math.floor((usage.availableBytes * 100) / usage.capacityBytes);
    if (usedPercent < highThresholdPercent) return 0;
    const wantedBytes =
      Math.floor((usage.capacityBytes * (100 - lowThresholdPercent)) / 100) -
      usage.availableBytes;
    const { freedBytes, errors } = await this.#remove(
      unused,
      wantedBytes,
      "space",
    );
    if (errors.length > 0)
      throw new Error(
        `wanted to free ${wantedBytes} bytes, but freed ${freedBytes} bytes space with errors in image deletion: ${errors.join(", ")}`,
      );
    if (freedBytes < wantedBytes)
      throw this.#failure(
        "FreeDiskSpaceFailed",
        `Failed to garbage collect required amount of images. Attempted to free ${wantedBytes} bytes, but only found ${freedBytes} bytes eligible to free.`,
      );
    return freedBytes;
  }

  #failure(reason: string, message: string): Error {
    this.#options.onFailure(reason, message);
    return new Error(message);
  }

  /** Unused for longer than the maximum, counted from when it was first seen here: ages do not survive a restart. */
  #isTooOld({ id }: Image): boolean {
    const { clock, maximumAgeMs = 0 } = this.#options;
    if (maximumAgeMs === 0) return false;
    const { firstMs, lastUsedMs } = this.#seen.get(id)!;
    return clock.monotonic() - Math.max(firstMs, lastUsedMs) > maximumAgeMs;
  }

  async #usage(): Promise<
    { capacityBytes: number; availableBytes: number } | undefined
  > {
    const [found] = await this.#options.runtime.imageFsInfo();
    if (!found) return undefined;
    return await (this.#options.filesystem ?? filesystemSpace)(
      found.mountpoint,
    );
  }

  /** Longest unused first. */
  async #unused(): Promise<Image[]> {
    const { runtime, clock, minimumAgeMs, mounted, sandboxImage } =
      this.#options;
    const [images, containers, volumes = []] = await Promise.all([
      runtime.listImages(),
      runtime.listContainers(),
      mounted?.(),
    ]);
    const used = new Set([
      ...containers.flatMap(({ image, imageRef }) => [image, imageRef]),
      ...volumes,
      ...(sandboxImage ? [sandboxImage] : []),
    ]);
    const nowMs = clock.monotonic();
    const present = new Set(images.map(({ id }) => id));
    for (const id of this.#seen.keys())
      if (!present.has(id)) this.#seen.delete(id);
    const unused: Image[] = [];
    for (const image of images) {
      const seen = this.#seen.get(image.id) ?? {
        firstMs: nowMs,
        lastUsedMs: 0,
      };
      this.#seen.set(image.id, seen);
      const names = [image.id, ...image.repoTags, ...image.repoDigests];
      if (names.some((name) => used.has(name))) seen.lastUsedMs = nowMs;
      else if (!image.pinned && nowMs - seen.firstMs >= minimumAgeMs)
        unused.push(image);
    }
    const order = (image: Image): Seen => this.#seen.get(image.id)!;
    return unused.sort(
      (a, b) =>
        order(a).lastUsedMs - order(b).lastUsedMs ||
        order(a).firstMs - order(b).firstMs,
    );
  }

  async #remove(
    images: readonly Image[],
    wantedBytes: number,
    reason: "age" | "space",
  ): Promise<{ freedBytes: number; errors: readonly string[] }> {
    const { runtime, logger } = this.#options;
    const errors: string[] = [];
    let freedBytes = 0;
    for (const image of images) {
      if (freedBytes >= wantedBytes) break;
      try {
        await runtime.removeImage(image.id);
        freedBytes += image.sizeBytes;
        this.#removed.count(reason);
        logger.info(
          { image: image.repoTags[0] ?? image.id, bytes: image.sizeBytes },
          "removed an unused image",
        );
      } catch (error) {
        logger.warn(
          { err: error, image: image.id },
          "can't remove an unused image",
        );
        errors.push((error as Error).message);
      }
    }
    return { freedBytes, errors };
  }
}

async function filesystemSpace(
  mountpoint: string,
): Promise<{ capacityBytes: number; availableBytes: number }> {
  const { blocks, bavail, bsize } = await statfs(mountpoint);
  return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize };
}
