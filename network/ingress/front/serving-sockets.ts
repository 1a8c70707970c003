// The ports the proxy listens on. A port that is taken is reported, and tried again every ten seconds or sooner; a port that is no
// longer wanted takes no new connections at once and ends the present ones when their requests have, or after the grace.
import type { Logger } from "pino";
import type { Exchange } from "../../../http-kit/exchange.ts";
import { Listener } from "../../../http-kit/listener.ts";
import type { CertificatePem, SocketSpec, SocketState } from "../messages.ts";
import type { CertificateStore } from "./certificate-store.ts";
import type { ServingSocket } from "./proxy-context.ts";

const firstRetryMs = 1000;
const longestRetryMs = 10_000;
/** Of all names and values of a request. */
const maxHeaderBytes = 32 * 1024;
const maxConnections = 10_000;
const maxStreams = 250;

interface Open {
  readonly spec: SocketSpec;
  readonly listener: Listener;
  shown: CertificatePem;
}

interface ServingSocketsOptions {
  readonly certificates: CertificateStore;
  /** Shown where there is no other. */
  readonly ownCertificate: CertificatePem;
  readonly graceMs: number;
  readonly serve: (socket: ServingSocket, exchange: Exchange) => void;
  readonly onChange: (states: readonly SocketState[]) => void;
  readonly logger: Logger;
}

export class ServingSockets {
  #wanted: readonly SocketSpec[] = [];
  readonly #open = new Map<string, Open>();
  readonly #problems = new Map<string, string>();
  readonly #closing = new Set<Promise<void>>();
  #running: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #retryMs = firstRetryMs;

  constructor(private readonly options: ServingSocketsOptions) {}

  get connections(): number {
    let count = 0;
    for (const { listener } of this.#open.values())
      count += listener.connections;
    return count;
  }

  apply(wanted: readonly SocketSpec[]): void {
    this.#wanted = wanted;
    this.#running = this.#running.then(() => this.#sync());
  }

  /** A certificate for clients that ask for no name may have changed. */
  refreshDefaults(): void {
    for (const open of this.#open.values()) {
      if (!open.spec.tls) continue;
      const shown = this.#shownAt(open.spec);
      if (
        shown.certificate === open.shown.certificate &&
        shown.key === open.shown.key
      )
        continue;
      open.shown = shown;
      open.listener.reload(pairOf(shown));
    }
  }

  /** Resolves when all connections have ended. */
  async stop(): Promise<void> {
    clearTimeout(this.#retry);
    this.#wanted = [];
    this.#running = this.#running.then(() => this.#sync());
    await this.#running;
    await Promise.all(this.#closing);
  }

  async #sync(): Promise<void> {
    clearTimeout(this.#retry);
    const wanted = new Map(this.#wanted.map((each) => [each.id, each]));
    for (const [id, { spec, listener }] of this.#open) {
      const other = wanted.get(id);
      if (other && sameSocket(other, spec)) continue;
      this.#open.delete(id);
      const closing = listener.close(this.options.graceMs).finally(() => {
        this.#closing.delete(closing);
      });
      this.#closing.add(closing);
    }
    this.#problems.clear();
    for (const spec of wanted.values())
      if (!this.#open.has(spec.id)) await this.#listen(spec);
    this.#report();
    if (this.#problems.size === 0) {
      this.#retryMs = firstRetryMs;
      return;
    }
    this.#retry = setTimeout(() => this.apply(this.#wanted), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, longestRetryMs);
  }

  async #listen(spec: SocketSpec): Promise<void> {
    const { certificates, serve, logger } = this.options;
    const shown = this.#shownAt(spec);
    const serving = {
      id: spec.id,
      scheme: spec.tls ? ("https" as const) : ("http" as const),
      port: spec.port,
    };
    const listener = new Listener({
      address: spec.address,
      port: spec.port,
      tls: spec.tls ? pairOf(shown) : undefined,
      contextOf: (name) => certificates.contextOf(spec.id, name),
      asksForCertificates: false,
      maxStreamsPerConnection: maxStreams,
      maxHeaderBytes,
      maxConnections,
      goawayChance: 0,
      handle: (exchange) => serve(serving, exchange),
      logger,
    });
    try {
      await listener.listen();
      serving.port = listener.port;
      this.#open.set(spec.id, { spec, listener, shown });
    } catch (error) {
      this.#problems.set(spec.id, (error as Error).message);
    }
  }

  #shownAt({ id }: SocketSpec): CertificatePem {
    return (
      this.options.certificates.defaultOf(id) ?? this.options.ownCertificate
    );
  }

  #report(): void {
    this.options.onChange(
      this.#wanted.map(({ id }) => {
        const problem = this.#problems.get(id);
        const port = this.#open.get(id)?.listener.port;
        return {
          id,
          ...(port === undefined ? {} : { port }),
          ...(problem === undefined ? {} : { problem }),
        };
      }),
    );
  }
}

function sameSocket(a: SocketSpec, b: SocketSpec): boolean {
  return a.address === b.address && a.port === b.port && a.tls === b.tls;
}

function pairOf({ certificate, key }: CertificatePem): {
  cert: string;
  key: Buffer;
} {
  return { cert: certificate, key: Buffer.from(key) };
}
