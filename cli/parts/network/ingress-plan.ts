// What the ingress of a node is to be, out of its options. A problem with them is a UsageError.
import { isIP } from "node:net";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";

export interface IngressPlan {
  /** Undefined: all of the node. */
  readonly address?: string;
  /** Undefined: none. */
  readonly httpPort?: number;
  readonly httpsPort?: number;
  /** CIDRs. */
  readonly trustedProxies: readonly string[];
  readonly accessLog?: string;
}

function isRange(text: string): boolean {
  const [base = "", bits = "", ...rest] = text.split("/");
  const width = isIP(base) === 4 ? 32 : 128;
  return (
    isIP(base) !== 0 &&
    rest.length === 0 &&
    /^\d{1,3}$/.test(bits) &&
    Number(bits) <= width
  );
}

/** Undefined: it is not wanted, or it has no port. @throws UsageError whether it is wanted or not */
export function ingressPlan(
  values: OptionValues,
  wanted: boolean,
): IngressPlan | undefined {
  const refuse = (option: string, text: string, reason: string): never => {
    throw new UsageError(
      `invalid argument "${text}" for "--${option}": ${reason}`,
    );
  };
  const address = values.text("ingress-bind-address");
  if (address !== "" && isIP(address) === 0)
    refuse("ingress-bind-address", address, "must be an IP address");
  const trustedProxies = values.list("ingress-trusted-proxies");
  for (const text of trustedProxies)
    if (!isRange(text))
      refuse("ingress-trusted-proxies", text, "must be a valid CIDR");
  const httpPort = values.number("ingress-http-port");
  const httpsPort = values.number("ingress-https-port");
  if (httpPort !== 0 && httpPort === httpsPort)
    refuse(
      "ingress-https-port",
      String(httpsPort),
      "must be another than --ingress-http-port",
    );
  const accessLog = values.text("ingress-access-log");
  if (!wanted) return undefined;
  if (httpPort === 0 && httpsPort === 0) return undefined;
  return {
    ...(address === "" ? {} : { address }),
    ...(httpPort === 0 ? {} : { httpPort }),
    ...(httpsPort === 0 ? {} : { httpsPort }),
    trustedProxies,
    ...(accessLog === "" ? {} : { accessLog }),
  };
}
