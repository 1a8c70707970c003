// Makes the built-in kinds, from the catalogue, the table of types and the strategies of resources/. Nothing else below
// the API server reads the table of types for a kind: what works with kinds takes schema, columns and conversion from them.
import type { Catalogue, ResourceInfo } from "../../../api/catalogue.ts";
import type { Defaulter } from "../../../api/defaults.ts";
import { apiVersionOf, parseApiVersion } from "../../../api/object.ts";
import { printerOf } from "../../printing/table.ts";
import type { ResourceStrategy } from "../../resources/strategy.ts";
import { convertBy, upgradeBy } from "../conversion.ts";
import { builtinTypes } from "./builtin-types.ts";
import type {
  KindDefinition,
  StorageRules,
  VersionDefinition,
} from "./kind-definition.ts";

interface BuiltinOptions {
  readonly catalogue: Catalogue;
  readonly strategyFor: (
    group: string,
    resource: string,
  ) => ResourceStrategy | undefined;
  readonly setDefaults: Defaulter;
  /** Is an alpha gate on? */
  readonly gate: (name: string) => boolean;
  /** Of kinds whose strategy says that their objects expire. */
  readonly eventTtlSeconds: number;
}

const plain: ResourceStrategy = {};

/** All that the catalogue has and no gate hides. */
export function builtinKinds(options: BuiltinOptions): KindDefinition[] {
  const { catalogue } = options;
  const found = new Map<string, ResourceInfo[]>();
  for (const { group, version } of catalogue.groupVersions())
    for (const info of catalogue.resources(group, version)) {
      // Several groups may show the objects of one prefix: events.
      const key = info.etcdPrefix ?? `${group}/${info.resource}`;
      const infos = found.get(key);
      if (infos) infos.push(info);
      else found.set(key, [info]);
    }
  return [...found.values()].map((infos) => definitionOf(infos, options));
}

function definitionOf(
  infos: readonly ResourceInfo[],
  options: BuiltinOptions,
): KindDefinition {
  const first = infos[0]!;
  const { apiVersion, home } = storedVersion(first, options.catalogue);
  const strategy =
    options.strategyFor(home.group, home.resource) ??
    options.strategyFor(first.group, first.resource) ??
    plain;
  const { etcdPrefix } = first;
  const storage: StorageRules | undefined = etcdPrefix
    ? {
        prefix: etcdPrefix,
        apiVersion,
        protobuf: builtinTypes.schemaOf(apiVersion, first.kind) !== undefined,
        ...(strategy.expires ? { ttlSeconds: options.eventTtlSeconds } : {}),
      }
    : undefined;
  const kindIn = (version: string) => ({
    ...parseApiVersion(version),
    kind: first.kind,
  });
  // Of the versions that are written; stored objects of others are rare.
  const kinds = new Map(
    [apiVersion, ...infos.map(apiVersionOf)].map((version) => [
      version,
      kindIn(version),
    ]),
  );
  return {
    group: home.group,
    resource: home.resource,
    kind: first.kind,
    namespaced: first.namespaced,
    strategy,
    types: builtinTypes,
    conversion: {
      mode: "immediate",
      convert: (object, version) => convertBy(strategy, object, version),
      ...(strategy.conversions
        ? {
            isAlike: (version, other) =>
              !strategy.conversions![`${version} ${other}`],
          }
        : {}),
    },
    storage,
    versions: infos
      .filter((info) => !hides(info, options))
      .map((info) => versionOf(info, storage && strategy, options)),
    setDefaults: (object, version) =>
      options.setDefaults(object, kinds.get(version) ?? kindIn(version)),
    upgrade: (object) => upgradeBy(strategy, object),
  };
}

/** @param stored the strategy of the stored form; undefined for what is never stored */
function versionOf(
  from: ResourceInfo,
  stored: ResourceStrategy | undefined,
  options: BuiltinOptions,
): VersionDefinition {
  const own = options.strategyFor(from.group, from.resource);
  const strategy = stored ?? own ?? plain;
  const schema = builtinTypes.schemaOf(apiVersionOf(from), from.kind);
  return {
    info: {
      ...from,
      subresources: from.subresources.filter((sub) => !hides(sub, options)),
    },
    schema,
    protobuf: schema !== undefined,
    strategy: own?.fieldNames
      ? { ...strategy, fieldNames: own.fieldNames }
      : strategy,
    printer: printerOf(from, strategy),
  };
}

function hides(
  { featureGate }: { featureGate?: string },
  { gate }: BuiltinOptions,
): boolean {
  return featureGate !== undefined && !gate(featureGate);
}

/** The stored version, when it is one we know; else the served one (v1beta1 of definitions, which only etcd holds). */
function storedVersion(
  info: ResourceInfo,
  catalogue: Catalogue,
): { apiVersion: string; home: ResourceInfo } {
  const { storageVersion } = info;
  const own = apiVersionOf(info);
  if (!storageVersion || storageVersion === own)
    return { apiVersion: own, home: info };
  const { group, version } = parseApiVersion(storageVersion);
  const home = catalogue.resource(group, version, info.resource);
  return home
    ? { apiVersion: storageVersion, home }
    : { apiVersion: own, home: info };
}
