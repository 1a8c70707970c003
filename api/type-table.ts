// The reference's table of message types, as api/facts/types.json holds it (tools/generate-facts.mjs describes the
// text form). Everything is parsed on first use and remembered: the table is immutable, so sharing it is safe.
// Here a type is what goes over the wire: inlined messages are not flattened; api/schema.ts shows the JSON shape.
import { normaliseApiVersion } from "./dialect.ts";
import facts from "./facts/types.json";

export type WireScalar =
  "string" | "bool" | "bytes" | "int32" | "int64" | "double";

export interface MessageField {
  /** The wire name, which is also the JSON name unless `jsonName` differs. */
  readonly name: string;
  readonly jsonName: string;
  /** 0: not on the wire. */
  readonly number: number;
  readonly label: "one" | "list" | "map";
  /** A scalar, or undefined when `message` says the type. Map keys are always strings. */
  readonly scalar?: WireScalar;
  /** Full name of the message type. */
  readonly message?: string;
  /** Unset is distinct from the zero value. */
  readonly nullable: boolean;
  /** Left out of JSON when empty. */
  readonly omitEmpty: boolean;
  /** The sub-message's fields appear in the parent's JSON object. */
  readonly inlined: boolean;
  readonly required: boolean;
  readonly listType?: "map" | "set" | "atomic";
  readonly listMapKeys?: readonly string[];
  readonly mapType?: "atomic" | "granular";
  readonly patchStrategy?: readonly string[];
  readonly patchMergeKey?: string;
  readonly default?: unknown;
}

export interface Message {
  /** e.g. io.k8s.api.core.v1.Pod */
  readonly fullName: string;
  readonly name: string;
  /** Has apiVersion and kind, which are not fields of the wire form. */
  readonly isKind: boolean;
  /** Merged as a whole by server-side apply. */
  readonly atomic: boolean;
  readonly onWire: boolean;
  /** In ascending order of wire numbers. */
  readonly fields: readonly MessageField[];
}

const SCALARS: Readonly<Record<string, WireScalar>> = {
  s: "string",
  b: "bool",
  y: "bytes",
  i: "int32",
  l: "int64",
  d: "double",
};

type PackageRow = [
  name: string,
  apiVersion: string,
  types: Record<string, string | undefined>,
];
const packages = facts.packages as unknown as PackageRow[];
const packageByName = new Map(packages.map((row) => [row[0], row]));
const messages = new Map<string, Message>();
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";

/** Versions in which the options kinds and WatchEvent are known: all of them, served or not. */
export const everyVersion: readonly string[] = facts.everyVersion;

function parseAttributes(text: string): Partial<MessageField> {
  const found: { -readonly [K in keyof MessageField]?: MessageField[K] } = {};
  for (const attribute of text.split(",")) {
    const equals = attribute.indexOf("=");
    const value = attribute.slice(equals + 1);
    switch (equals < 0 ? attribute : attribute.slice(0, equals)) {
      case "j":
        found.jsonName = value;
        break;
      case "lm":
        found.listType = "map";
        found.listMapKeys = value.split("+");
        break;
      case "ls":
        found.listType = "set";
        break;
      case "la":
        found.listType = "atomic";
        break;
      case "ma":
        found.mapType = "atomic";
        break;
      case "mg":
        found.mapType = "granular";
        break;
      case "ps":
        found.patchStrategy = value.split("+");
        break;
      case "pm":
        found.patchMergeKey = value;
        break;
      case "df":
        found.default = JSON.parse(decodeURIComponent(value)) as unknown;
        break;
    }
  }
  return found;
}

