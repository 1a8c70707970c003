// The span of a request, with the reference's name and attributes. The trace of a caller is joined when it is the
// administrator's or the monitoring's; anybody else's request begins a trace of its own that is linked to it, so that
// callers do not decide what is sampled.
import { parseTraceContext } from "../../../api/tracing/trace-context.ts";
import type { Tracer } from "../../../api/tracing/tracer.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import type { HttpRequest } from "../../serving/http-request.ts";
import type { Filter } from "../filter.ts";

const trusted = ["system:masters", "system:monitoring"];

export interface RequestTracing {
  readonly tracer: Tracer;
  /** Of the server's port. */
  readonly scheme: string;
}

export function tracingFilter({ tracer, scheme }: RequestTracing): Filter {
  return {
    name: "tracing",
    enter(request) {
      const { exchange, info, startedMs } = request;
      const { headers } = exchange;
      const remote = parseTraceContext(
        headers["traceparent"],
        headers["tracestate"],
      );
      const joins = request.user.groups.some((group) =>
        trusted.includes(group),
      );
      const span = tracer.enter(spanName(exchange.method, info), {
        ...{ kind: "server", startedMs },
        parent: joins ? remote : undefined,
        links: remote && !joins ? [remote] : [],
      });
      if (!span.sampled) return;
      span.set(attributesOf(request, scheme));
      exchange.onClose(() => {
        const { status } = exchange;
        if (status > 0) span.set({ "http.status_code": status });
        if (status >= 500) span.fail("");
        span.end();
      });
    },
  };
}

/** `POST /api/v1/namespaces/{:namespace}/pods`; of what is no resource the method alone. */
function spanName(method: string, info: RequestInfo): string {
  if (!info.resourceRequest) return method;
  const { group, version, namespace, resource, name, subresource } = info;
  const parts = [
    ...(group === "" ? ["api"] : ["apis", group]),
    version,
    ...(namespace === "" ? [] : ["namespaces", "{:namespace}"]),
    resource,
    ...(name === "" ? [] : ["{:name}"]),
    ...(subresource === "" ? [] : [subresource]),
  ];
  return `${method} /${parts.join("/")}`;
}

function attributesOf(
  { exchange, headers, userAgent }: HttpRequest,
  scheme: string,
): Record<string, string | number> {
  const host = exchange.headers.host ?? exchange.headers[":authority"];
  const [, name = "", port = ""] =
    /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(String(host ?? "")) ?? [];
  return {
    "http.method": exchange.method,
    "http.scheme": scheme,
    "net.host.name": name,
    ...(port === "" ? {} : { "net.host.port": Number(port) }),
    "net.sock.peer.addr": exchange.peer.remoteAddress,
    "user_agent.original": userAgent,
    "net.protocol.version": exchange.http2 ? "2.0" : "1.1",
    "http.target": exchange.url,
    "audit-id": String(headers["audit-id"] ?? ""),
  };
}
