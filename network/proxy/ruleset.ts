// The whole table of one address family, and what changes in it: the fixed chains and maps, and what each port of each
// Service adds. Kept by object with its owners, so that a change costs what it touches; the script of a change is one
// transaction, and the script of everything replaces the table.
import type { Family } from "./service-ports.ts";
import { masqueradeMark, type PortRules } from "./rules.ts";

export interface TableOptions {
  readonly family: Family;
  /** Such as orbit-proxy. */
  readonly name: string;
  readonly podRanges: readonly string[];
  /** Ranges of service addresses; one in them that no Service has is refused. */
  readonly serviceRanges: readonly string[];
  /** Ranges of the node's addresses that take node ports; empty: all. */
  readonly nodePortRanges: readonly string[];
  readonly masqueradeAll: boolean;
}

/**
 * Objects of one kind with who wants them, and what changed since they were last taken. Of owners that want different
 * things under one key (two Services with the same external address and port) the first has it until it goes.
 */
class Owned {
  readonly #owners = new Map<string, Map<string, string>>();
  /** Key to its text before; undefined: it was not there. */
  readonly #changed = new Map<string, string | undefined>();

  *present(): Generator<readonly [key: string, text: string]> {
    for (const key of this.#owners.keys()) yield [key, this.#text(key)!];
  }

  #text(key: string): string | undefined {
    const owners = this.#owners.get(key);
    return owners && [...owners.values()][0];
  }

  #note(key: string): void {
    if (!this.#changed.has(key)) this.#changed.set(key, this.#text(key));
  }

  set(key: string, owner: string, text: string): void {
    this.#note(key);
    let owners = this.#owners.get(key);
    if (!owners) this.#owners.set(key, (owners = new Map()));
    owners.set(owner, text);
  }

  remove(key: string, owner: string): void {
    this.#note(key);
    const owners = this.#owners.get(key);
    owners?.delete(owner);
    if (owners?.size === 0) this.#owners.delete(key);
  }

  /** The differences, which are then forgotten. */
  take(): { key: string; before?: string; after?: string }[] {
    const all = [...this.#changed].flatMap(([key, before]) => {
      const after = this.#text(key);
      return before === after
        ? []
        : [
            {
              key,
              ...(before === undefined ? {} : { before }),
              ...(after === undefined ? {} : { after }),
            },
          ];
    });
    this.#changed.clear();
    return all;
  }
}

const separator = "\0";

export class Ruleset {
  readonly #ports = new Map<string, PortRules>();
  readonly #chains = new Owned();
  readonly #elements = new Owned();
  readonly #sets = new Owned();
  readonly #ip: "ip" | "ip6";
  /** As nft names it: family and name. */
  readonly table: string;

  constructor(private readonly options: TableOptions) {
    this.#ip = options.family === 4 ? "ip" : "ip6";
    this.table = `${this.#ip} ${options.name}`;
  }

  get portCount(): number {
    return this.#ports.size;
  }

  /** @param rules undefined: the port is gone */
  setPort(id: string, rules: PortRules | undefined): void {
    const before = this.#ports.get(id);
    if (rules) this.#ports.set(id, rules);
    else this.#ports.delete(id);
    const elementKey = ([container, key]: readonly string[]): string =>
      `${container}${separator}${key}`;
    const elements = new Set(rules?.elements.map(elementKey));
    for (const name of before?.chains.keys() ?? [])
      if (!rules?.chains.has(name)) this.#chains.remove(name, id);
    for (const name of before?.sets.keys() ?? [])
      if (!rules?.sets.has(name)) this.#sets.remove(name, id);
    for (const element of before?.elements ?? [])
      if (!elements.has(elementKey(element)))
        this.#elements.remove(elementKey(element), id);
    if (!rules) return;
    for (const [name, lines] of rules.chains)
      this.#chains.set(name, id, lines.join("\n"));
    for (const [name, text] of rules.sets) this.#sets.set(name, id, text);
    for (const element of rules.elements)
      this.#elements.set(elementKey(element), id, element[2]);
  }

