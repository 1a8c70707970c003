// What the agent's HTTPS port serves with, and whom it believes, kept up to date: the files of --tls-cert-file,
// --tls-private-key-file, --tls-sni-cert-key and --client-ca-file are followed, and a renewed certificate keeps the
// authority of the moment.
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type { AgentServer } from "../../../server/agent-server.ts";
import { FollowedCertificates } from "../serving/followed-certificates.ts";
import {
  agentPortFiles,
  servingTls,
  type AgentPortFiles,
  type AgentPortOptions,
} from "./agent-ports.ts";

export class ServingFiles {
  readonly #followed: FollowedCertificates<AgentPortFiles>;
  #authority: CertificatePair | undefined;
  #pair: CertificatePair | undefined;

  /** @throws UsageError naming the option whose file can't be used */
  constructor(
    private readonly options: AgentPortOptions,
    private readonly server: Pick<AgentServer, "updateTls">,
  ) {
    const { values, clock, logger } = options;
    this.#authority = options.cluster?.ca;
    this.#followed = new FollowedCertificates({
      parts: agentPortFiles(values),
      ...{ clock, logger },
    });
  }

  /** Uses what has changed since the port was opened, too. */
  start(): void {
    this.#use();
    this.#followed.start(() => this.#use());
  }

  stop(): void {
    this.#followed.stop();
  }

  /** Serves with a certificate for the addresses of the moment, made by the cluster's authority. */
  renew(authority: CertificatePair): void {
    this.#authority = authority;
    this.#use();
  }

  /** Serves with a certificate that was asked of the cluster. */
  use(pair: CertificatePair): void {
    this.#pair = pair;
    this.#use();
  }

  #use(): void {
    this.server.updateTls({
      ...servingTls(this.options, this.#authority, this.#followed.values),
      ...this.#pair,
    });
  }
}
