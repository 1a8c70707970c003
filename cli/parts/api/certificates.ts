// The API server's certificates: what its port serves with and whom it believes, how it goes to node agents, and what it
// shows to aggregated servers. Files of options come first, else the cluster's own PKI serves. Both may be renewed while
// the server runs.
import type { Logger } from "pino";
import type {
  ApiServer,
  ClusterPki,
  DialerOptions,
} from "../../../apiserver-lite/index.ts";
import type { Clock } from "../../../api/clock.ts";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type { NamedPair } from "../../../api/pki/serving-tls.ts";
import type { ServingCertificate } from "../../../http-kit/listener.ts";
import type { OptionValues } from "../../options/parse.ts";
import { readAuthorityFile, readPair } from "../option-files.ts";
import { FollowedCertificates } from "../serving/followed-certificates.ts";
import { trustFiles, type ServingSource } from "../serving/serving-source.ts";
import { namedPairs } from "../serving/serving-tls.ts";

export interface ApiCertificates {
  /** Undefined: plain HTTP. */
  readonly serving: CertificatePair | undefined;
  readonly named: readonly NamedPair[];
  readonly authorities: ClientAuthorities;
  /** What node agents know the server by, and whom it believes there. */
  readonly agents: Pick<DialerOptions, "clientCertificate" | "agentAuthority">;
  /** What aggregated servers know it by. */
  readonly proxy: CertificatePair | undefined;
}

interface CertificateOptions {
  readonly values: OptionValues;
  /** Undefined: the PKI's pair. */
  readonly source: ServingSource | undefined;
  readonly pki: ClusterPki | undefined;
}

/** PEM: of clients, and of proxies that speak for clients. */
export interface ClientAuthorities {
  readonly clientCa: string | undefined;
  readonly headerCa: string | undefined;
}

/**
 * A whole cluster has clients of its own (the administrator of the kubeconfig that it writes, nodes that join), whose
 * authority stays beside those of --client-ca-file.
 */
export function clientAuthorities(
  values: OptionValues,
  pki: ClusterPki | undefined,
): ClientAuthorities {
  const given = (option: string): string | undefined => {
    const file = values.optionalText(option);
    return file && readAuthorityFile(option, file);
  };
  const clients = [given("client-ca-file"), pki?.clusterCa.certificate].filter(
    (each) => each !== undefined && each !== "",
  );
  return {
    clientCa: clients.length > 0 ? clients.join("\n") : undefined,
    headerCa:
      given("requestheader-client-ca-file") ?? pki?.frontProxyCa.certificate,
  };
}

/** @throws UsageError naming the option whose file can't be used */
export function readCertificates({
  values,
  source,
  pki,
}: CertificateOptions): ApiCertificates {
  const authorityFile = values.optionalText("kubelet-certificate-authority");
  return {
    serving: source ? source.read() : pki?.serving,
    named: namedPairs(values),
    authorities: clientAuthorities(values, pki),
    agents: {
      clientCertificate:
        readPair(values, "kubelet-client-certificate", "kubelet-client-key") ??
        pki?.kubeletClient,
      agentAuthority: authorityFile
        ? readAuthorityFile("kubelet-certificate-authority", authorityFile)
        : pki?.clusterCa.certificate,
    },
    proxy:
      readPair(values, "proxy-client-cert-file", "proxy-client-key-file") ??
      pki?.frontProxyClient,
  };
}

/** Undefined: plain HTTP. */
export function servingCertificate({
  serving,
  named,
  authorities: { clientCa, headerCa },
}: ApiCertificates): ServingCertificate | undefined {
  return (
    serving && {
      ...{ cert: serving.certificate, key: serving.key, named },
      clientCa: [clientCa, headerCa].filter(Boolean).join("\n"),
    }
  );
}

const clientFiles = [
  "kubelet-client-certificate",
  "kubelet-client-key",
  "kubelet-certificate-authority",
  "proxy-client-cert-file",
  "proxy-client-key-file",
];

/** Follows the files of the options, and takes renewed certificates of the PKI. */
export class CertificateRenewals {
  readonly #followed: FollowedCertificates<ApiCertificates>;
  #pki: ClusterPki | undefined;

  constructor(
    { values, source, pki }: CertificateOptions,
    private readonly options: {
      readonly server: Pick<
        ApiServer,
        "reloadCertificate" | "setProxyCertificate"
      >;
      /** What others than the server's port do with them. */
      readonly changed: (certificates: ApiCertificates) => void;
      readonly clock: Clock;
      readonly logger: Logger;
    },
  ) {
    this.#pki = pki;
    const { clock, logger } = options;
    this.#followed = new FollowedCertificates({
      files: [
        ...(source?.files ?? []),
        ...trustFiles(values),
        ...clientFiles.flatMap((name) => values.optionalText(name) ?? []),
      ],
      read: () => readCertificates({ values, source, pki: this.#pki }),
      changed: (certificates) => this.#use(certificates),
      ...{ clock, logger },
    });
  }

  /** The files are as they were read at the start. */
  start(): Promise<void> {
    return this.#followed.start();
  }

  stop(): void {
    this.#followed.stop();
  }

  updatePki(pki: ClusterPki): void {
    this.#pki = pki;
    this.#followed.renew();
  }

  #use(certificates: ApiCertificates): void {
    const { server, changed } = this.options;
    const serving = servingCertificate(certificates);
    if (serving) server.reloadCertificate(serving);
    server.setProxyCertificate(certificates.proxy);
    changed(certificates);
  }
}
