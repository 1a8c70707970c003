// The volumes of all pods on this node. Layout as the ecosystem's tools expect it:
//
//   <root>/pods/<uid>/volumes/kubernetes.io~empty-dir/<name>      and ~configmap
//   <memory>/<uid>/kubernetes.io~{secret,projected,downward-api}/<name>      on a tmpfs; <memory> is <root>/memory
//   <root>/pods/<uid>/volume-subpaths/<volume>/<container>/<index>
//
// mount() may be called any number of times: what exists is kept, content that follows the API is brought up to date.
// Nobody but root can pass <root>/pods and <memory>.
import { chmod, mkdir, readdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { parseQuantity, quantityValue } from "../../api/quantity.ts";
import type { Container, Pod, Volume } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import {
  persistentVolumeClaims,
  persistentVolumes,
} from "../../client/resources.ts";
import type { Mount } from "../../cri/runtime.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { mountPropagation } from "../pods/start/container-config.ts";
import { expandStrictly } from "../pods/shape/expansion.ts";
import { podResources } from "../resources/linux-resources.ts";
import { isWritten, writePayload } from "./files/atomic-writer.ts";
import { checkHostPath } from "./host-path.ts";
import {
  isMountPoint,
  mountsBelow,
  mountTmpfs,
  unmount,
} from "./files/mounts.ts";
import { setGroup } from "./files/ownership.ts";
import {
  ensureMemoryDirectory,
  ensurePrivateDirectory,
} from "./files/private-directories.ts";
import { volumePayload, type PayloadSource } from "./payload.ts";
import { mountSubPath } from "./files/sub-path.ts";

interface VolumeManagerOptions {
  config: AgentConfig;
  client: Client | undefined;
  source: PayloadSource;
  forgetTokens: (uid: string) => void;
  clock: Clock;
  logger: Logger;
}

interface Mounted {
  path: string;
  readOnly: boolean;
  /** Monotonic; when the content was last compared with the API. */
  refreshedAtMs: number;
}

const refreshEveryMs = 20_000;

export class VolumeManager {
  readonly #options: VolumeManagerOptions;
  readonly #memoryDirectory: string;
  readonly #pods = new Map<string, Map<string, Mounted>>();

  constructor(options: VolumeManagerOptions) {
    this.#options = options;
    const { memoryDirectory, rootDirectory } = options.config;
    this.#memoryDirectory = memoryDirectory ?? join(rootDirectory, "memory");
  }

  /** Before any pod: an earlier version or somebody else may have made the directories with more rights. */
  async start(): Promise<void> {
    await ensurePrivateDirectory(this.#podsDirectory);
    await ensurePrivateDirectory(this.#memoryDirectory);
  }

  /** Nothing in memory any more: the mount goes, so that the root directory can be removed. */
  async stop(): Promise<void> {
    if ((await this.uids()).length > 0) return;
    if (await isMountPoint(this.#memoryDirectory))
      await unmount(this.#memoryDirectory);
    await rmdir(this.#memoryDirectory).catch(() => undefined);
  }

  #memory: Promise<void> | undefined;

  /** With the first secret: the tmpfs is mounted once. */
  #memoryReady(): Promise<void> {
    this.#memory ??= ensureMemoryDirectory(this.#memoryDirectory).catch(
      (error: unknown) => {
        this.#memory = undefined;
        throw error;
      },
    );
    return this.#memory;
  }

  async mount(pod: Pod): Promise<void> {
    const uid = pod.metadata.uid ?? "";
    const mounted = this.#pods.get(uid) ?? new Map<string, Mounted>();
    this.#pods.set(uid, mounted);
    const results = await Promise.allSettled(
      (pod.spec.volumes ?? []).map((volume) =>
        this.#mountOne(pod, volume, mounted),
      ),
    );
    const failures = results.flatMap((result, index) =>
      result.status === "rejected"
        ? [
            `MountVolume.SetUp failed for volume "${pod.spec.volumes![index]!.name}" : ${message(result.reason)}`,
          ]
        : [],
    );
    if (failures.length > 0) throw new Error(failures.join("; "));
  }

  async #mountOne(
    pod: Pod,
    volume: Volume,
    mounted: Map<string, Mounted>,
  ): Promise<void> {
    const { clock, source, logger } = this.#options;
    const known = mounted.get(volume.name);
    const nowMs = clock.monotonic();
    if (
      known &&
      (known.refreshedAtMs === Infinity ||
        nowMs - known.refreshedAtMs < refreshEveryMs)
    )
      return;
    if (volume.hostPath) {
      await checkHostPath(volume.hostPath.path, volume.hostPath.type ?? "");
      mounted.set(volume.name, {
        path: volume.hostPath.path,
        readOnly: false,
        refreshedAtMs: Infinity,
      });
      return;
    }
    if (volume.emptyDir) {
      const path = await this.#emptyDir(pod, volume);
      mounted.set(volume.name, {
        path,
        readOnly: false,
        refreshedAtMs: Infinity,
      });
      return;
    }
    if (volume.persistentVolumeClaim || volume.ephemeral) {
      const claim =
        volume.persistentVolumeClaim?.claimName ??
        `${pod.metadata.name}-${volume.name}`;
      const path = await this.#claim(
        pod.metadata.namespace ?? "default",
        claim,
      );
      const group = pod.spec.securityContext?.fsGroup;
      if (group !== undefined)
        await setGroup(
          path,
          group,
          pod.spec.securityContext?.fsGroupChangePolicy === "OnRootMismatch",
        );
      mounted.set(volume.name, {
        path,
        readOnly: volume.persistentVolumeClaim?.readOnly ?? false,
        refreshedAtMs: Infinity,
      });
      return;
    }
    const path = this.#payloadPath(pod.metadata.uid ?? "", volume);
    let payload;
    try {
      payload = await volumePayload(pod, volume, source);
    } catch (error) {
      // What was mounted once serves on: a lost API server must not keep a container from being restarted.
      if (!known && !(await isWritten(path))) throw error;
      logger.warn(
        { err: error, pod: pod.metadata.name, volume: volume.name },
        "can't refresh a volume; its last content stays",
      );
      mounted.set(volume.name, { path, readOnly: true, refreshedAtMs: nowMs });
      return;
    }
    if (!payload) {
      const type =
        Object.keys(volume).find((key) => key !== "name") ?? "unknown";
      throw new Error(
        `volumes of type ${type} are not supported by this node agent`,
      );
    }
    if (!known) {
      if (!volume.configMap) await this.#memoryReady();
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await mkdir(path, { recursive: true });
      await chmod(path, 0o755);
    }
    await writePayload(path, payload, pod.spec.securityContext?.fsGroup);
    mounted.set(volume.name, { path, readOnly: true, refreshedAtMs: nowMs });
  }

  get #podsDirectory(): string {
    return join(this.#options.config.rootDirectory, "pods");
  }

  #podDirectory(uid: string): string {
    return join(this.#podsDirectory, uid);
  }

  #payloadPath(uid: string, volume: Volume): string {
    if (volume.configMap)
      return join(
        this.#podDirectory(uid),
        "volumes/kubernetes.io~configmap",
        volume.name,
      );
    const plugin = volume.secret
      ? "secret"
      : volume.projected
        ? "projected"
        : "downward-api";
    return join(
      this.#memoryDirectory,
      uid,
      `kubernetes.io~${plugin}`,
      volume.name,
    );
  }

  async #emptyDir(pod: Pod, volume: Volume): Promise<string> {
    const { medium, sizeLimit } = volume.emptyDir!;
    const path = emptyDirPath(
      this.#options.config.rootDirectory,
      pod.metadata.uid ?? "",
      volume.name,
    );
    await mkdir(dirname(path), { recursive: true, mode: 0o750 });
    await mkdir(path, { recursive: true });
    if (medium === "Memory") {
      if (!(await isMountPoint(path)))
        await mountTmpfs(path, tmpfsSize(pod, sizeLimit));
    } else if (medium)
      throw new Error(`emptyDir medium "${medium}" is not supported`);
    await chmod(path, 0o777);
    const group = pod.spec.securityContext?.fsGroup;
    if (group !== undefined) await setGroup(path, group, false);
    return path;
  }

  /** Bound claims of local and hostPath volumes; every other kind needs a driver that this agent does not have. */
  async #claim(namespace: string, name: string): Promise<string> {
    const { client } = this.#options;
    if (!client) throw new Error("persistent volume claims need an API server");
    const claim = await client
      .resource(persistentVolumeClaims)
      .get(name, namespace);
    const volumeName = claim.spec?.volumeName;
    if (claim.status?.phase !== "Bound" || !volumeName)
      throw new Error(`persistentvolumeclaim "${name}" is not bound`);
    const { spec } = await client.resource(persistentVolumes).get(volumeName);
    if (spec?.local) return await existing(spec.local.path);
    if (spec?.hostPath) {
      await checkHostPath(spec.hostPath.path, spec.hostPath.type ?? "");
      if (!spec.hostPath.type)
        await mkdir(spec.hostPath.path, { recursive: true });
      return spec.hostPath.path;
    }
    throw new Error(
      `persistent volume "${volumeName}" is of a type that is not supported by this node agent`,
    );
  }

  async containerMounts(
    pod: Pod,
    container: Container,
    lookup: (name: string) => string | undefined,
  ): Promise<Mount[]> {
    const uid = pod.metadata.uid ?? "";
    const mounted = this.#pods.get(uid);
    const mounts: Mount[] = [];
    for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
      const volume = mounted?.get(mount.name);
      if (!volume)
        throw new Error(
          `cannot find volume "${mount.name}" to mount into container "${container.name}"`,
        );
      const subPath = mount.subPathExpr
        ? expandStrictly(mount.subPathExpr, lookup)
        : mount.subPath;
      const target = join(
        this.#podDirectory(uid),
        "volume-subpaths",
        mount.name,
        container.name,
        String(index),
      );
      const hostPath = subPath
        ? await mountSubPath(volume.path, subPath, target, volume.readOnly)
        : volume.path;
      mounts.push({
        containerPath: mount.mountPath.startsWith("/")
          ? mount.mountPath
          : `/${mount.mountPath}`,
        hostPath,
        readonly: mount.readOnly === true || volume.readOnly,
        propagation: mountPropagation(mount),
        ...(mount.recursiveReadOnly === "Enabled"
          ? { recursiveReadOnly: true }
          : {}),
      });
    }
    return mounts;
  }

  async unmount(uid: string): Promise<void> {
    for (const target of await mountsBelow(this.#podDirectory(uid)))
      await unmount(target);
    await rm(join(this.#memoryDirectory, uid), {
      recursive: true,
      force: true,
    });
    await rm(join(this.#podDirectory(uid), "volumes"), {
      recursive: true,
      force: true,
    });
    this.#pods.delete(uid);
    this.#options.forgetTokens(uid);
  }

  /** Uids that still have secrets in memory. */
  async uids(): Promise<string[]> {
    return await readdir(this.#memoryDirectory).catch(() => []);
  }
}

export function emptyDirPath(
  rootDirectory: string,
  uid: string,
  volume: string,
): string {
  return join(
    rootDirectory,
    "pods",
    uid,
    "volumes/kubernetes.io~empty-dir",
    volume,
  );
}

function tmpfsSize(
  pod: Pod,
  sizeLimit: string | undefined,
): number | undefined {
  const wanted =
    sizeLimit === undefined ? 0 : quantityValue(parseQuantity(sizeLimit));
  const { memoryLimited, memoryLimitBytes } = podResources(pod);
  const bounds = [wanted, memoryLimited ? memoryLimitBytes : 0].filter(
    (bytes) => bytes > 0,
  );
  return bounds.length > 0 ? Math.min(...bounds) : undefined;
}

async function existing(path: string): Promise<string> {
  await stat(path);
  return path;
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
