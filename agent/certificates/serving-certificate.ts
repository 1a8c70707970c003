// The serving certificate of a node agent in a cluster (--rotate-server-certificates): asked for through a
// CertificateSigningRequest for the node's name and addresses, kept in one file, and asked for again when two thirds of its
// life are over or the addresses are others. Until it is signed the agent serves with its own.
import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import * as path from "node:path";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { CertificatePair } from "../../api/pki/certificate.ts";
import { inspectCertificate, renewalTimeMs } from "../../api/pki/inspect.ts";
import type { Client } from "../../client/client.ts";
import {
  readFileIfAny,
  writePrivateFile,
} from "../../http-kit/certificates/private-files.ts";
import type { CertificateMetrics } from "../metrics/certificate-metrics.ts";
import { requestNodeCertificate } from "./certificate-request.ts";

const signerName = "kubernetes.io/kubelet-serving";
const lookEveryMs = 10_000;
const retryMs = 60_000;

interface ServingCertificateOptions {
  readonly client: Client;
  readonly nodeName: string;
  readonly directory: string;
  /** Those that the Node object has; empty: not known yet. */
  readonly addresses: () => readonly string[];
  readonly onCertificate: (pair: CertificatePair) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics?: CertificateMetrics | undefined;
}

export class ServingCertificateKeeper {
  readonly #options: ServingCertificateOptions;
  readonly #file: string;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: ServingCertificateOptions) {
    this.#options = options;
    this.#file = path.join(options.directory, "orbitlet-server-current.pem");
  }

  start(): void {
    const pem = readFileIfAny(this.#file);
    if (pem !== undefined) this.#use(pem);
    this.#look();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #use(pem: string): void {
    const at = pem.indexOf("-----BEGIN PRIVATE KEY");
    const key = pem.slice(at === -1 ? pem.indexOf("-----BEGIN EC") : at);
    this.#options.onCertificate({
      certificate: pem.slice(0, pem.length - key.length),
      key: Buffer.from(key),
    });
    this.#options.metrics?.uses("server", pem);
  }

  /** The certificate of the file is for these addresses and not due. */
  #fits(addresses: readonly string[]): boolean {
    const pem = readFileIfAny(this.#file);
    if (pem === undefined) return false;
    const certificate = new X509Certificate(pem);
    return (
      renewalTimeMs(inspectCertificate(pem)) > this.#options.clock.now() &&
      addresses.every((each) =>
        isIP(each) === 0
          ? certificate.checkHost(each) !== undefined
          : certificate.checkIP(each) !== undefined,
      )
    );
  }

  #look(): void {
    if (this.#stopped) return;
    const { clock, addresses, nodeName } = this.#options;
    const ips = addresses();
    const again = (delayMs: number): void => {
      this.#timer = clock.after(delayMs, () => this.#look());
    };
    if (ips.length === 0 || this.#fits([nodeName, ...ips]))
      return again(ips.length === 0 ? 1000 : lookEveryMs);
    this.#request(ips).then(
      () => again(lookEveryMs),
      (err: unknown) => {
        this.#options.metrics?.failed("server");
        this.#options.logger.warn(
          { err },
          "no serving certificate from the cluster yet; trying again",
        );
        again(retryMs);
      },
    );
  }

  async #request(ipAddresses: readonly string[]): Promise<void> {
    const { client, nodeName, clock, logger } = this.#options;
    const { certificate, key } = await requestNodeCertificate(client, {
      nodeName,
      signerName,
      usages: ["digital signature", "server auth"],
      names: { dnsNames: [nodeName], ipAddresses: [...ipAddresses] },
      clock,
      logger,
    });
    if (this.#stopped) return;
    const pem = `${certificate}${String(key)}`;
    writePrivateFile(this.#file, pem);
    this.#use(pem);
    logger.info("got a serving certificate from the cluster");
  }
}
