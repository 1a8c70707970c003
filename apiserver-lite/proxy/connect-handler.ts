// The seam between the API server's front and what is proxied onward: pods/exec, attach, portforward, log, proxy,
// nodes/proxy, services/proxy. The front has authenticated, authorized and admitted (CONNECT) the request before it
// hands it over; implemented in apiserver-lite/proxy/.
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { Duplex, Readable, Writable } from "node:stream";
import type { UserInfo } from "../../api/contracts.ts";
import type { AnyObject } from "../../api/object.ts";

export interface ConnectRequest {
  /** HTTP method: GET, POST, PUT … */
  readonly method: string;
  readonly group: string;
  readonly version: string;
  /** pods, nodes or services. */
  readonly resource: string;
  /** exec, attach, portforward, log, proxy. */
  readonly subresource: string;
  readonly namespace: string;
  /** As in the URL: `name`, for proxies also `scheme:name:port`. */
  readonly name: string;
  /** What follows `proxy` in the path, with its leading slash and still percent-encoded; "" when there is nothing. */
  readonly proxyPath: string;
  readonly query: URLSearchParams;
  /** The query as sent, without "?". */
  readonly rawQuery: string;
  readonly headers: IncomingHttpHeaders;
  readonly user: UserInfo;
  readonly remoteAddress: string;
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal;
  /** Reads the present state of any object, frozen and shared: the pod, its node, a service's endpoints. */
  read(
    group: string,
    resource: string,
    namespace: string,
    name: string,
  ): Readonly<AnyObject> | undefined;
}

export interface ConnectResponse {
  /** Sends status and headers and gives the body's stream; to be called once. Fields of the connection are left out. */
  start(status: number, headers: OutgoingHttpHeaders): Writable;
}

export interface ConnectHandler {
  /** A plain exchange on HTTP/1.1 or HTTP/2. Rejects with an ApiError before `start`, which is answered as a Status. */
  serve(
    request: ConnectRequest,
    body: Readable,
    response: ConnectResponse,
  ): Promise<void>;
  /**
   * An HTTP/1.1 upgrade (WebSocket, SPDY/3.1). The socket is the handler's from here on, `head` what was read beyond the
   * request. Rejects with an ApiError when nothing has been written yet: it is answered as a plain HTTP Status then,
   * never by a reset (clients fall back only after a complete answer).
   */
  upgrade(request: ConnectRequest, socket: Duplex, head: Buffer): Promise<void>;
}
