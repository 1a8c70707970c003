// Kinds that no catalogue knows, as a definition of custom resources makes them: with a schema, columns and conversion of
// their own, and without a wire form.
import type { ResourceInfo } from "../../api/catalogue.ts";
import type { AnyObject } from "../../api/object.ts";
import type {
  Conversion,
  KindDefinition,
} from "../../apiserver-lite/registry/kinds/kind-definition.ts";
import type { ResourceStrategy } from "../../apiserver-lite/resources/strategy.ts";
import { builtinTypes } from "../../apiserver-lite/registry/kinds/builtin-types.ts";

export interface CustomKind {
  readonly group?: string;
  /** Plural. Default: widgets, of kind Widget. */
  readonly resource?: string;
  readonly kind?: string;
  /** The last is the stored one. Default: v1. */
  readonly versions?: readonly string[];
  readonly conversion?: Conversion;
  readonly strategy?: ResourceStrategy;
}

const verbs = "create delete deletecollection get list patch update watch";

/** Versions of one shape. */
const sameShape: Conversion = {
  mode: "immediate",
  convert: (object, apiVersion) => ({ ...object, apiVersion }),
};

export function customKind({
  group = "example.com",
  resource = "widgets",
  kind = "Widget",
  versions = ["v1"],
  conversion = sameShape,
  strategy = {},
}: CustomKind = {}): KindDefinition {
  const infoOf = (version: string): ResourceInfo => ({
    ...{ group, version, resource, kind, namespaced: true },
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    verbs: verbs.split(" "),
    subresources: [],
  });
  const cells = (object: Readonly<AnyObject>): string[] => [
    object.metadata.name,
    String((object["spec"] as { size?: unknown } | undefined)?.size ?? ""),
  ];
  return {
    ...{ group, resource, kind, namespaced: true, strategy, conversion },
    types: {
      // Its own documents have no declared type; options of requests are the reference's.
      schemaOf: (apiVersion, name) =>
        apiVersion === "v1" || apiVersion.startsWith("meta.k8s.io/")
          ? builtinTypes.schemaOf(apiVersion, name)
          : undefined,
    },
    storage: {
      prefix: `/registry/${group}/${resource}`,
      apiVersion: `${group}/${versions.at(-1)!}`,
      protobuf: false,
    },
    versions: versions.map((version) => ({
      info: infoOf(version),
      schema: undefined,
      protobuf: false,
      strategy,
      printer: {
        columns: ["Name", "Size"].map((name) => ({
          ...{ name, type: "string", format: "", priority: 0 },
          description: name,
        })),
        cells,
      },
    })),
    setDefaults: () => undefined,
  };
}

export function widget(
  name: string,
  fields: object = {},
  apiVersion = "example.com/v1",
): AnyObject {
  return {
    kind: "Widget",
    apiVersion,
    metadata: { name, namespace: "default" },
    ...fields,
  };
}

export const widgets = "/apis/example.com/v1/namespaces/default/widgets";
