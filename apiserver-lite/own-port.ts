// The port of the API server, and how the server itself calls it.
import { Listener } from "../http-kit/listener.ts";
import type { Front } from "./front/front.ts";
import type { ApiServerOptions } from "./server-options.ts";
import { Loopback } from "./webhook-client/loopback.ts";

export const defaultAddress = "127.0.0.1";
/** Of one HTTP/2 connection, as in the reference: a flood over one is a short turn of the loop. */
const defaultStreams = 100;

/** Where this process has a TLS port of its own to call. */
export function createLoopback(
  { listen = true, tls, bindAddress = defaultAddress }: ApiServerOptions,
  port: () => number,
): Loopback | undefined {
  return listen && tls
    ? new Loopback({ address: bindAddress, port })
    : undefined;
}

export function createListener(
  options: ApiServerOptions,
  front: Front,
  loopback: Loopback | undefined,
): Listener | undefined {
  if (!(options.listen ?? true)) return undefined;
  return new Listener({
    address: options.bindAddress ?? defaultAddress,
    port: options.port ?? 0,
    tls: options.tls,
    ...(options.servingTls ? { servingTls: options.servingTls } : {}),
    ...(loopback
      ? { ownContextOf: (name: string) => loopback.contextOf(name) }
      : {}),
    http1Only: options.disableHttp2 ?? false,
    maxStreamsPerConnection:
      options.http2MaxStreamsPerConnection ?? defaultStreams,
    goawayChance: options.goawayChance ?? 0,
    logger: options.logger,
    handle: (exchange) => void front.handle(exchange),
  });
}
