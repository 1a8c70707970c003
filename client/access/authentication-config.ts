// The ConfigMap extension-apiserver-authentication of kube-system: by which authorities this server knows clients and front
// proxies, so that parts and aggregated servers beside it can know them the same way. Authorities are no secret.
import { isNotFound } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import type { Transport } from "../transport.ts";

export interface PublishedAuthentication {
  /** PEM. */
  readonly clientCa?: string;
  readonly requestHeader?: {
    /** PEM. */
    readonly authority: string;
    readonly allowedNames: readonly string[];
    readonly usernameHeaders: readonly string[];
    readonly groupHeaders: readonly string[];
    readonly uidHeaders: readonly string[];
    readonly extraPrefixes: readonly string[];
  };
}

export const authenticationConfigName = "extension-apiserver-authentication";
const resource = { group: "", version: "v1", resource: "configmaps" };
const where = {
  resource,
  namespace: "kube-system",
  name: authenticationConfigName,
};

function dataOf({
  clientCa,
  requestHeader,
}: PublishedAuthentication): Record<string, string> {
  return {
    ...(clientCa ? { "client-ca-file": clientCa } : {}),
    ...(requestHeader
      ? {
          "requestheader-client-ca-file": requestHeader.authority,
          "requestheader-allowed-names": JSON.stringify(
            requestHeader.allowedNames,
          ),
          "requestheader-username-headers": JSON.stringify(
            requestHeader.usernameHeaders,
          ),
          "requestheader-group-headers": JSON.stringify(
            requestHeader.groupHeaders,
          ),
          "requestheader-uid-headers": JSON.stringify(requestHeader.uidHeaders),
          "requestheader-extra-headers-prefix": JSON.stringify(
            requestHeader.extraPrefixes,
          ),
        }
      : {}),
  };
}

/** Creates it or brings its data up to date. */
export async function publishAuthentication(
  transport: Pick<Transport, "request">,
  authentication: PublishedAuthentication,
): Promise<void> {
  const data = dataOf(authentication);
  if (Object.keys(data).length === 0) return;
  let present: AnyObject | undefined;
  try {
    present = (await transport.request({
      verb: "get",
      ...where,
    })) as unknown as AnyObject;
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  const merged = { ...(present?.["data"] as object | undefined), ...data };
  if (JSON.stringify(present?.["data"]) === JSON.stringify(merged)) return;
  const { resource, name, namespace } = where;
  await transport.request(
    present
      ? { verb: "update", ...where, body: { ...present, data: merged } }
      : {
          verb: "create",
          resource,
          namespace,
          body: { metadata: { name, namespace }, data: merged },
        },
  );
}

/** What a server published. A list that can't be read is an Error: it must not count as "any name". */
export function readAuthentication(
  data: Readonly<Record<string, string>>,
): PublishedAuthentication {
  const list = (key: string): readonly string[] => {
    const value: unknown = JSON.parse(data[key] ?? "[]");
    if (
      !Array.isArray(value) ||
      !value.every((each) => typeof each === "string")
    )
      throw new Error(
        `${authenticationConfigName}: ${key} is no list of texts`,
      );
    return value as string[];
  };
  const clientCa = data["client-ca-file"];
  const authority = data["requestheader-client-ca-file"];
  return {
    ...(clientCa ? { clientCa } : {}),
    ...(authority
      ? {
          requestHeader: {
            authority,
            allowedNames: list("requestheader-allowed-names"),
            usernameHeaders: list("requestheader-username-headers"),
            groupHeaders: list("requestheader-group-headers"),
            uidHeaders: list("requestheader-uid-headers"),
            extraPrefixes: list("requestheader-extra-headers-prefix"),
          },
        }
      : {}),
  };
}
