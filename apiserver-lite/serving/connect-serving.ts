// Requests that go on to a node or a pod, as a plain exchange or over an upgraded connection: CONNECT admission, then the
// ConnectHandler's.
import { errors } from "../../api/errors.ts";
import { callOf } from "../dispatch/request.ts";
import type { ConnectHandler } from "../proxy/connect-handler.ts";
import {
  admissionAttributes,
  admit,
  validateAdmission,
} from "../registry/verbs/call-admission.ts";
import {
  connectOptions,
  withOptions,
  type ConnectTarget,
} from "../proxy/connect-options.ts";
import type { HttpRequest } from "./http-request.ts";

export const connectSubresources = new Set([
  "exec",
  "attach",
  "portforward",
  "proxy",
  "log",
]);

/** Rejects with an ApiError before anything was answered. */
export async function serveConnect(
  request: HttpRequest,
  handler: ConnectHandler | undefined,
): Promise<void> {
  if (!handler) throw errors.unavailable("this server does not proxy to nodes");
  const { exchange, info, query, rawQuery, user, registry } = request;
  const target = { query, rawQuery, proxyPath: info.rest };
  const admitted =
    info.subresource === "log" ? target : await admitConnect(request, target);
  const asked = {
    method: exchange.method,
    group: info.group,
    version: info.version,
    resource: info.resource,
    subresource: info.subresource,
    namespace: info.namespace,
    name: info.name,
    ...admitted,
    headers: exchange.headers,
    user,
    remoteAddress: exchange.peer.remoteAddress,
    signal: request.signal,
    read: registry.read.bind(registry),
  };
  // An offer beside a body is not passed on: what follows would be the body to one side and the new protocol to the other.
  if (exchange.upgrade && !exchange.hasBody) {
    const { socket, head } = exchange.upgrade;
    await handler.upgrade(asked, socket, head);
    exchange.switched();
    return;
  }
  await handler.serve(asked, exchange.body, {
    start: (status, headers) =>
      exchange.open(status, { ...request.headers, ...headers }),
  });
}

/** What is asked for, as mutating admission leaves it. */
async function admitConnect(
  request: HttpRequest,
  target: ConnectTarget,
): Promise<ConnectTarget> {
  const call = callOf(request);
  const { kind } = call.endpoint.placeOf(call.subresource);
  const options = connectOptions(kind, target);
  const attributes = admissionAttributes(call, "CONNECT", options, undefined);
  await admit(call, attributes);
  await validateAdmission(call, attributes);
  const { object } = attributes;
  return object === options || !object
    ? target
    : withOptions(kind, target, object);
}
