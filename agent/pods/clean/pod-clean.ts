// Removes what is left of a pod that no source has any more: log links, logs, directories and what the agent remembers.
// Idempotent: a worker that is killed in between, or a failure, is followed by another run.
import type { HostFiles } from "../start/host-files.ts";
import type { RuntimePod, RuntimePods } from "../runtime/runtime-pods.ts";
import { podLabelsOf } from "../shape/labels.ts";

export interface PodCleanContext {
  readonly runtimePods: Pick<RuntimePods, "forget">;
  readonly files: Pick<
    HostFiles,
    "unlinkContainerLog" | "removeLogs" | "removePodDirectory"
  >;
  readonly images: { forgetPod(uid: string): void };
  readonly restartBackOff: { resetPrefix(prefix: string): void };
}

/** `left`: the pod's containers as they were last; they are gone from the runtime. */
export async function cleanUpPod(
  context: PodCleanContext,
  uid: string,
  left: RuntimePod,
): Promise<void> {
  const { runtimePods, files, images, restartBackOff } = context;
  await Promise.all(
    left.containers.map(({ id, name, labels }) => {
      const owner = podLabelsOf(labels);
      return files.unlinkContainerLog(owner.name, owner.namespace, name, id);
    }),
  );
  runtimePods.forget(uid);
  images.forgetPod(uid);
  restartBackOff.resetPrefix(`${uid}/`);
  await files.removeLogs(uid);
  await files.removePodDirectory(uid);
}
