// What the node agent needs of a container runtime. The shape follows CRI v1 so that containerd maps one to one and
// Docker (a pause container a sandbox, `container:<id>` namespaces) fits too. Units are last in names; times are epoch ms.
// Errors: RuntimeError, whose code says whether a retry can help.
import type { Duplex, Readable, Writable } from "node:stream";
import type { ContainerLogs } from "./logs/container-logs.ts";
import type {
  RuntimeConfiguration,
  RuntimeFeatures,
} from "./runtime-features.ts";
import type { ContainerStats, Download, ImageFilesystem } from "./usage.ts";
import type { UserMappings } from "./user-mappings.ts";

export type RuntimeErrorCode =
  | "not-found" // no such sandbox, container or image
  | "unavailable" // the runtime can't be reached; retry
  | "timeout" // the runtime did not answer in time
  | "unsupported" // this runtime can't do it
  | "invalid" // the runtime refused the configuration
  | "unknown";

/** A registry's answer may be in it, of any length: it goes into logs, events and statuses. */
const maxErrorText = 4096;

export class RuntimeError extends Error {
  /** The runtime's own text, without the call's name: what statuses and events of pods show. */
  readonly detail: string;

  constructor(
    readonly code: RuntimeErrorCode,
    message: string,
    options?: ErrorOptions & { detail?: string },
  ) {
    super(message.slice(0, maxErrorText), options);
    this.name = "RuntimeError";
    this.detail = (options?.detail ?? message).slice(0, maxErrorText);
  }
}

interface RuntimeVersion {
  /** "containerd", "docker" */
  runtimeName: string;
  runtimeVersion: string;
  runtimeApiVersion: string;
}

export interface RuntimeCondition {
  ready: boolean;
  reason: string;
  message: string;
}

interface RuntimeStatus extends RuntimeFeatures {
  runtime: RuntimeCondition;
  network: RuntimeCondition;
}

export type NamespaceMode = "pod" | "container" | "node" | "target";

export interface PodMetadata {
  name: string;
  namespace: string;
  uid: string;
  attempt: number;
}

export interface SecurityProfile {
  type: "runtime-default" | "unconfined" | "localhost";
  localhostRef?: string;
}

interface SeLinuxOptions {
  user?: string;
  role?: string;
  type?: string;
  level?: string;
}

