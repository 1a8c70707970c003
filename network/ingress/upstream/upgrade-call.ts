// A connection to an endpoint for a request that offers to switch protocols (WebSocket, SPDY): its own, as it becomes the
// client's when the endpoint takes the offer.
import * as http from "node:http";
import * as https from "node:https";
import type { Duplex } from "node:stream";
import type { UpstreamRequest } from "./call.ts";
import { UpstreamError } from "./call.ts";
import {
  connectTimeoutMs,
  type Endpoint,
  type TlsToBackend,
} from "./endpoint.ts";
import { upstreamError } from "./http1-call.ts";

export type UpgradeAnswer =
  | {
      readonly kind: "switched";
      readonly headers: readonly string[];
      readonly socket: Duplex;
      readonly head: Buffer;
    }
  | { readonly kind: "refused"; readonly answer: http.IncomingMessage };

/** Rejects with an UpstreamError. `request.headers` hold Connection and Upgrade. */
export function callForUpgrade(
  { address }: Endpoint,
  tls: TlsToBackend | undefined,
  request: UpstreamRequest,
  signal: AbortSignal,
): Promise<UpgradeAnswer> {
  return new Promise((resolve, reject) => {
    const options = {
      host: address.address,
      port: address.port,
      method: request.method,
      path: request.path,
      agent: false as const,
      signal,
      setHost: false,
    };
    const secure = { ...options, ...tls, ALPNProtocols: ["http/1.1"] };
    const call = tls ? https.request(secure) : http.request(options);
    let connected = false;
    const fail = (error: Error): void => {
      clearTimeout(late);
      const known = upstreamError(error);
      reject(connected ? known : new UpstreamError("connect", known.message));
    };
    const timeout = (failure: "connect" | "timeout"): void =>
      void call.destroy(new UpstreamError(failure, "no answer in time"));
    let late = setTimeout(() => timeout("connect"), connectTimeoutMs);
    call.once("socket", (socket) =>
      socket.once(tls ? "secureConnect" : "connect", () => {
        connected = true;
        clearTimeout(late);
        late = setTimeout(() => timeout("timeout"), request.responseTimeoutMs);
      }),
    );
    call.once("error", fail);
    call.once("upgrade", (answer, socket, head) => {
      clearTimeout(late);
      resolve({ kind: "switched", headers: answer.rawHeaders, socket, head });
    });
    call.once("response", (answer) => {
      clearTimeout(late);
      resolve({ kind: "refused", answer });
    });
    try {
      setHeaders(call, [...request.headers, "host", request.authority]);
      call.end();
    } catch (error) {
      call.destroy();
      fail(error as Error);
    }
  });
}

function setHeaders(
  call: http.ClientRequest,
  headers: readonly string[],
): void {
  for (let at = 0; at + 1 < headers.length; at += 2)
    call.appendHeader(headers[at]!, headers[at + 1]!);
}
