// The scale subresource: the replica count of a workload under one shape (autoscaling/v1 Scale).
import { errors, isNotFound, type ApiError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { selectorFromMap, selectorFromObject } from "../../../api/selectors.ts";
import type { Scale } from "../../../api/types/autoscaling-v1.ts";
import type { LabelSelector } from "../../../api/types/meta-v1.ts";
import type { SubresourceHandler, SubresourceRequest } from "../strategy.ts";
import { typed, untyped } from "../typed.ts";

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
function scaleOf({ metadata, spec, status }: Readonly<Scalable>): Scale {
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
    spec: spec?.replicas ? { replicas: spec.replicas } : {},
    status: {
      replicas: status?.replicas ?? 0,
      ...(selector ? { selector } : {}),
    },
  };
}

/** The body may leave out where it belongs, but not say something else. */
function checkPlace(
  { metadata }: Scale,
  { name, namespace }: SubresourceRequest,
): void {
  if (metadata?.namespace && metadata.namespace !== namespace)
    throw errors.badRequest(
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  if (metadata?.name && metadata.name !== name)
    throw errors.badRequest(
      `the name of the object (${metadata.name}) does not match the name on the URL (${name})`,
    );
}

/** Mutating admission has seen it. */
function refuseNegative(replicas: number, name: string): void {
  if (replicas >= 0) return;
  throw errors.invalid({ group: "autoscaling", kind: "Scale" }, name, [
    fieldErrors.invalid(
      "spec.replicas",
      replicas,
      "must be greater than or equal to 0",
    ),
  ]);
}

/** `resource` names the parent in texts of conflicts. */
export function scaleSubresource(resource: {
  group: string;
  resource: string;
}): SubresourceHandler {
  /** For a missing object the error reports that the scale is missing, except for a stateful set. */
  async function parentOf(
    parent: () => Promise<Readonly<AnyObject>>,
  ): Promise<Readonly<AnyObject>> {
    try {
      return await parent();
    } catch (error) {
      if (!isNotFound(error) || resource.resource === "statefulsets")
        throw error;
      const { name = "" } = (error as ApiError).status.details ?? {};
      throw errors.notFound(
        { ...resource, resource: `${resource.resource}/scale` },
        name,
      );
    }
  }

  return {
    admitted: {
      show: (object) => untyped(scaleOf(typed(object))),
      take(object, shown) {
        const { replicas = 0 } = typed<Scale>(shown).spec ?? {};
        const workload = typed<Scalable>(object);
        refuseNegative(replicas, workload.metadata.name);
        workload.spec = { ...workload.spec, replicas };
      },
    },
    async handle(request, context) {
      if (request.verb === "get")
        return untyped(scaleOf(typed(await parentOf(context.parent))));
      const scale = typed<Scale>(request.body!);
      checkPlace(scale, request);
      const replicas = scale.spec?.replicas ?? 0;
      const changed = await context.mutate((object) => {
        const version = scale.metadata?.resourceVersion;
        const uid = scale.metadata?.uid;
        if (version && version !== object.metadata.resourceVersion)
          throw errors.stale(resource, request.name);
        if (uid && uid !== object.metadata.uid) {
          throw errors.conflict(
            { ...resource, resource: `${resource.resource}/scale` },
            request.name,
            `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid ?? ""}`,
          );
        }
        const workload = typed<Scalable>(object);
        workload.spec = { ...workload.spec, replicas };
      });
      return untyped(scaleOf(typed(changed)));
    },
  };
}
