// Requests as the two transports are asked with them, and the objects that they carry.
import type { GroupVersionResource } from "../../../api/object.ts";
import type { ApiRequest } from "../../../client/transport.ts";

export const core = (resource: string): GroupVersionResource => ({
  group: "",
  version: "v1",
  resource,
});
export const of = (
  group: string,
  resource: string,
  version = "v1",
): GroupVersionResource => ({ group, version, resource });
export const configMaps = core("configmaps");
export const pods = core("pods");
export const deployments = of("apps", "deployments");
export const namespace = "default";
export const named = (name: string, more: object = {}): object => ({
  metadata: { name, namespace },
  ...more,
});
export const map = (name: string, data: object = { a: "1" }): object =>
  named(name, { data });
export const podSpec = { containers: [{ name: "c", image: "i" }] };
export const deployment = (name: string, spec: object = {}): object =>
  named(name, {
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: podSpec },
      ...spec,
    },
  });
export const put = (
  name: string,
  body: object,
  more: Partial<ApiRequest> = {},
) =>
  ({
    verb: "update",
    resource: configMaps,
    namespace,
    name,
    body,
    ...more,
  }) as const;
export const post = (
  resource: GroupVersionResource,
  body: object | undefined,
  more: Partial<ApiRequest> = {},
): ApiRequest => ({
  verb: "create",
  resource,
  namespace,
  ...(body ? { body } : {}),
  ...more,
});
export const get = (
  resource: GroupVersionResource,
  name: string,
  more: Partial<ApiRequest> = {},
): ApiRequest => ({ verb: "get", resource, namespace, name, ...more });
export const list = (
  resource: GroupVersionResource,
  query: Record<string, string> = {},
  more: Partial<ApiRequest> = {},
): ApiRequest => ({ verb: "list", resource, namespace, query, ...more });
export const remove = (
  resource: GroupVersionResource,
  name: string,
  body?: object,
  more: Partial<ApiRequest> = {},
): ApiRequest => ({
  verb: "delete",
  resource,
  namespace,
  name,
  ...(body ? { body } : {}),
  ...more,
});
export const patch = (
  resource: GroupVersionResource,
  name: string,
  type: "json" | "merge" | "strategic" | "apply",
  body: unknown,
  query: Record<string, string> = {},
  more: Partial<ApiRequest> = {},
): ApiRequest => ({
  verb: "patch",
  resource,
  namespace,
  name,
  patch: { type, body } as NonNullable<ApiRequest["patch"]>,
  query,
  ...more,
});
export const clusterWide = { namespace: "" };
export const dryRun = { dryRun: "All" };
export const strict = { fieldValidation: "Strict" };
export const applied = (name: string, data: object): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data,
});

/** Made before the requests that are compared: ConfigMaps a and b, of which b has a label, and the Deployment d. */
export const someObjects: readonly ApiRequest[] = [
  post(configMaps, map("a")),
  post(configMaps, {
    metadata: { name: "b", namespace, labels: { l: "x" } },
  }),
  post(deployments, deployment("d")),
];
