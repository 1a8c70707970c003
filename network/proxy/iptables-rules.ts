// The iptables rules of one port of a Service: chains of its own in the nat table, and its lines in the chains that all ports
// share. The same behaviour as rules.ts gives in nftables; what nat can't do (refuse, drop) is done in the filter table to
// packets that no rule of nat has sent to an endpoint.
//
// Worked example, port 80 of 10.43.0.5 with two endpoints (P is the prefix of this proxy's chains, ID names the port):
//   P-SERVICES  -d 10.43.0.5/32 -p tcp --dport 80 -j P-C-ID
//   P-C-ID      -j P-FOREIGN, then -j P-S-ID             (mark what comes from elsewhere than pods, then choose)
//   P-S-ID      -m statistic … --probability 0.5 -j P-E-1, then -j P-E-2
//   P-E-1       -s 10.42.0.1/32 -j P-MARK, then -j DNAT  (a pod that reaches itself)
import { createHash } from "node:crypto";
import type { TableOptions } from "./rule-table.ts";
import type { ProxyEndpoint, ProxyPort } from "./service-ports.ts";

export interface IptablesContent {
  /** Of the nat table: by name, with their rules. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** Lines of chains that all ports share. */
  readonly services: readonly string[];
  readonly nodePorts: readonly string[];
  /** Of the filter table, for new connections that are on no way to an endpoint. */
  readonly refused: readonly string[];
  /** After all ports' `refused`: ports that a Service does not have. */
  readonly closed: readonly string[];
}

type RuleOptions = Pick<TableOptions, "podRanges" | "podInterface">;

const shortHash = (text: string, length: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, length);

/** Of a table's chains: at most 28 characters name one. `systemd/uninstall.sh` knows it too. */
export function chainPrefix(tableName: string): string {
  return `OP${shortHash(tableName, 6)}-`;
}

function host(family: 4 | 6, address: string): string {
  return `${address}/${family === 4 ? 32 : 128}`;
}

class Builder {
  readonly chains = new Map<string, string[]>();
  readonly services: string[] = [];
  readonly nodePorts: string[] = [];
  readonly refused: string[] = [];
  readonly closed: string[] = [];

  constructor(
    private readonly port: ProxyPort,
    private readonly options: RuleOptions,
    private readonly prefix: string,
  ) {}

  build(): IptablesContent {
    const { port } = this;
    if (port.clusterIp !== undefined) this.#cluster(port.clusterIp);
    this.#external();
    return this;
  }

