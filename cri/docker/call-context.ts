// What every group of calls to the daemon shares, and finding what the agent made among the daemon's containers.
import type { ContainerInfo, ContainerInspectInfo } from "dockerode";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { Attachments } from "../cni/attachments.ts";
import { RuntimeError, type Runtime } from "../runtime.ts";
import type { DockerConnection } from "./connection.ts";
import type { LogCopiers } from "./logs/log-copiers.ts";
import {
  labelFilter,
  readRecord,
  sandboxLabel,
  type ContainerRecord,
  type SandboxRecord,
} from "./records.ts";
import type { DaemonFacts } from "./requests.ts";
import type { UnfinishedStarts } from "./unfinished-starts.ts";

export interface CallContext {
  readonly connection: DockerConnection;
  readonly requestTimeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly attachments: Attachments;
  readonly copiers: LogCopiers;
  readonly unfinishedStarts: UnfinishedStarts;
  readonly cgroupMount: string;
  /** What the daemon says of itself; asked once a connection. */
  readonly facts: () => Promise<DaemonFacts>;
}

interface Inspected<Kind> {
  info: ContainerInspectInfo;
  record: Kind;
}

export async function inspectSandbox(
  connection: DockerConnection,
  id: string,
): Promise<Inspected<SandboxRecord>> {
  return inspect(connection, id, "sandbox");
}

export async function inspectContainer(
  connection: DockerConnection,
  id: string,
): Promise<Inspected<ContainerRecord>> {
  return inspect(connection, id, "container");
}

/** Rejects with "not-found" also for a container that is none of the agent's. */
async function inspect<T extends "sandbox" | "container">(
  connection: DockerConnection,
  id: string,
  type: T,
): Promise<Inspected<Extract<SandboxRecord | ContainerRecord, { type: T }>>> {
  // The daemon takes the beginning of an id for it, and a name.
  if (!/^[0-9a-f]{64}$/.test(id)) throw notFound(type, id);
  const info = await connection.call("InspectContainer", (docker, signal) =>
    docker.getContainer(id).inspect({ abortSignal: signal }),
  );
  const record = readRecord(info.Config.Labels, [info.Name]);
  if (record?.type !== type) throw notFound(type, id);
  return { info, record: record as never };
}

function notFound(type: string, id: string): RuntimeError {
  const text = `${type} ${JSON.stringify(id)}: not found`;
  return new RuntimeError("not-found", text, { detail: text });
}

/**
 * Resolves when lists show what has happened to a container: the daemon announces its end, and answers who waits for it, while
 * it still holds the container and before it writes down its state. To look at the container waits for that. Never rejects.
 */
export async function settled(
  connection: DockerConnection,
  id: string,
): Promise<void> {
  await connection
    .call("InspectContainer", (docker, signal) =>
      docker.getContainer(id).inspect({ abortSignal: signal }),
    )
    .catch(() => undefined);
}

/** Containers of pods, without the sandboxes. `all` false: those that run. */
export async function listContainers(
  connection: DockerConnection,
  filter: Parameters<Runtime["listContainers"]>[0],
  all: boolean,
): Promise<{ info: ContainerInfo; record: ContainerRecord }[]> {
  const { label } = labelFilter("container", filter?.labels);
  if (filter?.sandboxId) label.push(`${sandboxLabel}=${filter.sandboxId}`);
  const found = await connection.call("ListContainers", (docker, signal) =>
    docker.listContainers({ all, filters: { label }, abortSignal: signal }),
  );
  return found.flatMap((info) => {
    const record = readRecord(info.Labels, info.Names);
    return record?.type === "container" ? [{ info, record }] : [];
  });
}
