// The Kind of a definition: names, versions and rules of the objects it describes. Made again when the definition changes.
import type { ResourceInfo, SubresourceInfo } from "../../api/catalogue.ts";
import { parseApiVersion } from "../../api/object.ts";
import { isConditionTrue } from "../../api/objects/conditions.ts";
import {
  typeNamed,
  type FieldSchema,
  type ObjectSchema,
} from "../../api/schema.ts";
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion as Version,
} from "../../api/types/apiextensions-v1.ts";
import { builtinTypes } from "../registry/kinds/builtin-types.ts";
import type {
  Conversion,
  KindDefinition,
  Types,
  VersionDefinition,
} from "../registry/kinds/kind-definition.ts";
import { customColumns } from "./custom-columns.ts";
import { customStrategy } from "./custom-strategy.ts";

const verbs: readonly string[] =
  "delete deletecollection get list patch create update watch".split(" ");
/** What discovery shows of a kind whose definition is being deleted. */
const lastVerbs: readonly string[] = verbs.filter(
  (verb) => !["patch", "create", "update"].includes(verb),
);
const partVerbs: readonly string[] = ["get", "patch", "update"];

const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** The definition's names have been accepted. */
export function customKind(
  definition: Readonly<CustomResourceDefinition>,
): KindDefinition {
  const { spec } = definition;
  const { group, scope } = spec;
  const { kind, plural } = spec.names;
  const stored = spec.versions.find(({ storage }) => storage)!;
  const types = typesOf(definition);
  const strategies = new Map(
    spec.versions.map((version) => [
      version,
      customStrategy(definition, version),
    ]),
  );
  return {
    group,
    resource: plural,
    kind,
    namespaced: scope === "Namespaced",
    strategy: strategies.get(stored)!,
    types,
    conversion: sameShape,
    storage: {
      prefix: `/registry/${group}/${plural}`,
      apiVersion: `${group}/${stored.name}`,
      protobuf: false,
    },
    versions: spec.versions
      .filter(({ served }) => served)
      .map((version): VersionDefinition => ({
        info: resourceInfo(definition, version),
        schema: types.schemaOf(`${group}/${version.name}`, kind),
        custom: true,
        protobuf: false,
        strategy: strategies.get(version)!,
        printer: customColumns(version),
      })),
    setDefaults: () => undefined,
  };
}

/** What discovery shows of a version. */
export function resourceInfo(
  { spec, status }: Readonly<CustomResourceDefinition>,
  version: Readonly<Version>,
): ResourceInfo {
  const { group, scope } = spec;
  const names = status?.acceptedNames ?? spec.names;
  const { plural, singular = "", kind, listKind } = names;
  return {
    ...{ group, version: version.name, resource: plural, kind, singular },
    ...(listKind ? { listKind } : {}),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === "Namespaced",
    verbs: isConditionTrue(status?.conditions, "Terminating")
      ? lastVerbs
      : verbs,
    subresources: subresourcesOf(version, kind),
  };
}

function subresourcesOf(
  { subresources }: Readonly<Version>,
  kind: string,
): SubresourceInfo[] {
  return [
    ...(subresources?.status
      ? [{ name: "status", kind, verbs: partVerbs }]
      : []),
    ...(subresources?.scale
      ? [
          {
            name: "scale",
            kind: "Scale",
            apiVersion: "autoscaling/v1",
            verbs: partVerbs,
          },
        ]
      : []),
  ];
}

/** Objects of all versions, of which metadata are checked as they are decoded; and what the reference's own types are. */
function typesOf({ spec }: Readonly<CustomResourceDefinition>): Types {
  const { group, names } = spec;
  const schema = envelope(group, names.kind);
  const versions = new Set(spec.versions.map(({ name }) => name));
  return {
    schemaOf(apiVersion, kind) {
      const asked = parseApiVersion(apiVersion);
      if (asked.group !== group || group === "")
        return builtinTypes.schemaOf(apiVersion, kind);
      return kind === names.kind && versions.has(asked.version)
        ? schema
        : undefined;
    },
  };
}

/** Everything beside apiVersion, kind and metadata is kept as it is. */
function envelope(group: string, kind: string): ObjectSchema {
  const text = { type: "string" } as const;
  const field = (name: string, schema: FieldSchema["schema"]): FieldSchema => ({
    ...{ name, schema },
    required: false,
    nullable: false,
    omitEmpty: true,
  });
  return {
    type: "object",
    name: `${group}.${kind}`,
    shortName: kind,
    fields: new Map(
      [
        field("kind", text),
        field("apiVersion", text),
        field("metadata", typeNamed(`${META}.ObjectMeta`)!),
      ].map((one) => [one.name, one]),
    ),
    preserveUnknownFields: true,
    isKind: true,
  };
}

/** Conversion "None": the version is another, the fields are the same. */
const sameShape: Conversion = {
  mode: "immediate",
  convert: (object, apiVersion) => ({ ...object, apiVersion }),
};
