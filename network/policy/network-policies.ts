// The network policies of one node: follows policies, and once there are any pods and namespaces, and keeps the kernel's
// rules in step. What changes while a transaction runs is in the next one; what others delete is written again. The rules
// stay when this stops, as the pods do.
// A pod of this node is protected before its containers run: its start waits for `protect`.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { Namespace, Pod } from "../../api/types/core-v1.ts";
import type { NetworkPolicy } from "../../api/types/networking-v1.ts";
import type { KubeObject } from "../../api/object.ts";
import { SharedReading } from "../../api/queueing/shared-reading.ts";
import type { Client } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import { namespaces, networkPolicies, pods } from "../../client/resources.ts";
import { nftCommand, nftProblem } from "../nft/nft-command.ts";
import { NftMonitor } from "../nft/nft-monitor.ts";
import { OwnProcesses } from "../nft/own-processes.ts";
import { TableSync } from "../nft/table-sync.ts";
import { filterBridgedPods } from "./bridged-pods.ts";
import { compilePolicy, type CompiledPolicy } from "./compiled-policy.ts";
import { LocalPods, podKey } from "./local-pods.ts";
import { PolicyIndex } from "./policy-index.ts";
import { podLinks } from "./pod-links.ts";
import { PolicyMetrics } from "./policy-metrics.ts";
import { policyTableText } from "./policy-table.ts";

/** The longest time without giving others a turn. */
const sliceMs = 3;
/** How long the start of a pod waits for policies to be known. */
const patienceMs = 10_000;

interface NetworkPoliciesOptions {
  client: Client;
  nodeName: string;
  /** Of the table, such as orbit-policy; two clusters on one host have different ones. */
  tableName: string;
  podRanges: readonly string[];
  clock: Clock;
  logger: Logger;
  /** A program and its arguments that runs others in the node's network namespace; default: this process's own. */
  wrapper?: readonly string[];
}

