// A client's request read strictly: target, host and headers in the one form that is matched, sent on and logged. What two
// programs could read in different ways is refused.
import {
  Http1Exchange,
  Http2Exchange,
  type Exchange,
} from "../../../http-kit/exchange.ts";
import type { AuthorityParser } from "../routing/authority.ts";
import type { MatchedRequest } from "../routing/route-table.ts";
import { parseTarget } from "../routing/request-target.ts";

export interface Incoming extends MatchedRequest {
  readonly host: string;
  /** As the client gave it, its port included. */
  readonly authority: string;
  readonly path: string;
  /** With its question mark, or "". */
  readonly queryText: string;
  readonly rawHeaders: readonly string[];
  /** Undefined: not known, or there is none. */
  readonly bodyLength: number | undefined;
}

/** Methods that are no request to a resource: tunnels, and TRACE, which shows headers of proxies to scripts. */
const refusedMethods = new Set(["CONNECT", "TRACE", "PRI"]);

interface Refusal {
  readonly status: number;
  readonly text: string;
}

export function readRequest(
  exchange: Exchange,
  authorities: AuthorityParser,
): Incoming | Refusal {
  const { method } = exchange;
  if (refusedMethods.has(method))
    return { status: 405, text: `the method ${method} is not served` };
  const http1 =
    exchange instanceof Http1Exchange ? exchange.request : undefined;
  const rawHeaders = http1
    ? http1.rawHeaders
    : exchange instanceof Http2Exchange
      ? exchange.rawHeaders
      : [];
  const target = parseTarget(http1?.url ?? exchange.url ?? "");
  if (typeof target === "string") return { status: 400, text: target };
  const hosts = exchange.headerValues("host");
  if (hosts.length > 1)
    return { status: 400, text: "there is more than one Host header" };
  const given = http1
    ? (target.authority ?? hosts[0])
    : ((exchange.headers[":authority"] as string | undefined) ?? hosts[0]);
  if (!given && !(http1 && http1.httpVersionMinor === 0))
    return { status: 400, text: "there is no host" };
  if (!http1 && hosts[0] !== undefined && hosts[0] !== given)
    return { status: 400, text: "Host and :authority are different" };
  const parsed = given ? authorities.parse(given) : { host: "" };
  if (!parsed) return { status: 400, text: "the host is not a host" };
  const length = exchange.headers["content-length"];
  // Beyond it numbers are rounded: the backend would wait for another length than the client sends.
  if (length !== undefined && !Number.isSafeInteger(Number(length)))
    return { status: 400, text: "the length of the body is not a length" };
  return {
    method,
    host: parsed.host,
    authority: given ?? "",
    path: target.path,
    queryText: target.query,
    rawHeaders,
    bodyLength: length === undefined ? undefined : Number(length),
    header(name) {
      const values = exchange.headerValues(name);
      return values.length === 0 ? undefined : values.join(",");
    },
    query: queryReader(target.query),
  };
}

function queryReader(text: string): (name: string) => string | undefined {
  let parsed: URLSearchParams | undefined;
  return (name) => {
    parsed ??= new URLSearchParams(text);
    return parsed.get(name) ?? undefined;
  };
}
