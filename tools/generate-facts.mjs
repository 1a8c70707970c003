// Writes the compact tables of api/facts/ from a directory with the reference's facts (openapi-v2.json, protobuf.json,
// list-merge-keys.json, defaults.json, table-columns.json). Run by hand when the reference version changes.
// Usage: node tools/generate-facts.mjs FACTS_DIR
//
// types.json: { everyVersion, packages: [[package, apiVersion, { Type: text }]] }; api/type-table.ts reads it.
// A type's text is words separated by blanks. The first is its header: letters k (has apiVersion and kind), a (atomic
// map), n (no wire form) or "-"; then one word a field: name:number:type[:flags[:attributes]]
//   type   * list, % map, then s b y i l d (string bool bytes int32 int64 double), a type's name, or N.Name of package N
//   flags  p nullable, o left out when empty, i inlined, - no JSON key, r required
//   attributes, separated by commas: j=JSON name, lm=keys of a list map joined by "+", ls set, la atomic list,
//          ma atomic and mg granular map, ps=patch strategies joined by "+", pm=patch merge key, df=default (URI-encoded JSON)
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const dir = process.argv[2];
if (!dir) throw new Error("usage: node tools/generate-facts.mjs FACTS_DIR");
const read = (name) => JSON.parse(readFileSync(join(dir, name), "utf8"));
const openapi = read("openapi-v2.json");
const protobuf = read("protobuf.json");
const merge = read("list-merge-keys.json");
const defaults = read("defaults.json");
const columns = read("table-columns.json");

const write = (name, value) =>
  writeFileSync(
    new URL(`../api/facts/${name}`, import.meta.url),
    `${JSON.stringify(value)}\n`,
  );

/** k8s.io.apiextensions_apiserver.… -> io.k8s.apiextensions-apiserver.… */
const publicName = (name) =>
  name
    .replace(/^k8s\.io\./, "io.k8s.")
    .replace("apiextensions_apiserver", "apiextensions-apiserver")
    .replace("kube_aggregator", "kube-aggregator");
const split = (name) => {
  const dot = name.lastIndexOf(".");
  return [name.slice(0, dot), name.slice(dot + 1)];
};

const packages = [];
const index = new Map();
const packageOf = (name, apiVersion) => {
  if (!index.has(name)) {
    index.set(name, packages.length);
    packages.push([name, apiVersion ?? "", {}]);
  }
  return index.get(name);
};
for (const [name, { apiVersion }] of Object.entries(protobuf.packages))
  packageOf(publicName(name), apiVersion);

const scalars = {
  string: "s",
  bool: "b",
  bytes: "y",
  int32: "i",
  int64: "l",
  double: "d",
};
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const kinds = new Set();
for (const [name, { kinds: list }] of Object.entries(protobuf.packages))
  for (const kind of list ?? []) kinds.add(`${publicName(name)}.${kind}`);
for (const kind of [
  ...protobuf.commonKinds["every apiVersion"].kinds,
  ...protobuf.commonKinds.v1.kinds,
])
  if (kind !== "WatchEvent") kinds.add(`${META}.${kind}`);

/** The definition that carries a message's attributes: its own, or that of the message it is inlined in. */
const carriers = new Map();
for (const [message, fields] of Object.entries(protobuf.messages))
  for (const [, , type, , flags] of fields)
    if (flags?.includes("i"))
      carriers.set(publicName(type), [
        ...(carriers.get(publicName(type)) ?? []),
        publicName(message),
      ]);
const carrierOf = (name, seen = new Set()) => {
  if (openapi.definitions[name]?.properties) return openapi.definitions[name];
  for (const outer of carriers.get(name) ?? []) {
    if (seen.has(outer)) continue;
    const found = carrierOf(outer, seen.add(outer));
    if (found) return found;
  }
  return undefined;
};

