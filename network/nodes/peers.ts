// The other nodes, as routes to them need them: their ranges of pods, and where they are reached. Pure.
import { isIP } from "node:net";
import type { Node } from "../../api/types/core-v1.ts";

export type Family = 4 | 6;

export interface Peer {
  readonly name: string;
  /** One of each family at most. */
  readonly ranges: readonly string[];
  readonly addresses: Readonly<Partial<Record<Family, string>>>;
}

export function familyOf(text: string): Family {
  return text.includes(":") ? 6 : 4;
}

/** Only what is an address or a range gets into commands, whatever a Node object says. */
function isRange(text: string): boolean {
  const [base = "", bits = "", ...rest] = text.split("/");
  const family = isIP(base);
  return (
    rest.length === 0 &&
    family !== 0 &&
    !base.includes("%") &&
    /^\d{1,3}$/.test(bits) &&
    // A range of everything would take the default route's place.
    Number(bits) >= 8 &&
    Number(bits) <= (family === 4 ? 32 : 128)
  );
}

function internalAddresses({ status }: Node): Peer["addresses"] {
  const found: Partial<Record<Family, string>> = {};
  for (const { type, address } of status?.addresses ?? [])
    if (type === "InternalIP" && isIP(address) !== 0 && !address.includes("%"))
      found[familyOf(address)] ??= address;
  return found;
}

/** As they are written, whatever they are. */
export function announcedRanges({ spec }: Node): readonly string[] {
  if (spec?.podCIDRs?.length) return spec.podCIDRs;
  return spec?.podCIDR ? [spec.podCIDR] : [];
}

export function peerOf(node: Node): Peer {
  return {
    name: node.metadata.name,
    ranges: announcedRanges(node).filter(isRange),
    addresses: internalAddresses(node),
  };
}
