// What pods' volumes use, for /stats/summary. Reading a directory costs, so an answer is given again for as long as
// --volume-stats-agg-period says; nothing is read without a request. A volume whose file system or driver hangs, or that takes
// long to count, holds up no other: what was found out last is the answer then, and it is not read again meanwhile.
import { statfs } from "node:fs/promises";
import type { Clock } from "../../api/clock.ts";
import { claimNameOf } from "../../api/objects/volumes/pod-claims.ts";
import type { VolumeStats } from "../../api/contracts.ts";
import { formatTime } from "../../api/clock.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { within } from "../../cri/deadline.ts";
import { directoryUsage } from "./files/directory-usage.ts";
import { ensureAnswer, remoteUsage } from "./files/remote-usage.ts";
import { propagatedMounts } from "./propagated-mounts.ts";
import type { MountedVolume, VolumeUsage } from "./volume-plugin.ts";

interface VolumeStatisticsOptions {
  /** 0 or less: no statistics. */
  readonly periodMs: number;
  readonly clock: Clock;
  /** What the pod has mounted, by the names of its volumes. */
  readonly mounted: (
    uid: string,
  ) => ReadonlyMap<string, MountedVolume> | undefined;
  /** A driver reports that something is wrong with a volume; at each reading. */
  readonly onAbnormal?: (pod: Pod, volume: string, message: string) => void;
}

interface Kept {
  readonly atMs: number;
  readonly stats: Promise<readonly VolumeStats[]>;
}

/** A volume is waited for at most this long. */
const patienceMs = 5000;

interface Reading {
  /** Under way, or for good with a driver that hangs. */
  current: Promise<VolumeUsage | undefined> | undefined;
  last: VolumeUsage | undefined;
}

export class VolumeStatistics {
  readonly #options: VolumeStatisticsOptions;
  readonly #kept = new Map<string, Kept>();
  /** By the pod's uid and the volume's name. */
  readonly #readings = new Map<string, Map<string, Reading>>();

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
      if (!mounted(known)) {
        this.#kept.delete(known);
        this.#readings.delete(known);
      }
    const stats = this.#read(pod, mounted(uid) ?? new Map());
    this.#kept.set(uid, { atMs: nowMs, stats });
    return stats;
  }

  async #read(
    pod: Pod,
    mounted: ReadonlyMap<string, MountedVolume>,
  ): Promise<readonly VolumeStats[]> {
    const { metadata, spec } = pod;
    const time = formatTime(this.#options.clock.now());
    const stats = await Promise.all(
      (spec.volumes ?? []).map(async (volume) => {
        const found = mounted.get(volume.name);
        const usage = found && (await this.#usageOf(pod, volume.name, found));
        if (!usage) return [];
        const { condition, ...amounts } = usage;
        if (condition?.abnormal)
          this.#options.onAbnormal?.(pod, volume.name, condition.message);
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
            ...(condition
              ? { volumeHealthStats: { abnormal: condition.abnormal } }
              : {}),
          },
        ];
      }),
    );
    return stats.flat();
  }

  /** undefined: a volume that is gone meanwhile, or that does not answer, has no statistics. */
  async #usageOf(
    pod: Pod,
    name: string,
    volume: MountedVolume,
  ): Promise<VolumeUsage | undefined> {
    if (volume.usage === undefined) return undefined;
    const uid = pod.metadata.uid ?? "";
    const ofPod = this.#readings.get(uid) ?? new Map<string, Reading>();
    this.#readings.set(uid, ofPod);
    const reading = ofPod.get(name) ?? { current: undefined, last: undefined };
    ofPod.set(name, reading);
    reading.current ??= readUsage(pod, name, volume)
      .then((usage) => (reading.last = usage))
      .finally(() => (reading.current = undefined));
    return await within(this.#options.clock, patienceMs, reading.current).catch(
      () => (reading.current ? reading.last : undefined),
    );
  }
}

/** Rejects when it can't be known. */
async function readUsage(
  pod: Pod,
  name: string,
  { path, usage }: MountedVolume,
): Promise<VolumeUsage | undefined> {
  if (typeof usage === "function") return await usage();
  if (usage === "remote-file-system") return await remoteUsage(path);
  if (usage === "file-system") await ensureAnswer(path);
  const found = await fileSystemUsage(path);
  if (usage !== "directory") return found;
  const mounts = await propagatedMounts(pod, name, path);
  const { bytes, inodes } = await directoryUsage(path, mounts);
  return { ...found, usedBytes: bytes, inodesUsed: inodes + 1 };
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
