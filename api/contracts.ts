// Interfaces between parts of the same floor, which do not know each other; the composition in cli/ hands them over.
import type { Duplex, Readable, Writable } from "node:stream";
import type { Family } from "./metrics/family.ts";
import type { KubeObject } from "./object.ts";
import type { Pod } from "./types/core-v1.ts";

/** The user of a request, as authentication found it. */
export interface UserInfo {
  name: string;
  uid?: string;
  groups: readonly string[];
  extra: Readonly<Record<string, readonly string[]>>;
}

/** What is asked, as authorization sees it. Non-resource requests have only verb and path. */
export interface AccessAttributes {
  user: UserInfo;
  /** get, list, watch, create, update, patch, delete, deletecollection, proxy … or a lower-case HTTP method. */
  verb: string;
  path: string;
  resourceRequest: boolean;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  fieldSelector?: string;
  labelSelector?: string;
}

export type AccessDecision = {
  decision: "allow" | "deny" | "no-opinion";
  reason: string;
  /** Why an authorizer that had to be asked gave no answer. Only a decision that is no "allow" has it. */
  error?: string;
};

export interface Authorizer {
  authorize(
    attributes: AccessAttributes,
  ): Promise<AccessDecision> | AccessDecision;
}

/** What authentication finds out about a request beside its user. */
export interface AuthenticationRemarks {
  /** For the audit log. */
  annotate(name: string, value: string): void;
  /** For the client, as a Warning header. */
  warn(text: string): void;
}

/** Checks a bearer token or a verified client certificate; undefined: not mine. Rejects when it is mine and bad. */
export interface TokenAuthenticator {
  /** @param remarks of the request that the token came with; undefined: it is looked at once more, and not counted */
  authenticateToken(
    token: string,
    audiences?: readonly string[],
    remarks?: AuthenticationRemarks,
  ): Promise<UserInfo | undefined>;
}

export interface TerminalDimensions {
  width: number;
  height: number;
}

/** A running exec or attach as seen by a port that serves it. */
export interface ExecSession {
  stdin?: Writable;
  stdout?: Readable;
  stderr?: Readable;
  resize(size: TerminalDimensions): void;
  readonly exit: Promise<number>;
  close(): void;
}

export interface LogOptions {
  container: string;
  follow: boolean;
  previous: boolean;
  timestamps: boolean;
  sinceSeconds?: number;
  sinceTime?: string;
  tailLines?: number;
  limitBytes?: number;
  /** "All" (default), "Stdout" or "Stderr". */
  stream?: string;
}

