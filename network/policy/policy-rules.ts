// The rules of one direction of isolated pods as a chain: a packet that a policy allows returns, every other one is dropped.
// The chain reads both ends from the connection (who began it, and who answers it behind every translation), not from the
// packet: so the same rules are for requests and replies, and a connection that is denied later is cut in both directions.
// A chain is named by the policies that it is of, so that a change of one rewrites its rules and nothing that leads to it. Sets
// are named by their content: one that changes is another one. Every set has a name, as the kernel looks through all sets of
// a table to name one that has none.
import { createHash } from "node:crypto";
import type { AddressFamily } from "../../api/addresses/address-range.ts";
import { blockElements, type AddressBlocks } from "./address-blocks.ts";
import {
  protocols,
  type CompiledPolicy,
  type NamedPort,
  type PodSelection,
  type PolicyRule,
  type PortRange,
} from "./compiled-policy.ts";

export type Direction = "ingress" | "egress";

/** Pods whose addresses are in a set, with the port that they name where one is asked for. */
export interface PodQuery {
  /** The same for queries of the same. */
  readonly key: string;
  readonly sets: Readonly<
    Record<AddressFamily, { name: string; definition: string }>
  >;
  /** Undefined: all pods. */
  readonly selection?: PodSelection;
  /** Only addresses in these. */
  readonly within?: AddressBlocks;
  readonly port?: NamedPort;
}

export interface RuleChain {
  readonly name: string;
  readonly text: string;
  /** Sets of fixed content: name to definition. */
  readonly fixedSets: ReadonlyMap<string, string>;
  readonly queries: readonly PodQuery[];
}

/** What the rules of pods depend on: those of whom it is the same share them. */
interface RuleSubject {
  readonly direction: Direction;
  /** Those that select the pods, with their names `namespace/name`. */
  readonly policies: readonly (readonly [
    name: string,
    policy: CompiledPolicy,
  ])[];
  /** Of the pods' addresses. */
  readonly families: readonly AddressFamily[];
  /** The number of a port that the pods name; undefined: they name no such port. */
  readonly portOf: (port: NamedPort) => number | undefined;
  /** Different for pods that name different ports, where policies read them. */
  readonly portsKey: string;
}

const allFamilies = [
  { family: "IPv4", ip: "ip", digit: 4, type: "ipv4_addr" },
  { family: "IPv6", ip: "ip6", digit: 6, type: "ipv6_addr" },
] as const;

function hash(text: string): string {
  return createHash("sha256").update(text).digest().toString("hex", 0, 8);
}

function querySets(key: string, named: boolean): PodQuery["sets"] {
  const [four, six] = allFamilies.map(({ digit, type }) => ({
    name: `${named ? "ports" : "pods"}${digit}-${key}`,
    definition: `type ${type}${named ? " . inet_service" : ""};`,
  }));
  return { IPv4: four!, IPv6: six! };
}

/** Ranges that touch or overlap as one, by protocol. */
function mergedPorts(
  numbers: readonly PortRange[],
): Map<string, readonly PortRange[]> {
  const byProtocol = new Map<string, PortRange[]>();
  for (const range of [...numbers].sort((a, b) => a.first - b.first)) {
    const list = byProtocol.get(range.protocol) ?? [];
    const before = list.at(-1);
    if (before && range.first <= before.last + 1)
      list[list.length - 1] = {
        ...before,
        last: Math.max(before.last, range.last),
      };
    else list.push(range);
    byProtocol.set(range.protocol, list);
  }
  return byProtocol;
}

/** @param sets gets the definition of each set that the matches read */
function portMatches(
  numbers: readonly PortRange[],
  sets: Map<string, string>,
): string[] {
  const merged = mergedPorts(numbers);
  return protocols.flatMap((protocol) => {
    const ranges = merged.get(protocol);
    if (!ranges) return [];
    const match = `meta l4proto ${protocol} `;
    if (ranges[0]?.first === 0 && ranges[0].last === 65535) return [match];
    const all = ranges.map(({ first, last }) =>
      first === last ? String(first) : `${first}-${last}`,
    );
    if (all.length === 1) return [`${match}ct reply proto-src ${all[0]!} `];
    const flags = all.some((each) => each.includes("-"))
      ? " flags interval;"
      : "";
    const definition = `type inet_service;${flags} elements = { ${all.join(", ")} }`;
    const name = `numbers-${hash(definition)}`;
    sets.set(name, definition);
    return [`${match}ct reply proto-src @${name} `];
  });
}

class ChainBuilder {
  readonly #lines = new Set<string>();
  readonly fixedSets = new Map<string, string>();
  readonly queries = new Map<string, PodQuery>();

