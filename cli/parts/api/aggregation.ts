// How the API server reaches aggregated servers and what it shows them, as its options say.
import type { AggregationOptions } from "../../../apiserver-lite/index.ts";
import type { CertificatePair } from "../../../api/pki/certificate.ts";
import type { PublishedAuthentication } from "../../../client/access/authentication-config.ts";
import type { Dial } from "../../../client/egress/egress-dialer.ts";
import type { OptionValues } from "../../options/parse.ts";

export function aggregationOptions(
  values: OptionValues,
  proxyCertificate: CertificatePair | undefined,
  header: PublishedAuthentication["requestHeader"],
  /** Do service addresses lead anywhere from this process? */
  serviceAddresses: boolean,
  /** How connections leave; undefined: directly. */
  dial?: Dial,
): AggregationOptions {
  return {
    dial,
    proxyCertificate,
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
