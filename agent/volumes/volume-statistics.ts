// What pods' volumes use, for /stats/summary. Reading a directory costs, so an answer is given again for as long as
// --volume-stats-agg-period says; nothing is read without a request. A driver that hangs holds up its own volume only.
import { statfs } from "node:fs/promises";
import type { Clock } from "../../api/clock.ts";
import { claimNameOf } from "../../api/objects/volumes/pod-claims.ts";
import type { VolumeStats } from "../../api/contracts.ts";
import { formatTime } from "../../api/clock.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { within } from "../../cri/deadline.ts";
import { directoryUsage } from "./files/directory-usage.ts";
import type { MountedVolume, VolumeUsage } from "./volume-plugin.ts";

interface VolumeStatisticsOptions {
  /** 0 or less: no statistics. */
  readonly periodMs: number;
  readonly clock: Clock;
  /** What the pod has mounted, by the names of its volumes. */
  readonly mounted: (
    uid: string,
  ) => ReadonlyMap<string, MountedVolume> | undefined;
}

interface Kept {
  readonly atMs: number;
  readonly stats: Promise<readonly VolumeStats[]>;
}

/** A driver's answer is waited for at most this long. */
const patienceMs = 5000;

export class VolumeStatistics {
  readonly #options: VolumeStatisticsOptions;
  readonly #kept = new Map<string, Kept>();

  constructor(options: VolumeStatisticsOptions) {
    this.#options = options;
  }

  /** VolumeStats of the pod's volumes whose use is known. */
  of(pod: Pod): Promise<readonly VolumeStats[]> {
    const { periodMs, clock, mounted } = this.#options;
    const uid = pod.metadata.uid ?? "";
    if (periodMs <= 0) return Promise.resolve([]);
    const nowMs = clock.monotonic();
    const kept = this.#kept.get(uid);
    if (kept && nowMs - kept.atMs < periodMs) return kept.stats;
    for (const known of this.#kept.keys())
      if (!mounted(known)) this.#kept.delete(known);
    const stats = this.#read(pod, mounted(uid) ?? new Map());
    this.#kept.set(uid, { atMs: nowMs, stats });
    return stats;
  }

  async #read(
    { metadata, spec }: Pod,
    mounted: ReadonlyMap<string, MountedVolume>,
  ): Promise<readonly VolumeStats[]> {
    const time = formatTime(this.#options.clock.now());
    const stats = await Promise.all(
      (spec.volumes ?? []).map(async (volume) => {
        const found = mounted.get(volume.name);
        const usage = found && (await this.#usageOf(found));
        if (!usage) return [];
        const { abnormal, ...amounts } = usage;
        const claim = claimNameOf({ metadata }, volume);
        return [
          {
            time,
            ...amounts,
            name: volume.name,
            ...(claim === undefined
              ? {}
              : {
                  pvcRef: {
                    name: claim,
                    namespace: metadata.namespace ?? "default",
                  },
                }),
            ...(abnormal === undefined
              ? {}
              : { volumeHealthStats: { abnormal } }),
          },
        ];
      }),
    );
    return stats.flat();
  }

  async #usageOf({
    path,
    usage,
  }: MountedVolume): Promise<VolumeUsage | undefined> {
    if (usage === undefined) return undefined;
    try {
      if (typeof usage === "function")
        return await within(this.#options.clock, patienceMs, usage());
      const found = await fileSystemUsage(path);
      if (usage === "file-system") return found;
      const { bytes, inodes } = await directoryUsage(path);
      return { ...found, usedBytes: bytes, inodesUsed: inodes + 1 };
    } catch {
      // A volume that is gone meanwhile, or a driver that does not answer, has no statistics.
      return undefined;
    }
  }
}

/** Of the file system that holds the path. Rejects when there is none. */
export async function fileSystemUsage(path: string): Promise<VolumeUsage> {
  const found = await statfs(path);
  return {
    availableBytes: found.bavail * found.bsize,
    capacityBytes: found.blocks * found.bsize,
    usedBytes: (found.blocks - found.bfree) * found.bsize,
    inodesFree: found.ffree,
    inodes: found.files,
    inodesUsed: found.files - found.ffree,
  };
}
