// The ports of a DNS server beside its answers, with the paths and texts of CoreDNS, which probes and scrapers expect: whether
// it lives (/health), whether it knows the cluster (/ready), and its metrics.
import type { Server } from "node:http";
import {
  metricsContentType,
  metricsText,
  type Family,
} from "../../api/metrics/family.ts";
import {
  closePlainPort,
  openPlainPort,
  plainText,
  type PlainAnswer,
} from "../plain-port.ts";

interface Place {
  readonly host: string;
  readonly port: number;
}

/** Undefined: there is no such port. */
export interface DnsPortPlaces {
  readonly health?: Place;
  readonly ready?: Place;
  readonly metrics?: Place;
}

export interface DnsPortsOptions {
  readonly places: DnsPortPlaces;
  /** The server answers. */
  readonly lives: () => boolean;
  /** It knows the cluster's Services. */
  readonly ready: () => boolean;
  readonly metrics: () => readonly Family[];
  /** A port that can't be opened: the others and the server go on. */
  readonly onProblem: (error: Error, place: Place) => void;
}

export class DnsPorts {
  readonly #servers: Server[] = [];

  async open(options: DnsPortsOptions): Promise<void> {
    const { places, lives, ready, metrics, onProblem } = options;
    const answers: readonly (readonly [
      Place | undefined,
      string,
      () => PlainAnswer,
    ])[] = [
      [
        places.health,
        "/health",
        () => (lives() ? plainText(200, "OK") : plainText(503, "")),
      ],
      [
        places.ready,
        "/ready",
        () => (ready() ? plainText(200, "OK") : plainText(503, "kubernetes")),
      ],
      [
        places.metrics,
        "/metrics",
        () => ({
          status: 200,
          type: metricsContentType,
          body: metricsText(metrics()),
        }),
      ],
    ];
    for (const [place, path, answer] of answers) {
      if (!place) continue;
      await openPlainPort(place.host, place.port, (asked) =>
        asked === path ? answer() : undefined,
      ).then(
        (server) => this.#servers.push(server),
        (error: Error) => onProblem(error, place),
      );
    }
  }

  stop(): void {
    for (const server of this.#servers.splice(0)) closePlainPort(server);
  }
}
