// The volumes of all pods on this node. mount() may be called any number of times: what exists is kept, content that
// follows the API is brought up to date when it is said to be outdated, and every 20 s. What a volume is, its plug-in
// knows (volume-plugin.ts); here is when it is mounted and refreshed, fsGroup, and the removal of everything a pod had.
// Only root can pass the directories above the volumes.
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { SharedReading } from "../../api/queueing/shared-reading.ts";
import type { Container, Pod, Volume } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type { ContainerConfig, Mount } from "../../cri/runtime.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { VolumeMetrics } from "./volume-metrics.ts";
import { devicesOf, mountsOf, type MountedImages } from "./container-mounts.ts";
import { ExclusiveVolumes } from "./exclusive-volumes.ts";
import { mountLines, mountsBelow, unmount } from "./files/mounts.ts";
import { ensurePrivateDirectory } from "./files/private-directories.ts";
import { removeTree } from "./files/remove-tree.ts";
import { applyFsGroup, otherGroup } from "./fs-group.ts";
import { LocalPathDirectories } from "./local-path/local-path-directories.ts";
import { MemoryDirectory } from "./payload/memory-directory.ts";
import type { PayloadSource } from "./payload/payload.ts";
import { payloadNames, type ObjectName } from "./payload/payload-names.ts";
import { volumePlugins } from "./plugins.ts";
import { isSetUp, markSetUp, removeSetUpMarks } from "./set-up-marks.ts";
import {
  localPathRoot,
  memoryDirectory,
  podDirectory,
  pluginsDirectory,
  podsDirectory,
  subPathsDirectory,
  volumesDirectory,
} from "./volume-paths.ts";
import {
  servedBy,
  VolumeFailure,
  VolumePending,
  type MountedVolume,
  type VolumePlugin,
  type VolumeRequest,
} from "./volume-plugin.ts";

interface VolumeManagerOptions {
  config: Pick<AgentConfig, "rootDirectory" | "memoryDirectory">;
  client: Client | undefined;
  /** Where claims and their volumes are read. */
  claims: Client;
  source: PayloadSource;
  /** Which ConfigMaps and Secrets a pod's volumes are made of: who knows of their changes calls outdated(). */
  objects: {
    hold(uid: string, names: readonly ObjectName[]): void;
    release(uid: string): void;
  };
  forgetTokens: (uid: string) => void;
  /** A mounted volume could not be brought up to date. */
  onStale?: (pod: Pod, message: string) => void;
  /** A directory of the node's belongs to the group of another pod. */
  onShared?: (pod: Pod, message: string) => void;
  clock: Clock;
  logger: Logger;
  metrics?: Pick<VolumeMetrics, "observe" | "forget"> | undefined;
  /** Volumes of CSI drivers. */
  csi?: VolumePlugin;
  /** The gate ImageVolume. */
  images?: boolean;
  /** Replaced in tests. */
  plugins?: readonly VolumePlugin[];
}

interface Mounted extends MountedVolume {
  /** Monotonic; when the content was last compared with the API; -Infinity: it may have changed since. */
  refreshedAtMs: number;
  /** As it was then: downwardAPI volumes are made of it. */
  metadata: Pod["metadata"];
}

const refreshEveryMs = 20_000;

export class VolumeManager {
  readonly #options: VolumeManagerOptions;
  readonly #exclusive: ExclusiveVolumes;
  readonly #memory: MemoryDirectory;
  readonly #localPath: LocalPathDirectories;
  readonly #plugins: readonly VolumePlugin[];
  /** The kernel's, of which each pod has several: pods that end together share a reading. */
  readonly #mounts = new SharedReading(mountLines);
  /** By uid and name. */
  readonly #pods = new Map<string, Map<string, Mounted>>();

  constructor(options: VolumeManagerOptions) {
    this.#options = options;
    const memory = new MemoryDirectory(memoryDirectory(options.config));
    this.#memory = memory;
    const exclusive = new ExclusiveVolumes(options.config);
    this.#exclusive = exclusive;
    const localPath = new LocalPathDirectories({
      ...options,
      local: options.client ? undefined : options.claims,
      directory: localPathRoot(options.config),
      inUse: (path) => this.#isMounted(path),
    });
    this.#localPath = localPath;
    this.#plugins =
      options.plugins ??
      volumePlugins({ ...options, exclusive, memory, localPath });
  }

