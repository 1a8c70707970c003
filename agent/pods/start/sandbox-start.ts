// Makes a pod's sandbox by the runtime, as many at a time as its turns allow; a failure is an event of the pod.
import { crashPoint } from "../../../api/crash-point.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import {
  type Runtime,
  type SandboxConfig,
  type SandboxStatus,
} from "../../../cri/runtime.ts";
import { runtimeStatusText } from "../../../cri/runtime-error-text.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import type { RuntimePods } from "../runtime/runtime-pods.ts";
import type { Turns } from "../../pacing/turns.ts";
import { userNamespaceRefusal, type NodeFeatures } from "./node-features.ts";

export interface SandboxStartContext {
  readonly runtime: Pick<Runtime, "runPodSandbox">;
  readonly runtimePods: Pick<RuntimePods, "addSandbox">;
  /** RuntimeClass name → handler; "" where none is asked for. Rejects when there is no such class. */
  readonly runtimeHandler: (pod: Pod) => Promise<string>;
  /** Of the runtime. */
  readonly features: () => NodeFeatures;
  /** The gate UserNamespacesSupport. */
  readonly userNamespaces: boolean;
  /** How many sandboxes are made at a time. */
  readonly turns: Turns;
  readonly events: Pick<PodEvents, "pod">;
}

export async function startSandbox(
  context: SandboxStartContext,
  pod: Pod,
  config: SandboxConfig,
): Promise<SandboxStatus> {
  const { runtime, runtimePods, runtimeHandler, turns, events } = context;
  const { features, userNamespaces } = context;
  try {
    const handler = await runtimeHandler(pod);
    const refusal = userNamespaceRefusal(
      pod,
      handler,
      features(),
      userNamespaces,
    );
    if (refusal) throw new Error(refusal);
    const id = await turns.run(() => runtime.runPodSandbox(config, handler));
    crashPoint("podworker.sandbox.made");
    return await runtimePods.addSandbox(pod.metadata.uid ?? "", id);
  } catch (error) {
    events.pod(
      pod,
      "Warning",
      "FailedCreatePodSandBox",
      `Failed to create pod sandbox: ${runtimeStatusText(error)}`,
    );
    throw error;
  }
}
