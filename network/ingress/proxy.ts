// The proxy: sockets in front, routes, backends behind. It knows no API objects; what it serves comes as messages
// (messages.ts), and what it reports goes out as such. The thread (ingress-worker.ts) is its only user in the program.
import type { Logger } from "pino";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../api/pki/certificate.ts";
import { AddressRanges } from "../address-ranges.ts";
import { AccessLog } from "./front/access-log.ts";
import { answerText } from "./front/answers.ts";
import { CertificateStore } from "./front/certificate-store.ts";
import type { ProxyContext } from "./front/proxy-context.ts";
import { serveRequest } from "./front/serve-request.ts";
import { ServingSockets } from "./front/serving-sockets.ts";
import {
  StatisticsCounter,
  type IngressStatistics,
} from "./front/statistics.ts";
import type {
  CertificatePem,
  FromProxy,
  IngressServerData,
  ToProxy,
} from "./messages.ts";
import { AuthorityParser } from "./routing/authority.ts";
import { RouteTable } from "./routing/route-table.ts";
import { Backend } from "./upstream/backend.ts";

/** Connections of an endpoint without a request for so long are given back. */
const idleEndpointMs = 60_000;

/** Shown where no other fits; no client trusts it. */
function ownCertificate(): CertificatePem {
  const nowMs = Date.now();
  const authority = createCertificateAuthority({
    subject: { commonName: "Orbit Ingress" },
    nowMs,
  });
  const { certificate, key } = issueCertificate(authority, {
    subject: { commonName: "Orbit Ingress default certificate" },
    dnsNames: ["ingress.local"],
    nowMs,
    usages: ["server auth"],
    validityMs: 10 * YEAR_MS,
  });
  return { certificate, key: key.toString() };
}

export class Proxy {
  readonly #table = new RouteTable();
  readonly #backends = new Map<string, Backend>();
  readonly #certificates = new CertificateStore();
  readonly #statistics = new StatisticsCounter();
  readonly #accessLog: AccessLog | undefined;
  readonly #sockets: ServingSockets;
  readonly #sweep: NodeJS.Timeout;

  constructor(
    data: IngressServerData,
    private readonly send: (message: FromProxy) => void,
    private readonly logger: Logger,
  ) {
    const trusted = new AddressRanges(data.trustedProxies);
    if (data.accessLog !== undefined)
      this.#accessLog = new AccessLog(data.accessLog, (error) =>
        logger.error({ err: error }, "the access log can't be written"),
      );
    const context: ProxyContext = {
      table: this.#table,
      backends: this.#backends,
      authorities: new AuthorityParser(),
      statistics: this.#statistics,
      accessLog: this.#accessLog,
      logger,
      trusted: (address) => trusted.contains(address),
      nowMs: () => performance.now(),
    };
    this.#sockets = new ServingSockets({
      certificates: this.#certificates,
      ownCertificate: ownCertificate(),
      graceMs: data.graceMs,
      serve: (socket, exchange) => {
        try {
          serveRequest(context, socket, exchange);
        } catch (error) {
          logger.error({ err: error }, "a request could not be served");
          if (exchange.started) exchange.destroy();
          else answerText(exchange, 500, "the proxy failed");
        }
      },
      onChange: (states) => send({ kind: "sockets", states }),
      logger,
    });
    this.#sweep = setInterval(() => {
      const beforeMs = performance.now() - idleEndpointMs;
      for (const backend of this.#backends.values())
        backend.releaseIdle(beforeMs);
    }, idleEndpointMs);
    this.#sweep.unref();
  }

  /** Undefined: nothing has changed since the last call. */
  takeStatistics(): IngressStatistics | undefined {
    const counter = this.#statistics;
    if (!counter.changed) return undefined;
    counter.changed = false;
    return {
      owners: Object.fromEntries(counter.owners),
      durations: counter.durations,
      durationSum: counter.durationSum,
      upstreamFailures: counter.upstreamFailures,
      retries: counter.retries,
      requestsUnderWay: counter.underWay,
      connections: this.#sockets.connections,
      routes: this.#table.size,
      backends: this.#backends.size,
      certificates: this.#certificates.size,
      accessLogDropped: this.#accessLog?.dropped ?? 0,
    };
  }

  take(message: ToProxy): void {
    switch (message.kind) {
      case "sockets":
        this.#sockets.apply(message.sockets);
        break;
      case "change":
        this.#change(message);
        break;
      case "stop":
        break;
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#sweep);
    await this.#sockets.stop();
    for (const backend of this.#backends.values()) backend.destroy();
    await this.#accessLog?.close();
  }

  #change({
    objects,
    backends,
    certificates,
  }: ToProxy & { kind: "change" }): void {
    this.#statistics.changed = true;
    // Backends first: a route never leads to one that is about to be there.
    for (const { key, state } of backends) {
      const known = this.#backends.get(key);
      if (state) {
        const backend = known ?? new Backend();
        backend.update(state);
        this.#backends.set(key, backend);
      } else {
        known?.close();
        this.#backends.delete(key);
      }
    }
    const states = certificates.flatMap(({ key, pem }) => {
      const problem = this.#certificates.setCertificate(key, pem);
      // Of one that is gone the feed knows more.
      return pem
        ? [{ key, ...(problem === undefined ? {} : { problem }) }]
        : [];
    });
    for (const { key, routes, certificateUses } of objects) {
      try {
        this.#table.set(key, routes);
      } catch (error) {
        this.logger.error({ err: error, key }, "routes could not be used");
      }
      this.#certificates.setUses(key, certificateUses ?? []);
    }
    this.#sockets.refreshDefaults();
    if (states.length > 0) this.send({ kind: "certificates", states });
  }
}
