// What every kind of target reads of a request: `scheme:name:port`, and the path behind it.
import type { ConnectRequest } from "./connect-handler.ts";

export interface ProxyTarget {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** With the query. */
  readonly path: string;
  /** The node's agent: shown the API server's client certificate, and its certificate is checked. */
  readonly agent: boolean;
}

interface ProxyName {
  readonly scheme: "http" | "https" | "";
  readonly name: string;
  readonly port: string;
}

/** `name`, `name:port`, `scheme:name:port`; either of the last two may be empty. */
export function splitProxyName(text: string): ProxyName | undefined {
  const parts = text.split(":");
  if (parts.length === 1) return { scheme: "", name: text, port: "" };
  if (parts.length === 2)
    return { scheme: "", name: parts[0]!, port: parts[1]! };
  const [scheme, name = "", port = ""] = parts;
  if (
    parts.length !== 3 ||
    (scheme !== "http" && scheme !== "https" && scheme !== "")
  )
    return undefined;
  return { scheme, name, port };
}

export function pathOf({ proxyPath, rawQuery }: ConnectRequest): string {
  const path = proxyPath.startsWith("/") ? proxyPath : `/${proxyPath}`;
  return rawQuery === "" ? path : `${path}?${rawQuery}`;
}
