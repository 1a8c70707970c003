// What pod workers are given (WorkersContext) over a fake runtime: runtime state, workers, back-off and starting and
// ending of containers are the agent's own; files, cgroups, images and volumes do nothing.
import { withoutClaims } from "../../../agent/resources/claims/pod-claims.ts";
import { noDevices } from "../../../agent/resources/devices/container-devices.ts";
import pino from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Pod, PodStatus } from "../../../api/types/core-v1.ts";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { BackOff } from "../../../agent/pacing/back-off.ts";
import { PodEvents, type EventSink } from "../../../agent/events/pod-events.ts";
import type { NodeFeatures } from "../../../agent/pods/start/node-features.ts";
import type { PodStartContext } from "../../../agent/pods/start/pod-start.ts";
import type {
  PodResizer,
  ResizerContext,
} from "../../../agent/pods/resize/pod-resizer.ts";
import type { StatusSink } from "../../../agent/pods/worker/pod-report.ts";
import type { WorkersContext } from "../../../agent/pods/worker/pod-workers.ts";
import { RuntimePods } from "../../../agent/pods/runtime/runtime-pods.ts";
import { Turns } from "../../../agent/pacing/turns.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import { earlierRun } from "../../../agent/reporting/status-manager.ts";
import { isStaticPod } from "../../../agent/pods/shape/labels.ts";
import { FakeHost, hostParts } from "./fake-host.ts";

const logger = pino({ level: process.env["ORBIT_ROBUSTNESS_LOG"] ?? "silent" });

export interface FakeContextOptions {
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly directory: string;
  /** What the API server has; statuses reach it at once unless the agent has ended. */
  readonly statuses: Map<string, PodStatus>;
  readonly ended: () => boolean;
  readonly onChange: (uid: string) => void;
  /** The last status of a pod that is being deleted was reported. */
  readonly onFinished: (pod: Pod) => void;
  /** Directories, cgroups and volumes; without it nobody looks at them. */
  readonly host?: ReturnType<typeof hostParts>;
  readonly admit?: WorkersContext["sync"]["admission"]["admit"];
  /** What a pod had of the node is free for others. */
  readonly onReleased?: (uid: string) => void;
  /** Where pods are resized. */
  readonly resize?: (
    parts: Pick<ResizerContext, "runtime" | "restartBackOff" | "events">,
  ) => PodResizer;
  /** Of every container that ended. */
  readonly lastMessage?: string;
  /** Of pods with user namespaces of their own. */
  readonly users?: WorkersContext["tearDown"]["users"];
  /** Why only pods of the host's network can be started. */
  readonly networkProblem?: () => string | undefined;
  /** Hears of each event of a pod. */
  readonly events?: (reason: string, message: string) => void;
}

export interface FakeContext extends WorkersContext {
  readonly runtimePods: RuntimePods;
}

