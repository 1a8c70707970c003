// The 403 of a request that no authorizer allowed.
import { qualifiedResource } from "../../api/object.ts";
import type { AccessAttributes } from "../../api/contracts.ts";
import { ApiError } from "../../api/errors.ts";

/** `User "x" cannot list resource "pods" in API group "" in the namespace "default"` */
function denialText(attributes: AccessAttributes): string {
  const { user, verb, path, group, namespace } = attributes;
  const who = `User ${JSON.stringify(user.name)} cannot`;
  if (!attributes.resourceRequest)
    return `${who} ${verb} path ${JSON.stringify(path)}`;
  const resource = attributes.subresource
    ? `${attributes.resource}/${attributes.subresource}`
    : attributes.resource;
  const where =
    namespace === ""
      ? "at the cluster scope"
      : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${where}`;
}

/** The 403 of a request that was not allowed. */
export function forbiddenError(
  attributes: AccessAttributes,
  reason: string,
): ApiError {
  const text = denialText(attributes) + (reason === "" ? "" : `: ${reason}`);
  const { group, resource, name, resourceRequest } = attributes;
  const qualified = qualifiedResource({ group, resource });
  const what = !resourceRequest
    ? "forbidden"
    : name === ""
      ? `${qualified} is forbidden`
      : `${qualified} ${JSON.stringify(name)} is forbidden`;
  return new ApiError({
    code: 403,
    reason: "Forbidden",
    message: `${what}: ${text}`,
    details: resourceRequest
      ? {
          ...(name ? { name } : {}),
          ...(group ? { group } : {}),
          kind: resource,
        }
      : {},
  });
}
