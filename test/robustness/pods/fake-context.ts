// What pod workers share (agent/pods/worker/pod-context.ts) over a fake runtime: runtime state, workers, back-off and starting and
// ending of containers are the agent's own; files, cgroups, images and volumes do nothing.
import pino from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Pod, PodStatus } from "../../../api/types/core-v1.ts";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { PodEvents } from "../../../agent/events/pod-events.ts";
import { BackOff } from "../../../agent/pods/start/back-off.ts";
import type { PodContext } from "../../../agent/pods/worker/pod-context.ts";
import { RuntimePods } from "../../../agent/pods/runtime/runtime-pods.ts";
import { Turns } from "../../../agent/pods/start/turns.ts";
import type { Runtime } from "../../../cri/runtime.ts";

const logger = pino({ level: process.env["ORBIT_ROBUSTNESS_LOG"] ?? "silent" });
const nothing = (): Promise<void> => Promise.resolve();

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
}

export function fakeContext(options: FakeContextOptions): PodContext {
  const { runtime, clock, directory, statuses, ended, onChange } = options;
  const config = resolveAgentConfig({
    nodeName: "node",
    rootDirectory: directory,
    podLogsDirectory: `${directory}/logs`,
    containerLogsDirectory: `${directory}/links`,
    resolvConf: "/dev/null",
  });
  const own = new Map<string, PodStatus>();
  const uidOf = (pod: Pod): string => pod.metadata.uid ?? "";
  return {
    admission: { admit: () => undefined, release: () => undefined },
    config,
    runtime,
    runtimePods: new RuntimePods({
      ...{ runtime, clock, logger, onChange },
      lastWords: () => Promise.resolve(""),
    }),
    images: {
      ensure: () =>
        Promise.resolve({
          ...{ id: "image", repoTags: [], repoDigests: [], sizeBytes: 1 },
          pinned: false,
        }),
      forgetPod: () => undefined,
    } as unknown as PodContext["images"],
    volumes: {
      mount: nothing,
      containerMounts: () => Promise.resolve([]),
      unmount: nothing,
    },
    probes: {
      liveness: () => undefined,
      startup: () => undefined,
      ready: () => true,
      started: () => true,
      update: () => undefined,
      stopLiveness: () => undefined,
      remove: () => undefined,
    },
    cgroups: {
      createPod: () => Promise.resolve("/pod"),
      removePod: nothing,
    } as unknown as PodContext["cgroups"],
    hostFiles: {
      prepare: nothing,
      nextLogNumber: () => Promise.resolve(0),
      containerLogDirectory: () => Promise.resolve(directory),
      writeHosts: () => Promise.resolve(undefined),
      terminationLog: () => Promise.resolve(`${directory}/last-words`),
      linkContainerLog: nothing,
      unlinkContainerLog: nothing,
      removeLogs: nothing,
      removePodDirectory: nothing,
    } as unknown as PodContext["hostFiles"],
    hooks: { run: nothing },
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
    status: {
      get: (pod) => own.get(uidOf(pod)) ?? statuses.get(uidOf(pod)),
      set(pod, status) {
        own.set(uidOf(pod), status);
        if (!ended()) statuses.set(uidOf(pod), status);
      },
      finish(pod) {
        if (!ended() && pod.metadata.deletionTimestamp) options.onFinished(pod);
      },
      forget: (uid) => void own.delete(uid),
    },
    events: new PodEvents({ event: () => undefined }, () => ({
      ...{ apiVersion: "v1", kind: "Node" },
      metadata: { name: "node" },
    })),
    restartBackOff: new BackOff(),
    sandboxTurns: new Turns(4),
    resourceLimits: () => ({
      config,
      machineMemoryBytes: 2 ** 30,
      lowestOomScoreAdj: undefined,
    }),
    nodeIPs: () => ["192.0.2.1"],
    runtimeHandler: () => Promise.resolve(""),
    clock,
    logger,
  };
}
