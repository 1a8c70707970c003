// containerd as a Runtime, over CRI v1 gRPC on its socket. Thin: requests.ts and answers.ts translate, connection.ts
// carries, events.ts watches, image-import.ts loads archives, streaming.ts opens exec, attach and port-forward.
// While containerd is away every call fails at once with "unavailable"; the connection mends itself.
import { LRUCache } from "lru-cache";
import { grpcCodes } from "../../grpc/channel.ts";
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { systemClock, type Clock } from "../../api/clock.ts";
import type { CniOptions } from "../cni/configuration.ts";
import { setUpPodNetwork } from "../cni/network.ts";
import { RuntimeError, type Runtime } from "../runtime.ts";
import {
  containerStats,
  containerStatus,
  containerSummary,
  filesystemUsage,
  imageSummary,
  sandboxStatus,
  sandboxSummary,
} from "./answers.ts";
import { causeCode, createConnection } from "./connection.ts";
import { createEventSource } from "./events.ts";
import { importImageArchive } from "./image-import.ts";
import {
  containerMessage,
  resourcesMessage,
  sandboxMessage,
} from "./requests.ts";
import { ensureSandboxImage } from "./sandbox-image.ts";
import { containerdMethods, type StoredImage } from "./services.ts";
import { openExecStream, openPortForward } from "./streaming.ts";

interface ContainerdRuntimeOptions {
  /** `unix:///run/containerd/containerd.sock` or a path. */
  endpoint: string;
  logger: Logger;
  clock?: Clock;
  /** Deadline of an ordinary call; default 2 min. Pulling has none; stopping adds the grace period. */
  requestTimeoutMs?: number;
  limits?: {
    /** Largest answer; default 64 MiB. */
    messageBytes?: number;
  };
  /** Import the built-in sandbox image when the configured one is missing; default true. */
  ensureSandboxImage?: boolean;
  /** When given, updatePodCidr sets up the pod network (if nobody else's configuration is there). */
  cni?: Omit<CniOptions, "podCidr">;
}

/** How the runtime is, it knows at once: longer means that it hangs. */
const statusTimeoutMs = 10_000;
/** Facts about containers that never change, kept so that a status needs no second or verbose call. */
const maxRemembered = 8192;
const pinnedKeptMs = 2000;
/** A sandbox may have to unpack an image and call slow network plug-ins. */
const sandboxTimeoutFactor = 2;
/** The runtime ends an exec at its timeout; ours comes later, so that the two can be told apart. */
const execSyncSlackMs = 15_000;

async function ignoreNotFound(action: Promise<unknown>): Promise<void> {
  try {
    await action;
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== "not-found")
      throw error;
  }
}

