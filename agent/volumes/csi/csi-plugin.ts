// Volumes of CSI drivers as a type of volumes: a volume is staged once on the node and published for each pod that has it.
// Everything asked of a driver is on the disk before it is asked (csi-volume-records.ts), so whatever happens to the agent or the
// driver it is ended: a pod's volumes when the pod's are unmounted, staged ones when no pod has them any more.
//
// Calls for one volume run one after the other. A failed call is repeated by the pod's worker (mounting) or by a queue with
// back-off (unstaging), which holds up no pod.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Pod } from "../../../api/types/core-v1.ts";
import { WorkQueue } from "../../../client/work-queue.ts";
import { grpcCodes } from "../../../grpc/channel.ts";
import { within } from "../../../cri/deadline.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import type { EventSink } from "../../events/pod-events.ts";
import { isMountPoint, unmount } from "../files/mounts.ts";
import type {
  MountedVolume,
  VolumePlugin,
  VolumeRequest,
} from "../volume-plugin.ts";
import {
  CsiCalls,
  stageDirectory,
  targetDirectory,
  type CsiCallsOptions,
  type Prepared,
} from "./csi-calls.ts";
import { CsiCallError } from "./csi-driver.ts";
import { CsiExpansion } from "./csi-expansion.ts";
import { nodeCapability } from "./csi-protocol.ts";
import { CsiPaths, keyOf, removeRecord, type Found } from "./csi-records.ts";
import { CsiVolumeRecords, uniqueName } from "./csi-volume-records.ts";
import { appliesFsGroup, csiVolume, type CsiVolume } from "./csi-volume.ts";
import { KeyedTurns } from "../keyed-turns.ts";
import type { VolumesInUse } from "./volumes-in-use.ts";

interface CsiVolumesOptions extends Omit<CsiCallsOptions, "nodeName"> {
  readonly config: Pick<
    AgentConfig,
    "rootDirectory" | "memoryDirectory" | "nodeName"
  >;
  readonly inUse: VolumesInUse;
  /** Of pods and claims whose volumes are grown. */
  readonly events?: EventSink;
  readonly logger: Logger;
}

interface Staged {
  /** Of the pod that it was staged for first. */
  readonly group: number | undefined;
  /** It was staged before, by this agent or the one before it. */
  readonly maybe: boolean;
}

/** A pod that is over waits for no slow driver. */
const unstagingMs = 2000;

export class CsiVolumes {
  readonly #options: CsiVolumesOptions;
  readonly paths: CsiPaths;
  readonly #calls: CsiCalls;
  readonly #records: CsiVolumeRecords;
  readonly #expansion: CsiExpansion;
  readonly #turns = new KeyedTurns();
  /** Uids of pods that are to have a volume, by its key: what they wait for is staged, though none has it yet. */
  readonly #wanted = new Map<string, Set<string>>();
  /** What this agent has asked to be staged, by its key. */
  readonly #staged = new Map<string, Staged>();
  readonly #unstaging: WorkQueue;
  readonly plugin: VolumePlugin;

