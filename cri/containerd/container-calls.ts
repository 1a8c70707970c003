// Containers: made, started, stopped, removed, listed, measured. Which sandbox a container is in never changes and is kept,
// so that a status needs no second or verbose call.
import * as os from "node:os";
import { LRUCache } from "lru-cache";
import { RuntimeError, type Runtime } from "../runtime.ts";
import { grpcCodes, grpcStatusText } from "../../grpc/channel.ts";
import { retryEndedByItself } from "./ended-by-itself.ts";
import { causeCode, type Connection } from "./connection.ts";
import {
  containerStats,
  containerStatus,
  containerSummary,
} from "./answers.ts";
import {
  ignoreNotFound,
  sandboxTimeoutFactor,
  type CallContext,
} from "./call-context.ts";
import {
  containerMessage,
  resourcesMessage,
  sandboxMessage,
} from "./requests.ts";
import { runtimeConfiguration } from "./runtime-configuration.ts";
import { containerdMethods } from "./services.ts";

type ContainerCalls = Pick<
  Runtime,
  | "createContainer"
  | "startContainer"
  | "stopContainer"
  | "removeContainer"
  | "containerStatus"
  | "listContainers"
  | "updateContainerResources"
  | "checkpointContainer"
  | "containerStats"
>;

const maxRemembered = 8192;
/** Nothing outlives SIGKILL for long. */
const endTaskTimeoutMs = 10_000;

/** An older one runs the container without its devices. */
async function refuseBefore(
  connection: Connection,
  [neededMajor, neededMinor]: readonly [number, number],
  what: string,
): Promise<void> {
  const { runtime_name: name, runtime_version: version } =
    await connection.call("Version", {});
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  const isOlder =
    Number(major) < neededMajor ||
    (Number(major) === neededMajor && Number(minor) < neededMinor);
  if (name !== "containerd" || !isOlder) return;
  throw new RuntimeError(
    "unsupported",
    `containerd ${version} does not support ${what}: ${neededMajor}.${neededMinor} or later is needed`,
  );
}

/** With CDI turned off, as it is in containerd 1.7 unless its configuration says otherwise, the devices are left out. */
async function refuseWithoutCdi(connection: Connection): Promise<void> {
  await refuseBefore(connection, [1, 7], "CDI devices");
  const { cdi } = await runtimeConfiguration(connection);
  if (cdi === false)
    throw new RuntimeError(
      "unsupported",
      "the runtime's configuration turns CDI devices off: enable_cdi is false",
    );
}

/** Ends a container's task by containerd's own service. False: the runtime has none. */
async function endTask(
  { connection, clock }: CallContext,
  containerId: string,
): Promise<boolean> {
  const { killTask, waitTask, deleteTask } = containerdMethods;
  const options = { timeoutMs: endTaskTimeoutMs };
  const task = { container_id: containerId };
  const kill = { ...task, signal: os.constants.signals.SIGKILL, all: true };
  try {
    await ignoreNotFound(
      retryEndedByItself(clock, () =>
        connection.service(killTask, kill, options),
      ),
    );
    await ignoreNotFound(connection.service(waitTask, task, options));
    await ignoreNotFound(connection.service(deleteTask, task, options));
    return true;
  } catch (error) {
    if (causeCode(error) === grpcCodes.unimplemented) return false;
    throw error;
  }
}

/**
 * A server that is killed while it starts a container can leave one that runs and that containerd's CRI has as not
 * started: CRI stops no such container and refuses to remove it, so its task is ended beside CRI.
 */
async function removeContainer(
  context: CallContext,
  containerId: string,
): Promise<void> {
  const { connection, clock } = context;
  const remove = (): Promise<void> =>
    ignoreNotFound(
      retryEndedByItself(clock, () =>
        connection.call("RemoveContainer", { container_id: containerId }),
      ),
    );
  try {
    await remove();
  } catch (error) {
    if (causeCode(error) !== grpcCodes.failedPrecondition) throw error;
    if (!(await endTask(context, containerId))) throw error;
    await remove();
  }
}

/** A failure has the form of gRPC, for which the reference's clients look. */
async function checkpoint(
  connection: Connection,
  containerId: string,
  location: string,
  { seconds: timeout }: { seconds: number },
): Promise<void> {
  try {
    await connection.call(
      "CheckpointContainer",
      { container_id: containerId, location, timeout },
      timeout * 1000,
    );
  } catch (error) {
    if (!(error instanceof RuntimeError) || causeCode(error) === undefined)
      throw error;
    throw new RuntimeError(error.code, grpcStatusText(error.cause), {
      cause: error.cause,
    });
  }
}

export function containerCalls(context: CallContext): ContainerCalls {
  const { connection, requestTimeoutMs, clock, whileEnding } = context;
  const sandboxOfContainer = new LRUCache<string, string>({
    max: maxRemembered,
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

  return {
    async createContainer(sandboxId, config, sandbox) {
      if (config.cdiDevices?.length) await refuseWithoutCdi(connection);
      if (config.mounts.some(({ image }) => image))
        await refuseBefore(connection, [2, 1], "image volumes");
      const { container_id } = await connection.call(
        "CreateContainer",
        {
          pod_sandbox_id: sandboxId,
          config: containerMessage(config, sandbox),
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
        retryEndedByItself(clock, () =>
          whileEnding(containerId, "stop", () =>
            connection.call(
              "StopContainer",
              {
                container_id: containerId,
                timeout: Math.max(0, Math.ceil(graceSeconds)),
              },
              requestTimeoutMs + Math.max(0, graceSeconds) * 1000,
            ),
          ),
        ),
      ),

    async removeContainer(containerId) {
      await removeContainer(context, containerId);
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

    checkpointContainer: (containerId, location, timeoutSeconds) =>
      checkpoint(connection, containerId, location, {
        seconds: Math.max(timeoutSeconds, Math.floor(requestTimeoutMs / 1000)),
      }),

    async containerStats(labels) {
      const { stats } = await connection.call(
        "ListContainerStats",
        labels === undefined ? {} : { filter: { label_selector: labels } },
      );
      return stats.map(containerStats);
    },
  };
}
