// OwnerReferencesPermissionEnforcement: who changes owners of an object must be allowed to delete it, and who makes the
// deletion of an owner wait must be allowed to set that owner's finalizers.
import type { AccessAttributes, Authorizer } from "../../../api/contracts.ts";
import { errors } from "../../../api/errors.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";
import type { OwnerReference } from "../../../api/types/meta-v1.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { nameOf } from "./requests.ts";

interface OwnerResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespaced: boolean;
}

/** The resources whose objects are of this kind; a kind may have several. */
export type ResourcesOfKind = (
  apiVersion: string,
  kind: string,
) => readonly OwnerResource[];

export function createOwnerPermissionEnforcement(
  authorizer: Authorizer,
  resourcesOf: ResourcesOfKind,
): AdmissionPlugin {
  const check = async (
    attributes: AdmissionAttributes,
    asked: Omit<AccessAttributes, "user" | "path" | "resourceRequest">,
    refusal: string,
  ): Promise<void> => {
    const { decision, reason } = await authorizer.authorize({
      ...asked,
      user: attributes.user,
      path: "",
      resourceRequest: true,
    });
    if (decision === "allow") return;
    throw errors.forbidden(
      attributes.resource,
      nameOf(attributes),
      `${refusal}: ${reason}, <nil>`,
    );
  };
  return {
    name: "OwnerReferencesPermissionEnforcement",
    async validate(attributes) {
      const { operation, resource, subresource, namespace } = attributes;
      if (operation !== "CREATE" && operation !== "UPDATE") return;
      // Old agents damage owners there, and the strategy keeps them.
      const isPodStatus =
        resource.group === "" &&
        resource.resource === "pods" &&
        subresource === "status";
      const now = ownersOf(attributes.object);
      const before = ownersOf(attributes.oldObject);
      if (isPodStatus || sameValue(now, before)) return;
      if (operation === "UPDATE")
        await check(
          attributes,
          {
            verb: "delete",
            ...resource,
            subresource,
            namespace,
            name: attributes.name,
          },
          "cannot set an ownerRef on a resource you can't delete",
        );
      const blocking = newlyBlocking(now, before);
      if (blocking.length === 0) return;
      const { decision } = await authorizer.authorize({
        user: attributes.user,
        path: "",
        resourceRequest: true,
        ...{ verb: "update", group: "*", version: "*", resource: "*" },
        ...{ subresource: "finalizers", namespace: "", name: "*" },
      });
      if (decision === "allow") return;
      for (const { apiVersion, kind, name } of blocking) {
        const found = resourcesOf(apiVersion, kind);
        if (found.length === 0)
          throw errors.forbidden(
            resource,
            nameOf(attributes),
            `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind "${kind}" in version "${apiVersion}"`,
          );
        for (const { group, version, resource: plural, namespaced } of found)
          await check(
            attributes,
            {
              ...{ verb: "update", group, version, resource: plural },
              ...{ subresource: "finalizers", name },
              // An owner lies in the namespace of what it owns.
              namespace: namespaced ? namespace : "",
            },
            "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on",
          );
      }
    },
  };
}

const ownersOf = (
  object: AdmissionAttributes["oldObject"],
): readonly OwnerReference[] => object?.metadata?.ownerReferences ?? [];

function newlyBlocking(
  now: readonly OwnerReference[],
  before: readonly OwnerReference[],
): OwnerReference[] {
  const known = new Set(
    before.flatMap(({ uid, blockOwnerDeletion }) =>
      blockOwnerDeletion ? [uid] : [],
    ),
  );
  return now.filter(
    ({ uid, blockOwnerDeletion }) => blockOwnerDeletion && !known.has(uid),
  );
}
