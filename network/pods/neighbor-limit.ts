// How often a pod may ask the node for neighbours by ARP. Each sender of a question takes a place in the kernel's table of
// neighbours, which is one for the whole machine, and a pod with raw sockets may claim any. The kernel refuses those of others
// where the link checks sources strictly, which the network plug-in asks for (cri/cni/pair-script.ts); but a machine that sets
// `rp_filter` of all links to 2, or has systemd set it for each new link, takes them. Pods of our plug-in know the node's address
// for good: they need no questions. Those of IPv6 are in the rules of policies (policy/policy-table.ts).
// A kernel without such tables (CONFIG_NF_TABLES_ARP) has no limit: nothing else depends on it.
import { pairLinkPrefix } from "../../cri/cni/pair-script.ts";
import { masqueradeTable } from "./masquerade.ts";

export function neighborTable(podCidr: string): string {
  return `arp ${masqueradeTable(podCidr)}`;
}

/** As `nft -f -` reads it: the table is replaced in one transaction. */
export function neighborRules(podCidr: string): string {
  const table = neighborTable(podCidr);
  return `table ${table}
delete table ${table}
table ${table} {
  set solicitations { type iface_index; flags dynamic; timeout 1m; size 65535; }
  chain input {
    type filter hook input priority filter; policy accept;
    iifname "${pairLinkPrefix}*" arp operation request add @solicitations { iif limit rate over 1/second burst 10 packets } drop
  }
}
`;
}