function parseField(word: string, packageName: string): MessageField {
  const [name = "", number = "0", typeText = "", flags = "", ...rest] =
    word.split(":");
  const label =
    typeText[0] === "*" ? "list" : typeText[0] === "%" ? "map" : "one";
  const type = label === "one" ? typeText : typeText.slice(1);
  const dot = type.indexOf(".");
  const scalar = SCALARS[type];
  return {
    name,
    jsonName: name,
    number: Number(number),
    label,
    ...(scalar
      ? { scalar }
      : {
          message:
            dot < 0
              ? `${packageName}.${type}`
              : `${packages[Number(type.slice(0, dot))]![0]}${type.slice(dot)}`,
        }),
    nullable: flags.includes("p"),
    omitEmpty: flags.includes("o"),
    inlined: flags.includes("i"),
    required: flags.includes("r"),
    ...(rest.length ? parseAttributes(rest.join(":")) : {}),
  };
}

/** The message of that full name (`io.k8s.api.core.v1.Pod`), or undefined. */
export function messageNamed(fullName: string): Message | undefined {
  const known = messages.get(fullName);
  if (known) return known;
  const dot = fullName.lastIndexOf(".");
  const packageName = fullName.slice(0, dot);
  const name = fullName.slice(dot + 1);
  const types = packageByName.get(packageName)?.[2];
  const text = types && Object.hasOwn(types, name) ? types[name] : undefined;
  if (text === undefined) return undefined;
  const [header = "-", ...words] = text.split(" ");
  const message: Message = {
    fullName,
    name,
    isKind: header.includes("k"),
    atomic: header.includes("a"),
    onWire: !header.includes("n"),
    fields: words.map((word) => parseField(word, packageName)),
  };
  messages.set(fullName, message);
  return message;
}

const packagesByVersion = new Map<string, string[]>();
for (const [name, apiVersion] of packages) {
  if (apiVersion)
    packagesByVersion.set(apiVersion, [
      ...(packagesByVersion.get(apiVersion) ?? []),
      name,
    ]);
}
const everyVersionSet = new Set(everyVersion);
/** Kinds of meta.v1 registered in every group version, and those of "v1" alone. */
const COMMON_KINDS = new Set([
  "WatchEvent",
  "ListOptions",
  "GetOptions",
  "DeleteOptions",
  "CreateOptions",
  "UpdateOptions",
  "PatchOptions",
]);
const CORE_META_KINDS = new Set([
  "Status",
  "APIVersions",
  "APIGroup",
  "APIGroupList",
  "APIResourceList",
  "List",
]);

/** Full name of the message that carries a kind, for any version the reference ever registered. */
export function messageNameOfKind(
  apiVersion: string,
  kind: string,
): string | undefined {
  for (const packageName of packagesByVersion.get(apiVersion) ?? []) {
    const name = `${packageName}.${kind}`;
    if (messageNamed(name)?.isKind) return name;
  }
  if (CORE_META_KINDS.has(kind) && apiVersion === "v1")
    return `${META}.${kind}`;
  if (
    COMMON_KINDS.has(kind) &&
    (everyVersionSet.has(apiVersion) || apiVersion.startsWith("meta.k8s.io/"))
  )
    return `${META}.${kind}`;
  // Partial metadata and tables look the same in v1beta1.
  if (
    apiVersion === "meta.k8s.io/v1beta1" &&
    messageNamed(`${META}.${kind}`)?.isKind
  )
    return `${META}.${kind}`;
  // A last try in canonical names: both dialects of a version mean the same type.
  const canonical = normaliseApiVersion(apiVersion);
  return canonical === apiVersion
    ? undefined
    : messageNameOfKind(canonical, kind);
}

/** The package of an apiVersion, e.g. "apps/v1" → "io.k8s.api.apps.v1". */
export function packageOfVersion(apiVersion: string): string | undefined {
  return packagesByVersion.get(apiVersion)?.[0];
}

/** apiVersion in which a package's kinds are registered, or "" for packages of shared types. */
export function versionOfPackage(packageName: string): string {
  return packageByName.get(packageName)?.[1] ?? "";
}

/** All full names of the table. */
export function* messageNames(): Generator<string> {
  for (const [packageName, , types] of packages)
    for (const name of Object.keys(types)) yield `${packageName}.${name}`;
}
