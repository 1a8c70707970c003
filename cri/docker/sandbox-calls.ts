// Sandboxes: a container of the built-in image holds the namespaces of each. Its network is set up here, by CNI plug-ins,
// on the namespace of a container without any network of Docker's. A sandbox is ready when its container runs and its
// network is attached, so that one whose making was cut short is not.
import * as fs from "node:fs/promises";
import { bandwidthCapability, bandwidthPluginName } from "../cni/bandwidth.ts";
import { hasSysResource } from "../process.ts";
import {
  RuntimeError,
  type Runtime,
  type SandboxConfig,
  type SandboxStatus,
} from "../runtime.ts";
import { createdAtMs, sandboxSummary } from "./answers.ts";
import {
  inspectSandbox,
  listContainers,
  settled,
  type CallContext,
} from "./call-context.ts";
import { ignoreNotFound, type DockerConnection } from "./connection.ts";
import { createNamed, removeContainer } from "./create-container.ts";
import {
  labelFilter,
  readRecord,
  sandboxRecord,
  type SandboxRecord,
} from "./records.ts";
import { sandboxRequest } from "./requests.ts";
import type { SandboxImage } from "../sandbox-image/present-image.ts";
import { sandboxImageId } from "./images/sandbox-image.ts";
import { securityOptions } from "./security-options.ts";

type SandboxCalls = Pick<
  Runtime,
  | "runPodSandbox"
  | "stopPodSandbox"
  | "removePodSandbox"
  | "podSandboxStatus"
  | "listPodSandboxes"
>;

/** As the reference has it: the last process of a pod to be killed for memory. */
const sandboxOomScoreAdj = -998;
/** Unpacking and slow network plug-ins. */
const sandboxTimeoutFactor = 2;

export function sandboxCalls(
  context: CallContext,
  image: SandboxImage,
): SandboxCalls {
  const { connection, attachments } = context;
  const imageId = sandboxImageId();

  async function isReady(
    id: string,
    record: SandboxRecord,
    running: boolean,
  ): Promise<boolean> {
    if (!running || record.network === "node") return running;
    return (await attachments.addresses(id, record.networkState)) !== undefined;
  }

  async function stop(id: string): Promise<void> {
    const running = await listContainers(connection, { sandboxId: id }, false);
    await Promise.all(running.map(({ info }) => stopNow(connection, info.Id)));
    const found = await inspectSandbox(connection, id).catch(
      (error: unknown) => {
        if (error instanceof RuntimeError && error.code === "not-found")
          return undefined;
        throw error;
      },
    );
    await attachments.detach(
      id,
      found?.record.networkState ?? attachments.stateDirectory,
      found?.info.State.Running === true ? namespaceOf(found.info) : "",
    );
    if (found?.info.State.Running === true) await stopNow(connection, id);
  }

  return {
    async runPodSandbox(config, runtimeHandler) {
      await image.ready();
      try {
        return await runSandbox(context, config, runtimeHandler, imageId);
      } catch (error) {
        // The image was removed by another client.
        if (!/no such image/i.test((error as Error).message)) throw error;
        await image.importAgain();
        return runSandbox(context, config, runtimeHandler, imageId);
      }
    },

    stopPodSandbox: stop,

    async removePodSandbox(sandboxId) {
      await stop(sandboxId);
      const left = await listContainers(connection, { sandboxId }, true);
      for (const { info } of left) {
        await removeContainer(connection, info.Id);
        await context.copiers.forget(info.Id);
      }
      await removeContainer(connection, sandboxId);
    },

    async podSandboxStatus(sandboxId, verbose = false) {
      const { info, record } = await inspectSandbox(connection, sandboxId);
      const { Running, Pid } = info.State;
      const ready = await isReady(sandboxId, record, Running);
      const status: SandboxStatus = {
        ...sandboxSummary(sandboxId, record, createdAtMs(info), ready),
        ips: [
          ...((record.network === "pod"
            ? await attachments.addresses(sandboxId, record.networkState)
            : undefined) ?? []),
        ],
      };
      if (verbose && Running && Pid > 0) status.pid = Pid;
      return status;
    },

    async listPodSandboxes(labels) {
      const found = await connection.call("ListPodSandbox", (docker, signal) =>
        docker.listContainers({
          all: true,
          filters: labelFilter("sandbox", labels),
          abortSignal: signal,
        }),
      );
      const summaries = await Promise.all(
        found.map(async ({ Id, Names, Labels, State, Created }) => {
          const record = readRecord(Labels, Names);
          return record?.type === "sandbox"
            ? sandboxSummary(
                Id,
                record,
                Created * 1000,
                await isReady(Id, record, State === "running"),
              )
            : undefined;
        }),
      );
      return summaries.filter((summary) => summary !== undefined);
    },
  };
}

