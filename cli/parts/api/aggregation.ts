// How the API server reaches aggregated servers and what it shows them: as its options say, else with the cluster's own
// front-proxy certificate.
import type {
  AggregationOptions,
  ApiServer,
  ClusterPki,
} from "../../../apiserver-lite/index.ts";
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type { PublishedAuthentication } from "../../../client/access/authentication-config.ts";
import type { Dial } from "../../../client/egress/egress-dialer.ts";
import type { OptionValues } from "../../options/parse.ts";
import { FollowedPair } from "../serving/followed-pair.ts";
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

/** Has the server use what the options' files say from now on; undefined: none are given. */
export async function followProxyCertificate(
  values: OptionValues,
  server: Pick<ApiServer, "setProxyCertificate">,
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<FollowedPair | undefined> {
  const files = ["proxy-client-cert-file", "proxy-client-key-file"].flatMap(
    (name) => values.optionalText(name) ?? [],
  );
  if (files.length === 0) return undefined;
  const followed = new FollowedPair({
    files,
    read: () => proxyCertificate(values, undefined),
    changed: (pair) => server.setProxyCertificate(pair),
    clock,
    logger,
  });
  await followed.start();
  return followed;
}

export function aggregationOptions(
  values: OptionValues,
  pki: ClusterPki | undefined,
  header: PublishedAuthentication["requestHeader"],
  /** Do service addresses lead anywhere from this process? */
  serviceAddresses: boolean,
  /** How connections leave; undefined: directly. */
  dial?: Dial,
): AggregationOptions {
  return {
    dial,
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