  constructor(options: CsiVolumesOptions) {
    const { config, clock, logger } = options;
    this.#options = options;
    this.paths = new CsiPaths(config);
    this.#calls = new CsiCalls(
      { ...options, nodeName: config.nodeName },
      this.paths,
    );
    this.#records = new CsiVolumeRecords(
      this.paths,
      this.#calls,
      options.inUse,
    );
    this.#expansion = new CsiExpansion({
      ...options,
      nodeName: config.nodeName,
    });
    this.#unstaging = new WorkQueue({
      name: "csi-unstaging",
      clock,
      logger,
      concurrency: 4,
      baseBackoffMs: 500,
      maxBackoffMs: 122_000,
      process: (directory) => this.#unstage(directory),
    });
    this.plugin = {
      field: "csi",
      serves: ["pod", "persistent"],
      mount: (request) => this.#mount(request),
      refresh: (request) => this.#refresh(request),
      unmount: (uid) => this.#unmount(uid),
      released: () => this.#released(),
    };
  }

  async start(): Promise<void> {
    await this.#records.restore();
    this.#unstaging.start();
    await this.#released();
  }

  /** Calls of drivers that are under way fail, and are repeated after the next start. */
  async stop(): Promise<void> {
    this.#options.registry.stop();
    await this.#unstaging.stop();
  }

  async #mount(request: VolumeRequest): Promise<MountedVolume> {
    const volume = csiVolume(request);
    const { pod } = request;
    const key = `${volume.driver}^${volume.handle}`;
    const wanting = this.#wanted.get(key) ?? new Set();
    this.#wanted.set(key, wanting.add(pod.metadata.uid ?? ""));
    return this.#turns.run(key, async () => {
      const prepared = await this.#calls.prepare(volume, pod);
      if (!volume.ephemeral) await this.#stage(key, prepared, pod);
      // After a restart of the machine it may be another directory than before.
      const isNew = !(await isMountPoint(this.#calls.target(volume, pod)));
      await this.#calls.publish(prepared, pod, {
        before: () => this.#records.addPublished(prepared, pod),
        refused: () =>
          this.#left(
            volume,
            this.#records.forgetRefusedPublishing(volume, pod),
          ),
      });
      const expansion = this.#calls.expansion(prepared, request);
      if (expansion) await this.#expansion.atMount(expansion);
      return { ...this.#mounted(prepared, pod), isNew };
    });
  }

  /** Each pod asks for it, which is idempotent as long as nothing differs: the group is that of the first. */
  async #stage(key: string, prepared: Prepared, pod: Pod): Promise<void> {
    const { volume } = prepared;
    const staged = this.#staged.get(key) ?? {
      group: pod.spec.securityContext?.fsGroup,
      maybe: await this.#records.isStaged(volume),
    };
    this.#staged.set(key, staged);
    await this.#calls.stage(prepared, staged.group, {
      before: () => this.#records.addStaged(prepared),
      refused: async () => {
        if (!staged.maybe)
          await this.#left(volume, this.#records.forgetRefusedStaging(volume));
      },
    });
    this.#staged.set(key, { ...staged, maybe: true });
  }

  #mounted(prepared: Prepared, pod: Pod): MountedVolume {
    const { volume, object, capabilities } = prepared;
    const { readOnly } = volume;
    const path = this.#calls.target(volume, pod);
    if (volume.block) return { path, readOnly, device: true };
    const usage = capabilities.has(nodeCapability.volumeStats)
      ? { usage: () => this.#calls.usage(prepared, path) }
      : {};
    return {
      path,
      readOnly,
      ...usage,
      ...(appliesFsGroup(volume, object, capabilities)
        ? { fsGroup: "by-policy" as const }
        : {}),
    };
  }

  /** What can't be forgotten is ended with the pod: the driver's refusal is what counts. */
  async #left(volume: CsiVolume, forgetting: Promise<void>): Promise<void> {
    await forgetting.catch((error: unknown) =>
      this.#options.logger.debug(
        { err: error, volume: volume.name },
        "a refused volume is kept until its pod ends",
      ),
    );
  }

  async #refresh(request: VolumeRequest): Promise<void> {
    const volume = csiVolume(request);
    await this.#turns.run(`${volume.driver}^${volume.handle}`, async () => {
      const object = await this.#calls.driverObject(volume.driver);
      const republished = object?.spec.requiresRepublish === true;
      // A driver that is away for a while grows nothing, and that is all that is missed.
      const isThere = this.#options.registry.find(volume.driver) !== undefined;
      if (!republished && !(request.claim && isThere)) return;
      const prepared = await this.#calls.prepare(volume, request.pod);
      if (republished) await this.#calls.publish(prepared, request.pod);
      const expansion = this.#calls.expansion(prepared, request);
      if (expansion) await this.#expansion.whileMounted(expansion);
    });
  }

  async #unmount(uid: string): Promise<void> {
    for (const [key, uids] of this.#wanted)
      if (uids.delete(uid) && uids.size === 0) this.#wanted.delete(key);
    for (const found of await this.paths.ofPod(uid))
      await this.#unpublish(found, join(found.directory, targetDirectory), () =>
        removeRecord(found.directory, targetDirectory),
      );
    for (const found of await this.paths.blocksOfPod(uid)) {
      const target = this.paths.blockPublish(found.record.specVolID, uid);
      await this.#unpublish(found, target, async () => {
        await rm(target, { recursive: true, force: true });
        await this.#records.forgetBlock(found.record.specVolID, uid);
      });
    }
  }

  async #unpublish(
    { record }: Found,
    target: string,
    forget: () => Promise<void>,
  ): Promise<void> {
    await this.#turns.run(keyOf(record), async () => {
      await this.#options.registry
        .driver(record.driverName)
        .unpublish(record.volumeHandle, target);
      // A driver that lies has left its mount: nothing of the volume may be removed through it.
      if (await isMountPoint(target)) await unmount(target);
      await forget();
    });
  }

  /**
   * Has unstaged what no pod has, and waits a moment for it: with its claim a volume is deleted as soon as its last pod is
   * gone, and a driver that does not know it any more can't unstage it. What fails, or takes longer, is the queue's.
   */
  async #released(): Promise<void> {
    const attempts = (await this.#records.unused())
      .filter(({ record }) => !this.#wanted.has(keyOf(record)))
      .map(({ directory }) =>
        this.#unstage(directory).catch(() => this.#unstaging.add(directory)),
      );
    await within(this.#options.clock, unstagingMs, Promise.all(attempts)).catch(
      () => undefined,
    );
  }

  async #unstage(directory: string): Promise<void> {
    const found = await this.#records.stagedIn(directory);
    if (!found) return;
    const { record } = found;
    await this.#turns.run(keyOf(record), async () => {
      // A pod may have got it meanwhile.
      const isUsed = await this.#records.isUsed(found);
      if (isUsed || this.#wanted.has(keyOf(record))) return;
      const block = this.#records.isBlock(found);
      const staging = block
        ? this.paths.blockStaging(record.specVolID)
        : join(directory, stageDirectory);
      const driver = this.#options.registry.driver(record.driverName);
      this.#staged.delete(keyOf(record));
      const capabilities = await driver.capabilities();
      if (capabilities.has(nodeCapability.stageUnstage))
        await driver
          .unstage(record.volumeHandle, staging)
          .catch(async (error: unknown) => {
            // It was deleted, and has nothing here any more: to ask again would never end.
            const isGone =
              error instanceof CsiCallError &&
              error.code === grpcCodes.notFound &&
              !block &&
              !(await isMountPoint(staging));
            if (!isGone) throw error;
          });
      this.#expansion.forget(uniqueName(record));
      if (await isMountPoint(staging)) await unmount(staging);
      await this.#records.removeStaged(found);
    });
  }
}