  constructor(
    private readonly subject: RuleSubject,
    private readonly families: (typeof allFamilies)[number][],
  ) {}

  /** In an order that does not depend on that of policies: each lets through what it is for. */
  get lines(): readonly string[] {
    return [...this.#lines].sort();
  }

  add({ peers, ports }: PolicyRule): void {
    const numbers = [...(ports?.numbers ?? [])];
    for (const name of ports?.names ?? [])
      if (this.subject.direction === "egress") this.#addNamed(name, peers);
      else {
        const port = this.subject.portOf(name);
        if (port !== undefined)
          numbers.push({ protocol: name.protocol, first: port, last: port });
      }
    if (ports && numbers.length === 0) return;
    const matches = this.#peerMatches(peers);
    if (matches.length === 0) return;
    const portTexts = ports ? portMatches(numbers, this.fixedSets) : [""];
    for (const match of matches)
      for (const text of portTexts) this.#lines.add(`${match}${text}return`);
  }

  #peer(ip: string): string {
    return `ct ${this.subject.direction === "ingress" ? "original" : "reply"} ${ip} saddr`;
  }

  #peerMatches(peers: PolicyRule["peers"]): string[] {
    if (!peers) return [""];
    return [
      ...peers.pods.flatMap((selection) =>
        this.#query({ selection }).map(
          ({ name, ip }) => `${this.#peer(ip)} @${name} `,
        ),
      ),
      ...this.#blockSets(peers.blocks).map(
        ({ name, ip }) => `${this.#peer(ip)} @${name} `,
      ),
    ];
  }

  /** A port that the pods at the other end name, each its own. */
  #addNamed(port: NamedPort, peers: PolicyRule["peers"]): void {
    const queries: Omit<PodQuery, "key" | "sets">[] = peers
      ? [
          ...peers.pods.map((selection) => ({ selection, port })),
          ...(peers.blocks.length > 0 ? [{ within: peers.blocks, port }] : []),
        ]
      : [{ port }];
    for (const query of queries)
      for (const { name, ip } of this.#query(query))
        this.#lines.add(
          `meta l4proto ${port.protocol} ${this.#peer(ip)} . ct reply proto-src @${name} return`,
        );
  }

  #query(
    query: Omit<PodQuery, "key" | "sets">,
  ): { name: string; ip: string }[] {
    const { selection, within, port } = query;
    const key = hash(
      JSON.stringify([
        selection?.key ?? null,
        within?.map(({ family, first, last }) => [
          family,
          String(first),
          String(last),
        ]) ?? null,
        port?.protocol ?? null,
        port?.name ?? null,
      ]),
    );
    const sets = querySets(key, port !== undefined);
    this.queries.set(key, { ...query, key, sets });
    return this.families.map(({ family, ip }) => ({
      name: sets[family].name,
      ip,
    }));
  }

  #blockSets(blocks: AddressBlocks): { name: string; ip: string }[] {
    return this.families.flatMap(({ family, ip, digit, type }) => {
      const elements = blockElements(blocks, family);
      if (elements.length === 0) return [];
      const definition = `type ${type}; flags interval; elements = { ${elements.join(", ")} }`;
      const name = `block${digit}-${hash(definition)}`;
      this.fixedSets.set(name, definition);
      return [{ name, ip }];
    });
  }
}

/** Whether the policy's rules of the direction depend on the pod that they are for. */
export function namesPorts(policy: CompiledPolicy): boolean {
  return (policy.ingress ?? []).some(
    ({ ports }) => ports !== undefined && ports.names.length > 0,
  );
}

/** The chain of pods; undefined: nothing isolates them in this direction, or all is allowed. */
export function ruleChain(subject: RuleSubject): RuleChain | undefined {
  const { direction, policies, portsKey } = subject;
  const about = policies.flatMap(([, policy]) => policy[direction] ?? []);
  if (!policies.some(([, policy]) => policy[direction])) return undefined;
  const families = allFamilies.filter(({ family }) =>
    subject.families.includes(family),
  );
  const builder = new ChainBuilder(subject, families);
  for (const rule of about) builder.add(rule);
  const { lines } = builder;
  if (lines.includes("return")) return undefined;
  const identity = JSON.stringify([
    policies.map(([name]) => name).sort(),
    families.map(({ digit }) => digit),
    portsKey,
  ]);
  return {
    name: `${direction === "ingress" ? "in" : "out"}-${hash(identity)}`,
    text: [
      // No pod is cut off from itself.
      ...families.map(
        ({ ip, digit }) =>
          `ct original ${ip} saddr . ct reply ${ip} saddr @self${digit} return`,
      ),
      ...lines,
      "counter drop",
    ].join("\n"),
    fixedSets: builder.fixedSets,
    queries: [...builder.queries.values()],
  };
}
