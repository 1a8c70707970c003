// How fast a part that runs alone may ask the API server.
import type { HttpTransportOptions } from "../../client/http-transport.ts";
import type { OptionValues } from "../options/parse.ts";

/** --kube-api-qps and --kube-api-burst, where they are given: at the reference each controller has the default for itself. */
export function clientRateLimit(
  values: OptionValues,
): Pick<HttpTransportOptions, "rateLimit"> {
  const qps = values.number("kube-api-qps");
  const given = values.isSet("kube-api-qps") || values.isSet("kube-api-burst");
  return given && qps > 0
    ? { rateLimit: { qps, burst: values.number("kube-api-burst") } }
    : {};
}