  /** Before any pod: an earlier version, or another program, may have made the directories with more rights. */
  async start(): Promise<void> {
    await ensurePrivateDirectory(podsDirectory(this.#options.config));
    // Drivers that are installed as pods mount it before they are there.
    await ensurePrivateDirectory(pluginsDirectory(this.#options.config));
    await this.#memory.start();
    this.#localPath.start();
  }

  /** What goes with its pod went while no agent ran. Only when all sources are complete. */
  releaseOthers(isKnown: (podUid: string) => boolean): Promise<void> {
    return this.#localPath.releaseOthers(isKnown);
  }

  async stop(): Promise<void> {
    await this.#localPath.stop();
    await this.#memory.stop();
  }

  /** Rejects with the texts of all volumes that can't be made ready; VolumePending: when none has failed. */
  async mount(pod: Pod): Promise<void> {
    const uid = pod.metadata.uid ?? "";
    const mounted = this.#pods.get(uid) ?? new Map<string, Mounted>();
    this.#pods.set(uid, mounted);
    const volumes = pod.spec.volumes ?? [];
    this.#options.objects.hold(uid, payloadNames(pod));
    const results = await Promise.allSettled(
      volumes.map((volume) => this.#mountOne(pod, volume, mounted)),
    );
    const failures = results.flatMap((result, index) =>
      result.status === "rejected"
        ? [failureText(volumes[index]!.name, result.reason)]
        : [],
    );
    if (failures.length === 0) return;
    const isPending = results.every(
      (result) =>
        result.status === "fulfilled" || result.reason instanceof VolumePending,
    );
    const text = failures.join("; ");
    throw isPending ? new VolumePending(text) : new Error(text);
  }

  async #mountOne(
    pod: Pod,
    volume: Volume,
    mounted: Map<string, Mounted>,
  ): Promise<void> {
    const { name, ...source } = volume;
    const known = mounted.get(name);
    const nowMs = this.#options.clock.monotonic();
    if (known && !isDue(known, pod, nowMs)) return;
    const plugin = servedBy(this.#plugins, source, "pod");
    if (!plugin) {
      const type = Object.keys(source)[0] ?? "unknown";
      throw new Error(
        `volumes of type ${type} are not supported by this node agent`,
      );
    }
    const request: VolumeRequest = { pod, name, source };
    const { metadata } = pod;
    if (known) {
      // First: it may be outdated again before the refresh is through.
      mounted.set(name, { ...known, refreshedAtMs: nowMs, metadata });
      // It is there: what can't be done now keeps no container of the pod from running, as at the reference.
      await plugin.refresh?.(request).catch((error: unknown) => {
        if (!(error instanceof VolumePending))
          this.#options.onStale?.(pod, failureText(name, error));
      });
      return;
    }
    const made = await this.#setUp(plugin, request);
    const refreshedAtMs = plugin.refresh ? nowMs : Infinity;
    mounted.set(name, { ...made, refreshedAtMs, metadata });
  }

  async #setUp(
    plugin: VolumePlugin,
    request: VolumeRequest,
  ): Promise<MountedVolume> {
    const { config, logger } = this.#options;
    const { pod, name } = request;
    const uid = pod.metadata.uid ?? "";
    const wasSetUp = await isSetUp(config, uid, name);
    const made = await plugin.mount({ ...request, isSetUp: wasSetUp });
    if (made.fsGroup === undefined || (wasSetUp && !made.isNew)) return made;
    // A directory of the node's that other pods have, too, keeps the group of the first of them, as at the reference.
    if (this.#isMounted(made.origin ?? made.path)) {
      const other = await otherGroup(pod, name, made);
      if (other !== undefined) this.#options.onShared?.(pod, other);
    } else await applyFsGroup(pod, made, logger);
    await markSetUp(config, uid, name);
    return made;
  }

  /** An object of the pod's volumes has changed: the next mount() brings them up to date. */
  outdated(uid: string): void {
    for (const volume of this.#pods.get(uid)?.values() ?? [])
      if (volume.refreshedAtMs !== Infinity) volume.refreshedAtMs = -Infinity;
  }

  /** The container's volume mounts; needs mount() before. The others are those of mountsOf(). */
  containerMounts(
    pod: Pod,
    container: Container,
    lookup: (name: string) => string | undefined,
    recursive: boolean,
    images?: MountedImages,
  ): Promise<Mount[]> {
    const uid = pod.metadata.uid ?? "";
    const subPaths = subPathsDirectory(this.#options.config, uid);
    const volumes = this.#pods.get(uid);
    return mountsOf(container, volumes, subPaths, lookup, recursive, images);
  }

  /** By the names of the pod's volumes. */
  mountedOf(uid: string): ReadonlyMap<string, MountedVolume> | undefined {
    return this.#pods.get(uid);
  }

  /** The groups that its volumes were given. */
  groupsOf(pod: Pod): number[] {
    const mounted = this.#pods.get(pod.metadata.uid ?? "");
    return [...(mounted?.values() ?? [])].flatMap(
      ({ groupId = [] }) => groupId,
    );
  }

  containerDevices(pod: Pod, container: Container): ContainerConfig["devices"] {
    return devicesOf(container, this.#pods.get(pod.metadata.uid ?? ""));
  }

  /** In its directory, and in memory, where a privileged container may have mounted something. */
  async #mountsOf(uid: string): Promise<string[]> {
    const lines = this.#mounts.value();
    const below = await Promise.all(
      [
        podDirectory(this.#options.config, uid),
        this.#memory.podDirectory(uid),
      ].map((directory) => mountsBelow(directory, lines)),
    );
    return below.flat();
  }

  /** Ends refreshing and removes everything of the pod. Files go only when nothing is mounted there any more. */
  async unmount(uid: string): Promise<void> {
    const { config } = this.#options;
    const mounts = await this.#mountsOf(uid);
    // SubPaths first: they keep the volumes they are of in use.
    const subPaths = `${subPathsDirectory(config, uid)}/`;
    for (const target of mounts)
      if (target.startsWith(subPaths)) await unmount(target);
    for (const plugin of this.#plugins) await plugin.unmount?.(uid);
    if (mounts.length > 0) {
      for (const target of await this.#mountsOf(uid)) await unmount(target);
      const [left] = await this.#mountsOf(uid);
      if (left !== undefined) throw new Error(`${left} is still mounted`);
    }
    await this.#memory.remove(uid);
    await removeSetUpMarks(config, uid);
    await removeTree(volumesDirectory(config, uid));
    await this.#exclusive.release(uid);
    this.#pods.delete(uid);
    this.#options.objects.release(uid);
    this.#options.metrics?.forget(uid);
    for (const plugin of this.#plugins)
      await plugin
        .released?.()
        .catch((error: unknown) =>
          this.#options.logger.warn(
            { err: error, type: plugin.field },
            "can't end what no pod's volumes use",
          ),
        );
  }

  /** By any pod. */
  #isMounted(path: string): boolean {
    for (const volumes of this.#pods.values())
      for (const volume of volumes.values())
        if ((volume.origin ?? volume.path) === path) return true;
    return false;
  }

  /** Uids that still have secrets in memory. */
  async uids(): Promise<string[]> {
    return await this.#memory.uids();
  }
}

/** Labels and annotations are files of downwardAPI volumes. */
function isDue(
  { refreshedAtMs, metadata }: Mounted,
  pod: Pod,
  nowMs: number,
): boolean {
  if (refreshedAtMs === Infinity) return false;
  if (nowMs - refreshedAtMs >= refreshEveryMs) return true;
  return (
    metadata !== pod.metadata &&
    !(
      isDeepStrictEqual(metadata.labels, pod.metadata.labels) &&
      isDeepStrictEqual(metadata.annotations, pod.metadata.annotations)
    )
  );
}

function failureText(name: string, error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return error instanceof VolumeFailure
    ? `${error.step} failed for volume "${error.volume}" : ${text}`
    : `MountVolume.SetUp failed for volume "${name}" : ${text}`;
}
