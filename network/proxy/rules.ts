// The nftables objects of one port of a Service: chains with their rules, elements of maps and sets, sets of affinity.
// Dispatch is by maps, so that the time of a connection does not depend on how many services there are.
// Invariant: what two ports have in common (an endpoint's hairpin) is the same text, so that it can be counted.
import type { TableContent } from "../nft/table-objects.ts";
import { masqueradeMark, type TableOptions } from "./rule-table.ts";
import type { ProxyEndpoint, ProxyPort } from "./service-ports.ts";

type RuleOptions = Pick<
  TableOptions,
  "podRanges" | "podInterface" | "masqueradeBit"
>;

export function addressWord(family: 4 | 6): "ip" | "ip6" {
  return family === 4 ? "ip" : "ip6";
}

/** Matches what comes from pods, or what does not; undefined: it is not known. */
export function fromPods(
  family: 4 | 6,
  { podRanges, podInterface }: RuleOptions,
  not = false,
): string | undefined {
  const sign = not ? "!= " : "";
  if (podInterface !== undefined) return `iifname ${sign}"${podInterface}"`;
  if (podRanges.length === 0) return undefined;
  return `${addressWord(family)} saddr ${sign}{ ${podRanges.join(", ")} }`;
}

function target(family: 4 | 6, { address, port }: ProxyEndpoint): string {
  return family === 4 ? `${address}:${port}` : `[${address}]:${port}`;
}

/** An endpoint as a part of names: letters and digits. */
function label({ address, port }: ProxyEndpoint): string {
  return `${address.replace(/[^0-9a-f]/gi, "-")}-${port}`;
}

class Builder {
  readonly chains = new Map<string, string[]>();
  readonly elements: [string, string, string][] = [];
  readonly sets = new Map<string, string>();
  readonly #added = new Set<string>();

  constructor(
    private readonly port: ProxyPort,
    private readonly options: RuleOptions,
  ) {}