  /** Chains that belong to the table for good. */
  #fixed(): string {
    const { options } = this;
    const ip = this.#ip;
    const address = options.family === 4 ? "ipv4_addr" : "ipv6_addr";
    const list = (ranges: readonly string[]): string =>
      `{ ${ranges.join(", ")} }`;
    const nodePorts =
      options.nodePortRanges.length > 0
        ? `${ip} daddr ${list(options.nodePortRanges)} `
        : "";
    const foreign =
      options.podRanges.length > 0
        ? `${ip} saddr != ${list(options.podRanges)} `
        : undefined;
    const masquerade = options.masqueradeAll ? "" : foreign;
    const unreachable = options.serviceRanges
      .map((range) => `    ${ip} daddr ${range} goto refuse\n`)
      .join("");
    return `  set cluster-ips { type ${address}; }
  set hairpin { type ${address} . ${address}; }
  map service-ips { type ${address} . inet_proto . inet_service : verdict; }
  map service-nodeports { type inet_proto . inet_service : verdict; }
  map no-endpoints { type ${address} . inet_proto . inet_service : verdict; }
  map no-endpoint-nodeports { type inet_proto . inet_service : verdict; }
  map firewall-ips { type ${address} . inet_proto . inet_service : verdict; }
  chain refuse {
    reject
  }
  chain services {
${masquerade === undefined ? "" : `    ${ip} daddr @cluster-ips ${masquerade}meta mark set meta mark or ${masqueradeMark}\n`}    ${ip} daddr . meta l4proto . th dport vmap @service-ips
    ${nodePorts}fib daddr type local meta l4proto . th dport vmap @service-nodeports
  }
  chain nat-prerouting {
    type nat hook prerouting priority dstnat; policy accept;
    jump services
  }
  chain nat-output {
    type nat hook output priority -100; policy accept;
    jump services
  }
  chain nat-postrouting {
    type nat hook postrouting priority srcnat; policy accept;
    meta mark and ${masqueradeMark} == ${masqueradeMark} meta mark set meta mark xor ${masqueradeMark} masquerade fully-random
    ct status dnat ${ip} saddr . ${ip} daddr @hairpin masquerade
  }
  chain firewall {
    ${ip} daddr . meta l4proto . th dport vmap @firewall-ips
  }
  chain endpoints {
    ${ip} daddr . meta l4proto . th dport vmap @no-endpoints
    ${nodePorts}fib daddr type local meta l4proto . th dport vmap @no-endpoint-nodeports
    ${ip} daddr @cluster-ips goto refuse
${unreachable}  }
  chain filter-prerouting {
    type filter hook prerouting priority -110; policy accept;
${options.family === 4 ? "    iifname != lo ip daddr 127.0.0.0/8 drop\n" : ""}    ct state new jump firewall
  }
  chain filter-output-early {
    type filter hook output priority -110; policy accept;
    ct state new jump firewall
  }
  chain filter-input {
    type filter hook input priority filter; policy accept;
    ct state new jump endpoints
  }
  chain filter-forward {
    type filter hook forward priority filter; policy accept;
    ct state new jump endpoints
  }
  chain filter-output {
    type filter hook output priority filter; policy accept;
    ct state new jump endpoints
  }
`;
  }

  /** Replaces the table with what there is now; what changed before is part of it. */
  wholeScript(): string {
    for (const each of [this.#chains, this.#elements, this.#sets]) each.take();
    const parts = [
      `table ${this.table}\ndelete table ${this.table}\ntable ${this.table} {\n`,
      this.#fixed(),
    ];
    for (const [name, text] of this.#sets.present())
      parts.push(`  set ${name} { ${text} }\n`);
    for (const [name] of this.#chains.present())
      parts.push(`  chain ${name} {\n  }\n`);
    parts.push("}\n");
    for (const [name, text] of this.#chains.present())
      parts.push(this.#rules(name, text));
    parts.push(this.#elementCommands("add", [...this.#elements.present()]));
    return parts.join("");
  }

  /** What changed since the last script; empty: nothing. */
  changeScript(): string {
    const sets = this.#sets.take();
    const chains = this.#chains.take();
    const elements = this.#elements.take();
    const parts: string[] = [];
    for (const { key, before, after } of sets)
      if (before === undefined && after !== undefined)
        parts.push(`add set ${this.table} ${key} { ${after} }\n`);
    for (const { key, before, after } of chains)
      if (after !== undefined)
        parts.push(
          before === undefined
            ? `add chain ${this.table} ${key}\n`
            : `flush chain ${this.table} ${key}\n`,
        );
    parts.push(
      this.#elementCommands(
        "delete",
        elements.flatMap(({ key, before }) =>
          before === undefined ? [] : [[key, before] as const],
        ),
      ),
      this.#elementCommands(
        "add",
        elements.flatMap(({ key, after }) =>
          after === undefined ? [] : [[key, after] as const],
        ),
      ),
    );
    for (const { key, after } of chains)
      if (after !== undefined) parts.push(this.#rules(key, after));
    const gone = chains.filter(({ after }) => after === undefined);
    // Chains may jump to one another: all are emptied before any goes.
    for (const { key } of gone)
      parts.push(`flush chain ${this.table} ${key}\n`);
    for (const { key } of gone)
      parts.push(`delete chain ${this.table} ${key}\n`);
    for (const { key, before, after } of sets) {
      if (after === undefined) parts.push(`delete set ${this.table} ${key}\n`);
      else if (before !== undefined)
        // A set's time limit can't be changed: the clients in it keep the old one until it is made again.
        parts.push(`flush set ${this.table} ${key}\n`);
    }
    return parts.join("");
  }

  #rules(chain: string, text: string): string {
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => `add rule ${this.table} ${chain} ${line}\n`)
      .join("");
  }

  #elementCommands(
    verb: "add" | "delete",
    elements: readonly (readonly [key: string, data: string])[],
  ): string {
    const byContainer = new Map<string, string[]>();
    for (const [id, data] of elements) {
      const at = id.indexOf(separator);
      const container = id.slice(0, at);
      const key = id.slice(at + 1);
      const list = byContainer.get(container) ?? [];
      list.push(data === "" ? key : `${key} : ${data}`);
      byContainer.set(container, list);
    }
    return [...byContainer]
      .map(
        ([container, list]) =>
          `${verb} element ${this.table} ${container} { ${list.join(", ")} }\n`,
      )
      .join("");
  }
}
