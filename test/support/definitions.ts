// CustomResourceDefinitions for tests, and waiting for what becomes of them.
import type { AnyObject } from "../../api/object.ts";

interface DefinitionOptions {
  readonly group?: string;
  /** Plural. Default: crontabs, of kind CronTab. */
  readonly plural?: string;
  readonly kind?: string;
  readonly scope?: "Namespaced" | "Cluster";
  readonly names?: object;
  /** Default: one version v1 with this schema. */
  readonly versions?: readonly object[];
  readonly schema?: object;
  /** Of the one version. */
  readonly version?: object;
  /** Of the spec. */
  readonly spec?: object;
}

/** Keeps everything. */
export const anySchema = {
  type: "object",
  "x-kubernetes-preserve-unknown-fields": true,
};

export function crd({
  group = "stable.example.com",
  plural = "crontabs",
  kind = "CronTab",
  scope = "Namespaced",
  names = {},
  schema = anySchema,
  version = {},
  versions = [versionOf("v1", { schema, ...version })],
  spec = {},
}: DefinitionOptions = {}): AnyObject {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, kind, ...names },
      versions,
      ...spec,
    },
  };
}

/** Of the spec: objects of other versions are asked for at this path of the server. */
export function convertedBy(
  { url, caBundle }: { readonly url: string; readonly caBundle: string },
  path = "",
): object {
  return {
    conversion: {
      strategy: "Webhook",
      webhook: {
        conversionReviewVersions: ["v1"],
        clientConfig: { url: `${url}${path}`, caBundle },
      },
    },
  };
}

export function versionOf(
  name: string,
  {
    schema = anySchema,
    storage = true,
    served = true,
    ...rest
  }: {
    schema?: object;
    storage?: boolean;
    served?: boolean;
    [field: string]: unknown;
  } = {},
): object {
  return {
    name,
    served,
    storage,
    schema: { openAPIV3Schema: schema },
    ...rest,
  };
}

export const definitions =
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export function cronTab(
  name: string,
  fields: object = {},
  apiVersion = "stable.example.com/v1",
): AnyObject {
  return {
    apiVersion,
    kind: "CronTab",
    metadata: { name },
    ...fields,
  };
}

export const cronTabs =
  "/apis/stable.example.com/v1/namespaces/default/crontabs";
