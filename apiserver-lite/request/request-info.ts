// What a path and method ask for: the verb, and the resource or the non-resource path. The rules are the reference's;
// `<name>.orbit.io` groups are aliases of `<name>.k8s.io`. The query is the one the handlers read, so that what is
// authorized is what is done.
import { parseFieldSelector } from "../../api/selectors.ts";

export interface RequestInfo {
  /** Decoded. */
  readonly path: string;
  readonly resourceRequest: boolean;
  /** get, list, watch, create … for resources, else the lower-case method. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** Of the path. */
  readonly name: string;
  /** `name`, or the one name a list's or watch's field selector requires: what authorization and audit see. */
  readonly objectName: string;
  /** What follows the subresource, still encoded, with its slash (proxies). */
  readonly rest: string;
  /** `.orbit.io` was asked for. */
  readonly alias: boolean;
  /** A path of the old form, `…/watch/…`. */
  readonly watchPath: boolean;
}

const verbs: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

const namespaceSubresources = new Set(["status", "finalize"]);

/** Throws URIError on malformed percent-encoding. */
export function parseRequest(
  method: string,
  rawPath: string,
  query: URLSearchParams,
): RequestInfo {
  const path = rawPath.includes("%") ? decodePath(rawPath) : rawPath;
  const parts = path.split("/");
  const core = parts[1] === "api";
  const head = core ? 3 : 4;
  if (
    (!core && parts[1] !== "apis") ||
    parts.length <= head ||
    parts[head] === "" ||
    hasEmptyPart(parts)
  )
    return nonResource(method, path);
  let group = core ? "" : parts[2]!;
  const version = parts[core ? 2 : 3]!;
  let alias = false;
  if (group.endsWith(".orbit.io")) {
    group = `${group.slice(0, -".orbit.io".length)}.k8s.io`;
    alias = true;
  }
  let at = head;
  let watchPath = false;
  if (parts[at] === "watch" && parts.length > at + 1) {
    watchPath = true;
    at++;
  }
  let namespace = "";
  if (parts[at] === "namespaces" && parts.length > at + 2 && parts[at + 1]) {
    const next = parts[at + 2]!;
    if (next !== "" && !namespaceSubresources.has(next)) {
      namespace = parts[at + 1]!;
      at += 2;
    }
  }
  const resource = parts[at] ?? "";
  const name = parts[at + 1] ?? "";
  const subresource = parts[at + 2] ?? "";
  const rest = parts.length > at + 3 ? restOf(rawPath, at + 3) : "";
  if (resource === "namespaces" && group === "" && namespace === "" && name)
    namespace = name;
  let verb = verbs[method] ?? "";
  let objectName = name;
  if (watchPath) verb = "watch";
  else if (name === "") {
    if (verb === "get") {
      verb = asksWatch(query) ? "watch" : "list";
      objectName = selectedName(query);
    } else if (verb === "delete") verb = "deletecollection";
  }
  if (subresource === "proxy") verb = "proxy";
  return {
    path,
    resourceRequest: true,
    verb,
    group,
    version,
    namespace,
    resource,
    subresource,
    name,
    objectName,
    rest,
    alias,
    watchPath,
  };
}

function nonResource(method: string, path: string): RequestInfo {
  return {
    path,
    resourceRequest: false,
    verb: method.toLowerCase(),
    group: "",
    version: "",
    namespace: "",
    resource: "",
    subresource: "",
    name: "",
    objectName: "",
    rest: "",
    alias: false,
    watchPath: false,
  };
}

/**
 * What follows the n-th slash, as sent, with a slash before it. An encoded slash counts: it ended a part of the decoded
 * path, so that resource, name and what is passed on are of one reading.
 */
function restOf(rawPath: string, slashes: number): string {
  const slash = /\/|%2f/gi;
  for (let seen = 0; seen < slashes; seen++) slash.exec(rawPath);
  return `/${rawPath.slice(slash.lastIndex)}`;
}

/** Bytes that are no UTF-8 become U+FFFD. */
function decodePath(path: string): string {
  if (/%(?![\da-fA-F]{2})/.test(path)) throw new URIError("malformed");
  try {
    return decodeURIComponent(path);
  } catch {
    const bytes = path.replace(/%(..)/g, (_, hex: string) =>
      String.fromCharCode(parseInt(hex, 16)),
    );
    return Buffer.from(bytes, "latin1").toString("utf8");
  }
}

/** An empty part is only at the end, or in what follows a subresource. */
function hasEmptyPart(parts: readonly string[]): boolean {
  const limit = parts.includes("proxy")
    ? parts.indexOf("proxy") + 1
    : parts.length - 1;
  for (let at = 1; at < limit; at++) if (parts[at] === "") return true;
  return false;
}

function asksWatch(query: URLSearchParams): boolean {
  const value = query.get("watch");
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

/** A selector for one name is short; a longer one is not worth reading twice. */
const maxSelectorLength = 4096;

/** "" when the field selector does not require one name that a path could have. */
function selectedName(query: URLSearchParams): string {
  const selector = query.get("fieldSelector") ?? "";
  if (
    selector.length > maxSelectorLength ||
    !selector.includes("metadata.name")
  )
    return "";
  try {
    const name = parseFieldSelector(selector).required("metadata.name") ?? "";
    return name === "." || name === ".." || /[/%]/.test(name) ? "" : name;
  } catch {
    // The list refuses it with a text of its own.
    return "";
  }
}
