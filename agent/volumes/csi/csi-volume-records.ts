// What the agent has asked of CSI drivers, on the disk before it is asked: what is staged on the node, for whom it is
// published, and which of the first no pod has any more.
import { rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Pod } from "../../../api/types/core-v1.ts";
import { makeDirectory } from "../../../cri/directories.ts";
import { isThere } from "../files/is-there.ts";
import { isMountPoint } from "../files/mounts.ts";
import {
  stageDirectory,
  targetDirectory,
  type CsiCalls,
  type Prepared,
} from "./csi-calls.ts";
import {
  hasRecord,
  keyOf,
  removeRecord,
  rmdirIfThere,
  writeRecord,
  type CsiPaths,
  type CsiRecord,
  type Found,
} from "./csi-records.ts";
import type { CsiVolume } from "./csi-volume.ts";
import type { VolumesInUse } from "./volumes-in-use.ts";

export class CsiVolumeRecords {
  constructor(
    readonly paths: CsiPaths,
    private readonly calls: Pick<CsiCalls, "staging" | "target">,
    private readonly inUse: VolumesInUse,
  ) {}

  /** The volumes of an earlier agent that are attached count as in use. */
  async restore(): Promise<void> {
    this.inUse.restore(
      (await this.#allStaged())
        .filter(({ record }) => record.attachable)
        .map(({ record }) => uniqueName(record)),
    );
  }

  /** It was asked for before, by this agent or an earlier one. */
  isStaged(volume: CsiVolume): Promise<boolean> {
    return hasRecord(this.#stagedRecord(volume));
  }

  async addStaged(prepared: Prepared): Promise<void> {
    const { volume, attachable } = prepared;
    await writeRecord(this.#stagedRecord(volume), recordOf(prepared));
    if (attachable) await this.inUse.add(volume.uniqueName);
  }

  async addPublished(prepared: Prepared, pod: Pod): Promise<void> {
    const { volume } = prepared;
    const uid = pod.metadata.uid ?? "";
    if (volume.block) {
      const path = this.paths.blockUser(volume.name, uid);
      await makeDirectory(dirname(path), 0o750);
      await writeFile(path, "");
    } else
      await writeRecord(
        this.paths.podVolume(uid, volume.name),
        recordOf(prepared),
      );
  }

  /** A driver refused for good to stage it, and never did: there is nothing to unstage. */
  async forgetRefusedStaging(volume: CsiVolume): Promise<void> {
    const staging = this.calls.staging(volume);
    if (await isMountPoint(staging)) return;
    await rmdirIfThere(staging, true);
    await removeRecord(this.#stagedRecord(volume));
    await this.inUse.remove(volume.uniqueName);
  }

  /** A driver refused for good to publish it: there is nothing to unpublish, unless the pod has it from before. */
  async forgetRefusedPublishing(volume: CsiVolume, pod: Pod): Promise<void> {
    const uid = pod.metadata.uid ?? "";
    const target = this.calls.target(volume, pod);
    if (await isMountPoint(target)) return;
    if (!volume.block)
      return await removeRecord(
        this.paths.podVolume(uid, volume.name),
        targetDirectory,
      );
    if (await isThere(target)) return;
    await this.forgetBlock(volume.name, uid);
  }

  /** The pod has the block volume no more. */
  async forgetBlock(name: string, uid: string): Promise<void> {
    const path = this.paths.blockUser(name, uid);
    await rm(path, { force: true });
    await rmdirIfThere(dirname(path), true);
    await rmdirIfThere(dirname(this.paths.blockPublish(name, uid)), true);
  }

  /** It was unstaged. */
  async removeStaged({ record, directory }: Found): Promise<void> {
    if (this.isBlock({ record, directory })) {
      await rmdirIfThere(this.paths.blockStaging(record.specVolID), true);
      await removeRecord(directory);
    } else await removeRecord(directory, stageDirectory);
    if (record.attachable) await this.inUse.remove(uniqueName(record));
  }

  isBlock({ record, directory }: Found): boolean {
    return directory === this.paths.block(record.specVolID);
  }

  /** A pod has what is staged. */
  async isUsed(found: Found): Promise<boolean> {
    const { record } = found;
    return this.isBlock(found)
      ? (await this.paths.blockUsers(record.specVolID)).length > 0
      : (await this.paths.usedByPods()).has(keyOf(record));
  }

  /** What is staged and no pod has. */
  async unused(): Promise<Found[]> {
    const unused: Found[] = [];
    const staged = await this.paths.allStaged();
    // All pods' directories are read for it: only where a driver has staged something.
    if (staged.length > 0) {
      const used = await this.paths.usedByPods();
      unused.push(...staged.filter(({ record }) => !used.has(keyOf(record))));
    }
    for (const found of await this.paths.allBlocks())
      if ((await this.paths.blockUsers(found.record.specVolID)).length === 0)
        unused.push(found);
    return unused;
  }

  /** What is staged in the directory. */
  async stagedIn(directory: string): Promise<Found | undefined> {
    return (await this.#allStaged()).find(
      (each) => each.directory === directory,
    );
  }

  async #allStaged(): Promise<Found[]> {
    return [
      ...(await this.paths.allStaged()),
      ...(await this.paths.allBlocks()),
    ];
  }

  #stagedRecord(volume: CsiVolume): string {
    return volume.block
      ? this.paths.block(volume.name)
      : this.paths.staged(volume.driver, volume.handle);
  }
}

/** As a node's status names attached volumes. */
export function uniqueName({ driverName, volumeHandle }: CsiRecord): string {
  return `kubernetes.io/csi/${driverName}^${volumeHandle}`;
}

function recordOf({ volume, attachable }: Prepared): CsiRecord {
  return {
    driverName: volume.driver,
    volumeHandle: volume.handle,
    specVolID: volume.name,
    volumeLifecycleMode: volume.ephemeral ? "Ephemeral" : "Persistent",
    attachable,
  };
}