export interface SandboxConfig {
  metadata: PodMetadata;
  /** Empty for a host-network sandbox. */
  hostname: string;
  /** Directory of the pod's log files; made by the agent. */
  logDirectory: string;
  dns?: { servers: string[]; searches: string[]; options: string[] };
  portMappings: {
    protocol: "TCP" | "UDP" | "SCTP";
    containerPort: number;
    hostPort: number;
    hostIP: string;
  }[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** cgroupfs path of the pod's cgroup. */
  cgroupParent: string;
  sysctls: Record<string, string>;
  security: {
    network: NamespaceMode;
    pid: NamespaceMode;
    ipc: NamespaceMode;
    /** Of a user namespace of the pod's own; absent: the node's. */
    users?: UserMappings;
    privileged: boolean;
    readonlyRootfs: boolean;
    runAsUser?: number;
    runAsGroup?: number;
    supplementalGroups: number[];
    supplementalGroupsPolicy?: "Merge" | "Strict";
    seccomp?: SecurityProfile;
    apparmor?: SecurityProfile;
    selinux?: SeLinuxOptions;
  };
  /** Sums of the pod's requests and limits. */
  resources?: LinuxResources;
  overhead?: LinuxResources;
}

export interface LinuxResources {
  cpuPeriod?: number;
  cpuQuota?: number;
  cpuShares?: number;
  memoryLimitBytes?: number;
  oomScoreAdj?: number;
  cpusetCpus?: string;
  cpusetMems?: string;
  hugepageLimits?: { pageSize: string; limitBytes: number }[];
  unified?: Record<string, string>;
  memorySwapLimitBytes?: number;
}

export interface Mount {
  containerPath: string;
  hostPath: string;
  readonly: boolean;
  propagation: "private" | "host-to-container" | "bidirectional";
  selinuxRelabel?: boolean;
  recursiveReadOnly?: boolean;
  /** Mounted instead of `hostPath`, which is empty. */
  image?: {
    /** As the runtime names it. */
    id: string;
    /** As the user wrote it. */
    reference: string;
  };
}

export interface ContainerConfig {
  name: string;
  attempt: number;
  /** Reference as the user wrote it (recorded) and the resolved one to run. */
  image: string;
  imageRef: string;
  command: string[];
  args: string[];
  workingDir: string;
  env: { name: string; value: string }[];
  mounts: Mount[];
  devices: { containerPath: string; hostPath: string; permissions: string }[];
  /** Names by the Container Device Interface: `vendor.com/class=name`. */
  cdiDevices?: string[];
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** Relative to the sandbox's logDirectory. */
  logPath: string;
  stdin: boolean;
  stdinOnce: boolean;
  tty: boolean;
  resources?: LinuxResources;
  security: {
    privileged: boolean;
    capabilitiesAdd: string[];
    capabilitiesDrop: string[];
    runAsUser?: number;
    runAsUsername?: string;
    runAsGroup?: number;
    supplementalGroups: number[];
    supplementalGroupsPolicy?: "Merge" | "Strict";
    readonlyRootfs: boolean;
    noNewPrivs: boolean;
    /** Nothing masked, nothing read-only under /proc. */
    unmaskedProc: boolean;
    seccomp?: SecurityProfile;
    apparmor?: SecurityProfile;
    selinux?: SeLinuxOptions;
    network: NamespaceMode;
    pid: NamespaceMode;
    ipc: NamespaceMode;
    /** Container id whose PID namespace is joined when pid is "target". */
    targetId?: string;
  };
}

export interface SandboxSummary {
  id: string;
  metadata: PodMetadata;
  ready: boolean;
  createdAtMs: number;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  runtimeHandler: string;
}

export interface SandboxStatus extends SandboxSummary {
  /** First is the pod IP; empty on the host network. */
  ips: string[];
  /** PID of the sandbox process on the host, when asked for and reported. */
  pid?: number;
  /** Absent: it is in the node's user namespace, or the runtime knows no others. */
  users?: UserMappings;
}

export type ContainerState = "created" | "running" | "exited" | "unknown";

export interface ContainerSummary {
  id: string;
  sandboxId: string;
  name: string;
  attempt: number;
  /** As the runtime recorded it. */
  image: string;
  imageRef: string;
  state: ContainerState;
  createdAtMs: number;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

export interface ContainerStatus extends ContainerSummary {
  startedAtMs: number;
  finishedAtMs: number;
  exitCode: number;
  /** "Completed", "Error", "OOMKilled", "ContainerCannotRun", … or "" */
  reason: string;
  message: string;
  logPath: string;
  mounts: Mount[];
  resources?: LinuxResources;
  user?: { uid: number; gid: number; supplementalGroups: number[] };
  pid?: number;
}

export interface ImageSummary {
  id: string;
  repoTags: string[];
  repoDigests: string[];
  sizeBytes: number;
  /** From the image configuration, for runAsNonRoot. */
  uid?: number;
  username?: string;
  pinned: boolean;
}

/** Without the registry's address: containerd compares one with the host that it asks and drops the rest when they differ. */
export interface ImageAuth {
  username?: string;
  password?: string;
  auth?: string;
  identityToken?: string;
  registryToken?: string;
}

/** Something happened to a container or sandbox; the receiver looks at the status. `lost`: events were missed, relist. */
export interface RuntimeEvent {
  type: "created" | "started" | "exited" | "oom" | "deleted" | "image" | "lost";
  /** Container or sandbox id; "" for lost. */
  id: string;
}

interface TerminalSize {
  width: number;
  height: number;
}

export interface StreamOptions {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
  stdinOnce?: boolean; // of an attach: the container's input ends with its first client's
}

/** A running exec or attach. Ending `stdin` half-closes it. With tty, stderr is absent. */
export interface StreamSession {
  stdin?: Writable;
  stdout?: Readable;
  stderr?: Readable;
  resize(size: TerminalSize): void;
  /** Exit code of the process (attach: 0 when the streams end). Rejects when the session broke. */
  readonly exit: Promise<number>;
  /** Drops the session. */
  close(): void;
}

interface ExecResult {
  stdout: Buffer;
  stderr: Buffer;
  exitCode: number;
}

export interface Runtime {
  /** As the ids of its containers begin: containerd, docker, cri-o. */
  readonly name: string;
  readonly logs: ContainerLogs;
  start(): Promise<void>;
  stop(): Promise<void>;
  version(): Promise<RuntimeVersion>;
  status(): Promise<RuntimeStatus>;
  configuration(): Promise<RuntimeConfiguration>;
  /** The ranges of pods' addresses, one of a family: for the CNI configuration, ours or the runtime's own. */
  updatePodCidrs(podCidrs: readonly string[]): Promise<void>;

