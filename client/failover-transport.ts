// One Transport over several API servers of one cluster: requests go to one of them until it can't be reached, then to the
// next, in a circle. A request that no server can have seen (the connection was not made) is sent again at once to each of
// the others; of what broke later only reads are. The watches of a server that is left are ended, so that their readers list
// again at the new one.
// Invariant: all requests go to one server at a time, so that what was written is read.
import type { Logger } from "pino";
import type {
  GroupVersionResource,
  KubeList,
  KubeObject,
} from "../api/object.ts";
import type { WatchOptions, WatchStream } from "./client.ts";
import type { TlsOptions } from "./http-pools.ts";
import type { ApiRequest, Transport } from "./transport.ts";

/** What each server is reached by. */
interface ServerTransport extends Transport {
  updateTls(tls: TlsOptions): Promise<void>;
}

interface FailoverOptions {
  /** At least one URL. */
  readonly servers: readonly string[];
  readonly open: (server: string) => ServerTransport;
  readonly tls: TlsOptions;
  readonly logger: Logger;
}

/** Errors of connections that were never made. */
const notSent = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EADDRNOTAVAIL",
  "ETIMEDOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** Errors of requests that were sent, without an answer. */
const timeouts = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

function codeOf(error: unknown): string | undefined {
  let code: unknown;
  for (let at = error; at instanceof Error; at = at.cause)
    code = (at as { code?: unknown }).code ?? code;
  return typeof code === "string" ? code : undefined;
}

const isTransportError = (error: unknown): boolean =>
  error instanceof Error && error.name === "TransportError";

export class FailoverTransport implements Transport {
  readonly #options: FailoverOptions;
  readonly #transports: readonly ServerTransport[];
  #tls: TlsOptions;
  #current = 0;
  #closed = false;

  constructor(options: FailoverOptions) {
    this.#options = options;
    this.#tls = options.tls;
    this.#transports = options.servers.map((server) => options.open(server));
  }

  /** The URL of the server that requests go to. */
  get server(): string {
    return this.#options.servers[this.#current]!;
  }

  request(request: ApiRequest): Promise<KubeObject | KubeList<KubeObject>> {
    const isRead = request.verb === "get" || request.verb === "list";
    return this.#try((transport) => transport.request(request), isRead);
  }

  raw(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }> {
    return this.#try(
      (transport) => transport.raw(method, path, body),
      method.toUpperCase() === "GET",
    );
  }

  /** A watch that can't be opened fails, and the list that follows finds the server that answers. */
  watch(
    resource: GroupVersionResource,
    options: WatchOptions,
  ): WatchStream<KubeObject> {
    return this.#transports[this.#current]!.watch(resource, options);
  }

  async updateTls(tls: TlsOptions): Promise<void> {
    this.#tls = tls;
    await Promise.all(
      this.#transports.map((transport) => transport.updateTls(tls)),
    );
  }

  /** Ends all watches and kept connections: those of an address that this machine has no more hear nothing. */
  async reconnect(): Promise<void> {
    await this.updateTls(this.#tls);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#transports.map((transport) => transport.close()));
  }

  async #try<T>(
    call: (transport: ServerTransport) => Promise<T>,
    isRead: boolean,
  ): Promise<T> {
    for (let left = this.#transports.length; ;) {
      const at = this.#current;
      try {
        return await call(this.#transports[at]!);
      } catch (error) {
        if (!isTransportError(error) || this.#closed) throw error;
        this.#leave(at, error);
        const again = isRead || notSent.has(codeOf(error) ?? "");
        if (!again || --left === 0) throw error;
      }
    }
  }

  /**
   * Unless another request has done so. One server alone is not left, but a request without an answer ends its kept
   * connections: those of an address that this machine has no more would hang for long.
   */
  #leave(at: number, error: unknown): void {
    if (at !== this.#current) return;
    const { servers, logger } = this.#options;
    if (servers.length === 1) {
      if (timeouts.has(codeOf(error) ?? ""))
        void this.#transports[at]!.updateTls(this.#tls);
      return;
    }
    this.#current = (at + 1) % servers.length;
    logger.warn(
      { err: error, from: servers[at], to: this.server },
      "an API server can't be reached: going to the next one",
    );
    // Ends its watches and its kept connections.
    void this.#transports[at]!.updateTls(this.#tls);
  }
}
