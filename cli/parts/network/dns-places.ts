// The ports of the DNS server's health, readiness and metrics, out of their options.
import type { DnsPortPlaces } from "../../../network/dns/dns-ports.ts";
import type { OptionValues } from "../../options/parse.ts";
import { portPlace } from "./port-place.ts";

/** With CoreDNS's port where an option names none. @throws UsageError */
export function dnsPlaces(values: OptionValues): DnsPortPlaces {
  const health = portPlace(values, "dns-health-bind-address", 8080);
  const ready = portPlace(values, "dns-ready-bind-address", 8181);
  const metrics = portPlace(values, "dns-metrics-bind-address", 9153);
  return {
    ...(health ? { health } : {}),
    ...(ready ? { ready } : {}),
    ...(metrics ? { metrics } : {}),
  };
}
