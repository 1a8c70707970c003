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
import type { MoveLock } from "../../cgroups/move-lock.ts";
import type { RuntimePods } from "../runtime/runtime-pods.ts";
import type { Turns } from "../../pacing/turns.ts";
import {
  assertUsers,
  withPodUsers,
  type PodUsersContext,
} from "./pod-users.ts";

export interface SandboxStartContext {
  readonly runtime: Pick<Runtime, "runPodSandbox" | "stopPodSandbox">;
  readonly runtimePods: Pick<RuntimePods, "addSandbox">;
  /** RuntimeClass name → handler; "" where none is asked for. Rejects when there is no such class. */
  readonly runtimeHandler: (pod: Pod) => Promise<string>;
  readonly users: PodUsersContext;
  /** How many sandboxes are made at a time. */
  readonly turns: Turns;
  readonly moves: Pick<MoveLock, "during">;
  readonly events: Pick<PodEvents, "pod">;
}

export async function startSandbox(
  context: SandboxStartContext,
  pod: Pod,
  config: SandboxConfig,
): Promise<SandboxStatus> {
  const { runtime, runtimeHandler, users, turns, moves, events } = context;
  try {
    const handler = await runtimeHandler(pod);
    const mapped = await withPodUsers(users, pod, handler, config);
    const id = await turns.run(() =>
      moves.during(() => runtime.runPodSandbox(mapped, handler)),
    );
    crashPoint("podworker.sandbox.made");
    return await addSandbox(context, pod, mapped, id);
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

/** One that is not what was asked for is stopped, so that another try makes a new one. */
async function addSandbox(
  { runtime, runtimePods }: SandboxStartContext,
  pod: Pod,
  config: SandboxConfig,
  id: string,
): Promise<SandboxStatus> {
  const sandbox = await runtimePods.addSandbox(pod.metadata.uid ?? "", id);
  // Of one that ended already the runtime may not say everything.
  if (!sandbox.ready) return sandbox;
  try {
    assertUsers(sandbox, config);
  } catch (error) {
    await runtime.stopPodSandbox(id);
    throw error;
  }
  return sandbox;
}