  build(): TableContent {
    const { port } = this;
    const internal = port.internalLocal ? port.local : port.cluster;
    const internalChain = port.internalLocal
      ? this.#endpoints("loc", port.local)
      : this.#endpoints("svc", port.cluster);
    if (port.clusterIp !== undefined) {
      this.#add("cluster-ips", port.clusterIp);
      this.#service(
        port.clusterIp,
        internalChain,
        // A policy of Local drops where the cluster has endpoints elsewhere.
        port.internalLocal && port.cluster.length > 0,
      );
    }
    this.#external();
    for (const { address } of [...internal, ...port.cluster, ...port.local])
      this.#add("hairpin", `${address} . ${address}`);
    return this;
  }

  #add(container: string, key: string, data = ""): void {
    const id = `${container} ${key}`;
    if (this.#added.has(id)) return;
    this.#added.add(id);
    this.elements.push([container, key, data]);
  }

  /** An address and port of the service: to a chain, or refused where there are no endpoints. */
  #service(ip: string, chain: string | undefined, drops: boolean): void {
    const { protocol, port } = this.port;
    const key = `${ip} . ${protocol} . ${port}`;
    if (chain !== undefined) this.#add("service-ips", key, `goto ${chain}`);
    else this.#add("no-endpoints", key, drops ? "drop" : "goto refuse");
  }

  #external(): void {
    const { port } = this;
    const addresses = [...port.externalIps, ...port.loadBalancerIps];
    if (addresses.length === 0 && port.nodePort === undefined) return;
    const usable =
      port.cluster.length > 0 || (port.externalLocal && port.local.length > 0);
    const chain = usable ? this.#externalChain() : undefined;
    for (const ip of addresses) this.#service(ip, chain, false);
    if (port.nodePort !== undefined) {
      const key = `${port.protocol} . ${port.nodePort}`;
      if (chain !== undefined)
        this.#add("service-nodeports", key, `goto ${chain}`);
      else this.#add("no-endpoint-nodeports", key, "goto refuse");
    }
    if (port.sourceRanges) this.#firewall(port.sourceRanges);
  }

  #externalChain(): string {
    const { port, options } = this;
    const cluster = this.#endpoints("svc", port.cluster);
    const rules: string[] = [];
    const mark = `meta mark set meta mark or ${masqueradeMark(options)}`;
    if (port.externalLocal) {
      // Pods and this node itself are inside: they use every endpoint, whatever the policy says about others.
      if (cluster !== undefined) {
        const inside = fromPods(port.family, options);
        if (inside !== undefined) rules.push(`${inside} goto ${cluster}`);
        rules.push(
          `fib saddr type local ${mark}`,
          `fib saddr type local goto ${cluster}`,
        );
      }
      const local = this.#endpoints("loc", port.local);
      rules.push(local === undefined ? "drop" : `goto ${local}`);
    } else if (cluster !== undefined) rules.push(mark, `goto ${cluster}`);
    const name = `ext-${port.id}`;
    this.chains.set(name, rules);
    return name;
  }

  #firewall(clients: readonly string[]): void {
    const { port } = this;
    const name = `fw-${port.id}`;
    this.chains.set(name, [
      ...(clients.length > 0
        ? [`${addressWord(port.family)} saddr { ${clients.join(", ")} } return`]
        : []),
      "drop",
    ]);
    for (const ip of port.loadBalancerIps)
      this.#add(
        "firewall-ips",
        `${ip} . ${port.protocol} . ${port.port}`,
        `goto ${name}`,
      );
  }

  /** The chain that chooses among the endpoints; undefined: there are none. */
  #endpoints(
    prefix: "svc" | "loc",
    endpoints: readonly ProxyEndpoint[],
  ): string | undefined {
    if (endpoints.length === 0) return undefined;
    const name = `${prefix}-${this.port.id}`;
    if (!this.chains.has(name))
      this.chains.set(
        name,
        this.port.affinitySeconds === undefined
          ? [this.#choice(endpoints)]
          : this.#affine(endpoints, this.port.affinitySeconds),
      );
    return name;
  }

  #choice(endpoints: readonly ProxyEndpoint[]): string {
    const { family, protocol } = this.port;
    const [only] = endpoints;
    if (endpoints.length === 1)
      return `meta l4proto ${protocol} dnat to ${target(family, only!)}`;
    const all = endpoints.map(
      ({ address, port }, n) => `${n} : ${address} . ${port}`,
    );
    return `meta l4proto ${protocol} dnat ${addressWord(family)} to numgen random mod ${endpoints.length} map { ${all.join(", ")} }`;
  }

  /** One chain and one set of clients for each endpoint: a client that came within the time goes where it went. */
  #affine(endpoints: readonly ProxyEndpoint[], seconds: number): string[] {
    const { id, family, protocol } = this.port;
    const ip = addressWord(family);
    const rules: string[] = [];
    const jumps = endpoints.map((endpoint, n) => {
      const chain = `ep-${id}-${label(endpoint)}`;
      const set = `aff-${id}-${label(endpoint)}`;
      this.sets.set(
        set,
        `type ${family === 4 ? "ipv4_addr" : "ipv6_addr"}; size 65535; flags dynamic,timeout; timeout ${seconds}s;`,
      );
      this.chains.set(chain, [
        `update @${set} { ${ip} saddr }`,
        `meta l4proto ${protocol} dnat to ${target(family, endpoint)}`,
      ]);
      rules.push(`${ip} saddr @${set} goto ${chain}`);
      return `${n} : goto ${chain}`;
    });
    rules.push(
      `numgen random mod ${endpoints.length} vmap { ${jumps.join(", ")} }`,
    );
    return rules;
  }
}

export function portRules(port: ProxyPort, options: RuleOptions): TableContent {
  return new Builder(port, options).build();
}
