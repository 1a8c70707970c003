// Containers: made, started, stopped, removed, listed. Starting one begins the copying of its log.
import * as fs from "node:fs/promises";
import { makeDirectory } from "../directories.ts";
import { LRUCache } from "lru-cache";
import {
  RuntimeError,
  type ContainerConfig,
  type Runtime,
} from "../runtime.ts";
import { containerStatus, containerSummary } from "./answers.ts";
import {
  inspectContainer,
  inspectSandbox,
  listContainers,
  settled,
  type CallContext,
} from "./call-context.ts";
import { ignoreNotFound } from "./connection.ts";
import { valuesAfterUpdate, type CgroupValues } from "./cgroup-values.ts";
import { holdToValues, writeValues } from "./hold-to-values.ts";
import { createNamed, removeContainer } from "./create-container.ts";
import { containerRecord, type ContainerRecord } from "./records.ts";
import { containerRequest, resourcesRequest } from "./requests.ts";
import { isNotModified } from "./sandbox-calls.ts";
import { securityOptions } from "./security-options.ts";

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
>;

const maxRemembered = 8192;

export function containerCalls(context: CallContext): ContainerCalls {
  const { connection, requestTimeoutMs, copiers } = context;
  const handlers = new LRUCache<string, string>({ max: maxRemembered });
  /** Of what was created here and not started yet. */
  const created = new LRUCache<string, ContainerRecord>({ max: maxRemembered });

  async function handlerOf(sandboxId: string): Promise<string> {
    const known = handlers.get(sandboxId);
    if (known !== undefined) return known;
    const { record } = await inspectSandbox(connection, sandboxId);
    handlers.set(sandboxId, record.runtimeHandler);
    return record.runtimeHandler;
  }

  return {
    async createContainer(sandboxId, config, sandbox) {
      const record = containerRecord(sandboxId, config, sandbox);
      const [facts, runtimeHandler] = await Promise.all([
        context.facts(),
        handlerOf(sandboxId),
      ]);
      const request = containerRequest({
        record,
        config,
        sandbox,
        securityOptions: await securityOptions(config.security, facts),
        facts,
        runtimeHandler,
      });
      await makeSources(config);
      const id = await createNamed(
        connection,
        request,
        requestTimeoutMs,
        (old) => copiers.forget(old),
      );
      created.set(id, record);
      return id;
    },

    async startContainer(containerId) {
      const record =
        created.get(containerId) ??
        (await inspectContainer(connection, containerId)).record;
      created.delete(containerId);
      const { rootDirectory } = await context.facts();
      await copiers.begin(containerId, record.logPath, rootDirectory);
      try {
        await start(context, containerId, record.cgroup);
      } catch (error) {
        await copiers.finish(containerId);
        throw error;
      }
    },

    async stopContainer(containerId, graceSeconds) {
      const grace = Math.max(0, Math.ceil(graceSeconds));
      await ignoreNotFound(
        connection.call(
          "StopContainer",
          (docker, signal) =>
            docker
              .getContainer(containerId)
              .stop({ t: grace, abortSignal: signal }),
          requestTimeoutMs + grace * 1000,
        ),
      ).catch((error: unknown) => {
        if (!isNotModified(error)) throw error;
      });
      await settled(connection, containerId);
    },

    async removeContainer(containerId) {
      await removeContainer(connection, containerId);
      await copiers.forget(containerId);
    },

    async containerStatus(containerId, verbose = false) {
      const { info, record } = await inspectContainer(connection, containerId);
      return containerStatus(info, record, verbose);
    },

    async listContainers(filter) {
      return (await listContainers(connection, filter, true)).map(
        ({ info, record }) => containerSummary(info, record),
      );
    },

    async updateContainerResources(containerId, resources) {
      const { record } = await inspectContainer(connection, containerId);
      const values = valuesAfterUpdate(record.cgroup, resources);
      await connection.call("UpdateContainer", (docker, signal) =>
        docker.getContainer(containerId).update({
          ...resourcesRequest(resources),
          abortSignal: signal,
        }),
      );
      if (values) await writeValues(context, containerId, values);
    },

    // The daemon's own checkpoints are directories of its own, which nothing else can restore.
    checkpointContainer: () =>
      Promise.reject(
        new RuntimeError(
          "unsupported",
          "rpc error: code = Unimplemented desc = method CheckpointContainer not implemented",
        ),
      ),
  };
}

async function start(
  context: CallContext,
  id: string,
  values: CgroupValues | undefined,
): Promise<void> {
  const { connection, unfinishedStarts } = context;
  if (values) await unfinishedStarts.begin(id);
  await connection
    .call("StartContainer", (docker, signal) =>
      docker.getContainer(id).start({ abortSignal: signal }),
    )
    .catch((error: unknown) => {
      if (!isNotModified(error)) throw error;
    });
  if (values) await holdToValues(context, id, values);
}

/** The daemon refuses a mount of what is not there; the other runtimes make a directory of it. */
async function makeSources({ mounts }: ContainerConfig): Promise<void> {
  for (const { hostPath } of mounts)
    await fs.access(hostPath).catch(() => makeDirectory(hostPath, 0o755));
}
