// Impersonate-User, -Group, -Uid and -Extra-…: each is authorized for the real user as verb "impersonate".
import type {
  AccessAttributes,
  Authorizer,
  UserInfo,
} from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import type { Exchange } from "./exchange.ts";
import { forbidden } from "./forbidden.ts";

/** Throws ApiError 400, 403. */
export async function impersonate(
  user: UserInfo,
  exchange: Pick<Exchange, "headers" | "headerValues">,
  authorizer: Authorizer | undefined,
): Promise<UserInfo> {
  const [name = ""] = exchange.headerValues("impersonate-user");
  const groups = exchange.headerValues("impersonate-group");
  const [uid = ""] = exchange.headerValues("impersonate-uid");
  if (!name)
    throw errors.badRequest(
      "requested impersonation without impersonating a user",
    );
  const extra: Record<string, string[]> = {};
  for (const header in exchange.headers) {
    if (!header.startsWith("impersonate-extra-")) continue;
    extra[decodeURIComponent(header.slice("impersonate-extra-".length))] =
      exchange.headerValues(header);
  }
  const checks: Pick<
    AccessAttributes,
    "group" | "resource" | "subresource" | "namespace" | "name"
  >[] = [];
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  if (account)
    checks.push({
      group: "",
      resource: "serviceaccounts",
      subresource: "",
      namespace: account[1]!,
      name: account[2]!,
    });
  else
    checks.push({
      group: "",
      resource: "users",
      subresource: "",
      namespace: "",
      name,
    });
  for (const group of groups)
    checks.push({
      group: "",
      resource: "groups",
      subresource: "",
      namespace: "",
      name: group,
    });
  if (uid)
    checks.push({
      group: "authentication.k8s.io",
      resource: "uids",
      subresource: "",
      namespace: "",
      name: uid,
    });
  for (const [key, values] of Object.entries(extra))
    for (const value of values)
      checks.push({
        group: "authentication.k8s.io",
        resource: "userextras",
        subresource: key,
        namespace: "",
        name: value,
      });
  for (const check of checks) {
    const attributes: AccessAttributes = {
      user,
      verb: "impersonate",
      path: "",
      resourceRequest: true,
      version: "",
      ...check,
    };
    const answer = await authorizer?.authorize(attributes);
    if (answer && answer.decision !== "allow")
      throw forbidden(attributes, answer.reason);
  }
  const impersonated = [...groups];
  if (account && groups.length === 0)
    impersonated.push(
      "system:serviceaccounts",
      `system:serviceaccounts:${account[1]!}`,
    );
  const isAnonymous = name === "system:anonymous";
  if (isAnonymous && !impersonated.includes("system:unauthenticated"))
    impersonated.push("system:unauthenticated");
  if (!isAnonymous && !impersonated.includes("system:authenticated"))
    impersonated.push("system:authenticated");
  return { name, groups: impersonated, extra, ...(uid ? { uid } : {}) };
}
