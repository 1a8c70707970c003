// How the API server reaches aggregated servers and what it shows them: as its options say, else with the cluster's own
// front-proxy certificate.
import type {
  AggregationOptions,
  ClusterPki,
} from "../../../apiserver-lite/index.ts";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type { PublishedAuthentication } from "../../../client/access/authentication-config.ts";
import type { OptionValues } from "../../options/parse.ts";
import { readPair } from "../option-files.ts";

/** What aggregated servers know the API server by. */
export function proxyCertificate(
  values: OptionValues,
  pki: ClusterPki | undefined,
): CertificatePair | undefined {
  return (
    readPair(values, "proxy-client-cert-file", "proxy-client-key-file") ??
    pki?.frontProxyClient
  );
}

export function aggregationOptions(
  values: OptionValues,
  pki: ClusterPki | undefined,
  header: PublishedAuthentication["requestHeader"],
  /** Do service addresses lead anywhere from this process? */
  serviceAddresses: boolean,
): AggregationOptions {
  return {
    proxyCertificate: proxyCertificate(values, pki),
    routing: values.flag("enable-aggregator-routing")
      ? "endpoints"
      : serviceAddresses
        ? "cluster"
        : "no-data-path",
    rejectForwardingRedirect: values.flag(
      "aggregator-reject-forwarding-redirect",
    ),
    ...(header
      ? {
          identityFields: {
            names: [
              ...header.usernameHeaders,
              ...header.groupHeaders,
              ...header.uidHeaders,
            ],
            prefixes: header.extraPrefixes,
          },
        }
      : {}),
    maxBytesPerSecond: values.number("max-connection-bytes-per-sec"),
  };
}
