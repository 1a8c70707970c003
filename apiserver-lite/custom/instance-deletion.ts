// The end of a definition: Terminating, its objects deleted, its finalizer taken away. Begun again where it stopped.
import type { ApiError } from "../../api/errors.ts";
import { isConditionTrue, setCondition } from "../../api/objects/conditions.ts";
import type { CustomResourceDefinition } from "../../api/types/apiextensions-v1.ts";
import { cleanupFinalizer } from "../resources/apiextensions/cleanup.ts";
import type { NewCondition } from "./definition-status.ts";

interface Instances {
  /** Deletes those of a namespace (""; of a cluster-scoped kind, all). */
  deleteIn(namespace: string): Promise<void>;
  /** Namespaces that still have some; "" for a cluster-scoped kind. */
  namespaces(): ReadonlySet<string>;
}

export function isEnding({
  metadata,
}: Readonly<CustomResourceDefinition>): boolean {
  return (
    metadata.deletionTimestamp !== undefined &&
    (metadata.finalizers?.includes(cleanupFinalizer) ?? false)
  );
}

export const deletionInProgress: NewCondition = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionInProgress",
  message: "CustomResource deletion is in progress",
};

const deletionCompleted: NewCondition = {
  type: "Terminating",
  status: "False",
  reason: "InstanceDeletionCompleted",
  message: "removed all instances",
};

const neverEstablished: NewCondition = {
  type: "Terminating",
  status: "False",
  reason: "NeverEstablished",
  message: "resource was never established",
};

interface Deletion {
  readonly condition: NewCondition;
  /** The finalizer may go. */
  readonly done: boolean;
}

/** @param instances undefined: the definition was never served */
export async function deleteInstances(
  instances: Instances | undefined,
): Promise<Deletion> {
  if (!instances) return { condition: neverEstablished, done: true };
  const failures: string[] = [];
  for (const namespace of instances.namespaces())
    try {
      await instances.deleteIn(namespace);
    } catch (error) {
      failures.push((error as ApiError).message);
    }
  const condition = (message: string): NewCondition => ({
    ...{ type: "Terminating", status: "True", message },
    reason:
      failures.length > 0 ? "InstanceDeletionFailed" : "InstanceDeletionCheck",
  });
  if (failures.length > 0)
    return {
      condition: condition(
        `could not issue all deletes: ${failures.length === 1 ? failures[0]! : `[${failures.join(", ")}]`}`,
      ),
      done: false,
    };
  return instances.namespaces().size === 0
    ? { condition: deletionCompleted, done: true }
    : { condition: deletionInProgress, done: false };
}

/** A copy of the definition as its deletion leaves it. */
export function endedDefinition(
  definition: Readonly<CustomResourceDefinition>,
  { condition, done }: Deletion,
  time: string,
): CustomResourceDefinition {
  const { metadata, status } = definition;
  const conditions = setCondition(status?.conditions, condition, time);
  return {
    ...definition,
    metadata: done
      ? {
          ...metadata,
          finalizers: (metadata.finalizers ?? []).filter(
            (finalizer) => finalizer !== cleanupFinalizer,
          ),
        }
      : metadata,
    status: { ...status, conditions: [...conditions] },
  };
}

export const wasEstablished = ({
  status,
}: Readonly<CustomResourceDefinition>): boolean =>
  isConditionTrue(status?.conditions, "Established");
