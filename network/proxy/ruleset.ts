// The table of one address family: its fixed chains and maps. What each port of each Service adds is owned by the port.
import { TableObjects } from "../nft/table-objects.ts";
import {
  masqueradeMark,
  type RuleTable,
  type TableOptions,
} from "./rule-table.ts";
import { addressWord, fromPods, portRules } from "./rules.ts";
import type { ProxyPort } from "./service-ports.ts";

export class Ruleset extends TableObjects implements RuleTable {
  readonly #options: TableOptions;

  constructor(options: TableOptions) {
    super(`${addressWord(options.family)} ${options.name}`, fixedText(options));
    this.#options = options;
  }

  setPort(id: string, port: ProxyPort | undefined): void {
    this.set(id, port && portRules(port, this.#options));
  }
}

/** Chains that belong to the table for good. */
function fixedText(options: TableOptions): string {
  const ip = addressWord(options.family);
  const address = options.family === 4 ? "ipv4_addr" : "ipv6_addr";
  const list = (ranges: readonly string[]): string =>
    `{ ${ranges.join(", ")} }`;
  const nodePorts =
    (options.loopbackNodePorts === false && options.family === 4
      ? "ip daddr != 127.0.0.0/8 "
      : "") +
    (options.nodePortRanges.length > 0
      ? `${ip} daddr ${list(options.nodePortRanges)} `
      : "");
  const foreign = fromPods(options.family, options, true);
  const masquerade = options.masqueradeAll ? "" : foreign && `${foreign} `;
  const mark = masqueradeMark(options);
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
${masquerade === undefined ? "" : `    ${ip} daddr @cluster-ips ${masquerade}meta mark set meta mark or ${mark}\n`}    ${ip} daddr . meta l4proto . th dport vmap @service-ips
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
    meta mark and ${mark} == ${mark} meta mark set meta mark xor ${mark} masquerade fully-random
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