/** Declared defaults that are zero values, which list-merge-keys.json leaves out; the fields are nullable. */
const zeroDefaults = {
  "AzureDiskVolumeSource.readOnly": false,
  "GRPCAction.service": "",
};

const typeWord = (type, pkg) => {
  if (scalars[type]) return scalars[type];
  const [typePackage, typeName] = split(publicName(type));
  return typePackage === pkg
    ? typeName
    : `${packageOf(typePackage)}.${typeName}`;
};

for (const [message, fields] of Object.entries(protobuf.messages)) {
  const full = publicName(message);
  const [pkg, name] = split(full);
  const definition = carrierOf(full);
  const own = openapi.definitions[full];
  const declared = merge.types[full]?.fields ?? {};
  const header =
    `${kinds.has(full) ? "k" : ""}${own?.["x-kubernetes-map-type"] === "atomic" ? "a" : ""}` ||
    "-";
  const words = [header];
  for (const [fieldName, number, type, label, flags = "", jsonName] of fields) {
    const prop = definition?.properties?.[jsonName ?? fieldName] ?? {};
    const attributes = [];
    if (jsonName) attributes.push(`j=${jsonName}`);
    const listType = prop["x-kubernetes-list-type"];
    if (listType === "map")
      attributes.push(`lm=${prop["x-kubernetes-list-map-keys"].join("+")}`);
    if (listType === "set") attributes.push("ls");
    if (listType === "atomic") attributes.push("la");
    if (prop["x-kubernetes-map-type"])
      attributes.push(`m${prop["x-kubernetes-map-type"][0]}`);
    if (prop["x-kubernetes-patch-strategy"])
      attributes.push(
        `ps=${prop["x-kubernetes-patch-strategy"].replaceAll(",", "+")}`,
      );
    if (prop["x-kubernetes-patch-merge-key"])
      attributes.push(`pm=${prop["x-kubernetes-patch-merge-key"]}`);
    const fallback =
      declared[jsonName ?? fieldName]?.default ??
      (pkg.endsWith(".core.v1")
        ? zeroDefaults[`${name}.${fieldName}`]
        : undefined);
    if (fallback !== undefined)
      attributes.push(`df=${encodeURIComponent(JSON.stringify(fallback))}`);
    const required = definition?.required?.includes(jsonName ?? fieldName)
      ? "r"
      : "";
    const marks = flags + required;
    const prefix =
      label === "repeated" ? "*" : label.startsWith("map") ? "%" : "";
    let word = `${fieldName}:${number}:${prefix}${typeWord(type, pkg)}`;
    if (marks || attributes.length) word += `:${marks}`;
    if (attributes.length) word += `:${attributes.join(",")}`;
    words.push(word);
  }
  packages[packageOf(pkg)][2][name] = words.join(" ");
}

// Definitions without a message: they travel as JSON only.
for (const [full, definition] of Object.entries(openapi.definitions)) {
  const [pkg, name] = split(full);
  if (packages[packageOf(pkg)][2][name] !== undefined) continue;
  const words = ["n"];
  for (const [field, prop] of Object.entries(definition.properties ?? {})) {
    if (prop.type !== "string")
      throw new Error(`${full}.${field}: only strings are expected here`);
    words.push(
      `${field}:0:s${definition.required?.includes(field) ? ":r" : ":o"}`,
    );
  }
  packages[packageOf(pkg)][2][name] = words.join(" ");
}

const everyVersion = openapi.definitions[`${META}.DeleteOptions`][
  "x-kubernetes-group-version-kind"
].map(({ group, version }) => (group ? `${group}/${version}` : version));
write("types.json", { everyVersion, packages });
write("defaults.json", { mirrors: defaults.mirrors, types: defaults.types });
write(
  "table-columns.json",
  Object.fromEntries(
    columns.kinds.map(({ group, kind, default: plain, columns: list }) => [
      `${kind}.${group}`,
      plain ? null : list,
    ]),
  ),
);
