// What the agent's HTTPS port serves with, and whom it believes, kept up to date: the files of --tls-cert-file,
// --tls-private-key-file, --tls-sni-cert-key and --client-ca-file are followed, and a renewed certificate keeps the
// authority of the moment.
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type {
  AgentServer,
  AgentServerTls,
} from "../../../server/agent-server.ts";
import { FollowedCertificates } from "../serving/followed-certificates.ts";
import { givenServing, trustFiles } from "../serving/serving-source.ts";
import { servingTls, type AgentPortOptions } from "./agent-ports.ts";

export class ServingFiles {
  readonly #followed: FollowedCertificates<AgentServerTls>;
  #authority: CertificatePair | undefined;
  #pair: CertificatePair | undefined;

  constructor(
    private readonly options: AgentPortOptions,
    private readonly server: Pick<AgentServer, "updateTls">,
  ) {
    const { values, clock, logger } = options;
    this.#authority = options.cluster?.ca;
    this.#followed = new FollowedCertificates({
      files: [...(givenServing(values)?.files ?? []), ...trustFiles(values)],
      read: () => this.#tls(),
      changed: (tls) => server.updateTls(tls),
      ...{ clock, logger },
    });
  }

  async start(): Promise<void> {
    await this.#followed.start();
  }

  stop(): void {
    this.#followed.stop();
  }

  /** Serves with a certificate for the addresses of the moment, made by the cluster's authority. */
  renew(authority: CertificatePair): void {
    this.#authority = authority;
    this.#followed.renew();
  }

  /** Serves with a certificate that was asked of the cluster. */
  use(pair: CertificatePair): void {
    this.#pair = pair;
    this.#followed.renew();
  }

  /** @throws UsageError while a file can't be used */
  #tls(): AgentServerTls {
    return { ...servingTls(this.options, this.#authority), ...this.#pair };
  }
}