export interface ExecOptions {
  container: string;
  command: string[];
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** What a node without an API server has in its manifests directory. */
export interface DirectoryView {
  /** By plural name; Secrets without values; undefined: no such resource. */
  objects(resource: string): readonly KubeObject[] | undefined;
  /** Removes the pod's manifest. Rejects with an ApiError, 409 where the manifest has more than the pod. */
  deletePod(namespace: string, name: string): Promise<void>;
}

/** What a device has read and written. */
export interface DiskFigures {
  readonly device: string;
  /** The kernel's, `254:0`. */
  readonly numbers: string;
  readonly readBytes: number;
  readonly writeBytes: number;
  readonly readOperations: number;
  readonly writeOperations: number;
}

/** Counts of a network interface. */
export interface InterfaceFigures {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxPackets: number;
  readonly rxErrors: number;
  readonly rxDropped: number;
  readonly txBytes: number;
  readonly txPackets: number;
  readonly txErrors: number;
  readonly txDropped: number;
}

/** What the kernel counted of a block device since the boot. */
export interface DeviceCounts {
  readonly reads: number;
  readonly readsMerged: number;
  readonly sectorsRead: number;
  readonly readSeconds: number;
  readonly writes: number;
  readonly writesMerged: number;
  readonly sectorsWritten: number;
  readonly writeSeconds: number;
  readonly inProgress: number;
  readonly ioSeconds: number;
  readonly weightedIoSeconds: number;
}

interface FilesystemFigures {
  readonly device: string;
  readonly counts?: DeviceCounts;
  readonly limitBytes: number;
  readonly usageBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

/** The amounts of a cgroup that are one number each; those of limits are 0 where there is none. */
export type CgroupAmount =
  | "cpuSeconds"
  | "cpuUserSeconds"
  | "cpuSystemSeconds"
  | "cfsPeriods"
  | "cfsThrottledPeriods"
  | "cfsThrottledSeconds"
  | "memoryUsageBytes"
  | "memoryMaxUsageBytes"
  | "memoryWorkingSetBytes"
  | "memoryActiveFileBytes"
  | "memoryInactiveFileBytes"
  | "memoryRssBytes"
  | "memoryCacheBytes"
  | "memorySwapBytes"
  | "memoryMappedFileBytes"
  | "memoryKernelBytes"
  | "memoryFailures"
  | "pageFaults"
  | "majorPageFaults"
  | "treePageFaults"
  | "treeMajorPageFaults"
  | "oomKills"
  | "threads"
  | "threadsMax"
  | "processes"
  | "fileDescriptors"
  | "sockets"
  | "maxOpenFiles"
  | "specCpuShares"
  | "specCpuPeriod"
  | "specCpuQuota"
  | "specMemoryBytes"
  | "specMemoryReservationBytes"
  | "specMemorySwapBytes"
  /** 0: nothing may be swapped out; absent: there is no limit. */
  | "swapLimitBytes";

/** What a cgroup uses and may use; what is not known is absent. */
export type CgroupFigures = Readonly<Partial<Record<CgroupAmount, number>>> & {
  readonly disks: readonly DiskFigures[];
};

/** Of the machine ("/"), a pod's cgroup, its sandbox (without a container's name) or a container. */
export interface ContainerFigures extends Partial<CgroupFigures> {
  /** The cgroup's path. */
  readonly id: string;
  /** The runtime's id; "" for what the runtime does not know. */
  readonly name: string;
  readonly image: string;
  readonly container: string;
  readonly pod: string;
  readonly namespace: string;
  /** When it was read. */
  readonly epochMs: number;
  readonly startedAtMs?: number;
  readonly interfaces?: readonly InterfaceFigures[];
  readonly filesystems?: readonly FilesystemFigures[];
}

/** VolumeStats of the stats summary. */
export interface VolumeStats {
  readonly name: string;
  readonly time: string;
  readonly availableBytes?: number;
  readonly capacityBytes?: number;
  readonly usedBytes?: number;
  readonly inodes?: number;
  readonly inodesFree?: number;
  readonly inodesUsed?: number;
  readonly pvcRef?: { readonly name: string; readonly namespace: string };
  readonly volumeHealthStats?: { readonly abnormal: boolean };
}

export interface MachineFigures {
  readonly kernelVersion: string;
  readonly osVersion: string;
  readonly bootId: string;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly cores: number;
  readonly physicalCores: number;
  readonly sockets: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
}

/**
 * The node agent as its ports (server/) see it. Methods reject with an ApiError: 404 for an unknown pod or container,
 * 400 for a container that can't be served (e.g. waiting to start), with the reference's texts.
 */
export interface NodeAgentView {
  readonly nodeName: string;
  /** Pods the agent knows, with the status it computed. Static pods are among them. */
  pods(): readonly Pod[];
  /** One of them. */
  pod(namespace: string, name: string): Pod | undefined;
  /** Pods the runtime runs, reconstructed from it. */
  runningPods(): Promise<readonly Pod[]>;
  logs(namespace: string, name: string, options: LogOptions): Promise<Readable>;
  exec(
    namespace: string,
    name: string,
    options: ExecOptions,
  ): Promise<ExecSession>;
  attach(
    namespace: string,
    name: string,
    options: Omit<ExecOptions, "command">,
  ): Promise<ExecSession>;
  portForward(namespace: string, name: string, port: number): Promise<Duplex>;
  /** Resolves to the path of the archive. timeoutSeconds 0: the runtime's own. Rejects with the reference's text. */
  checkpoint(
    namespace: string,
    name: string,
    container: string,
    timeoutSeconds: number,
  ): Promise<string>;
  /** stats.Summary of the kubelet's /stats/summary, its times to the millisecond. */
  statsSummary(onlyCpuAndMemory: boolean): Promise<object>;
  /** What cAdvisor would know. */
  containerFigures(): Promise<readonly ContainerFigures[]>;
  machineFigures(): Promise<MachineFigures>;
  /** Of all pods; a driver that hangs holds it up for some seconds. */
  volumeStats(): Promise<readonly VolumeStats[]>;
  /** KubeletConfiguration of /configz. */
  config(): object;
  /** Pods ended for the node's sake since the start, by the signal or limit that asked for it. */
  evictions(): ReadonlyMap<string, number>;
  /** What the agent's parts count. */
  metrics(): readonly Family[];
  /** Results of probes. */
  probeMetrics(): readonly Family[];
  /** Rejects with the reason when the agent's loops do not run. */
  healthy(): Promise<void>;
  /** Absent: there is an API server. */
  readonly directory?: DirectoryView;
}