  runPodSandbox(config: SandboxConfig, runtimeHandler: string): Promise<string>;
  /** Idempotent; not-found is success. */
  stopPodSandbox(sandboxId: string): Promise<void>;
  removePodSandbox(sandboxId: string): Promise<void>;
  /** `verbose`: the pid too, for which the runtime looks at the whole specification. */
  podSandboxStatus(
    sandboxId: string,
    verbose?: boolean,
  ): Promise<SandboxStatus>;
  listPodSandboxes(labels?: Record<string, string>): Promise<SandboxSummary[]>;

  createContainer(
    sandboxId: string,
    config: ContainerConfig,
    sandbox: SandboxConfig,
  ): Promise<string>;
  startContainer(containerId: string): Promise<void>;
  /** SIGTERM (or the image's signal), then SIGKILL after graceSeconds. Resolves when stopped. */
  stopContainer(containerId: string, graceSeconds: number): Promise<void>;
  removeContainer(containerId: string): Promise<void>;
  containerStatus(
    containerId: string,
    verbose?: boolean,
  ): Promise<ContainerStatus>;
  listContainers(filter?: {
    sandboxId?: string;
    labels?: Record<string, string>;
  }): Promise<ContainerSummary[]>;
  updateContainerResources(
    containerId: string,
    resources: LinuxResources,
  ): Promise<void>;

  /**
   * Writes the state of a running container, its memory included, into an archive at `location`, a path of the node.
   * timeoutSeconds 0, or less than an ordinary call's: the ordinary deadline. The error has the reference's text.
   */
  checkpointContainer(
    containerId: string,
    location: string,
    timeoutSeconds: number,
  ): Promise<void>;

  /** Output is cut at 16 MiB a stream. A timeout is a RuntimeError "timeout". timeoutMs 0: no timeout. */
  execSync(
    containerId: string,
    command: string[],
    timeoutMs: number,
  ): Promise<ExecResult>;
  exec(
    containerId: string,
    command: string[],
    options: StreamOptions,
  ): Promise<StreamSession>;
  attach(containerId: string, options: StreamOptions): Promise<StreamSession>;
  /** A connection to a port on the sandbox's loopback. */
  portForward(sandboxId: string, port: number): Promise<Duplex>;

  listImages(): Promise<ImageSummary[]>;
  /** undefined when the image is not there. */
  imageStatus(image: string): Promise<ImageSummary | undefined>;
  /** Resolves to the image reference to run. */
  pullImage(
    image: string,
    auth?: ImageAuth,
    sandbox?: SandboxConfig,
  ): Promise<string>;
  removeImage(image: string): Promise<void>;
  imageFsInfo(): Promise<ImageFilesystem[]>;
  /**
   * Imports a tar (or tar.gz) in OCI layout or docker archive form; resolves to the names of the images in it.
   * A pinned image is left alone by image garbage collection. A bad archive is a RuntimeError "invalid".
   */
  importImage(
    tarPath: string,
    options?: { pinned?: boolean },
  ): Promise<string[]>;

  /**
   * An archive of images by their names, an OCI layout that is a docker archive too: what importImage takes. An unknown name
   * is a RuntimeError "not-found"; what goes wrong later is an error of the stream.
   */
  exportImages(names: readonly string[]): Promise<Readable>;
  /** What is being downloaded at the moment, by whomever; empty where the runtime does not say. */
  downloads(): Promise<readonly Download[]>;

  containerStats(labels?: Record<string, string>): Promise<ContainerStats[]>;
  /** Listens until the returned function is called. Where a runtime has no events, it relists once a second and diffs. */
  subscribe(listener: (event: RuntimeEvent) => void): () => void;
}
