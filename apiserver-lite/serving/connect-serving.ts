// Requests that go on to a node or a pod: CONNECT admission, then the ConnectHandler's.
import type { Duplex } from "node:stream";
import { errors } from "../../api/errors.ts";
import { Call } from "../registry/call.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import type { Registry } from "../registry/registry.ts";
import {
  admissionAttributes,
  admit,
  validateAdmission,
} from "../registry/verbs/write.ts";
import type { Asked } from "./answers.ts";
import type {
  ConnectHandler,
  ConnectRequest,
} from "../proxy/connect-handler.ts";
import type { Exchange } from "../../http-kit/exchange.ts";
import { pathNotFound } from "../request/refusals.ts";

export const connectSubresources = new Set([
  "exec",
  "attach",
  "portforward",
  "proxy",
  "log",
]);

export class ConnectServing {
  constructor(
    private readonly registry: Registry,
    private readonly handler: ConnectHandler | undefined,
  ) {}

  async serve(
    exchange: Exchange,
    asked: Asked,
    endpoint: Endpoint,
  ): Promise<void> {
    const { handler: connect } = this;
    if (!connect)
      throw errors.unavailable("this server does not proxy to nodes");
    const request = await this.#connectRequest(
      exchange.method,
      exchange.headers,
      exchange.peer.remoteAddress,
      asked,
      endpoint,
    );
    await connect.serve(request, exchange.body, {
      start: (status, headers) =>
        exchange.open(status, { ...asked.headers, ...headers }),
    });
  }

  /** HTTP/1.1 upgrades: exec, attach, port-forward, proxy; and watches over WebSocket. */
  async upgrade(
    exchange: Exchange,
    asked: Asked,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const { info } = asked;
    const endpoint = this.registry.endpoint(
      info.group,
      info.version,
      info.resource,
    );
    const { handler: connect } = this;
    if (!endpoint || !connectSubresources.has(info.subresource))
      throw pathNotFound();
    if (!connect)
      throw errors.unavailable("this server does not proxy to nodes");
    const request = await this.#connectRequest(
      exchange.method,
      exchange.headers,
      exchange.peer.remoteAddress,
      asked,
      endpoint,
    );
    await connect.upgrade(request, socket, head);
  }

  /** The seam's request after CONNECT admission; also used for upgrades. */
  async #connectRequest(
    method: string,
    headers: ConnectRequest["headers"],
    remoteAddress: string,
    asked: Asked,
    endpoint: Endpoint,
  ): Promise<ConnectRequest> {
    const { info } = asked;
    const { registry } = this;
    const call = new Call(registry, {
      user: asked.user,
      endpoint,
      namespace: info.namespace,
      name: info.name,
      subresource: info.subresource,
      query: asked.query,
    });
    if (info.subresource !== "log") {
      const attributes = admissionAttributes(
        call,
        "CONNECT",
        undefined,
        undefined,
      );
      await admit(call, attributes);
      await validateAdmission(call, attributes);
    }
    return {
      method,
      group: info.group,
      version: info.version,
      resource: info.resource,
      subresource: info.subresource,
      namespace: info.namespace,
      name: info.name,
      proxyPath: info.rest,
      query: asked.query,
      rawQuery: asked.rawQuery,
      headers,
      user: asked.user,
      remoteAddress,
      signal: asked.signal(),
      read: (group, resource, namespace, name) =>
        registry.read(group, resource, namespace, name),
    };
  }
}
