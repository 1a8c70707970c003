// Which clients may use a Service's load balancer addresses. A range that can't be read admits no client, since it was meant to limit;
// a family of which no range is named is not limited, as at the reference.
import {
  addressText,
  cidrRange,
  withoutLeadingZeros,
} from "../../api/addresses/address-range.ts";
import { AddressRanges } from "../address-ranges.ts";
import type { Service } from "../../api/types/core-v1.ts";

/** Read where the field is empty: those who hand out addresses have both. */
const annotation = "service.beta.kubernetes.io/load-balancer-source-ranges";

function textsOf({ spec, metadata }: Service): readonly string[] {
  const own = spec?.loadBalancerSourceRanges ?? [];
  if (own.length > 0) return own;
  const text = metadata.annotations?.[annotation]?.trim();
  return text ? text.split(",") : [];
}

/**
 * Ranges of one family as rules have them; undefined: all clients, empty: none.
 * @param own addresses of the node and of the load balancer: where the node may connect, it does so from either
 */
export function sourceRanges(
  service: Service,
  family: 4 | 6,
  own: {
    readonly node: readonly string[];
    readonly balancer: readonly string[];
  },
): readonly string[] | undefined {
  const read = textsOf(service).map((text) => {
    const plain = withoutLeadingZeros(text.trim());
    const range = cidrRange(plain);
    return range && { ...range, bits: Number(plain.split("/")[1]) };
  });
  const wanted = family === 4 ? "IPv4" : "IPv6";
  if (!read.some((range) => range === undefined || range.family === wanted))
    return undefined;
  const texts = read.flatMap((range) =>
    range?.family === wanted
      ? [`${addressText(range.first, wanted)}/${range.bits}`]
      : [],
  );
  const ranges = new AddressRanges(texts);
  const balancer = own.node.some((address) => ranges.contains(address))
    ? own.balancer.map((address) => `${address}/${family === 4 ? 32 : 128}`)
    : [];
  return [...new Set([...texts, ...balancer])];
}
