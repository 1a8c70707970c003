// What a deleted definition waits for: its objects are deleted before it goes (custom/instance-deletion.ts).
import { setCondition } from "../../../api/objects/conditions.ts";
import type { CustomResourceDefinition } from "../../../api/types/apiextensions-v1.ts";

/** Keeps a deleted definition until its objects are gone. */
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

/** The deletion has set its time; a grace period and a new generation it has not here. */
export function markForCleanup(definition: CustomResourceDefinition): void {
  const { metadata, status } = definition;
  const { finalizers = [] } = metadata;
  delete metadata.deletionGracePeriodSeconds;
  if (metadata.generation) metadata.generation--;
  if (!finalizers.includes(cleanupFinalizer))
    metadata.finalizers = [...finalizers, cleanupFinalizer];
  const conditions = setCondition(
    status?.conditions,
    {
      type: "Terminating",
      status: "True",
      reason: "InstanceDeletionPending",
      message:
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    },
    metadata.deletionTimestamp!,
  );
  definition.status = { ...status, conditions: [...conditions] };
}
