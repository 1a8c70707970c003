// The Kind of a definition: names, versions and rules of the objects it describes. Made again when the definition changes.
import { createHash } from "node:crypto";
import {
  compareVersions,
  type ResourceInfo,
  type SubresourceInfo,
} from "../../api/catalogue.ts";
import { conform } from "../../api/codec/conform.ts";
import { parseApiVersion, type AnyObject } from "../../api/object.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { isConditionTrue } from "../../api/objects/conditions.ts";
import { copyJson } from "../../api/patch/json-value.ts";
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
import type { Schemas } from "./custom-schemas.ts";
import {
  type ConversionCalls,
  webhookConversion,
} from "./webhook-conversion.ts";
import { customStrategy } from "./custom-strategy.ts";

const verbs: readonly string[] =
  "delete deletecollection get list patch create update watch".split(" ");
/** What discovery shows of a kind whose definition is being deleted. */
const lastVerbs: readonly string[] = verbs.filter(
  (verb) => !["patch", "create", "update"].includes(verb),
);
const partVerbs: readonly string[] = ["get", "patch", "update"];

/** The definition's names have been accepted. */
export function customKind(
  definition: Readonly<CustomResourceDefinition>,
  schemas: Schemas,
  calls: ConversionCalls,
): KindDefinition {
  const { spec } = definition;
  const { group, scope } = spec;
  const { kind, plural } = spec.names;
  const stored = spec.versions.find(({ storage }) => storage)!;
  const types = typesOf(definition, schemas);
  const conversion = conversionOf(definition, schemas, calls);
  const strategies = new Map(
    spec.versions.map((version) => [
      version,
      customStrategy(definition, version, { schemas, conversion }),
    ]),
  );
  return {
    group,
    resource: plural,
    kind,
    namespaced: scope === "Namespaced",
    strategy: strategies.get(stored)!,
    types,
    conversion,
    adapt(object) {
      const { version } = parseApiVersion(object.apiVersion ?? "");
      const schema = schemas.get(version);
      if (!schema) return object;
      const adapted = conform(object, schema.objectSchema, false)
        .object as AnyObject;
      schema.setDefaults(adapted);
      return adapted;
    },
    storage: {
      prefix: `/registry/${group}/${plural}`,
      apiVersion: `${group}/${stored.name}`,
      protobuf: false,
    },
    versions: spec.versions
      .filter(({ served }) => served)
      .map((version): VersionDefinition => ({
        info: resourceInfo(definition, version),
        get schema() {
          return types.schemaOf(`${group}/${version.name}`, kind);
        },
        warnings: deprecationWarnings(definition, version),
        protobuf: false,
        strategy: strategies.get(version)!,
        printer: customColumns(version),
      })),
    setDefaults: (object, apiVersion) =>
      schemas.get(parseApiVersion(apiVersion).version)?.setDefaults(object),
    settingDefaults: (object, apiVersion) =>
      schemas.get(parseApiVersion(apiVersion).version)?.settingDefaults(object),
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
    custom: true,
    get storageVersionHash() {
      return hashOf(spec);
    },
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

/** Objects of all versions; and what is no object of the kind: the reference's own types. */
function typesOf(
  { spec }: Readonly<CustomResourceDefinition>,
  schemas: Schemas,
): Types {
  const { group, names } = spec;
  return {
    schemaOf(apiVersion, kind) {
      const asked = parseApiVersion(apiVersion);
      if (asked.group !== group) return builtinTypes.schemaOf(apiVersion, kind);
      return kind === names.kind
        ? schemas.get(asked.version)?.objectSchema
        : undefined;
    },
  };
}

/** By the webhook, or ("None") only the version is another. What the schema of that version does not have goes. */
function conversionOf(
  { metadata, spec }: Readonly<CustomResourceDefinition>,
  schemas: Schemas,
  calls: ConversionCalls,
): Conversion {
  const prune = (object: AnyObject, nulls?: "kept"): AnyObject => {
    const { version } = parseApiVersion(object.apiVersion!);
    const { objectSchema } = schemas.get(version)!;
    return objectSchema.conform!(object, false, nulls).object as AnyObject;
  };
  const { strategy, webhook } = spec.conversion ?? {};
  const schemaIn = (apiVersion: string): unknown =>
    spec.versions.find(
      ({ name }) => name === parseApiVersion(apiVersion).version,
    )?.schema;
  if (strategy === "Webhook" && webhook)
    return webhookConversion(
      webhook,
      { name: metadata.name, kind: spec.names.kind },
      calls,
      prune,
    );
  return {
    mode: "immediate",
    // Objects are validated afterwards, and what was applied may have nulls to be refused.
    convert: (object, apiVersion) =>
      prune(copyJson({ ...object, apiVersion }), "kept"),
    ...(spec.versions.length > 1
      ? {
          isAlike: (version, other) =>
            sameJson(schemaIn(version), schemaIn(other)),
        }
      : {}),
  };
}

/** Which version objects are stored in, for clients that compare. */
function hashOf({
  group,
  names,
  versions,
}: CustomResourceDefinition["spec"]): string {
  const stored = versions.find(({ storage }) => storage)?.name ?? "";
  return createHash("sha256")
    .update(`${group}/${stored}/${names.kind}`)
    .digest()
    .subarray(0, 8)
    .toString("base64");
}

/** Names the newest version that is served and not deprecated. */
function deprecationWarnings(
  { spec }: Readonly<CustomResourceDefinition>,
  { name, deprecated, deprecationWarning }: Readonly<Version>,
): string[] {
  if (!deprecated) return [];
  if (deprecationWarning !== undefined) return [deprecationWarning];
  const [best] = spec.versions
    .filter(
      (one) =>
        one.served && !one.deprecated && compareVersions(one.name, name) < 0,
    )
    .map((one) => one.name)
    .sort(compareVersions);
  const { group, names } = spec;
  return [
    `${group}/${name} ${names.kind} is deprecated${best === undefined ? "" : `; use ${group}/${best} ${names.kind}`}`,
  ];
}
