// What every pod worker shares: the services of the agent, handed over once by agent.ts.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Pod, PodStatus } from "../../../api/types/core-v1.ts";
import type { Mount, Runtime } from "../../../cri/runtime.ts";
import type { Container } from "../../../api/types/core-v1.ts";
import type { CgroupManager } from "../../cgroups/cgroup-manager.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import type { ContainerReadiness } from "../../status/container-statuses.ts";
import type { BackOff } from "../start/back-off.ts";
import type { EnvironmentSource } from "../start/environment.ts";
import type { HostFiles } from "../start/host-files.ts";
import type { ImageManager } from "../start/image-manager.ts";
import type { HookRunner } from "../end/lifecycle-hooks.ts";
import type { ResourceLimits } from "../../resources/linux-resources.ts";
import type { Turns } from "../start/turns.ts";
import type { ProbeResults } from "./pod-actions.ts";
import type { RuntimePod, RuntimePods } from "../runtime/runtime-pods.ts";

export interface PodVolumes {
  /** Makes every volume of the pod ready, and refreshes what changed; idempotent. Rejects with a MountError. */
  mount(pod: Pod): Promise<void>;
  /** The container's volume mounts; needs mount() before. `lookup` resolves $(VAR) of subPathExpr. */
  containerMounts(
    pod: Pod,
    container: Container,
    lookup: (name: string) => string | undefined,
  ): Promise<Mount[]>;
  /** Ends refreshing and removes everything of the pod. */
  unmount(uid: string): Promise<void>;
}

export interface PodProbes extends ProbeResults, ContainerReadiness {
  /** Starts probes of running containers and ends those of others. */
  update(pod: Pod, runtimePod: RuntimePod): void;
  /** From now on only readiness counts: the pod ends. */
  stopLiveness(uid: string): void;
  remove(uid: string): void;
}

export interface StatusSink {
  /** Last status set, else what the API server has. */
  get(pod: Pod): PodStatus | undefined;
  set(pod: Pod, status: PodStatus): void;
  /** All of the pod is torn down: report the last status, then remove the object if it is being deleted. */
  finish(pod: Pod): void;
  forget(uid: string): void;
}

interface PodAdmission {
  /** Why the pod may not run here; once it may, it counts until it is released. */
  admit(pod: Pod): { reason: string; message: string } | undefined;
  release(uid: string): void;
}

export interface PodContext {
  admission: PodAdmission;
  config: AgentConfig;
  runtime: Runtime;
  runtimePods: RuntimePods;
  images: ImageManager;
  volumes: PodVolumes;
  probes: PodProbes;
  cgroups: CgroupManager;
  hostFiles: HostFiles;
  hooks: HookRunner;
  environment: EnvironmentSource;
  status: StatusSink;
  events: PodEvents;
  restartBackOff: BackOff;
  /** How many sandboxes are made at a time. */
  sandboxTurns: Turns;
  resourceLimits: () => ResourceLimits;
  nodeIPs: () => readonly string[];
  /** RuntimeClass name → handler; "" where none is asked for. Rejects when there is no such class. */
  runtimeHandler: (pod: Pod) => Promise<string>;
  clock: Clock;
  logger: Logger;
}
