// Which containers run, out of what the runtime has.
import type { RuntimePod } from "./runtime-pods.ts";

interface RunningContainer {
  id: string;
  /** Of its pod. */
  uid: string;
  name: string;
}

export function runningContainers(
  pods: readonly RuntimePod[],
): RunningContainer[] {
  return pods.flatMap(({ uid, containers }) =>
    containers
      .filter(({ state }) => state === "running")
      .map(({ id, name }) => ({ id, uid, name })),
  );
}
