// Starts what one pod lacks: its directories, volumes and cgroup, its sandbox, then its containers in order. Sandbox and
// volumes are made at the same time. A container's error is a reason why it waits; a pod's error is thrown.
import type { Container, Pod, PodStatus } from "../../../api/types/core-v1.ts";
import type { SandboxConfig, SandboxStatus } from "../../../cri/runtime.ts";
import type { AgentConfig } from "../../config/agent-config.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import { VolumePending } from "../../volumes/volume-plugin.ts";
import {
  networkedSandbox,
  type PodNetworkHooks,
} from "../runtime/networked-sandboxes.ts";
import type { RuntimePod } from "../runtime/runtime-pods.ts";
import { podAddresses } from "../shape/pod-addresses.ts";
import type { ContainerKind } from "../shape/labels.ts";
import {
  startContainer,
  type ContainerStartContext,
} from "./container-start.ts";
import type { HostFiles } from "./host-files.ts";
import { WaitingError } from "../../images/image-manager.ts";
import { sandboxConfig } from "./sandbox-config.ts";
import { startSandbox, type SandboxStartContext } from "./sandbox-start.ts";
import type { WaitingReasons } from "./waiting-reasons.ts";

export interface PodStartContext {
  readonly sandboxes: SandboxStartContext;
  readonly containers: ContainerStartContext;
  readonly volumes: {
    /** Makes every volume of the pod ready, and refreshes what changed; idempotent. */
    mount(pod: Pod): Promise<void>;
  };
  readonly claims: {
    /** Has the pod's claims of devices prepared; idempotent. */
    prepare(pod: Pod): Promise<void>;
  };
  readonly files: Pick<HostFiles, "prepare">;
  readonly cgroups: {
    /** Idempotent; resolves to the cgroup's path. */
    createPod(pod: Pod): Promise<string>;
  };
  readonly config: AgentConfig;
  readonly events: Pick<PodEvents, "pod">;
  readonly nodeIPs: () => readonly string[];
  /** As the agent's option. */
  readonly podNetwork?: PodNetworkHooks | undefined;
}

interface StartPlan {
  createSandbox: boolean;
  /** Of the sandbox. */
  attempt: number;
  sandbox: SandboxStatus | undefined;
  /** In order. */
  containersToStart: readonly { container: Container; kind: ContainerKind }[];
}

/** One pass of a pod's worker, while it starts something. */
interface StartRun {
  pod: () => Pod;
  refresh: () => Promise<RuntimePod>;
  waiting: WaitingReasons;
  signal: AbortSignal;
  onStarted: (container: string) => Promise<void>;
  /** A container could not be started; its reason is among the waiting ones. */
  onFailed: () => Promise<void>;
}

export interface StartResult {
  /** Something was made, so that another pass has to look. */
  changed: boolean;
  /** When a container that could not be started may be tried again; Infinity: none failed. */
  retryInMs: number;
}

/** Rejects, after a FailedMount or FailedMapVolume event, when a volume can't be made ready; with VolumePending while one is waited for. */
export async function mountVolumes(
  { volumes, events }: Pick<PodStartContext, "volumes" | "events">,
  pod: Pod,
): Promise<void> {
  try {
    await volumes.mount(pod);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const reason = text.startsWith("MapVolume.")
      ? "FailedMapVolume"
      : "FailedMount";
    if (!(error instanceof VolumePending))
      events.pod(pod, "Warning", reason, text);
    throw error;
  }
}

export async function startPod(
  context: PodStartContext,
  plan: StartPlan,
  run: StartRun,
): Promise<StartResult> {
  // First: the directory is the record by which the rest is found when this process is killed.
  await makeDirectories(context, run.pod());
  const volumes = mountVolumes(context, run.pod());
  volumes.catch(() => undefined);
  const cgroup = await makeCgroup(context, run.pod());
  const config = await configureSandbox(context, plan, run.pod(), cgroup);
  if (plan.createSandbox) await prepareClaims(context, run.pod());
  const sandbox = plan.createSandbox
    ? await startSandbox(context.sandboxes, run.pod(), config)
    : plan.sandbox;
  await volumes;
  // One that ended at once: the next pass replaces it, after a pause.
  if (!sandbox?.ready) return { changed: true, retryInMs: Infinity };
  await protectSandbox(context, run, sandbox);
  let started = 0;
  let retryInMs = Infinity;
  for (const { container, kind } of plan.containersToStart) {
    if (run.signal.aborted) return { changed: true, retryInMs };
    const runtimePod = await run.refresh();
    try {
      await startContainer(context.containers, {
        pod: withAddresses(run.pod(), sandbox, context.nodeIPs()),
        container,
        kind,
        sandbox,
        sandboxConfig: config,
        runtimePod,
        signal: run.signal,
      });
      run.waiting.started(container.name);
      started++;
      await run.onStarted(container.name);
    } catch (error) {
      if (!(error instanceof WaitingError)) throw error;
      const retryMs = run.waiting.failed(container.name, error);
      retryInMs = Math.min(retryInMs, retryMs);
      await run.onFailed();
      if (kind === "init" || kind === "sidecar") break;
    }
  }
  const made = started > 0 || plan.createSandbox;
  return { changed: made && retryInMs === Infinity, retryInMs };
}

