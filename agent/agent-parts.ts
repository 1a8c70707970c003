// The parts of one agent, as wiring.ts makes them.
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import type { DirectoryView, NodeAgentView } from "../api/contracts.ts";
import type { Pod } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import type { EventRecorder } from "../client/event-recorder.ts";
import type { Runtime } from "../cri/runtime.ts";
import type { AgentOptions } from "./agent-options.ts";
import type { CgroupManager } from "./cgroups/cgroup-manager.ts";
import type { MoveLock } from "./cgroups/move-lock.ts";
import type { NodeAllocatable } from "./node/node-allocatable.ts";
import type { AgentConfig } from "./config/agent-config.ts";
import type { PodEvents } from "./events/pod-events.ts";
import type { Housekeeping } from "./housekeeping.ts";
import type { ArchiveDirectory } from "./images/archive-directory.ts";
import type { LogRotation } from "./logs/log-rotation.ts";
import type { MetricSources } from "./metrics/metric-sources.ts";
import type { NodeStartup } from "./metrics/node-startup.ts";
import type { PodMetrics } from "./metrics/pod-metrics.ts";
import type { NodeLease } from "./node/lease.ts";
import type { NodeReporter } from "./node/node-reporter.ts";
import type { PressureControl } from "./node/pressure.ts";
import type { PluginRegistration } from "./plugin-registration/plugin-registration.ts";
import type { PodAccess } from "./pod-access.ts";
import type { PodResources } from "./pod-resources/pod-resources.ts";
import type { PodChanges } from "./pods/runtime/pod-changes.ts";
import type { RuntimePods } from "./pods/runtime/runtime-pods.ts";
import type { AllocatedResources } from "./pods/resize/allocated-resources.ts";
import type { NodeResources } from "./pods/shape/field-paths.ts";
import type { HostFiles } from "./pods/start/host-files.ts";
import type { PodWorkers } from "./pods/worker/pod-workers.ts";
import type { ProbeManager } from "./probes/probe-manager.ts";
import type { ApiReporting } from "./reporting/api-reporting.ts";
import type { PodClaims } from "./resources/claims/pod-claims.ts";
import type { DeviceManager } from "./resources/devices/device-manager.ts";
import type { ResourceManagers } from "./resources/resource-managers.ts";
import type { UserNamespaces } from "./resources/users/user-namespaces.ts";
import type { RuntimeAdoption } from "./runtime-adoption.ts";
import type { LocalObjects } from "./sources/local/local-objects.ts";
import type { PodSources } from "./sources/pod-sources.ts";
import type { ReferencedObjects } from "./sources/referenced-objects.ts";
import type { SystemOom } from "./node/system-oom.ts";
import type { NodeShutdown } from "./shutdown/node-shutdown.ts";
import type { StatsSummary } from "./stats/summary.ts";
import type { CsiVolumes } from "./volumes/csi/csi-plugin.ts";
import type { VolumeManager } from "./volumes/volume-manager.ts";

/** What every part may use. */
export interface Ground {
  readonly settings: AgentConfig;
  readonly runtime: Runtime;
  readonly client: Client | undefined;
  /** In place of the client. */
  readonly local: LocalObjects | undefined;
  /** Where objects that pods refer to are read: that of the API server, or the local one. */
  readonly reader: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tracer: AgentOptions["tracer"];
  readonly recorder: EventRecorder | undefined;
  readonly events: PodEvents;
  readonly objects: ReferencedObjects;
  /** Who serves a type of plug-in registers its handler before the agent starts. */
  readonly plugins: PluginRegistration;
  readonly metrics: MetricSources;
  readonly podMetrics: PodMetrics;
  readonly startup: NodeStartup;
  readonly podNetwork: AgentOptions["podNetwork"];
}

/** The node and what is reported to the API server. */
export interface Reporting {
  readonly node: NodeReporter;
  readonly lease: NodeLease | undefined;
  readonly reports: ApiReporting;
}

/** What pods consist of on this machine. */
export interface PodRooms {
  readonly changes: PodChanges;
  readonly runtimePods: RuntimePods;
  readonly volumes: VolumeManager;
  readonly csi: CsiVolumes;
  readonly probes: ProbeManager;
  readonly cgroups: CgroupManager;
  readonly moves: MoveLock;
  readonly hostFiles: HostFiles;
  readonly resources: ResourceManagers;
  readonly devices: DeviceManager;
  readonly claims: PodClaims;
  readonly nodeResources: () => NodeResources;
  /** undefined: pods are not resized. */
  readonly allocated: AllocatedResources | undefined;
  /** undefined: pods can have none of their own. */
  readonly userNamespaces: UserNamespaces | undefined;
}

export interface AgentParts extends Ground, Reporting, PodRooms {
  readonly workers: PodWorkers;
  readonly sources: PodSources;
  readonly adoption: RuntimeAdoption;
  readonly allocatable: NodeAllocatable;
  readonly pressure: PressureControl;
  readonly housekeeping: Housekeeping;
  readonly shutdown: NodeShutdown;
  readonly rotation: LogRotation;
  readonly systemOom: SystemOom;
  /** undefined: there is no directory of image archives. */
  readonly archives: ArchiveDirectory | undefined;
  readonly podResources: PodResources;
  readonly access: PodAccess;
  readonly stats: StatsSummary;
  readonly containerFigures: NodeAgentView["containerFigures"];
  readonly volumeStats: NodeAgentView["volumeStats"];
  /** Undefined: there is an API server. */
  readonly directory: DirectoryView | undefined;
  /** All pods with a worker, with their statuses. */
  readonly pods: () => readonly Pod[];
  readonly manifestProblem: (origin: string, message: string) => void;
}

/** What is there before the sources and what looks after the node. */
export type Wired = Ground &
  Reporting &
  PodRooms & { readonly workers: PodWorkers };
