// What service rules in nftables and in iptables have in common: what they are asked for, and how they are kept in step.
import type { TableScripts } from "../nft/table-objects.ts";
import type { Family, ProxyPort } from "./service-ports.ts";

export interface TableOptions {
  readonly family: Family;
  /** Such as orbit-proxy. */
  readonly name: string;
  /** What comes from elsewhere is masqueraded. Empty, and no interface: unknown, nothing is. */
  readonly podRanges: readonly string[];
  /** Pods' traffic comes in here, whatever its address; a `*` at the end: of all whose names begin so. */
  readonly podInterface?: string;
  /** Ranges of service addresses; one in them that no Service has is refused. */
  readonly serviceRanges: readonly string[];
  /** Ranges of the node's addresses that take node ports; empty: all. */
  readonly nodePortRanges: readonly string[];
  readonly masqueradeAll: boolean;
  /** Of the packets' mark, for those that leave with the node's address; default 14, as the reference's. */
  readonly masqueradeBit?: number;
  /** Whether node ports answer on loopback; default true. */
  readonly loopbackNodePorts?: boolean;
}

/** The service rules of one address family. */
export interface RuleTable extends TableScripts {
  /** @param port undefined: it is gone */
  setPort(id: string, port: ProxyPort | undefined): void;
}

/** The mark of packets that leave with this node's address, such as 0x4000. */
export function masqueradeMark({
  masqueradeBit = 14,
}: Pick<TableOptions, "masqueradeBit">): string {
  return `0x${(2 ** masqueradeBit).toString(16)}`;
}