export function fakeContext(options: FakeContextOptions): FakeContext {
  const { runtime, clock, directory, onChange, networkProblem } = options;
  const config = resolveAgentConfig({
    nodeName: "node",
    rootDirectory: directory,
    podLogsDirectory: `${directory}/logs`,
    containerLogsDirectory: `${directory}/links`,
    resolvConf: "/dev/null",
  });
  const runtimePods = new RuntimePods({
    ...{ runtime, clock, logger, onChange },
    lastMessage: () => Promise.resolve(options.lastMessage ?? ""),
  });
  const status = fakeStatuses(options);
  const restartBackOff = new BackOff();
  const events = new PodEvents(eventSink(options), () => ({
    ...{ apiVersion: "v1", kind: "Node" },
    metadata: { name: "node" },
  }));
  const nodeIPs = (): readonly string[] => ["192.0.2.1"];
  const features = (): NodeFeatures => ({
    handlers: [],
    supplementalGroupsPolicy: false,
  });
  const hooks = { run: () => Promise.resolve() };
  const end = { runtime, runtimePods, clock, hooks, events, nodeIPs, logger };
  const { volumes, cgroups, files } =
    options.host ??
    hostParts(
      new FakeHost(),
      (_name, effect) => Promise.resolve(effect()),
      directory,
    );
  const probes = {
    liveness: () => undefined,
    startup: () => undefined,
    ready: () => true,
    started: () => true,
    update: () => undefined,
    stopLiveness: () => undefined,
    remove: () => undefined,
  };
  const moves = { during: <T>(call: () => Promise<T>) => call() };
  const start: PodStartContext = {
    sandboxes: {
      ...{ runtime, runtimePods, events, moves },
      runtimeHandler: () => Promise.resolve(""),
      users: { features },
      turns: new Turns(4),
    },
    containers: {
      ...{ runtime, runtimePods, files, status, restartBackOff, logger },
      moves,
      ending: end,
      users: { features },
      images: {
        ensureVolume: () => Promise.reject(new Error("unused")),
        ensure: () =>
          Promise.resolve({
            ...{ id: "image", repoTags: [], repoDigests: [], sizeBytes: 1 },
            pinned: false,
          }),
      },
      setup: {
        ...{ volumes, files, config, events, features },
        devices: { devicesOf: () => Promise.resolve(noDevices) },
        environment: {
          configMap: () => Promise.resolve(undefined),
          secret: () => Promise.resolve(undefined),
          services: () => [],
          nodeResources: () => ({
            cpuMillis: 1000,
            memoryBytes: 2 ** 30,
            ephemeralStorageBytes: 2 ** 30,
          }),
        },
        resources: { pinning: () => ({}) },
        resourceLimits: {
          config,
          machineMemoryBytes: 2 ** 30,
          lowestOomScoreAdj: undefined,
          hugepageSizes: [],
        },
      },
    },
    ...{ volumes, files, cgroups, config, events, nodeIPs },
    claims: withoutClaims,
  };
  const admission = {
    counts: () => true,
    admit: options.admit ?? (() => undefined),
    release: options.onReleased ?? (() => undefined),
  };
  const allocation = {
    admit: () => Promise.resolve(undefined),
    release: options.onReleased ?? (() => undefined),
  };
  const resize = options.resize?.({ runtime, restartBackOff, events });
  return {
    runtimePods,
    rootDirectory: config.rootDirectory,
    sync: {
      ...{ runtimePods, admission, allocation, probes, restartBackOff },
      ...{ start, events, clock },
      ...(resize ? { resize } : {}),
      ...(networkProblem ? { networkProblem } : {}),
    },
    end,
    tearDown: {
      ...{ volumes, probes, cgroups, admission, claims: withoutClaims },
      users: options.users,
    },
    clean: {
      ...{ runtimePods, files, restartBackOff },
      images: { forgetPod: () => undefined },
    },
    deadContainers: {
      runtime,
      files,
      keptPerContainer: 1,
      minimumAgeMs: 0,
      clock,
      logger,
    },
    report: {
      holdsDevices: () => false,
      ...{ status, nodeIPs, clock, resize, features },
      runtimeName: "containerd",
      readiness: probes,
    },
    ...{ clock, logger },
  };
}

function fakeStatuses({
  statuses,
  ended,
  onFinished,
}: FakeContextOptions): StatusSink {
  const own = new Map<string, PodStatus>();
  const uidOf = (pod: Pod): string => pod.metadata.uid ?? "";
  return {
    get(pod) {
      const known = statuses.get(uidOf(pod));
      return (
        own.get(uidOf(pod)) ?? (isStaticPod(pod) ? earlierRun(known) : known)
      );
    },
    set(pod, status) {
      own.set(uidOf(pod), status);
      if (!ended()) statuses.set(uidOf(pod), status);
    },
    finish(pod) {
      if (!ended() && pod.metadata.deletionTimestamp) onFinished(pod);
    },
    forget: (uid) => void own.delete(uid),
  };
}

function eventSink({ events }: FakeContextOptions): EventSink {
  return {
    event: (_object, _type, reason, message) => events?.(reason, message),
  };
}
