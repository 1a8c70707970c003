// Announces addresses of load balancers as one node of the cluster: follows Nodes, Services and, for Services that want local
// endpoints, their EndpointSlices. The node says of itself that it announces, so that all know among whom to choose.
// Invariant: where another node would take over, an address is kept only by renewing it, and it is renewed only while the API
// server answers: a node that is cut off has lost its addresses before others take them.
import { isIP } from "node:net";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import { pooledAddresses } from "../../api/objects/load-balancer.ts";
import type { Node, Service } from "../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { Client } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import { endpointSlices, nodes, services } from "../../client/resources.ts";
import type { OnKernelSetting } from "../kernel-settings.ts";
import type { HostLinks } from "../links/host-links.ts";
import { programRunner } from "../links/ip-command.ts";
import { nftCommand } from "../nft/nft-command.ts";
import { NftMonitor } from "../nft/nft-monitor.ts";
import { OwnProcesses } from "../nft/own-processes.ts";
import { TableSync } from "../nft/table-sync.ts";
import { ownEndpointSlices } from "../slices-of-service.ts";
import { announcePlan, announcerAnnotation } from "./announce-plan.ts";
import { AnnouncedAddresses } from "./announced-addresses.ts";
import { BalancerTable } from "./balancer-table.ts";

/** Changes within this time are looked at together. */
const quietMs = 50;
const renewMs = 8000;
const retryMs = 2000;
/** After this time the kernel knows whether an IPv6 address is on the link twice. */
const duplicateMs = 3000;
const answerMs = 5000;

