// The 403 of the authorization filter and of what asks the authorizer once more.
import type { AccessAttributes } from "../../api/contracts.ts";
import { ApiError, errors } from "../../api/errors.ts";

/** 403 in the reference's words. */
export function forbidden(
  attributes: AccessAttributes,
  reason: string,
): ApiError {
  const { user, verb, path, group, resource, subresource, namespace, name } =
    attributes;
  const who = `User ${JSON.stringify(user.name)}`;
  const why = reason ? `: ${reason}` : "";
  if (!attributes.resourceRequest) {
    return new ApiError(
      {
        code: 403,
        reason: "Forbidden",
        message: `forbidden: ${who} cannot ${verb} path ${JSON.stringify(path)}${why}`,
        details: {},
      },
      headers,
    );
  }
  const what = subresource ? `${resource}/${subresource}` : resource;
  const where = namespace
    ? `in the namespace ${JSON.stringify(namespace)}`
    : "at the cluster scope";
  const { status } = errors.forbidden(
    { group, resource },
    name,
    `${who} cannot ${verb} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}${why}`,
  );
  return new ApiError(status, headers);
}

/** The texts name what was asked for: no browser should make more of them. */
const headers = { "x-content-type-options": "nosniff" };
