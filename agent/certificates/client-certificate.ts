// The client certificate of a node agent that joins a cluster: asked for through a CertificateSigningRequest with the
// bootstrap kubeconfig's credentials when --kubeconfig's file is not there yet, then written beside a kubeconfig that names
// it; renewed the same way with its own credentials when two thirds of its life are over (--rotate-certificates).
import type { CertificatePair } from "../../api/pki/certificate.ts";
import * as path from "node:path";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { inspectCertificate, renewalTimeMs } from "../../api/pki/inspect.ts";
import {
  readFileIfAny,
  writePrivateFile,
} from "../../http-kit/certificates/private-files.ts";
import { Backoff, sleep } from "../../api/queueing/backoff.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/create-client.ts";
import type { TlsOptions } from "../../client/http-pools.ts";
import { createHttpTransport } from "../../client/http-transport.ts";
import type { KubeconfigConnection } from "../../client/kubeconfig.ts";
import type { CertificateMetrics } from "../metrics/certificate-metrics.ts";
import { requestNodeCertificate } from "./certificate-request.ts";

const signerName = "kubernetes.io/kube-apiserver-client-kubelet";
const dayMs = 24 * 3_600_000;

interface ClientCertificateOptions {
  nodeName: string;
  /** Where the certificate and its key are kept, in one file. */
  directory: string;
  clock: Clock;
  logger: Logger;
}

interface BootstrapOptions extends ClientCertificateOptions {
  /** The error to reject with instead of trying again; default: it is always tried again. */
  giveUp?: (error: unknown) => Error | undefined;
}

const clientCertificateFile = (directory: string): string =>
  path.join(directory, "orbitlet-client-current.pem");

const requestCertificate = (
  client: Client,
  { nodeName, clock, logger }: ClientCertificateOptions,
): Promise<CertificatePair> =>
  requestNodeCertificate(client, {
    nodeName,
    signerName,
    usages: ["digital signature", "client auth"],
    clock,
    logger,
  });

function kubeconfigNaming(
  server: string,
  ca: string | undefined,
  pemFile: string,
): string {
  return [
    "apiVersion: v1",
    "kind: Config",
    "clusters:",
    "- cluster:",
    ...(ca
      ? [
          `    certificate-authority-data: ${Buffer.from(ca).toString("base64")}`,
        ]
      : []),
    `    server: ${server}`,
    "  name: default-cluster",
    "contexts:",
    "- context:",
    "    cluster: default-cluster",
    "    user: default-auth",
    "  name: default-context",
    "current-context: default-context",
    "preferences: {}",
    "users:",
    "- name: default-auth",
    "  user:",
    `    client-certificate: ${JSON.stringify(pemFile)}`,
    `    client-key: ${JSON.stringify(pemFile)}`,
    "",
  ].join("\n");
}

/**
 * Writes the certificate and then `kubeconfig`, whose directories are there. A server that does not answer yet is asked
 * again.
 * @param connection with the bootstrap kubeconfig's credentials
 */
export async function bootstrapClientCertificate(
  connection: KubeconfigConnection,
  kubeconfig: string,
  options: BootstrapOptions,
): Promise<void> {
  const { logger, clock, directory } = options;
  const client = createClient(createHttpTransport({ ...connection, logger }), {
    clock,
    logger,
  });
  const backoff = new Backoff({ baseMs: 1000, maxMs: 30_000, jitter: 0.1 });
  try {
    for (;;) {
      try {
        const pair = await requestCertificate(client, options);
        const file = path.resolve(clientCertificateFile(directory));
        writePrivateFile(file, pair.certificate + pair.key);
        writePrivateFile(
          path.resolve(kubeconfig),
          kubeconfigNaming(connection.server, connection.tls?.ca, file),
        );
        logger.info({ file }, "got a client certificate");
        return;
      } catch (err) {
        const final = options.giveUp?.(err);
        if (final) throw final;
        logger.warn({ err }, "no client certificate yet; trying again");
        await sleep(clock, backoff.nextMs());
      }
    }
  } finally {
    await client.close();
  }
}

/** Renews the certificate before it expires and gives it to the transport; only one this program was given by a cluster. */
export class ClientCertificateKeeper {
  #timer: Timer | undefined;
  #stopped = false;

  constructor(
    private readonly client: Client,
    private readonly tls: TlsOptions,
    private readonly updateTls: (tls: TlsOptions) => Promise<void>,
    private readonly options: ClientCertificateOptions,
    private readonly metrics?: CertificateMetrics,
  ) {}

  start(): void {
    const pem = readFileIfAny(clientCertificateFile(this.options.directory));
    if (!pem) return;
    this.metrics?.uses("client", pem);
    this.#renewAt(renewalTimeMs(inspectCertificate(pem)));
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Timers can't be longer than 24.8 days: it looks at the clock once a day. */
  #renewAt(dueMs: number): void {
    if (this.#stopped) return;
    const { clock } = this.options;
    const leftMs = Math.max(dueMs - clock.now(), 1000);
    this.#timer = clock.after(Math.min(leftMs, dayMs), () => {
      if (clock.now() < dueMs) this.#renewAt(dueMs);
      else void this.#renew();
    });
  }

  async #renew(): Promise<void> {
    const { directory, clock, logger } = this.options;
    try {
      const pair = await requestCertificate(this.client, this.options);
      if (this.#stopped) return;
      const pem = pair.certificate + pair.key;
      writePrivateFile(clientCertificateFile(directory), pem);
      await this.updateTls({
        ...this.tls,
        cert: pair.certificate,
        key: pair.key,
      });
      logger.info("renewed the client certificate");
      this.metrics?.uses("client", pem);
      const info = inspectCertificate(pem);
      const nowMs = clock.now();
      // A short-lived one that was made valid into the past may look due at once: half of what is left is soon enough.
      this.#renewAt(
        Math.max(renewalTimeMs(info), nowMs + (info.notAfterMs - nowMs) / 2),
      );
    } catch (err) {
      logger.error({ err }, "the client certificate could not be renewed");
      this.metrics?.failed("client");
      this.#renewAt(clock.now() + 60_000);
    }
  }
}
