// The options of a connecting request as admission sees them (PodExecOptions, ServiceProxyOptions …): an object made of
// the query, or of the path behind a proxy; and back, when mutating admission has changed it.
import type { AnyObject, GroupVersionKind } from "../../api/object.ts";
import { apiVersionOf } from "../../api/object.ts";
import { schemaFor } from "../../api/schema.ts";

/** What of a request the options are made of. */
export interface ConnectTarget {
  readonly query: URLSearchParams;
  readonly rawQuery: string;
  /** Behind …/proxy. */
  readonly proxyPath: string;
}

export function connectOptions(
  kind: GroupVersionKind,
  { query, proxyPath }: ConnectTarget,
): AnyObject {
  const options: Record<string, unknown> = {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind),
  };
  const schema = schemaFor(kind.group, kind.version, kind.kind);
  for (const [name, { schema: field }] of schema?.fields ?? []) {
    if (name === "path" && isProxy(kind)) {
      if (proxyPath !== "") options[name] = proxyPath;
      continue;
    }
    const values = query.getAll(name);
    const value = values.length > 0 ? read(field, values) : undefined;
    if (value !== undefined) options[name] = value;
  }
  return options as AnyObject;
}

/** The request with changed options. */
export function withOptions(
  kind: GroupVersionKind,
  target: ConnectTarget,
  options: Readonly<Record<string, unknown>>,
): ConnectTarget {
  if (isProxy(kind))
    return { ...target, proxyPath: String(options["path"] ?? "") };
  const query = new URLSearchParams(target.query);
  const schema = schemaFor(kind.group, kind.version, kind.kind);
  for (const name of schema?.fields.keys() ?? []) {
    if (name === "kind" || name === "apiVersion") continue;
    query.delete(name);
    const value = options[name];
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) query.append(name, String(one));
  }
  return { ...target, query, rawQuery: query.toString() };
}

const isProxy = ({ kind }: GroupVersionKind): boolean =>
  kind.endsWith("ProxyOptions");

/** Undefined: the field's zero value, which is left out. */
function read(
  { type, items }: { type: string; items?: { type: string } },
  values: readonly string[],
): unknown {
  const [first = ""] = values;
  if (type === "list")
    return items?.type === "string" ? [...values] : values.map(Number);
  if (type === "boolean") return /^(1|t|true)$/i.test(first) || undefined;
  return first || undefined;
}