/** On a full file system they can't be made: the event says so, as nothing else of the pod does. */
async function makeDirectories(
  { files, events }: PodStartContext,
  pod: Pod,
): Promise<void> {
  try {
    await files.prepare(pod);
  } catch (error) {
    events.pod(
      pod,
      "Warning",
      "Failed",
      `error making pod data directories: ${(error as Error).message}`,
    );
    throw error;
  }
}

/** Where the cgroup, or one of its limits, can't be set, nothing of the pod is started: the event says why. */
async function makeCgroup(
  { cgroups, events }: PodStartContext,
  pod: Pod,
): Promise<string> {
  try {
    return await cgroups.createPod(pod);
  } catch (error) {
    events.pod(
      pod,
      "Warning",
      "FailedCreatePodContainer",
      `unable to ensure pod container exists: ${(error as Error).message}`,
    );
    throw error;
  }
}

/** What can't be configured as asked is an event of the pod when its sandbox is made. */
async function configureSandbox(
  context: PodStartContext,
  { attempt, createSandbox }: StartPlan,
  pod: Pod,
  cgroup: string,
): Promise<SandboxConfig> {
  const { events, nodeIPs } = context;
  try {
    const { config, warnings } = await sandboxConfig(
      pod,
      attempt,
      cgroup,
      context.config,
      nodeIPs(),
    );
    if (createSandbox)
      for (const { reason, message } of warnings)
        events.pod(pod, "Warning", reason, message);
    return config;
  } catch (error) {
    events.pod(
      pod,
      "Warning",
      "FailedCreatePodSandBox",
      `Failed to create pod sandbox: ${(error as Error).message}`,
    );
    throw error;
  }
}

async function prepareClaims(
  { claims, events }: PodStartContext,
  pod: Pod,
): Promise<void> {
  if (!pod.spec.resourceClaims?.length) return;
  try {
    await claims.prepare(pod);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    events.pod(
      pod,
      "Warning",
      "FailedPrepareDynamicResources",
      `Failed to prepare dynamic resources: ${text}`,
    );
    throw error;
  }
}

/** A sandbox that has or had containers was protected before the first of them. */
async function protectSandbox(
  { podNetwork, events }: PodStartContext,
  run: StartRun,
  sandbox: SandboxStatus,
): Promise<void> {
  const pod = run.pod();
  const networked = networkedSandbox(sandbox, pod);
  if (!podNetwork || pod.spec.hostNetwork || !networked) return;
  const { containers } = await run.refresh();
  if (containers.some(({ sandboxId }) => sandboxId === sandbox.id)) return;
  try {
    await podNetwork.protect(networked);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    events.pod(
      pod,
      "Warning",
      "FailedCreatePodSandBox",
      `Failed to protect the pod's network: ${text}`,
    );
    throw error;
  }
}

function withAddresses(
  pod: Pod,
  sandbox: SandboxStatus,
  nodeIPs: readonly string[],
): Pod {
  const ips = pod.spec.hostNetwork
    ? nodeIPs
    : podAddresses(sandbox.ips, nodeIPs);
  const status: PodStatus = { ...pod.status };
  if (nodeIPs[0])
    Object.assign(status, {
      hostIP: nodeIPs[0],
      hostIPs: nodeIPs.map((ip) => ({ ip })),
    });
  if (ips[0])
    Object.assign(status, { podIP: ips[0], podIPs: ips.map((ip) => ({ ip })) });
  return { ...pod, status };
}
