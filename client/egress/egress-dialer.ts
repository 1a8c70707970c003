// Connections that leave by a proxy of HTTP CONNECT, reached over TCP (plain or with TLS) or a unix socket. A part that
// is given a dialer makes every connection by it: when the proxy can't be reached or refuses, the connection fails; it is never made
// another way. A connection, from the proxy's socket to its answer, is made within a bounded time.
import * as net from "node:net";
import * as tls from "node:tls";
import { Family } from "../../api/metrics/family.ts";
import { Histogram } from "../../api/metrics/histogram.ts";
import { checkServerNames } from "../../api/pki/server-names.ts";

/** A connection to a host (IPv6 without brackets) and port, on which nothing was sent or received yet. */
export type Dial = (host: string, port: number) => Promise<net.Socket>;

export interface EgressProxy {
  readonly at:
    | { readonly socketPath: string }
    | {
        readonly host: string;
        readonly port: number;
        /** Undefined: plain. */
        readonly tls: tls.SecureContextOptions | undefined;
        /** That the proxy's certificate must be valid for; default the host. */
        readonly serverName?: string | undefined;
      };
}

const dialMs = 30_000;
const maxHeadBytes = 64 * 1024;
const secondsBounds = [0.005, 0.025, 0.1, 0.5, 2.5, 12.5];
const prefix = "apiserver_egress_dialer";

type Transport = "tcp" | "uds";

export class EgressMetrics {
  readonly #started = new Map<Transport, number>();
  readonly #failed = new Map<string, number>();
  readonly #seconds = new Map<Transport, Histogram>();

  started(transport: Transport): void {
    this.#started.set(transport, (this.#started.get(transport) ?? 0) + 1);
  }

  failed(transport: Transport, stage: "connect" | "proxy"): void {
    const key = `${stage} ${transport}`;
    this.#failed.set(key, (this.#failed.get(key) ?? 0) + 1);
  }

  made(transport: Transport, ms: number): void {
    let row = this.#seconds.get(transport);
    if (!row)
      this.#seconds.set(transport, (row = new Histogram(secondsBounds)));
    row.observe(ms / 1000);
  }

  families(): Family[] {
    const protocol = "http_connect";
    const started = new Family(
      `${prefix}_dial_start_total`,
      "counter",
      "Dial starts, labeled by the protocol and transport.",
    );
    for (const [transport, count] of this.#started)
      started.add({ protocol, transport }, count);
    const failed = new Family(
      `${prefix}_dial_failure_count`,
      "counter",
      "Dial failure count, labeled by the protocol, transport, and stage. The stage indicates at which stage the dial failed",
    );
    for (const [key, count] of this.#failed) {
      const [stage = "", transport = ""] = key.split(" ");
      failed.add({ protocol, stage, transport }, count);
    }
    const seconds = new Family(
      `${prefix}_dial_duration_seconds`,
      "histogram",
      "Dial latency histogram in seconds, labeled by the protocol (http-connect or grpc), transport (tcp or uds)",
    );
    for (const [transport, row] of this.#seconds)
      seconds.addHistogram({ protocol, transport }, row);
    return [started, failed, seconds];
  }
}

export function egressDialer(
  { at }: EgressProxy,
  metrics: EgressMetrics,
  timeoutMs = dialMs,
): Dial {
  const transport = "socketPath" in at ? "uds" : "tcp";
  const shown =
    "socketPath" in at ? at.socketPath : addressOf(at.host, at.port);
  return async (host, port) => {
    const began = performance.now();
    metrics.started(transport);
    const proxy = connectTo(at);
    let stage: "connect" | "proxy" = "connect";
    let timer: NodeJS.Timeout | undefined;
    try {
      return await Promise.race([
        connected(proxy, "socketPath" in at || !at.tls).then(async () => {
          stage = "proxy";
          await tunnelled(proxy, addressOf(host, port), shown);
          metrics.made(transport, performance.now() - began);
          return proxy;
        }),
        new Promise<never>((_, reject) => {
          const over = new Error(`dialing by the proxy ${shown}: i/o timeout`);
          timer = setTimeout(() => reject(over), timeoutMs);
        }),
      ]);
    } catch (error) {
      metrics.failed(transport, stage);
      proxy.destroy();
      throw stage === "connect"
        ? new Error(`egress proxy ${shown}: ${(error as Error).message}`, {
            cause: error,
          })
        : error;
    } finally {
      clearTimeout(timer);
    }
  };
}

const addressOf = (host: string, port: number): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`;

function connectTo(at: EgressProxy["at"]): net.Socket {
  if ("socketPath" in at) return net.connect({ path: at.socketPath });
  const { host, port, serverName = host } = at;
  if (!at.tls) return net.connect({ host, port });
  return tls.connect({
    ...at.tls,
    ...{ host, port, rejectUnauthorized: true },
    // An address is no name to ask for, and is verified as the host.
    ...(net.isIP(serverName) === 0 ? { servername: serverName } : {}),
    checkServerIdentity: (_, certificate) =>
      checkServerNames(serverName, certificate),
  });
}

function connected(socket: net.Socket, plain: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(plain ? "connect" : "secureConnect", () => resolve());
    // Stays: a failure after it must not go unheard.
    socket.on("error", reject);
    socket.once("close", () => reject(new Error("the connection was closed")));
  });
}

/** Resolves when the proxy has connected, and not a byte more than its answer was read. */
function tunnelled(
  socket: net.Socket,
  address: string,
  proxy: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (why: string): void =>
      reject(
        new Error(
          `reading HTTP response from CONNECT to ${address} via proxy ${proxy} failed: ${why}`,
        ),
      );
    let head = Buffer.alloc(0);
    const ended = (): void => failed("unexpected EOF");
    const broken = (error: Error): void => failed(error.message);
    // Not by `data`: a socket that was paused would stay so for who takes it over.
    const read = (): void => {
      const chunk = socket.read() as Buffer | null;
      if (!chunk) return;
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0 && head.length <= maxHeadBytes) return;
      socket.off("readable", read).off("end", ended).off("error", broken);
      const status = /^HTTP\/1\.[01] (\d{3})(?: ([^\r\n]*))?\r?\n/.exec(
        head.toString("latin1", 0, Math.min(end + 2, 1024)),
      );
      if (end < 0) failed("the header is too large");
      else if (!status) failed("malformed HTTP response");
      else if (status[1] !== "200")
        reject(
          new Error(
            `proxy error from ${proxy} while dialing ${address}, code ${status[1]}: ${status[1]} ${status[2] ?? ""}`,
          ),
        );
      else if (head.length > end + 4)
        reject(
          new Error(
            `unexpected ${head.length - end - 4} bytes of buffered data from CONNECT proxy ${JSON.stringify(proxy)}`,
          ),
        );
      else resolve();
    };
    socket.on("readable", read).once("end", ended).once("error", broken);
    socket.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  });
}
