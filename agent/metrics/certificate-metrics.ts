// How long the certificates that a cluster gave the agent are still valid, and how renewing them went, with the reference's
// names. A certificate that the agent was not given, or has not yet, has no time.
import type { Clock } from "../../api/clock.ts";
import { Counters, gauge, Histograms } from "../../api/metrics/counted.ts";
import type { Family } from "../../api/metrics/family.ts";
import { inspectCertificate } from "../../api/pki/inspect.ts";

type Use = "client" | "server";

const hour = 3600;
const day = 24 * hour;
const manager = "kubelet_certificate_manager";

interface Kept {
  readonly madeMs: number;
  readonly notAfterMs: number;
}

export class CertificateMetrics {
  readonly #kept: Partial<Record<Use, Kept>> = {};
  readonly #failures = {
    client: new Counters({
      name: `${manager}_client_expiration_renew_errors`,
      help: "Renewals of the client certificate that failed.",
    }),
    server: new Counters({
      name: "kubelet_server_expiration_renew_errors",
      help: "Renewals of the serving certificate that failed.",
    }),
  };
  readonly #rotations = new Histograms(
    {
      name: `${manager}_server_rotation_seconds`,
      help: "How long serving certificates were in use until others took their place.",
    },
    [
      60,
      hour,
      4 * hour,
      ...[1, 7, 30, 90, 180, 360, 1440].map((days) => days * day),
    ],
  );

  constructor(private readonly clock: Clock) {}

  /** @param pem the certificate first */
  uses(use: Use, pem: string): void {
    const madeMs = this.clock.now();
    const before = this.#kept[use];
    if (use === "server" && before)
      this.#rotations.observe((madeMs - before.madeMs) / 1000);
    const { notAfterMs } = inspectCertificate(pem);
    this.#kept[use] = { madeMs, notAfterMs };
  }

  failed(use: Use): void {
    this.#failures[use].count();
  }

  families(): Family[] {
    const left = (use: Use): number | undefined => {
      const kept = this.#kept[use];
      return kept && (kept.notAfterMs - this.clock.now()) / 1000;
    };
    return [
      gauge(
        `${manager}_client_ttl_seconds`,
        "For how long the client certificate is still valid.",
        left("client"),
      ),
      gauge(
        `${manager}_server_ttl_seconds`,
        "For how long the serving certificate is still valid.",
        left("server"),
      ),
      this.#failures.client.family(),
      this.#failures.server.family(),
      this.#rotations.family(),
    ];
  }
}
