// The API server's certificates: what its port serves with and whom it believes, how it goes to node agents, and what it
// shows to aggregated servers. Files of options come first, else the cluster's own PKI serves. Both may be renewed while
// the server runs.
import type { Logger } from "pino";
import type {
  ClusterPki,
  DialerOptions,
} from "../../../apiserver-lite/index.ts";
import type { Clock } from "../../../api/clock.ts";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type { NamedPair } from "../../../api/pki/serving-tls.ts";
import type { ServingCertificate } from "../../../http-kit/listener.ts";
import type { OptionValues } from "../../options/parse.ts";
import { FollowedCertificates } from "../serving/followed-certificates.ts";
import {
  authorityFiles,
  namedFiles,
  pairFiles,
  type ServingSource,
} from "../serving/serving-source.ts";

/** PEM: of clients, and of proxies that speak for clients. */
export interface ClientAuthorities {
  readonly clientCa: string | undefined;
  readonly headerCa: string | undefined;
}

export interface ApiCertificates {
  /** Undefined: plain HTTP. */
  readonly serving: ServingCertificate | undefined;
  readonly authorities: ClientAuthorities;
  /** What node agents know the server by, and whom it believes there. */
  readonly agents: Pick<DialerOptions, "clientCertificate" | "agentAuthority">;
  /** What aggregated servers know it by. */
  readonly proxy: CertificatePair | undefined;
}

/** What the options' files hold. */
interface Given {
  serving: CertificatePair | undefined;
  named: readonly NamedPair[];
  clientCa: string | undefined;
  headerCa: string | undefined;
  agentClient: CertificatePair | undefined;
  agentAuthority: string | undefined;
  proxy: CertificatePair | undefined;
}

interface CertificateOptions {
  readonly values: OptionValues;
  /** Undefined: the PKI's pair. */
  readonly source: ServingSource | undefined;
  readonly pki: ClusterPki | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Follows the files of the options, and takes renewed certificates of the PKI. */
export class FollowedApiCertificates {
  readonly #followed: FollowedCertificates<Given>;
  #pki: ClusterPki | undefined;

  /** @throws UsageError naming the option whose file can't be used */
  constructor({ values, source, pki, clock, logger }: CertificateOptions) {
    this.#pki = pki;
    this.#followed = new FollowedCertificates<Given>({
      parts: {
        serving: source ?? { files: [], read: () => undefined },
        named: namedFiles(values),
        clientCa: authorityFiles(values, "client-ca-file"),
        headerCa: authorityFiles(values, "requestheader-client-ca-file"),
        agentClient: pairFiles(
          values,
          "kubelet-client-certificate",
          "kubelet-client-key",
        ),
        agentAuthority: authorityFiles(values, "kubelet-certificate-authority"),
        proxy: pairFiles(
          values,
          "proxy-client-cert-file",
          "proxy-client-key-file",
        ),
      },
      ...{ clock, logger },
    });
  }

  /** In use at the moment. */
  get now(): ApiCertificates {
    return certificatesOf(this.#followed.values, this.#pki);
  }

  start(changed: (certificates: ApiCertificates) => void): void {
    this.#followed.start(() => changed(this.now));
  }

  stop(): void {
    this.#followed.stop();
  }

  updatePki(pki: ClusterPki): void {
    this.#pki = pki;
    this.#followed.renew();
  }
}

/**
 * A whole cluster has clients of its own (the administrator of the kubeconfig that it writes, nodes that join), whose
 * authority stays beside those of --client-ca-file.
 */
function certificatesOf(
  given: Given,
  pki: ClusterPki | undefined,
): ApiCertificates {
  const clients = [given.clientCa, pki?.clusterCa.certificate].filter(
    (each) => each !== undefined && each !== "",
  );
  const authorities = {
    clientCa: clients.length > 0 ? clients.join("\n") : undefined,
    headerCa: given.headerCa ?? pki?.frontProxyCa.certificate,
  };
  const pair = given.serving ?? pki?.serving;
  const { clientCa, headerCa } = authorities;
  return {
    authorities,
    serving: pair && {
      ...{ cert: pair.certificate, key: pair.key, named: given.named },
      clientCa: [clientCa, headerCa].filter(Boolean).join("\n"),
    },
    agents: {
      clientCertificate: given.agentClient ?? pki?.kubeletClient,
      agentAuthority: given.agentAuthority ?? pki?.clusterCa.certificate,
    },
    proxy: given.proxy ?? pki?.frontProxyClient,
  };
}