export function createContainerdRuntime(
  options: ContainerdRuntimeOptions,
): Runtime {
  const {
    endpoint,
    logger,
    clock = systemClock,
    requestTimeoutMs = 120_000,
  } = options;
  const connection = createConnection({
    endpoint,
    requestTimeoutMs,
    maxMessageBytes: options.limits?.messageBytes ?? 64 * 1024 * 1024,
  });
  const sandboxOfContainer = new LRUCache<string, string>({
    max: maxRemembered,
  });
  /** Settles when the runtime was tried for the first time. */
  let firstTry: (() => void) | undefined;
  let sandboxImageReady: Promise<void> = Promise.resolve();

  const leaseId = (): string => `orbit-${randomBytes(8).toString("hex")}`;

  /** Never rejects: without the image sandboxes fail, with a text that says so. */
  async function importSandboxImage(): Promise<void> {
    if (options.ensureSandboxImage === false) return;
    try {
      await ensureSandboxImage(connection, logger, {
        pinned: true,
        leaseId: leaseId(),
      });
    } catch (error) {
      logger.warn(
        { err: error },
        "the built-in sandbox image could not be imported",
      );
    }
  }

  const events = createEventSource({
    connection,
    clock,
    logger,
    onConnect(answered) {
      if (answered) sandboxImageReady = importSandboxImage();
      firstTry?.();
    },
  });

  async function sandboxIdOf(containerId: string): Promise<string> {
    const id = sandboxOfContainer.get(containerId);
    if (id !== undefined) return id;
    const { containers } = await connection.call("ListContainers", {
      filter: { id: containerId },
    });
    const found =
      containers.find((container) => container.id === containerId)
        ?.pod_sandbox_id ?? "";
    if (found !== "") sandboxOfContainer.set(containerId, found);
    return found;
  }

  let pinnedNames: { atMs: number; names: Promise<Set<string>> } | undefined;

  /** Hardly ever changes; many pods that start together ask once. */
  function pinnedImageNames(): Promise<Set<string>> {
    const nowMs = clock.monotonic();
    if (!pinnedNames || nowMs - pinnedNames.atMs > pinnedKeptMs) {
      const names = readPinnedImageNames();
      pinnedNames = { atMs: nowMs, names };
      names.catch(() => (pinnedNames = undefined));
    }
    return pinnedNames.names;
  }

  /** Ids of images labelled as pinned; containerd 1.6 does not tell over CRI. */
  async function readPinnedImageNames(): Promise<Set<string>> {
    const { images } = await connection.service<{ images: StoredImage[] }>(
      containerdMethods.listImages,
      {
        filters: ['labels."io.cri-containerd.pinned"==pinned'],
      },
    );
    return new Set(images.map(({ name }) => name));
  }

  return {
    name: "containerd",

    async start() {
      await connection.open();
      const tried = new Promise<void>((resolve) => (firstTry = resolve));
      events.start();
      await tried;
    },

    async stop() {
      events.stop();
      firstTry?.();
      await sandboxImageReady;
      connection.close();
    },

    async version() {
      const { runtime_name, runtime_version, runtime_api_version } =
        await connection.call("Version", {});
      return {
        runtimeName: runtime_name,
        runtimeVersion: runtime_version,
        runtimeApiVersion: runtime_api_version,
      };
    },

    async status() {
      const { status } = await connection.call(
        "Status",
        {},
        Math.min(requestTimeoutMs, statusTimeoutMs),
      );
      const condition = (
        type: string,
      ): { ready: boolean; reason: string; message: string } => {
        const found = status?.conditions.find((item) => item.type === type);
        if (found === undefined)
          return {
            ready: false,
            reason: "Unknown",
            message: `the runtime does not report ${type}`,
          };
        return {
          ready: found.status,
          reason: found.reason,
          message: found.message,
        };
      };
      return {
        runtime: condition("RuntimeReady"),
        network: condition("NetworkReady"),
      };
    },

    async updatePodCidr(podCidr) {
      if (options.cni !== undefined)
        await setUpPodNetwork({ ...options.cni, podCidr }, logger);
      else
        await connection.call("UpdateRuntimeConfig", {
          runtime_config: { network_config: { pod_cidr: podCidr } },
        });
    },

    async runPodSandbox(config, runtimeHandler) {
      await sandboxImageReady;
      const request = {
        config: sandboxMessage(config),
        runtime_handler: runtimeHandler,
      };
      const run = async (): Promise<string> =>
        (
          await connection.call(
            "RunPodSandbox",
            request,
            requestTimeoutMs * sandboxTimeoutFactor,
          )
        ).pod_sandbox_id;
      try {
        return await run();
      } catch (error) {
        // Somebody removed the image, for instance under another of its names.
        if (!/failed to get sandbox image/.test((error as Error).message))
          throw error;
        await importSandboxImage();
        return run();
      }
    },

    stopPodSandbox: (sandboxId) =>
      ignoreNotFound(
        connection.call("StopPodSandbox", { pod_sandbox_id: sandboxId }),
      ),

    async removePodSandbox(sandboxId) {
      await ignoreNotFound(
        connection.call("RemovePodSandbox", { pod_sandbox_id: sandboxId }),
      );
    },

    async podSandboxStatus(sandboxId, verbose = false) {
      return sandboxStatus(
        await connection.call("PodSandboxStatus", {
          pod_sandbox_id: sandboxId,
          verbose,
        }),
      );
    },

    async listPodSandboxes(labels) {
      const { items } = await connection.call(
        "ListPodSandbox",
        labels === undefined ? {} : { filter: { label_selector: labels } },
      );
      return items.map(sandboxSummary);
    },

    async createContainer(sandboxId, config, sandbox) {
      const { container_id } = await connection.call(
        "CreateContainer",
        {
          pod_sandbox_id: sandboxId,
          config: containerMessage(config),
          sandbox_config: sandboxMessage(sandbox),
        },
        requestTimeoutMs * sandboxTimeoutFactor,
      );
      sandboxOfContainer.set(container_id, sandboxId);
      return container_id;
    },

    async startContainer(containerId) {
      await connection.call("StartContainer", { container_id: containerId });
    },

    stopContainer: (containerId, graceSeconds) =>
      ignoreNotFound(
        connection.call(
          "StopContainer",
          {
            container_id: containerId,
            timeout: Math.max(0, Math.ceil(graceSeconds)),
          },
          requestTimeoutMs + Math.max(0, graceSeconds) * 1000,
        ),
      ),

    async removeContainer(containerId) {
      await ignoreNotFound(
        connection.call("RemoveContainer", { container_id: containerId }),
      );
      sandboxOfContainer.delete(containerId);
    },

    async containerStatus(containerId, verbose = false) {
      const response = await connection.call("ContainerStatus", {
        container_id: containerId,
        verbose,
      });
      const status = containerStatus(response);
      if (status.sandboxId === "")
        status.sandboxId = await sandboxIdOf(containerId);
      else sandboxOfContainer.set(containerId, status.sandboxId);
      if (status.state !== "running") delete status.pid;
      return status;
    },

    async listContainers(filter) {
      const { containers } = await connection.call(
        "ListContainers",
        filter === undefined
          ? {}
          : {
              filter: {
                pod_sandbox_id: filter.sandboxId ?? "",
                label_selector: filter.labels ?? {},
              },
            },
      );
      for (const { id, pod_sandbox_id } of containers)
        sandboxOfContainer.set(id, pod_sandbox_id);
      return containers.map(containerSummary);
    },

    async updateContainerResources(containerId, resources) {
      await connection.call("UpdateContainerResources", {
        container_id: containerId,
        linux: resourcesMessage(resources),
      });
    },

    async reopenContainerLog(containerId) {
      await connection.call("ReopenContainerLog", {
        container_id: containerId,
      });
    },

    async execSync(containerId, command, timeoutMs) {
      try {
        const { stdout, stderr, exit_code } = await connection.call(
          "ExecSync",
          {
            container_id: containerId,
            cmd: command,
            timeout: timeoutMs > 0 ? Math.ceil(timeoutMs / 1000) : 0,
          },
          timeoutMs > 0 ? timeoutMs + execSyncSlackMs : 0,
        );
        return { stdout, stderr, exitCode: exit_code };
      } catch (error) {
        // grpc-js's own deadline: the runtime hangs, which says nothing about the command.
        if (
          causeCode(error) === grpcCodes.deadlineExceeded &&
          /^ExecSync: Deadline exceeded/.test((error as Error).message)
        )
          throw new RuntimeError(
            "unavailable",
            "ExecSync: the runtime does not answer",
            { cause: error },
          );
        throw error;
      }
    },

    async exec(containerId, command, stream) {
      const { url } = await connection.call("Exec", {
        container_id: containerId,
        cmd: command,
        ...stream,
        stderr: stream.stderr && !stream.tty,
      });
      return openExecStream(url, stream);
    },

    async attach(containerId, stream) {
      const { url } = await connection.call("Attach", {
        container_id: containerId,
        ...stream,
        stderr: stream.stderr && !stream.tty,
      });
      return openExecStream(url, stream);
    },

    async portForward(sandboxId, port) {
      const { url } = await connection.call("PortForward", {
        pod_sandbox_id: sandboxId,
        port: [port],
      });
      return openPortForward(url, port);
    },

    async listImages() {
      const [{ images }, pinned] = await Promise.all([
        connection.call("ListImages", {}),
        pinnedImageNames(),
      ]);
      return images.map((image) =>
        imageSummary(
          image,
          [...image.repo_tags, ...image.repo_digests, image.id].some((name) =>
            pinned.has(name),
          ),
        ),
      );
    },

    async imageStatus(image) {
      const [{ image: found }, pinned] = await Promise.all([
        connection.call("ImageStatus", { image: { image } }),
        pinnedImageNames(),
      ]);
      if (found === undefined) return undefined;
      return imageSummary(
        found,
        [...found.repo_tags, ...found.repo_digests, found.id].some((name) =>
          pinned.has(name),
        ),
      );
    },

    async pullImage(image, auth, sandbox) {
      const { image_ref } = await connection.call(
        "PullImage",
        {
          image: { image },
          auth:
            auth === undefined
              ? undefined
              : {
                  username: auth.username ?? "",
                  password: auth.password ?? "",
                  auth: auth.auth ?? "",
                  server_address: auth.serverAddress ?? "",
                  identity_token: auth.identityToken ?? "",
                  registry_token: auth.registryToken ?? "",
                },
          sandbox_config:
            sandbox === undefined ? undefined : sandboxMessage(sandbox),
        },
        0,
      );
      return image_ref;
    },

    async removeImage(image) {
      await connection.call("RemoveImage", { image: { image } });
    },

    async imageFsInfo() {
      const { image_filesystems } = await connection.call("ImageFsInfo", {});
      return image_filesystems.map(filesystemUsage);
    },

    importImage: (tarPath, { pinned = false } = {}) => {
      pinnedNames = undefined;
      return importImageArchive(connection, tarPath, {
        pinned,
        leaseId: leaseId(),
      }).finally(() => (pinnedNames = undefined));
    },

    async containerStats(labels) {
      const { stats } = await connection.call(
        "ListContainerStats",
        labels === undefined ? {} : { filter: { label_selector: labels } },
      );
      return stats.map(containerStats);
    },

    subscribe: (listener) => events.subscribe(listener),
  };
}
