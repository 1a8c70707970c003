// The service proxy of one node: follows Services and their EndpointSlices and keeps the kernel's rules in step. Changes of
// one turn of the loop become one transaction for each address family; what others delete is written again.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { Node, Service } from "../../api/types/core-v1.ts";
import type { Client } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import { endpointSlices, nodes, services } from "../../client/resources.ts";
import { ownEndpointSlices } from "../slices-of-service.ts";
import {
  serviceSettings,
  writeKernelSettings,
  type OnKernelSetting,
} from "../kernel-settings.ts";
import {
  ConntrackCleaner,
  type StaleFlow,
} from "../conntrack/conntrack-cleaner.ts";
import {
  createBackend,
  removeServiceRules,
  type ProxyMode,
} from "./backends.ts";
import { staleFlows } from "./conntrack.ts";
import { HealthCheckPorts } from "./health-check-ports.ts";
import { ProxyMetrics } from "./proxy-metrics.ts";
import type { RuleTable, TableOptions } from "./rule-table.ts";
import {
  proxyPorts,
  readyEndpointsHere,
  type Family,
  type ProxyNode,
  type ProxyPort,
} from "./service-ports.ts";
import { TableSync } from "../nft/table-sync.ts";

const zoneLabel = "topology.kubernetes.io/zone";
/** Rules that were asked for and are not written after this time make the proxy unhealthy. */
const stuckMs = 60_000;

interface ServiceProxyOptions extends Pick<
  TableOptions,
  "podInterface" | "masqueradeBit" | "loopbackNodePorts"
> {
  /** Default: nftables. */
  mode?: ProxyMode;
  /** In place of `iptables`, such as `iptables-legacy`. */
  iptables?: string;
  /** Of looks for what others delete from iptables, in milliseconds. */
  lookMs?: number;
  client: Client;
  nodeName: string;
  /** Of the table, such as orbit-proxy; two clusters on one host have different ones. */
  tableName: string;
  podRanges: readonly string[];
  serviceRanges: readonly string[];
  nodePortRanges: readonly string[];
  masqueradeAll: boolean;
  clock: Clock;
  logger: Logger;
  /** A program and its arguments that runs others in the node's network namespace; default: this process's own. */
  wrapper?: readonly string[];
  onKernelSetting?: OnKernelSetting;
}

interface FamilyTable {
  readonly family: Family;
  readonly rules: RuleTable;
  readonly sync: TableSync;
}

function familyRanges(ranges: readonly string[], family: Family): string[] {
  return ranges.filter((range) => range.includes(":") === (family === 6));
}

export class ServiceProxy {
  readonly #options: ServiceProxyOptions;
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #nodes: Informer<Node>;
  readonly #tables: readonly FamilyTable[];
  readonly #watch: { start(): void; stop(): void };
  readonly #conntrack: ConntrackCleaner;
  readonly #healthChecks: HealthCheckPorts;
  /** The ports of each Service that are in the rulesets. */
  readonly #ports = new Map<string, readonly ProxyPort[]>();
  readonly #dirty = new Map<string, { namespace: string; name: string }>();
  /** By the key of their Service. */
  readonly #ownSlices = new Map<string, EndpointSlice>();
  readonly #staleFlows4: StaleFlow[] = [];
  readonly #staleFlows6: StaleFlow[] = [];
  readonly #disposers: (() => void)[] = [];
  #node: ProxyNode;
  #flushDue = false;
  #synced = false;
  readonly #startedAt: number;
  readonly metrics: ProxyMetrics;