interface AnnouncerOptions {
  readonly client: Client;
  readonly nodeName: string;
  /** This node's first range: it names what is ours. */
  readonly podRange: string;
  readonly links: HostLinks;
  readonly onKernelSetting?: OnKernelSetting;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class Announcer {
  readonly #options: AnnouncerOptions;
  readonly #nodes: Informer<Node>;
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #addresses: AnnouncedAddresses;
  readonly #table: BalancerTable;
  readonly #sync: TableSync;
  readonly #monitor: NftMonitor;
  readonly #disposers: (() => void)[] = [];
  #timer: Timer | undefined;
  #dueMs = 0;
  #working: Promise<void> | undefined;
  #lookAgain = false;
  /** Why neighbours may have this node's addresses elsewhere. */
  #again: "link" | "node" | undefined;
  #stopped = false;
  #announced = "";
  #monitoring = false;

  constructor(options: AnnouncerOptions) {
    this.#options = options;
    const { client, podRange, onKernelSetting, clock, logger } = options;
    this.#nodes = client.informer(nodes);
    this.#services = client.informer(services);
    this.#slices = client.informer(endpointSlices, {
      indexes: { service: ownEndpointSlices },
    });
    this.#addresses = new AnnouncedAddresses({
      run: programRunner(),
      podRange,
      onKernelSetting,
    });
    this.#table = new BalancerTable(podRange);
    const processes = new OwnProcesses();
    this.#sync = new TableSync({
      scripts: this.#table,
      what: "rules of announced addresses",
      run: nftCommand({ processes }),
      clock,
      logger,
      onBegin: () => undefined,
      onDone: () => undefined,
    });
    this.#monitor = new NftMonitor({
      tables: [this.#table.table],
      processes,
      onDeleted: () => this.#sync.request(true),
      clock,
      logger,
    });
  }

  /** Resolves when what exists is known; the rest goes on in the background. */
  async start(): Promise<void> {
    const due = (): void => this.#due(quietMs);
    const service = (...all: Service[]): void => {
      if (all.some((each) => pooledAddresses(each).length > 0)) due();
    };
    const slice = (each: EndpointSlice): void => {
      const [key = ""] = ownEndpointSlices(each);
      const [namespace = "", name = ""] = key.split("/");
      const of = this.#services.lister.get(name, namespace);
      if (of?.spec?.externalTrafficPolicy === "Local") service(of);
    };
    const seen = new Map<string, string>();
    const node = (each: Node): void => {
      // Heartbeats change nothing here.
      const { metadata, status } = each;
      const text = JSON.stringify([
        metadata.annotations?.[announcerAnnotation],
        metadata.labels,
        metadata.deletionTimestamp,
        status?.conditions?.find(({ type }) => type === "Ready")?.status,
      ]);
      if (seen.get(metadata.name) === text) return;
      seen.set(metadata.name, text);
      due();
    };
    this.#disposers.push(
      this.#nodes.addHandler({
        onAdd: node,
        onUpdate: (_, now) => node(now),
        onDelete: ({ metadata }) => {
          seen.delete(metadata.name);
          due();
        },
      }),
      this.#services.addHandler({
        onAdd: service,
        onUpdate: service,
        onDelete: service,
      }),
      this.#slices.addHandler({
        onAdd: slice,
        onUpdate: (_, now) => slice(now),
        onDelete: slice,
      }),
      this.#options.links.onChange(() => {
        this.#again ??= "link";
        due();
      }),
    );
    await Promise.all([
      this.#nodes.synced(),
      this.#services.synced(),
      this.#slices.synced(),
    ]);
    this.#due(0);
  }

  /** What is announced stays, as the rules of Services do, for as long as no other node takes it over. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const dispose of this.#disposers.splice(0)) dispose();
    this.#timer?.cancel();
    this.#monitor.stop();
    await this.#working;
    await this.#sync.stop();
  }

  /** The first of several changes starts the wait. */
  #due(delayMs: number): void {
    const { clock } = this.#options;
    const atMs = clock.monotonic() + delayMs;
    if (this.#stopped || (this.#timer && this.#dueMs <= atMs)) return;
    this.#timer?.cancel();
    this.#dueMs = atMs;
    this.#timer = clock.after(delayMs, () => {
      this.#timer = undefined;
      void this.#look();
    });
  }

  /** One at a time; what comes meanwhile is looked at afterwards. */
  async #look(): Promise<void> {
    if (this.#working) {
      this.#lookAgain = true;
      return this.#working;
    }
    this.#working = this.#reconcile()
      .then(
        (againMs) => {
          if (againMs !== undefined) this.#due(againMs);
        },
        (err: unknown) => {
          this.#options.logger.warn(
            { err },
            "the addresses of load balancers could not be announced",
          );
          this.#due(retryMs);
        },
      )
      .finally(() => {
        this.#working = undefined;
        if (this.#lookAgain) {
          this.#lookAgain = false;
          this.#due(quietMs);
        }
      });
    return this.#working;
  }

  /** Resolves to when to look again: to renew what is announced, or to see whether another machine had it yet. */
  async #reconcile(): Promise<number | undefined> {
    const { nodeName, logger } = this.#options;
    await this.#declare();
    const { addresses, shared } = announcePlan(
      nodeName,
      this.#nodes.lister.list(),
      this.#services.lister.list(),
      ({ metadata }) =>
        this.#slices.lister.byIndex(
          "service",
          `${metadata.namespace}/${metadata.name}`,
        ),
    );
    const renew = shared && addresses.length > 0;
    if (renew)
      await this.#reachServer().catch((error: unknown) => {
        this.#again = "node";
        throw error;
      });
    // Refused from the first moment on what no Service has.
    if (addresses.join() !== this.#announced) {
      this.#table.set(addresses);
      this.#sync.request();
      await this.#sync.settled();
      this.#announced = addresses.join();
    }
    if (addresses.length > 0 && !this.#monitoring) {
      this.#monitoring = true;
      this.#monitor.start();
    }
    const again = this.#again;
    this.#again = undefined;
    const added = await this.#addresses
      .set(addresses, !shared, again)
      .catch((error: unknown) => {
        this.#again = again;
        throw error;
      });
    if (added.length > 0)
      logger.info(
        { addresses: added },
        "announcing addresses of load balancers",
      );
    if (added.some((address) => isIP(address) === 6)) return duplicateMs;
    return renew ? renewMs : undefined;
  }

  /** This node's part in the choice. */
  async #declare(): Promise<void> {
    const { client, nodeName } = this.#options;
    const own = this.#nodes.lister.get(nodeName);
    if (!own || own.metadata.annotations?.[announcerAnnotation] === "true")
      return;
    await client.resource(nodes).patch(nodeName, undefined, {
      type: "merge",
      body: { metadata: { annotations: { [announcerAnnotation]: "true" } } },
    });
  }

  /** Rejects when the API server does not answer. */
  async #reachServer(): Promise<void> {
    const { client, nodeName, clock } = this.#options;
    let timer: Timer | undefined;
    await Promise.race([
      client.resource(nodes).get(nodeName),
      new Promise<never>((_, reject) => {
        timer = clock.after(answerMs, () =>
          reject(new Error("the API server does not answer")),
        );
      }),
    ]).finally(() => timer?.cancel());
  }
}
