// Refuses what comes to an announced address and is for no Service: the address is the machine's own as long as it is announced
// here, and the machine's own programs must not answer there. What is for a Service has another destination by then.
import { isIP } from "node:net";
import type { TableScripts } from "../nft/table-objects.ts";

/** The table is named by the node's pod range, as the proxy's is. */
function balancerTable(podCidr: string): string {
  return `orbit-lb-${podCidr.replace(/[^0-9a-f]+/gi, "-")}`;
}

export class BalancerTable implements TableScripts {
  readonly table: string;
  #addresses: readonly string[] = [];

  constructor(podCidr: string) {
    this.table = `inet ${balancerTable(podCidr)}`;
  }

  set(addresses: readonly string[]): void {
    this.#addresses = addresses;
  }

  /** Without addresses there is no table. */
  wholeScript(): string {
    const { table } = this;
    const gone = `table ${table}\ndelete table ${table}\n`;
    if (this.#addresses.length === 0) return gone;
    const set = (family: 4 | 6): string => {
      const own = this.#addresses.filter((each) => isIP(each) === family);
      const elements =
        own.length > 0 ? ` elements = { ${own.join(", ")} };` : "";
      return `  set addresses${family} { type ipv${family}_addr;${elements} }\n`;
    };
    return `${gone}table ${table} {
${set(4)}${set(6)}  chain input {
    type filter hook input priority filter; policy accept;
    meta l4proto { tcp, udp, sctp } ct state new ip daddr @addresses4 reject
    meta l4proto { tcp, udp, sctp } ct state new ip6 daddr @addresses6 reject
  }
}
`;
  }

  changeScript(): string {
    return this.wholeScript();
  }
}
