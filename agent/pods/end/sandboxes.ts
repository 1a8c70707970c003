// Stopping and removing what the runtime has of a pod. A sandbox or container that is gone already is fine.
import type { Runtime } from "../../../cri/runtime.ts";
import type { RuntimePod } from "../runtime/runtime-pods.ts";

/** Also those that ended by themselves: until they are stopped they keep their addresses. */
export async function stopSandboxes(
  runtime: Pick<Runtime, "stopPodSandbox">,
  { sandboxes }: RuntimePod,
): Promise<void> {
  await Promise.all(sandboxes.map(({ id }) => runtime.stopPodSandbox(id)));
}

/** A sandbox need not be stopped before: stopped and then removed it would have its network taken down twice. */
export async function removeFromRuntime(
  runtime: Pick<Runtime, "removeContainer" | "removePodSandbox">,
  { sandboxes, containers }: RuntimePod,
): Promise<void> {
  await Promise.all(containers.map(({ id }) => runtime.removeContainer(id)));
  await Promise.all(sandboxes.map(({ id }) => runtime.removePodSandbox(id)));
}