function namespaceOf(info: { State: { Pid: number } }): string {
  return `/proc/${info.State.Pid}/ns/net`;
}

/** Without a grace period. */
export async function stopNow(
  connection: DockerConnection,
  id: string,
): Promise<void> {
  await ignoreNotFound(
    connection.call("StopContainer", (docker, signal) =>
      docker.getContainer(id).stop({ t: 0, abortSignal: signal }),
    ),
  ).catch((error: unknown) => {
    if (!isNotModified(error)) throw error;
  });
  await settled(connection, id);
}

/** It was stopped already. */
export function isNotModified(error: unknown): boolean {
  return (
    error instanceof RuntimeError &&
    (error.cause as { statusCode?: number } | undefined)?.statusCode === 304
  );
}

/** When it rejects nothing is left of the sandbox. */
async function runSandbox(
  context: CallContext,
  config: SandboxConfig,
  runtimeHandler: string,
  image: string,
): Promise<string> {
  const { connection, attachments, requestTimeoutMs } = context;
  const facts = await context.facts();
  const record = sandboxRecord(
    config,
    runtimeHandler,
    attachments.stateDirectory,
  );
  const request = sandboxRequest({
    record,
    config,
    image,
    securityOptions: await securityOptions(
      {
        ...config.security,
        privileged: false,
        // Its process does nothing: it needs no filter where there is none.
        seccomp: facts.seccomp ? config.security.seccomp : undefined,
      },
      facts,
    ),
    facts,
    oomScoreAdj: (await hasSysResource()) ? sandboxOomScoreAdj : undefined,
  });
  const id = await createNamed(
    connection,
    request,
    requestTimeoutMs * sandboxTimeoutFactor,
    (old) => attachments.detach(old, attachments.stateDirectory, ""),
  );
  try {
    await connection.call("StartSandbox", (docker, signal) =>
      docker.getContainer(id).start({ abortSignal: signal }),
    );
    const { info } = await inspectSandbox(connection, id);
    await writeResolvConf(info.ResolvConfPath, config);
    if (record.network === "pod")
      await attach(context, id, namespaceOf(info), config);
    return id;
  } catch (error) {
    await removeContainer(connection, id).catch(() => undefined);
    throw error;
  }
}

async function attach(
  { attachments }: CallContext,
  id: string,
  namespace: string,
  config: SandboxConfig,
): Promise<void> {
  const { metadata } = config;
  try {
    const bandwidth = bandwidthCapability(config.annotations);
    await attachments.attach({
      containerId: id,
      namespace,
      args: {
        IgnoreUnknown: "1",
        K8S_POD_NAMESPACE: metadata.namespace,
        K8S_POD_NAME: metadata.name,
        K8S_POD_INFRA_CONTAINER_ID: id,
        K8S_POD_UID: metadata.uid,
      },
      capabilities: {
        portMappings: config.portMappings.map(
          ({ protocol, containerPort, hostPort, hostIP }) => ({
            protocol: protocol.toLowerCase(),
            containerPort,
            hostPort,
            hostIP,
          }),
        ),
        ...(config.dns ? { dns: config.dns } : {}),
        ...(bandwidth ? { [bandwidthPluginName]: bandwidth } : {}),
        "io.kubernetes.cri.pod-annotations": config.annotations,
      },
    });
  } catch (error) {
    const text = `failed to setup network for sandbox ${JSON.stringify(id)}: ${(error as Error).message}`;
    throw new RuntimeError("unknown", text, { cause: error });
  }
}

/**
 * The pod's own file for names: what the daemon wrote is changed by it, a resolver on the loopback for instance becomes a
 * public one. Without settings the pod has the host's file, as with the other runtimes.
 */
async function writeResolvConf(
  path: string,
  { dns }: SandboxConfig,
): Promise<void> {
  const text =
    dns === undefined
      ? await fs.readFile("/etc/resolv.conf", "utf8").catch(() => "")
      : [
          ...(dns.searches.length > 0
            ? [`search ${dns.searches.join(" ")}`]
            : []),
          ...dns.servers.map((server) => `nameserver ${server}`),
          ...(dns.options.length > 0
            ? [`options ${dns.options.join(" ")}`]
            : []),
          "",
        ].join("\n");
  await fs.writeFile(path, text);
}