/** An informer's object by the key `namespace/name`. */
function objectOf<T extends KubeObject>(
  { lister }: Informer<T>,
  key: string,
): T | undefined {
  const [namespace = "", name = ""] = key.split("/");
  return namespace === "" ? lister.get(name) : lister.get(name, namespace);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export class NetworkPolicies {
  readonly #options: NetworkPoliciesOptions;
  readonly #index: PolicyIndex;
  readonly #sync: TableSync;
  readonly #monitor: NftMonitor;
  readonly #policies: Informer<NetworkPolicy>;
  readonly #localPods: LocalPods;
  /** Keys of objects that are to be looked at again. */
  readonly #changed = {
    namespaces: new Set<string>(),
    policies: new Set<string>(),
    pods: new Set<string>(),
  };
  readonly #disposers: (() => void)[] = [];
  #followed:
    | {
        pods: Informer<Pod>;
        namespaces: Informer<Namespace>;
        synced: Promise<unknown>;
      }
    | undefined;
  #flushing: Promise<void> | undefined;
  readonly #ready: Promise<void>;
  #setReady: () => void = () => undefined;
  #synced = false;
  #stopped = false;
  #bridgesKnown = false;
  /** Of the links of pods: what was read last is what counts. */
  readonly #links: SharedReading<void>;
  readonly metrics: PolicyMetrics;

  constructor(options: NetworkPoliciesOptions) {
    this.#options = options;
    const { client, clock, logger, tableName, nodeName } = options;
    this.#index = new PolicyIndex(`inet ${tableName}`, policyTableText);
    this.#ready = new Promise((resolve) => (this.#setReady = resolve));
    this.#policies = client.informer(networkPolicies);
    this.metrics = new PolicyMetrics(clock, () => ({
      policies: this.#policies.lister.list().length,
      isolated: this.#index.isolatedPods,
    }));
    this.#localPods = new LocalPods(nodeName);
    this.#links = new SharedReading(async () =>
      this.#index.setPodLinks(await podLinks(options)),
    );
    const processes = new OwnProcesses();
    const wrapped = options.wrapper ? { wrapper: options.wrapper } : {};
    this.#sync = new TableSync({
      scripts: this.#index,
      what: "rules of network policies",
      run: nftCommand({ ...wrapped, processes }),
      clock,
      logger,
      onBegin: () => this.metrics.began(),
      onDone: (durationMs, failed) => this.metrics.ended(durationMs, failed),
    });
    this.#monitor = new NftMonitor({
      tables: [this.#index.table],
      processes,
      onDeleted: () => this.rewrite(),
      clock,
      logger,
      ...wrapped,
    });
  }

  /** The kernel has the rules of everything known. */
  get inStep(): boolean {
    return this.#synced && this.#flushing === undefined && this.#sync.inStep;
  }

  /** Resolves when what exists was read and its rules asked for. */
  async start(): Promise<void> {
    void this.#warnWithoutNft();
    const mark = (policy: NetworkPolicy): void => {
      this.#mark("policies", policy);
      this.#follow();
    };
    this.#disposers.push(
      this.#policies.addHandler({
        onAdd: mark,
        onUpdate: (_, now) => mark(now),
        onDelete: mark,
      }),
    );
    await this.#policies.synced();
    await this.#followed?.synced;
    await this.#links.value();
    if (this.#stopped) return;
    this.#synced = true;
    this.#setReady();
    await this.#due();
    this.#monitor.start();
    this.#sync.request(true);
  }

  /** Iptables can't do it. */
  async #warnWithoutNft(): Promise<void> {
    const problem = await nftProblem(this.#options.wrapper);
    if (problem !== undefined)
      this.#options.logger.error(
        { problem },
        "nftables can't be used: NetworkPolicies do not hold on this node, and forged addresses pass. Pods that a policy selects do not start, those that run already are not isolated. Install nftables, or run without the part (--disable network-policy)",
      );
  }

  /** Writes everything again: another program may have changed it. */
  rewrite(): void {
    if (!this.#synced) return;
    this.metrics.rewritten();
    this.#sync.request(true);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const dispose of this.#disposers.splice(0)) dispose();
    this.#monitor.stop();
    await this.#flushing;
    await this.#sync.stop();
  }

  /**
   * A pod of this node has these addresses from now on, and its containers are about to start. Resolves when the kernel
   * has the rules of the policies that select it; rejects when they can't be known or written.
   */
  async protect(pod: Pod, ips: readonly string[]): Promise<void> {
    if (pod.spec.hostNetwork || ips.length === 0) return;
    const key = podKey(pod);
    const others = this.#localPods.claim(pod, ips);
    await this.#whenReady();
    await this.#links.value();
    this.#claimed([key, ...others], ips);
    await this.#due();
    // Without policies that select it a pod also starts where there can't be rules at all.
    if (!(await this.#sync.settled()) && this.#index.isolates(key))
      throw new Error(
        "the rules of the network policies that select the pod could not be written",
      );
  }

  /** Pods of this node that run, with their addresses, which the API server may not know yet. */
  adopt(
    running: readonly { readonly pod: Pod; readonly ips: readonly string[] }[],
  ): void {
    for (const { pod, ips } of running) {
      if (this.#localPods.has(pod, ips)) continue;
      const others = this.#localPods.claim(pod, ips);
      this.#claimed([podKey(pod), ...others], ips);
    }
    if (!this.#synced) return;
    this.#links.value().then(
      () => this.#due(),
      (err: unknown) =>
        this.#options.logger.error(
          { err },
          "the links of pods are not known: forged addresses may pass",
        ),
    );
  }

  /** Without policies nothing is isolated, and pods are not even followed. */
  #claimed(keys: readonly string[], ips: readonly string[]): void {
    if (!this.#followed) return;
    for (const each of keys) this.#changed.pods.add(each);
    for (const ip of ips)
      for (const other of this.#followed.pods.lister.byIndex("address", ip))
        this.#changed.pods.add(podKey(other));
  }

  async #whenReady(): Promise<void> {
    if (this.#synced) return;
    let timer: { cancel(): void } | undefined;
    await Promise.race([
      this.#ready,
      new Promise<never>((_, reject) => {
        timer = this.#options.clock.after(patienceMs, () =>
          reject(new Error("the network policies are not known yet")),
        );
      }),
    ]).finally(() => timer?.cancel());
  }

  #mark(kind: "namespaces" | "policies" | "pods", object: KubeObject): void {
    const { namespace = "", name = "" } = object.metadata;
    this.#changed[kind].add(`${namespace}/${name}`);
    this.metrics.changed();
    if (this.#synced) void this.#due();
  }

  /** Pods and namespaces matter from the first policy on. */
  #follow(): void {
    if (this.#followed) return;
    const { client } = this.#options;
    const informers = {
      namespaces: client.informer(namespaces),
      pods: client.informer(pods, {
        indexes: {
          address: ({ status }) => (status?.podIPs ?? []).map(({ ip }) => ip),
        },
      }),
    };
    const namespace = (each: Namespace): void => this.#mark("namespaces", each);
    const pod = (each: Pod): void => this.#mark("pods", each);
    this.#disposers.push(
      informers.namespaces.addHandler({
        onAdd: namespace,
        onUpdate: (_, now) => namespace(now),
        onDelete: namespace,
      }),
      informers.pods.addHandler({
        onAdd: pod,
        onUpdate: (_, now) => pod(now),
        onDelete: (old) => {
          this.#localPods.forget(old);
          pod(old);
        },
      }),
    );
    const claimed = this.#localPods.keys();
    this.#followed = {
      ...informers,
      synced: Promise.all([
        informers.namespaces.synced(),
        informers.pods.synced(),
      ]).then(() => {
        // Some went while pods were not followed; the others may not have shown their addresses yet.
        this.#localPods.retain(claimed, (key) => objectOf(informers.pods, key));
        for (const key of this.#localPods.keys()) this.#changed.pods.add(key);
      }),
    };
  }

  /** Resolves when everything marked so far is in the index, and asked for. */
  #due(): Promise<void> {
    return (this.#flushing ??= this.#flush());
  }

  async #flush(): Promise<void> {
    try {
      // What comes in this turn is looked at together.
      await turn();
      await this.#followed?.synced;
      const { clock } = this.#options;
      let startedMs = clock.monotonic();
      const pause = (): boolean => clock.monotonic() - startedMs > sliceMs;
      for (;;) {
        if (this.#stopped) break;
        if (!this.#applyNext() && this.#index.settle(pause)) break;
        if (!pause()) continue;
        await turn();
        startedMs = clock.monotonic();
      }
      this.#lookForBridges();
      // The first time the whole is asked for.
      if (this.#synced && !this.#stopped) this.#sync.request();
    } finally {
      this.#flushing = undefined;
    }
  }

  /** Takes one change into the index; false: there is none. */
  #applyNext(): boolean {
    const { namespaces: spaces, policies, pods: changedPods } = this.#changed;
    const take = (keys: Set<string>): string | undefined => {
      const [key] = keys;
      if (key !== undefined) keys.delete(key);
      return key;
    };
    const followed = this.#followed;
    if (!followed) return false;
    const space = take(spaces);
    if (space !== undefined) {
      const name = space.slice(1);
      const object = followed.namespaces.lister.get(name);
      this.#index.setNamespace(name, object && (object.metadata.labels ?? {}));
      return true;
    }
    const policyKey = take(policies);
    if (policyKey !== undefined) {
      const [namespace = "", name = ""] = policyKey.split("/");
      const policy = objectOf(this.#policies, policyKey);
      this.#index.setPolicy(namespace, name, policy && this.#compile(policy));
      return true;
    }
    const key = take(changedPods);
    if (key === undefined) return false;
    const pod = objectOf(followed.pods, key);
    this.#index.setPod(key, this.#localPods.facts(key, pod));
    return true;
  }

  /** A policy that can't be read at all isolates the pods of its namespace. */
  #compile(policy: NetworkPolicy): CompiledPolicy {
    try {
      return compilePolicy(policy);
    } catch (error) {
      const { namespace = "", name = "" } = policy.metadata;
      this.#options.logger.error(
        { err: error, namespace, name },
        "a network policy can't be read: the pods of its namespace are isolated until it can",
      );
      return compilePolicy({
        metadata: { namespace, name },
        spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
      });
    }
  }

  /** Looked for once, when the first pod is isolated. */
  #lookForBridges(): void {
    if (this.#bridgesKnown || this.#index.isolatedPods === 0) return;
    this.#bridgesKnown = true;
    const { logger } = this.#options;
    filterBridgedPods(this.#options).then(
      (bridges) => {
        if (bridges.length > 0)
          logger.warn(
            { bridges },
            "pods are on a bridge: the kernel now shows what they send each other to the rules of network policies",
          );
      },
      (error: unknown) => {
        this.#bridgesKnown = false;
        logger.error(
          { err: error },
          "it is unknown whether pods are on a bridge, or the kernel does not show what they send each other there: network policies may not hold between pods of this node",
        );
      },
    );
  }
}
