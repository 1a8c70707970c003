// Which rules the kernel needs for the policies, pods and namespaces there are: kept up to date change by change, as the
// table's scripts. A function of what was set, in whatever order: it has no clock and does no I/O.
// Invariants: only pods of this node have chains; a set of pods exists while a chain reads it; a chain exists while a pod
// uses it. Changes of pods and policies mark pods as stale; `settle` writes those pods' rules.
import type { Labels } from "../../api/selectors.ts";
import { TableObjects, type TableScripts } from "../nft/table-objects.ts";
import { blocksHold } from "./address-blocks.ts";
import type { CompiledPolicy } from "./compiled-policy.ts";
import { portKey, sameFacts, type PodFacts } from "./pod-facts.ts";
import {
  namesPorts,
  ruleChain,
  type Direction,
  type PodQuery,
  type RuleChain,
} from "./policy-rules.ts";
import { SetMembers } from "./set-members.ts";

interface PodEntry {
  readonly key: string;
  facts: PodFacts;
  /** Those that select it, by name; empty unless it runs here. */
  readonly policies: Map<string, CompiledPolicy>;
  /** Names of its chains. */
  chains: readonly string[];
}

interface Namespace {
  labels: Labels | undefined;
  readonly pods: Map<string, PodEntry>;
  readonly policies: Map<string, CompiledPolicy>;
  /** Queries for pods of this namespace alone. */
  readonly queries: Map<string, PodQuery>;
}

const directions = ["ingress", "egress"] as const;
const none: readonly never[] = [];

export class PolicyIndex implements TableScripts {
  readonly #objects: TableObjects;
  readonly #members: SetMembers;
  readonly #namespaces = new Map<string, Namespace>();
  readonly #pods = new Map<string, PodEntry>();
  /** By key, with the number of chains that read it. */
  readonly #queries = new Map<string, { query: PodQuery; users: number }>();
  /** Queries for pods of more than one namespace. */
  readonly #wideQueries = new Map<string, PodQuery>();
  readonly #chains = new Map<string, { chain: RuleChain; users: number }>();
  readonly #stale = new Set<PodEntry>();
  /** Chains made since the last settling was over, by what they are made of. */
  readonly #made = new Map<string, RuleChain | undefined>();
  #isolated = 0;

  constructor(
    readonly table: string,
    fixed: string,
  ) {
    this.#objects = new TableObjects(table, fixed);
    this.#members = new SetMembers(table);
  }

  /** Pods of this node that a policy isolates. */
  get isolatedPods(): number {
    return this.#isolated;
  }

  get hasStale(): boolean {
    return this.#stale.size > 0;
  }

