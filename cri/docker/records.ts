// What a container of Docker is to the agent, kept in its labels: the daemon has no sandboxes and no annotations. One label
// holds the whole record as JSON; the pod's and the container's own labels are there as well, to filter by.
// A record counts only when the container has the name that belongs to it: labels also come with images, names do not, and
// the maker of an image must not pass for the agent.
import { cgroupValues, type CgroupValues } from "./cgroup-values.ts";
import type {
  ContainerConfig,
  PodMetadata,
  SandboxConfig,
} from "../runtime.ts";

/** sandbox or container. */
const typeLabel = "io.orbit.type";
/** Of a container: the id of its sandbox. */
export const sandboxLabel = "io.orbit.sandbox";
const recordLabel = "io.orbit.record";

export interface SandboxRecord {
  type: "sandbox";
  metadata: PodMetadata;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  runtimeHandler: string;
  /** "node": on the host's network, without addresses of its own. */
  network: "pod" | "node";
  /** Where it is kept how its network was set up (cri/cni/attachments.ts). */
  networkState: string;
}

export interface ContainerRecord {
  type: "container";
  sandboxId: string;
  /** Of the pod. */
  pod: PodMetadata;
  name: string;
  attempt: number;
  image: string;
  imageRef: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Absolute; "" when no log is kept. */
  logPath: string;
  /** To be written when it starts. */
  cgroup?: CgroupValues;
}

type Named =
  | Pick<SandboxRecord, "type" | "metadata">
  | Pick<ContainerRecord, "type" | "pod" | "name" | "attempt">;

/** As users of Docker know them: k8s_<container>_<pod>_<namespace>_<uid>_<attempt>, POD for the sandbox's. */
export function containerName(record: Named): string {
  const [name, pod, attempt] =
    record.type === "sandbox"
      ? ["POD", record.metadata, record.metadata.attempt]
      : [record.name, record.pod, record.attempt];
  return ["k8s", name, pod.name, pod.namespace, pod.uid, attempt]
    .join("_")
    .replace(/[^a-zA-Z0-9_.-]/g, "-");
}

export function sandboxRecord(
  config: SandboxConfig,
  runtimeHandler: string,
  networkState: string,
): SandboxRecord {
  return {
    type: "sandbox",
    metadata: config.metadata,
    labels: config.labels,
    annotations: config.annotations,
    runtimeHandler,
    network: config.security.network === "node" ? "node" : "pod",
    networkState,
  };
}

export function containerRecord(
  sandboxId: string,
  config: ContainerConfig,
  sandbox: SandboxConfig,
): ContainerRecord {
  const cgroup = cgroupValues(sandbox.cgroupParent, config.resources);
  return {
    type: "container",
    sandboxId,
    pod: sandbox.metadata,
    name: config.name,
    attempt: config.attempt,
    image: config.image,
    imageRef: config.imageRef,
    labels: config.labels,
    annotations: config.annotations,
    logPath:
      config.logPath === "" || sandbox.logDirectory === ""
        ? ""
        : `${sandbox.logDirectory}/${config.logPath}`,
    ...(cgroup === undefined ? {} : { cgroup }),
  };
}

export function labelsOf(
  record: SandboxRecord | ContainerRecord,
): Record<string, string> {
  return {
    ...record.labels,
    [typeLabel]: record.type,
    ...(record.type === "container"
      ? { [sandboxLabel]: record.sandboxId }
      : {}),
    [recordLabel]: JSON.stringify(record),
  };
}

/** undefined for what the agent did not make. `names` as the daemon lists them, with a slash before each. */
export function readRecord(
  labels: Readonly<Record<string, string>> | undefined,
  names: readonly string[],
): SandboxRecord | ContainerRecord | undefined {
  const text = labels?.[recordLabel];
  if (text === undefined) return undefined;
  let record: SandboxRecord | ContainerRecord;
  try {
    record = JSON.parse(text) as SandboxRecord | ContainerRecord;
    const name = `/${containerName(record)}`;
    if (!names.includes(name)) return undefined;
  } catch {
    return undefined;
  }
  return record;
}

/** The daemon's filter for what the agent made. */
export function labelFilter(
  type: SandboxRecord["type"] | ContainerRecord["type"] | undefined,
  labels: Readonly<Record<string, string>> = {},
): { label: string[] } {
  return {
    label: [
      type === undefined ? typeLabel : `${typeLabel}=${type}`,
      ...Object.entries(labels).map(([key, value]) => `${key}=${value}`),
    ],
  };
}
