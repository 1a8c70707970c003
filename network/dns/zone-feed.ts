// Keeps the DNS server's zone in step with the API: services, their slices, namespaces, and the ConfigMap of its
// configuration. Changes of one turn of the loop go out as one message; each service is computed once for it.
import { ownEndpointSlices } from "../slices-of-service.ts";
import type { Client } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import {
  configMaps,
  endpointSlices,
  namespaces,
  services,
} from "../../client/resources.ts";
import type { ConfigMap, Namespace, Service } from "../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type {
  DnsConfiguration,
  ServiceChange,
  ToServer,
} from "./dns-messages.ts";
import { readDnsConfiguration } from "./dns-configuration.ts";
import { serviceEntry } from "./service-entry.ts";
import type { Upstream } from "./upstream-socket.ts";

/** Of one message, and so of one turn of the loop. */
const servicesAtOnce = 100;
export const dnsNamespace = "kube-system";
/** The ConfigMap with `stubDomains`, `upstreamNameservers` and `hosts`. */
export const dnsConfigMap = "kube-dns";

interface ZoneFeedOptions {
  client: Client;
  post: (message: ToServer) => void;
  /** The host's resolvers, asked for what the ConfigMap does not say. */
  resolvers: () => readonly Upstream[];
  /** What is wrong in the ConfigMap; the last good one is kept. */
  onProblem: (problems: readonly string[]) => void;
}

export class ZoneFeed {
  readonly #options: ZoneFeedOptions;
  readonly #services: Informer<Service>;
  readonly #slices: Informer<EndpointSlice>;
  readonly #namespaces: Informer<Namespace>;
  readonly #configMaps: Informer<ConfigMap>;
  readonly #dirty = new Map<string, { namespace: string; name: string }>();
  readonly #dirtyNamespaces = new Set<string>();
  readonly #disposers: (() => void)[] = [];
  /** Called when everything was sent. */
  readonly #drained: (() => void)[] = [];
  #flushDue = false;
  #synced = false;
  #lastGood: DnsConfiguration | undefined;

  constructor(options: ZoneFeedOptions) {
    this.#options = options;
    const { client } = options;
    this.#services = client.informer(services);
    this.#slices = client.informer(endpointSlices, {
      indexes: { service: ownEndpointSlices },
    });
    this.#namespaces = client.informer(namespaces);
    this.#configMaps = client.informer(configMaps, {
      namespace: dnsNamespace,
      fieldSelector: `metadata.name=${dnsConfigMap}`,
    });
  }

  /** Resolves when what exists was sent. */
  async start(): Promise<void> {
    const service = ({ metadata }: Service): void =>
      this.#mark(metadata.namespace ?? "", metadata.name ?? "");
    const slice = (each: EndpointSlice): void => {
      const [key] = ownEndpointSlices(each);
      if (key !== undefined)
        this.#mark(
          each.metadata.namespace ?? "",
          key.slice(key.indexOf("/") + 1),
        );
    };
    const namespace = ({ metadata }: Namespace): void => {
      this.#dirtyNamespaces.add(metadata?.name ?? "");
      this.#due();
    };
    const configure = (): void => this.configure();
    const all = <T>(handler: (object: T) => void) => ({
      onAdd: handler,
      onUpdate: (old: T, object: T) => {
        handler(old);
        handler(object);
      },
      onDelete: handler,
    });
    this.#disposers.push(
      this.#services.addHandler(all(service)),
      this.#slices.addHandler(all(slice)),
      this.#namespaces.addHandler(all(namespace)),
      this.#configMaps.addHandler({
        onAdd: configure,
        onUpdate: configure,
        onDelete: configure,
      }),
    );
    await Promise.all([
      this.#services.synced(),
      this.#slices.synced(),
      this.#namespaces.synced(),
      this.#configMaps.synced(),
    ]);
    this.#synced = true;
    this.configure();
    this.#due();
    await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  /** What exists was sent, also to a server that was started again. */
  get sent(): boolean {
    return this.#synced && !this.#flushDue;
  }

  stop(): void {
    for (const dispose of this.#disposers.splice(0)) dispose();
  }

  /** Sends everything: the server was started again. */
  resend(): void {
    for (const { metadata } of this.#services.lister.list())
      this.#mark(metadata.namespace ?? "", metadata.name ?? "");
    for (const { metadata } of this.#namespaces.lister.list())
      this.#dirtyNamespaces.add(metadata?.name ?? "");
    this.#due();
    this.configure();
  }

  /** Sends the configuration, with the host's resolvers as they are now. Of a map with a mistake nothing is used. */
  configure(): void {
    const map = this.#configMaps.lister.get(dnsConfigMap, dnsNamespace);
    const read = readDnsConfiguration(map?.data ?? {});
    if (read.problems.length > 0) this.#options.onProblem(read.problems);
    const base =
      read.problems.length > 0
        ? (this.#lastGood ?? readDnsConfiguration({}).configuration)
        : read.configuration;
    this.#lastGood = base;
    this.#options.post({
      kind: "configure",
      configuration: {
        ...base,
        upstreams:
          base.upstreams.length > 0
            ? base.upstreams
            : this.#options.resolvers(),
      },
    });
  }

  #mark(namespace: string, name: string): void {
    this.#dirty.set(`${namespace}/${name}`, { namespace, name });
    this.#due();
  }

  #due(): void {
    if (this.#flushDue) return;
    this.#flushDue = true;
    setImmediate(() => this.#flush());
  }

  /** Sends what changed, of very much a part, and the rest in turns to come. */
  #flush(): void {
    this.#flushDue = false;
    if (this.#dirty.size > 0 || this.#dirtyNamespaces.size > 0) this.#send();
    if (this.#dirty.size > 0) this.#due();
    else for (const resolve of this.#drained.splice(0)) resolve();
  }

  #send(): void {
    const changes: ServiceChange[] = [];
    for (const [key, { namespace, name }] of this.#dirty) {
      if (changes.length === servicesAtOnce) break;
      this.#dirty.delete(key);
      const service = this.#services.lister.get(name, namespace);
      const entry = service
        ? serviceEntry(service, this.#slices.lister.byIndex("service", key))
        : undefined;
      changes.push({ namespace, name, ...(entry ? { entry } : {}) });
    }
    const changed = [...this.#dirtyNamespaces].map((name) => ({
      name,
      present: this.#namespaces.lister.get(name) !== undefined,
    }));
    this.#dirtyNamespaces.clear();
    this.#options.post({
      kind: "change",
      services: changes,
      namespaces: changed,
    });
  }
}