  /** Matches what is for the port of an address. */
  #to(ip: string): string {
    const { family, protocol, port, name } = this.port;
    return `-d ${host(family, ip)} -p ${protocol} -m ${protocol} --dport ${port} -m comment --comment "${name}"`;
  }

  #cluster(ip: string): void {
    const { port, prefix } = this;
    const chain = port.internalLocal
      ? this.#endpoints("L", port.local)
      : this.#endpoints("S", port.cluster);
    if (chain !== undefined) {
      const name = `${prefix}C-${port.id}`;
      this.chains.set(name, [`-j ${prefix}FOREIGN`, `-j ${chain}`]);
      this.services.push(`${this.#to(ip)} -j ${name}`);
    } else
      this.refused.push(
        // A policy of Local drops where the cluster has endpoints elsewhere.
        `${this.#to(ip)} -j ${port.internalLocal && port.cluster.length > 0 ? "DROP" : "REJECT"}`,
      );
    this.closed.push(`-d ${host(port.family, ip)} -j REJECT`);
  }

  #external(): void {
    const { port } = this;
    const addresses = [...port.externalIps, ...port.loadBalancerIps];
    if (addresses.length === 0 && port.nodePort === undefined) return;
    const usable =
      port.cluster.length > 0 || (port.externalLocal && port.local.length > 0);
    const chain = usable ? this.#externalChain() : undefined;
    // What the external chain leaves as it is has no endpoint on this node.
    const otherwise =
      chain === undefined
        ? "REJECT"
        : port.externalLocal && port.local.length === 0
          ? "DROP"
          : undefined;
    for (const ip of port.externalIps) {
      if (chain) this.services.push(`${this.#to(ip)} -j ${chain}`);
      if (otherwise) this.refused.push(`${this.#to(ip)} -j ${otherwise}`);
    }
    this.#loadBalancer(chain, otherwise);
    if (port.nodePort === undefined) return;
    const to = `-p ${port.protocol} -m ${port.protocol} --dport ${port.nodePort} -m comment --comment "${port.name}"`;
    if (chain) this.nodePorts.push(`${to} -j ${chain}`);
    if (otherwise)
      this.refused.push(`-m addrtype --dst-type LOCAL ${to} -j ${otherwise}`);
  }

  /** Who is outside of the source ranges gets no answer. */
  #loadBalancer(
    chain: string | undefined,
    otherwise: "REJECT" | "DROP" | undefined,
  ): void {
    const { id, sourceRanges: clients = [], loadBalancerIps } = this.port;
    if (loadBalancerIps.length === 0) return;
    const guarded = this.port.sourceRanges !== undefined;
    const firewall = `${this.prefix}F-${id}`;
    if (guarded && chain)
      this.chains.set(
        firewall,
        clients.map((range) => `-s ${range} -j ${chain}`),
      );
    for (const ip of loadBalancerIps) {
      const to = this.#to(ip);
      if (chain) this.services.push(`${to} -j ${guarded ? firewall : chain}`);
      if (otherwise)
        this.refused.push(
          ...(guarded ? clients.map((range) => `-s ${range} `) : [""]).map(
            (from) => `${from}${to} -j ${otherwise}`,
          ),
        );
      if (guarded) this.refused.push(`${to} -j DROP`);
    }
  }

  #externalChain(): string {
    const { port, options, prefix } = this;
    const cluster = this.#endpoints("S", port.cluster);
    const rules: string[] = [];
    if (port.externalLocal) {
      // Pods and this node itself are inside: they use every endpoint, whatever the policy says about others.
      if (cluster !== undefined)
        rules.push(
          ...podMatches(port.family, options).map(
            (match) => `${match} -j ${cluster}`,
          ),
          `-m addrtype --src-type LOCAL -j ${prefix}MARK`,
          `-m addrtype --src-type LOCAL -j ${cluster}`,
        );
      const local = this.#endpoints("L", port.local);
      if (local !== undefined) rules.push(`-j ${local}`);
    } else if (cluster !== undefined)
      rules.push(`-j ${prefix}MARK`, `-j ${cluster}`);
    const name = `${prefix}X-${port.id}`;
    this.chains.set(name, rules);
    return name;
  }

  /** The chain that chooses among the endpoints; undefined: there are none. */
  #endpoints(
    kind: "S" | "L",
    endpoints: readonly ProxyEndpoint[],
  ): string | undefined {
    if (endpoints.length === 0) return undefined;
    const { port, prefix } = this;
    const name = `${prefix}${kind}-${port.id}`;
    if (this.chains.has(name)) return name;
    const targets = endpoints.map((each) => this.#endpoint(each));
    const remembered =
      port.affinitySeconds === undefined
        ? []
        : targets.map(
            (target) =>
              `-m recent --name ${target} --rcheck --seconds ${port.affinitySeconds} --reap -j ${target}`,
          );
    const chosen = targets.map((target, n) => {
      const left = targets.length - n;
      return left === 1
        ? `-j ${target}`
        : `-m statistic --mode random --probability ${(1 / left).toFixed(10)} -j ${target}`;
    });
    this.chains.set(name, [...remembered, ...chosen]);
    return name;
  }

  #endpoint({ address, port }: ProxyEndpoint): string {
    const { id, family, protocol, affinitySeconds } = this.port;
    const name = `${this.prefix}E-${shortHash(`${id} ${address} ${port}`, 16)}`;
    const to = family === 4 ? `${address}:${port}` : `[${address}]:${port}`;
    this.chains.set(name, [
      `-s ${host(family, address)} -j ${this.prefix}MARK`,
      `-p ${protocol} -m ${protocol}${affinitySeconds === undefined ? "" : ` -m recent --name ${name} --set`} -j DNAT --to-destination ${to}`,
    ]);
    return name;
  }
}

/** Matches of what comes from pods, one for each of their ranges; none: it is not known. */
export function podMatches(
  family: 4 | 6,
  { podRanges, podInterface }: RuleOptions,
): string[] {
  if (podInterface !== undefined)
    return [`-i ${podInterface.replace(/\*$/, "+")}`];
  return podRanges
    .filter((range) => range.includes(":") === (family === 6))
    .map((range) => `-s ${range}`);
}

export function iptablesRules(
  port: ProxyPort,
  options: RuleOptions,
  prefix: string,
): IptablesContent {
  return new Builder(port, options, prefix).build();
}
