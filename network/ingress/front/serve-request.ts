// A request's way: read, routed, and answered here or handed to a forwarding. Counts and logs each once, when its answer
// is complete or its client has left.
import type { Exchange } from "../../../http-kit/exchange.ts";
import type { FoundRoute } from "../routing/route-table.ts";
import type { Forward, WeightedBackend } from "../routing/route.ts";
import { answerText, redirectLocation } from "./answers.ts";
import { isPreflight, preflightHeaders } from "./cors.ts";
import { Forwarding } from "./forwarding.ts";
import { readRequest, type Incoming } from "./incoming.ts";
import type { Outcome, ProxyContext, ServingSocket } from "./proxy-context.ts";
import { forwardUpgrade, takesUpgrade } from "./upgrade-forwarding.ts";

export function serveRequest(
  context: ProxyContext,
  socket: ServingSocket,
  exchange: Exchange,
): void {
  const outcome: Outcome = { bytes: 0 };
  const read = readRequest(exchange, context.authorities);
  const incoming = "text" in read ? undefined : read;
  const found =
    incoming &&
    context.table.find(socket.id, incoming.host, incoming.path, incoming);
  observe(context, exchange, incoming, found, outcome);
  if ("text" in read)
    outcome.bytes = answerText(exchange, read.status, read.text);
  else if (!found)
    outcome.bytes = answerText(exchange, 404, "no route leads to this address");
  else act(context, socket, exchange, read, found, outcome);
}

function act(
  context: ProxyContext,
  socket: ServingSocket,
  exchange: Exchange,
  incoming: Incoming,
  found: FoundRoute,
  outcome: Outcome,
): void {
  const { action, filters } = found.rule;
  if (filters?.cors && isPreflight(exchange)) {
    exchange.respond(200, preflightHeaders(filters.cors, exchange));
    return;
  }
  switch (action.kind) {
    case "answer":
      outcome.bytes = answerText(exchange, action.status, action.text);
      break;
    case "redirect":
      exchange.respond(action.status, {
        location: redirectLocation(action, incoming, found.prefix, socket),
      });
      break;
    case "forward":
      forward(context, socket, exchange, incoming, found, action, outcome);
      break;
  }
}

function forward(
  context: ProxyContext,
  socket: ServingSocket,
  exchange: Exchange,
  incoming: Incoming,
  found: FoundRoute,
  { backends }: Forward,
  outcome: Outcome,
): void {
  const chosen = chooseWeighted(backends);
  if (chosen?.backend === undefined) {
    outcome.bytes = answerText(exchange, 500, "the route has no backend");
    return;
  }
  outcome.backend = chosen.backend;
  const backend = context.backends.get(chosen.backend);
  if (!backend || backend.size === 0) {
    // The Gateway API has another answer for a Service that is not there than for one without endpoints.
    const status = !backend && found.owner.kind === "HTTPRoute" ? 500 : 503;
    outcome.bytes = answerText(
      exchange,
      status,
      "the backend has no endpoints",
    );
    return;
  }
  const parts = {
    context,
    socket,
    exchange,
    incoming,
    found,
    backend,
    filters: [found.rule.filters, chosen.filters],
    outcome,
  };
  if (takesUpgrade(exchange)) forwardUpgrade(parts);
  else new Forwarding(parts).start();
}

/** By weight; undefined: none has any. */
function chooseWeighted(
  backends: readonly WeightedBackend[],
  random: () => number = Math.random,
): WeightedBackend | undefined {
  if (backends.length === 1)
    return backends[0]!.weight > 0 ? backends[0] : undefined;
  let total = 0;
  for (const { weight } of backends) total += weight;
  let at = random() * total;
  for (const each of backends) {
    at -= each.weight;
    if (at < 0) return each;
  }
  return undefined;
}

function observe(
  context: ProxyContext,
  exchange: Exchange,
  incoming: Incoming | undefined,
  found: FoundRoute | undefined,
  outcome: Outcome,
): void {
  const { statistics, accessLog } = context;
  const startMs = context.nowMs();
  statistics.underWay++;
  exchange.onClose(() => {
    statistics.underWay--;
    const durationMs = context.nowMs() - startMs;
    // 499, as others count it: the client left before there was an answer.
    const status = exchange.status || 499;
    statistics.done(found?.owner, status, durationMs / 1000, outcome.bytes);
    if (!accessLog) return;
    const owner = found?.owner;
    accessLog.add({
      time: new Date().toISOString(),
      client: exchange.peer.remoteAddress,
      method: exchange.method,
      host: incoming?.host ?? "",
      target: exchange.url,
      protocol: exchange.http2 ? "HTTP/2" : "HTTP/1.1",
      status,
      bytes: outcome.bytes,
      durationMs: Math.round(durationMs * 1000) / 1000,
      ...(owner
        ? { route: `${owner.kind}/${owner.namespace}/${owner.name}` }
        : {}),
      ...(outcome.backend === undefined ? {} : { backend: outcome.backend }),
      ...(outcome.endpoint === undefined ? {} : { endpoint: outcome.endpoint }),
      userAgent: exchange.headers["user-agent"] ?? "",
    });
  });
}
