// The scale subresource: the replica count of a workload under one shape (autoscaling/v1 Scale).
import { errors } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { selectorFromMap, selectorFromObject } from "../../../api/selectors.ts";
import type { Scale } from "../../../api/types/autoscaling-v1.ts";
import type { LabelSelector } from "../../../api/types/meta-v1.ts";
import type { SubresourceHandler } from "../../registry/strategy.ts";

interface Scalable {
  metadata: AnyObject["metadata"];
  spec?: {
    replicas?: number;
    selector?: LabelSelector | Record<string, string>;
  };
  status?: { replicas?: number };
}

/** Selectors of replication controllers are plain maps. */
function selectorText(
  selector: LabelSelector | Record<string, string> | undefined,
): string {
  if (!selector) return "";
  const structured =
    "matchLabels" in selector || "matchExpressions" in selector;
  return structured
    ? selectorFromObject(selector as LabelSelector).toString()
    : selectorFromMap(selector as Record<string, string>).toString();
}

/** The Scale of a Deployment, ReplicaSet, StatefulSet or ReplicationController. */
export function scaleOf(object: Readonly<AnyObject>): Scale {
  const { metadata, spec, status } = object as unknown as Scalable;
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const selector = selectorText(spec?.selector);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      creationTimestamp,
    } as Scale["metadata"],
    spec: { replicas: spec?.replicas ?? 0 },
    status: {
      replicas: status?.replicas ?? 0,
      ...(selector ? { selector } : {}),
    },
  };
}

/** `resource` names the parent in texts of conflicts. */
export function scaleSubresource(resource: {
  group: string;
  resource: string;
}): SubresourceHandler {
  return {
    async handle(request, context) {
      if (request.verb === "get")
        return scaleOf(await context.parent()) as unknown as AnyObject;
      const scale = request.body as unknown as Scale;
      const replicas = scale.spec?.replicas ?? 0;
      if (replicas < 0) {
        throw errors.invalid(
          { group: "autoscaling", kind: "Scale" },
          request.name,
          [
            fieldErrors.invalid(
              "spec.replicas",
              replicas,
              "must be greater than or equal to 0",
            ),
          ],
        );
      }
      const changed = await context.mutate((object) => {
        const version = scale.metadata?.resourceVersion;
        const uid = scale.metadata?.uid;
        if (version && version !== object.metadata.resourceVersion)
          throw errors.stale(resource, request.name);
        if (uid && uid !== object.metadata.uid) {
          throw errors.conflict(
            resource,
            request.name,
            `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid ?? ""}`,
          );
        }
        const workload = object as unknown as Scalable;
        workload.spec = { ...workload.spec, replicas };
      });
      return scaleOf(changed) as unknown as AnyObject;
    },
  };
}
