// NamespaceLifecycle: nothing is made in a namespace that is missing or going away, and three namespaces never go.
import { ApiError, errors } from "../../../api/errors.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { nameOf } from "./requests.ts";

const IMMORTAL = ["default", "kube-system", "kube-public"];
const namespaces = { group: "", resource: "namespaces" };

function isNamespaces(resource: { group: string; resource: string }): boolean {
  return resource.group === "" && resource.resource === "namespaces";
}

export const namespaceLifecycle: AdmissionPlugin = {
  name: "NamespaceLifecycle",
  validate({ operation, resource, name, subresource }) {
    if (
      operation === "DELETE" &&
      isNamespaces(resource) &&
      subresource === "" &&
      IMMORTAL.includes(name)
    )
      throw errors.forbidden(
        namespaces,
        name,
        "this namespace may not be deleted",
      );
  },
  writesWhole: true,
  admit: refuseOutside,
  // A webhook may have taken its time: a namespace that ended meanwhile would never be emptied again.
  refuseCreation: refuseOutside,
};

/** Throws ApiError 404 or 403 for a create in a namespace that is missing or going away. */
function refuseOutside(
  attributes: AdmissionAttributes,
  context: StrategyContext,
): void {
  const { operation, resource, namespace, subresource } = attributes;
  if (isNamespaces(resource)) return;
  if (namespace === "" || operation !== "CREATE" || subresource !== "") return;
  // Questions may be asked about namespaces that do not exist.
  if (resource.resource === "localsubjectaccessreviews") return;
  const found = context.read("", "namespaces", "", namespace);
  if (!found) throw errors.notFound(namespaces, namespace);
  const { phase } = (found["status"] ?? {}) as { phase?: string };
  if (phase !== "Terminating" && !found.metadata.deletionTimestamp) return;
  const refusal = errors.forbidden(
    resource,
    nameOf(attributes),
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  throw new ApiError({
    ...refusal.status,
    details: {
      ...refusal.status.details,
      causes: [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${namespace} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    },
  });
}