  constructor(options: ServiceProxyOptions) {
    this.#options = options;
    const { client, clock, logger, nodeName } = options;
    this.#node = { name: nodeName };
    this.metrics = new ProxyMetrics(clock);
    this.#services = client.informer(services);
    this.#slices = client.informer(endpointSlices, {
      indexes: { service: ownEndpointSlices },
    });
    this.#nodes = client.informer(nodes, {
      fieldSelector: `metadata.name=${nodeName}`,
    });
    const wrapped = options.wrapper ? { wrapper: options.wrapper } : {};
    const backend = createBackend({
      mode: options.mode ?? "nftables",
      tableOptions: (family) => this.#tableOptions(family),
      onDeleted: () => this.rewrite(),
      clock,
      logger,
      ...wrapped,
      ...(options.iptables === undefined ? {} : { iptables: options.iptables }),
      ...(options.lookMs === undefined ? {} : { lookMs: options.lookMs }),
    });
    this.#watch = backend.watch;
    this.#tables = backend.tables.map(({ family, rules, run }) => ({
      family,
      rules,
      sync: new TableSync({
        scripts: rules,
        what: "service rules",
        run,
        clock,
        logger,
        onBegin: () => this.metrics.began(family),
        onDone: (durationMs, failed) => {
          this.metrics.ended(family, durationMs, failed);
          if (!failed) this.#cleanFlows(family);
        },
      }),
    }));
    this.#conntrack = new ConntrackCleaner(logger, options.wrapper);
    this.#startedAt = clock.monotonic();
    this.#healthChecks = new HealthCheckPorts({
      addressRanges: options.nodePortRanges,
      works: () => this.works,
      clock,
      logger,
    });
  }

  /** The kernel has the rules of everything known. */
  get inStep(): boolean {
    return (
      this.#synced &&
      !this.#flushDue &&
      this.#tables.every(({ sync }) => sync.inStep)
    );
  }

  /** For how long the kernel has lacked rules, in milliseconds; 0 when it has all. */
  get behindMs(): number {
    if (!this.#synced) return this.#options.clock.monotonic() - this.#startedAt;
    return Math.max(...this.#tables.map(({ sync }) => sync.behindMs));
  }

  /** Changes reach the kernel: what was asked for is there, or is not late yet. */
  get works(): boolean {
    return this.behindMs < stuckMs;
  }

  /** Resolves when the Services that exist were read and their rules asked for. */
  async start(): Promise<void> {
    const mark = (namespace = "", name = ""): void => {
      this.#dirty.set(`${namespace}/${name}`, { namespace, name });
      this.#due();
    };
    const service = ({ metadata }: Service): void => {
      this.metrics.serviceChanged();
      mark(metadata.namespace, metadata.name);
    };
    const slice = (each: EndpointSlice): void => {
      const [key] = ownEndpointSlices(each);
      if (key !== undefined)
        mark(each.metadata.namespace, key.slice(key.indexOf("/") + 1));
    };
    const node = (each: Node): void => this.#setNode(each);
    this.#disposers.push(
      this.#nodes.addHandler({ onAdd: node, onUpdate: (_, now) => node(now) }),
      this.#services.addHandler({
        onAdd: service,
        onUpdate: (_, now) => service(now),
        onDelete: service,
      }),
      this.#slices.addHandler({
        onAdd: (now) => {
          this.metrics.endpointsChanged(undefined, now);
          slice(now);
        },
        onUpdate: (old, now) => {
          this.metrics.endpointsChanged(old, now);
          slice(old);
          slice(now);
        },
        onDelete: (old) => {
          this.metrics.endpointsChanged(old);
          slice(old);
        },
      }),
    );
    await Promise.all([
      this.#services.synced(),
      this.#slices.synced(),
      this.#nodes.synced(),
    ]);
    this.#synced = true;
    const { wrapper, onKernelSetting, logger } = this.#options;
    await writeKernelSettings(serviceSettings, wrapper, onKernelSetting).catch(
      (error: unknown) =>
        logger.warn(
          { err: error },
          "a kernel setting could not be written: node ports may not answer on loopback",
        ),
    );
    this.#flush();
    this.#watch.start();
    for (const { sync } of this.#tables) sync.request(true);
    void this.#removeOtherMode();
  }

  /** Resolves when what was asked for so far was tried; what failed is tried again later. */
  async settled(): Promise<void> {
    await Promise.all(this.#tables.map(({ sync }) => sync.settled()));
  }

  /** The Service that this slice is labelled with leads to its endpoints alone, whatever the API has. */
  setOwnSlice(slice: EndpointSlice): void {
    const [key = ""] = ownEndpointSlices(slice);
    this.#ownSlices.set(key, slice);
    const { namespace = "" } = slice.metadata;
    this.#dirty.set(key, { namespace, name: key.slice(namespace.length + 1) });
    this.#due();
  }

  /** Writes everything again: another program may have changed it. */
  rewrite(): void {
    if (!this.#synced) return;
    for (const { sync } of this.#tables) sync.request(true);
  }

  /** The rules stay: pods keep reaching Services while this program is down. */
  async stop(): Promise<void> {
    for (const dispose of this.#disposers.splice(0)) dispose();
    this.#watch.stop();
    this.#healthChecks.stop();
    await Promise.all(this.#tables.map(({ sync }) => sync.stop()));
    await this.#conntrack.done();
  }

  #stale(family: Family): StaleFlow[] {
    return family === 4 ? this.#staleFlows4 : this.#staleFlows6;
  }

  /** Once the new rules are in the kernel: a flow deleted before would be made again by the old ones. */
  #cleanFlows(family: Family): void {
    this.#conntrack.clean(this.#stale(family).splice(0), family);
  }

  #tableOptions(family: Family): TableOptions {
    const { tableName, ...options } = this.#options;
    const { podInterface, masqueradeBit, loopbackNodePorts } = options;
    const { masqueradeAll, ...ranges } = options;
    return {
      family,
      name: tableName,
      masqueradeAll,
      ...(podInterface === undefined ? {} : { podInterface }),
      ...(masqueradeBit === undefined ? {} : { masqueradeBit }),
      ...(loopbackNodePorts === undefined ? {} : { loopbackNodePorts }),
      podRanges: familyRanges(ranges.podRanges, family),
      serviceRanges: familyRanges(ranges.serviceRanges, family),
      nodePortRanges: familyRanges(ranges.nodePortRanges, family),
    };
  }

  /** Of an earlier start in the other mode: they would go on taking connections. */
  async #removeOtherMode(): Promise<void> {
    const { mode, tableName, logger, wrapper, iptables } = this.#options;
    const other = mode === "iptables" ? "nftables" : "iptables";
    await removeServiceRules(other, tableName, {
      ...(wrapper ? { wrapper } : {}),
      ...(iptables === undefined ? {} : { iptables }),
    }).catch((err: unknown) =>
      logger.warn(
        { err },
        `service rules of an earlier start in ${other} could not be removed`,
      ),
    );
  }

  #setNode({ metadata, status }: Node): void {
    const zone = metadata.labels?.[zoneLabel];
    const addresses = (status?.addresses ?? [])
      .filter(({ type }) => type.endsWith("IP"))
      .map(({ address }) => address);
    const { name, zone: before, addresses: known = [] } = this.#node;
    if (zone === before && addresses.join() === known.join()) return;
    this.#node = { name, addresses, ...(zone === undefined ? {} : { zone }) };
    for (const { metadata } of this.#services.lister.list())
      this.#dirty.set(`${metadata.namespace}/${metadata.name}`, {
        namespace: metadata.namespace ?? "",
        name: metadata.name ?? "",
      });
    this.#due();
  }

  #due(): void {
    if (this.#flushDue || !this.#synced) return;
    this.#flushDue = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#flushDue = false;
    this.metrics.queued();
    for (const [key, { namespace, name }] of this.#dirty)
      this.#update(key, this.#services.lister.get(name, namespace));
    this.#dirty.clear();
    for (const { sync } of this.#tables) sync.request();
  }

  #update(key: string, service: Service | undefined): void {
    const own = this.#ownSlices.get(key);
    const slices = own ? [own] : this.#slices.lister.byIndex("service", key);
    const before = new Map(
      (this.#ports.get(key) ?? []).map((port) => [port.id, port]),
    );
    const now: ProxyPort[] = [];
    for (const { family, rules } of this.#tables)
      for (const port of service
        ? proxyPorts(service, slices, this.#node, family)
        : []) {
        now.push(port);
        rules.setPort(port.id, port);
        this.#stale(family).push(...staleFlows(before.get(port.id), port));
        before.delete(port.id);
      }
    for (const port of before.values()) {
      const table = this.#tables.find(({ family }) => family === port.family);
      table?.rules.setPort(port.id, undefined);
      this.#stale(port.family).push(...staleFlows(port, undefined));
    }
    if (now.length > 0) this.#ports.set(key, now);
    else this.#ports.delete(key);
    const [namespace = "", name = ""] = key.split("/");
    const check = service?.spec?.healthCheckNodePort;
    this.#healthChecks.set(
      namespace,
      name,
      check && now.some(({ externalLocal }) => externalLocal)
        ? check
        : undefined,
      readyEndpointsHere(slices, this.#node),
    );
  }
}
