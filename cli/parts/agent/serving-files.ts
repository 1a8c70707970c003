// What the agent's HTTPS port serves with, and whom it believes, kept up to date: the files of --tls-cert-file,
// --tls-private-key-file and --client-ca-file are followed, and a renewed certificate keeps the authority of the moment.
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type {
  AgentServer,
  AgentServerTls,
} from "../../../server/agent-server.ts";
import { FollowedPair } from "../serving/followed-pair.ts";
import { servingTls, type AgentPortOptions } from "./agent-ports.ts";

const fileOptions = ["tls-cert-file", "tls-private-key-file", "client-ca-file"];

export class ServingFiles {
  readonly #followed: FollowedPair<AgentServerTls> | undefined;
  #authority: CertificatePair | undefined;
  #pair: CertificatePair | undefined;

  constructor(
    private readonly options: AgentPortOptions,
    private readonly server: Pick<AgentServer, "updateTls">,
  ) {
    const { values, clock, logger } = options;
    this.#authority = options.cluster?.ca;
    const files = fileOptions.flatMap(
      (name) => values.optionalText(name) ?? [],
    );
    if (files.length > 0)
      this.#followed = new FollowedPair({
        files,
        read: () => this.#tls(),
        changed: (tls) => server.updateTls(tls),
        ...{ clock, logger },
      });
  }

  async start(): Promise<void> {
    await this.#followed?.start();
  }

  stop(): void {
    this.#followed?.stop();
  }

  /** Serves with a certificate for the addresses of the moment, made by the cluster's authority. */
  renew(authority: CertificatePair): void {
    this.#authority = authority;
    this.server.updateTls(this.#tls());
  }

  /** Serves with a certificate that was asked of the cluster. */
  use(pair: CertificatePair): void {
    this.#pair = pair;
    this.server.updateTls(this.#tls());
  }

  /** @throws UsageError while a file can't be used */
  #tls(): AgentServerTls {
    return { ...servingTls(this.options, this.#authority), ...this.#pair };
  }
}