  /** Whether a policy isolates the pod, as of the last settling. */
  isolates(podKey: string): boolean {
    return (this.#pods.get(podKey)?.chains.length ?? 0) > 0;
  }

  /** Names of the links of this node's pods. */
  setPodLinks(names: readonly string[]): void {
    this.#objects.set("links", {
      chains: new Map(),
      sets: new Map(),
      elements: names.map((name) => ["pod-links", `"${name}"`, ""]),
    });
  }

  wholeScript(): string {
    return this.#objects.wholeScript() + this.#members.wholeScript();
  }

  changeScript(): string {
    return this.#objects.changeScript() + this.#members.changeScript();
  }

  #namespace(name: string): Namespace {
    let namespace = this.#namespaces.get(name);
    if (!namespace)
      this.#namespaces.set(
        name,
        (namespace = {
          labels: undefined,
          pods: new Map(),
          policies: new Map(),
          queries: new Map(),
        }),
      );
    return namespace;
  }

  #forgetEmpty(name: string): void {
    const each = this.#namespaces.get(name);
    if (
      each &&
      !each.labels &&
      each.pods.size + each.policies.size + each.queries.size === 0
    )
      this.#namespaces.delete(name);
  }

  /** @param labels undefined: the namespace is gone, or not known yet: no selector of namespaces selects it */
  setNamespace(name: string, labels: Labels | undefined): void {
    const namespace = this.#namespace(name);
    const before = namespace.labels;
    for (const query of this.#wideQueries.values()) {
      const { selection } = query;
      if (!selection?.namespaces) continue;
      const did = before !== undefined && selection.namespaces.matches(before);
      const does = labels !== undefined && selection.namespaces.matches(labels);
      if (did === does) continue;
      for (const { facts } of namespace.pods.values())
        if (selection.pods.matches(facts.labels))
          this.#count(query, facts, does);
    }
    namespace.labels = labels;
    this.#forgetEmpty(name);
  }

  /** @param policy undefined: it is gone */
  setPolicy(
    namespaceName: string,
    name: string,
    policy: CompiledPolicy | undefined,
  ): void {
    const namespace = this.#namespace(namespaceName);
    if (policy) namespace.policies.set(name, policy);
    else namespace.policies.delete(name);
    for (const entry of namespace.pods.values()) {
      if (!entry.facts.local) continue;
      const did = entry.policies.delete(name);
      const does = policy?.selects.matches(entry.facts.labels) ?? false;
      if (does) entry.policies.set(name, policy!);
      if (did || does) this.#stale.add(entry);
    }
    this.#forgetEmpty(namespaceName);
  }

  /** @param facts undefined: the pod is gone */
  setPod(key: string, facts: PodFacts | undefined): void {
    const entry = this.#pods.get(key);
    if (entry && facts && sameFacts(entry.facts, facts)) return;
    const namespaceName = facts?.namespace ?? entry?.facts.namespace ?? "";
    const namespace = this.#namespace(namespaceName);
    for (const queries of [namespace.queries, this.#wideQueries])
      for (const query of queries.values()) {
        if (entry && this.#selects(query, entry.facts))
          this.#count(query, entry.facts, false);
        if (facts && this.#selects(query, facts))
          this.#count(query, facts, true);
      }
    if (!facts) {
      if (entry) this.#removePod(entry, namespace, namespaceName);
      return;
    }
    const now = entry ?? { key, facts, policies: new Map(), chains: [] };
    now.facts = facts;
    this.#pods.set(key, now);
    namespace.pods.set(key, now);
    now.policies.clear();
    if (facts.local)
      for (const [name, policy] of namespace.policies)
        if (policy.selects.matches(facts.labels))
          now.policies.set(name, policy);
    if (now.policies.size > 0 || now.chains.length > 0) this.#stale.add(now);
  }

  #removePod(entry: PodEntry, namespace: Namespace, name: string): void {
    this.#pods.delete(entry.key);
    namespace.pods.delete(entry.key);
    this.#stale.delete(entry);
    this.#setChains(entry, none);
    this.#forgetEmpty(name);
  }

  /** Writes the rules of pods that changed; false: `pause` asked to go on later. */
  settle(pause: () => boolean = () => false): boolean {
    for (const entry of this.#stale) {
      this.#stale.delete(entry);
      this.#settlePod(entry);
      if (this.#stale.size > 0 && pause()) return false;
    }
    this.#made.clear();
    return true;
  }

  #settlePod(entry: PodEntry): void {
    const { facts } = entry;
    const policies = facts.addresses.length > 0 ? entry.policies : undefined;
    const chains = directions.flatMap((direction) => {
      const chain = policies && this.#chainOf(direction, entry);
      return chain ? [{ direction, chain }] : [];
    });
    this.#setChains(entry, chains);
  }

  /** Pods that the same policies select share their rules, and the work to make them. */
  #chainOf(direction: Direction, entry: PodEntry): RuleChain | undefined {
    const { facts } = entry;
    const policies = [...entry.policies]
      .map(([name, policy]) => [`${facts.namespace}/${name}`, policy] as const)
      .sort(([, a], [, b]) => a.serial - b.serial);
    const families = [
      ...new Set(facts.addresses.map(({ family }) => family)),
    ].sort();
    const portsKey =
      direction === "ingress" && policies.some(([, each]) => namesPorts(each))
        ? [...facts.ports].join()
        : "";
    const made = `${direction} ${policies.map(([, { serial }]) => serial).join()} ${families.join()} ${portsKey}`;
    if (!this.#made.has(made))
      this.#made.set(
        made,
        ruleChain({
          direction,
          policies,
          families,
          portsKey,
          portOf: (port) => facts.ports.get(portKey(port)),
        }),
      );
    return this.#made.get(made);
  }

  #setChains(
    entry: PodEntry,
    chains: readonly { direction: Direction; chain: RuleChain }[],
  ): void {
    if (chains.length === 0 && entry.chains.length === 0) return;
    const before = entry.chains;
    for (const { chain } of chains) this.#useChain(chain);
    entry.chains = chains.map(({ chain }) => chain.name);
    this.#isolated += Number(chains.length > 0) - Number(before.length > 0);
    const elements = entry.facts.addresses.flatMap(({ family, text }) => {
      const digit = family === "IPv4" ? 4 : 6;
      return [
        [`self${digit}`, `${text} . ${text}`, ""] as const,
        ...chains.map(
          ({ direction, chain }) =>
            [`${direction}${digit}`, text, `jump ${chain.name}`] as const,
        ),
      ];
    });
    this.#objects.set(
      `pod ${entry.key}`,
      chains.length > 0
        ? { chains: new Map(), sets: new Map(), elements }
        : undefined,
    );
    for (const name of before) this.#releaseChain(name);
  }

  /** One whose policies changed gets its new rules with its first user; the others follow in the same settling. */
  #useChain(chain: RuleChain): void {
    const { name } = chain;
    const used = this.#chains.get(name);
    this.#chains.set(name, { chain, users: (used?.users ?? 0) + 1 });
    if (used?.chain === chain || used?.chain.text === chain.text) return;
    const sets = new Map(chain.fixedSets);
    for (const query of chain.queries) {
      for (const { name, definition } of Object.values(query.sets))
        sets.set(name, definition);
      this.#useQuery(query);
    }
    this.#objects.set(`chain ${name}`, {
      chains: new Map([[name, [chain.text]]]),
      elements: none,
      sets,
    });
    for (const query of used?.chain.queries ?? []) this.#releaseQuery(query);
  }

  #releaseChain(name: string): void {
    const used = this.#chains.get(name);
    if (!used || --used.users > 0) return;
    this.#chains.delete(name);
    this.#objects.set(`chain ${name}`, undefined);
    for (const query of used.chain.queries) this.#releaseQuery(query);
  }

  #useQuery(query: PodQuery): void {
    const used = this.#queries.get(query.key);
    if (used) {
      used.users++;
      return;
    }
    this.#queries.set(query.key, { query, users: 1 });
    for (const { name } of Object.values(query.sets))
      this.#members.create(name);
    const only = query.selection?.namespace;
    if (only === undefined) this.#wideQueries.set(query.key, query);
    else this.#namespace(only).queries.set(query.key, query);
    const pods = only === undefined ? this.#pods : this.#namespace(only).pods;
    for (const { facts } of pods.values())
      if (this.#selects(query, facts)) this.#count(query, facts, true);
  }

  #releaseQuery(query: PodQuery): void {
    const used = this.#queries.get(query.key);
    if (!used || --used.users > 0) return;
    this.#queries.delete(query.key);
    this.#wideQueries.delete(query.key);
    const only = query.selection?.namespace;
    if (only !== undefined) {
      this.#namespaces.get(only)?.queries.delete(query.key);
      this.#forgetEmpty(only);
    }
    for (const { name } of Object.values(query.sets)) this.#members.drop(name);
  }

  #selects({ selection }: PodQuery, facts: PodFacts): boolean {
    if (!selection) return true;
    const { namespace, namespaces, pods } = selection;
    if (namespace !== undefined && namespace !== facts.namespace) return false;
    if (namespaces) {
      const labels = this.#namespaces.get(facts.namespace)?.labels;
      if (!labels || !namespaces.matches(labels)) return false;
    }
    return pods.matches(facts.labels);
  }

  /** Puts a selected pod's addresses into the query's sets, or takes them out. */
  #count(query: PodQuery, facts: PodFacts, present: boolean): void {
    const { within, port, sets } = query;
    const number = port && facts.ports.get(portKey(port));
    if (port && number === undefined) return;
    for (const { family, text } of facts.addresses) {
      if (within && !blocksHold(within, text)) continue;
      const element = number === undefined ? text : `${text} . ${number}`;
      if (present) this.#members.add(sets[family].name, element);
      else this.#members.remove(sets[family].name, element);
    }
  }
}
