// What pods send out of the cluster leaves with the node's address: one nftables rule for the node's range, in a table of
// our own for each family. It replaces the ptp plug-in's ipMasq, which runs iptables seven times for every pod made and
// five times for every pod removed. Destinations within the cluster keep the pod's address: the ranges of the cluster where
// they are known, and those of the other nodes as they come and go.
// The table's name is the node's range, so that clusters on one host do not meet. It outlives this process as the pods do.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { RunNft } from "../nft/nft-command.ts";
import { TableSync } from "../nft/table-sync.ts";

type Family = 4 | 6;

const multicast: Readonly<Record<Family, string>> = {
  4: "224.0.0.0/4",
  6: "ff00::/8",
};

function familyOf(range: string): Family {
  return range.includes(":") ? 6 : 4;
}

export function masqueradeTable(podCidr: string): string {
  return `orbit-pods-${podCidr.replace(/[^0-9a-f]+/gi, "-")}`;
}

/**
 * The rules as `nft -f -` reads them: the table is replaced in one transaction.
 * @param inside ranges of the same family that see the pods' own addresses
 */
export function masqueradeRules(
  podCidr: string,
  inside: readonly string[] = [],
): string {
  const family = familyOf(podCidr);
  const ip = family === 6 ? "ip6" : "ip";
  const table = `${ip} ${masqueradeTable(podCidr)}`;
  const ranges = [...new Set([podCidr, ...inside, multicast[family]])];
  return `table ${table}
delete table ${table}
table ${table} {
  set inside {
    type ${family === 6 ? "ipv6_addr" : "ipv4_addr"}; flags interval; auto-merge;
    elements = { ${ranges.join(", ")} }
  }
  chain postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    ${ip} saddr ${podCidr} ${ip} daddr != @inside masquerade
  }
}
`;
}

interface PodMasqueradeOptions {
  /** Of the whole cluster, as far as they are known. */
  readonly clusterRanges: readonly string[];
  readonly run: RunNft;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class PodMasquerade {
  readonly #clusterRanges: readonly string[];
  readonly #sync: TableSync;
  #own: readonly string[] = [];
  #peers: readonly string[] = [];
  /** Tables of ranges that the node had before. */
  #gone: readonly string[] = [];
  #failure: unknown;

  constructor({ clusterRanges, run, clock, logger }: PodMasqueradeOptions) {
    this.#clusterRanges = clusterRanges;
    const script = (): string => this.#script();
    this.#sync = new TableSync({
      scripts: {
        table: "orbit-pods",
        wholeScript: script,
        changeScript: script,
      },
      what: "rules of what leaves pods",
      run: (text) =>
        run(text).catch((error: unknown) => {
          this.#failure = error;
          throw error;
        }),
      clock,
      logger,
      onBegin: () => undefined,
      onDone: () => undefined,
    });
  }

  /** Tables as nft names them. */
  get tables(): string[] {
    return this.#own.map(
      (range) =>
        `${familyOf(range) === 6 ? "ip6" : "ip"} ${masqueradeTable(range)}`,
    );
  }

  /**
   * The node's ranges. Resolves when the rules are in the kernel; rejects with nft's error text, also without nft, and then
   * there are none until it is called again.
   */
  async setOwn(ranges: readonly string[]): Promise<void> {
    if (this.#sync.inStep && ranges.join() === this.#own.join()) return;
    const before = this.tables;
    this.#own = [...ranges];
    this.#gone = before.filter((table) => !this.tables.includes(table));
    this.#sync.request(true);
    if (await this.#sync.settled()) return;
    this.#own = [];
    throw this.#failure;
  }

  /** The other nodes' ranges; what can't be written is tried again. */
  async setPeers(ranges: readonly string[]): Promise<void> {
    if (ranges.join() === this.#peers.join()) return;
    this.#peers = [...ranges];
    this.rewrite();
    await this.#sync.settled();
  }

  /** Writes the rules again: another program may have deleted them. */
  rewrite(): void {
    if (this.#own.length > 0) this.#sync.request(true);
  }

  /** The rules stay. */
  async stop(): Promise<void> {
    await this.#sync.stop();
  }

  #script(): string {
    return [
      ...this.#gone.map((table) => `table ${table}\ndelete table ${table}\n`),
      ...this.#own.map((own) =>
        masqueradeRules(
          own,
          [...this.#clusterRanges, ...this.#peers].filter(
            (range) => familyOf(range) === familyOf(own),
          ),
        ),
      ),
    ].join("");
  }
}
