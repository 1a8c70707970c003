// Warnings for accepted fields of a Service that have no effect, or are written in another form than controllers do.
import { isIP, isIPv6 } from "node:net";
import { canonicalAddress } from "../../../../api/addresses/address-range.ts";
import type { Service } from "../../../../api/types/core-v1.ts";
import { hintsAnnotation, modeAnnotation } from "./service-validation.ts";

function* canonicalWarning(
  field: string,
  what: "address" | "prefix",
  text: string,
): Iterable<string> {
  const [ip = "", bits] = text.split("/");
  const address = isIPv6(ip) ? canonicalAddress(ip) : undefined;
  // Go writes the address within in its own form.
  if (address === undefined || address.startsWith("::ffff:")) return;
  const canonical = bits === undefined ? address : `${address}/${bits}`;
  if (canonical !== text)
    yield `${field}: IPv6 ${what} ${JSON.stringify(text)} is not in RFC 5952 canonical format (${JSON.stringify(canonical)}), which may cause controller apply-loops`;
}

export function* serviceWarnings({
  metadata,
  spec = {},
}: Service): Iterable<string> {
  if (hintsAnnotation in (metadata.annotations ?? {}))
    yield `annotation ${hintsAnnotation} is deprecated, please use ${modeAnnotation} instead`;
  const { loadBalancerIP } = spec;
  if (loadBalancerIP && !isIP(loadBalancerIP) && !/[.:]/.test(loadBalancerIP))
    yield `spec.loadBalancerIP: IP address was accepted, but will be invalid in a future Kubernetes release: ParseAddr(${JSON.stringify(loadBalancerIP)}): unable to parse IP`;
  for (const [index, ip] of (spec.externalIPs ?? []).entries())
    yield* canonicalWarning(`spec.externalIPs[${index}]`, "address", ip);
  if (loadBalancerIP)
    yield* canonicalWarning("spec.loadBalancerIP", "address", loadBalancerIP);
  for (const [index, range] of (spec.loadBalancerSourceRanges ?? []).entries())
    yield* canonicalWarning(
      `spec.loadBalancerSourceRanges[${index}]`,
      "prefix",
      range,
    );
  if (spec.type === "ExternalName" && spec.externalIPs?.length)
    yield 'spec.externalIPs is ignored when spec.type is "ExternalName"';
  if (spec.type !== "ExternalName" && spec.externalName)
    yield 'spec.externalName is ignored when spec.type is not "ExternalName"';
}
