// The Gateways of this controller and the HTTPRoutes that name them: what the feed makes plans of, and what their statuses
// say. All Gateways are looked at when one changes (a cluster has few, and they share ports); a route is looked at when it,
// one of its Gateways, or what it refers to changes.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import { objectKey, splitKey } from "../../../api/object.ts";
import { selectorFromObject } from "../../../api/selectors.ts";
import type { Namespace, Node, Service } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import type { Informer } from "../../../client/informer.ts";
import { namespaces, services } from "../../../client/resources.ts";
import type { ObjectPlan } from "../feed/ingress-routes.ts";
import { allServingAddresses, writesForAll } from "../feed/serving-nodes.ts";
import { ensureGatewayClass, gatewayController } from "./gateway-class.ts";
import {
  classPrefix,
  gatewayPrefix,
  GatewayStatuses,
  routePrefix,
} from "./gateway-statuses.ts";
import { referencesBy, type MayRefer } from "./grants.ts";
import {
  certificateUsesOf,
  gatewayProblem,
  listenerSets,
  planListener,
  type PlannedListener,
  type SocketState,
  type SocketWish,
} from "./listeners.ts";
import {
  gatewayClasses,
  gateways,
  httpRoutes,
  referenceGrants,
  type Gateway,
  type GatewayClass,
  type HttpRoute,
  type ReferenceGrant,
} from "./objects.ts";
import {
  parentGateway,
  planRoute,
  servicesOf,
  type RoutePlan,
} from "./route-plan.ts";

interface GatewaySourceOptions {
  readonly client: Client;
  /** Served version of ReferenceGrants; undefined: there are none. */
  readonly grantVersion: string | undefined;
  readonly nodes: Informer<Node>;
  readonly nodeName: string;
  /** The sockets of Ingresses, by port; a Gateway's listener of the same port shares them. */
  readonly ownSockets: readonly SocketWish[];
  readonly socketState: (id: string) => SocketState;
  readonly certificateProblem: (key: string) => string | undefined;
  /** The object is to be looked at again. */
  readonly mark: (key: string) => void;
  /** The sockets that are needed may have changed. */
  readonly onSockets: () => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class GatewaySource {
  readonly #options: GatewaySourceOptions;
  readonly #classes: Informer<GatewayClass>;
  readonly #gateways: Informer<Gateway>;
  readonly #routes: Informer<HttpRoute>;
  readonly #grants: Informer<ReferenceGrant> | undefined;
  readonly #namespaces: Informer<Namespace>;
  readonly #services: Informer<Service>;
  readonly #statuses: GatewayStatuses;
  readonly #disposers: (() => void)[] = [];
  readonly #mayRefer: MayRefer;
  /** Of Gateways of ours. */
  readonly #listeners = new Map<string, readonly PlannedListener[]>();
  readonly #listenerTexts = new Map<string, string>();
  readonly #plans = new Map<string, RoutePlan>();
  /** Routes of a listener. */
  readonly #attached = new Map<string, Set<string>>();
  #sockets: readonly SocketWish[] = [];
  #due = false;
  #stopped = false;

  constructor(options: GatewaySourceOptions) {
    this.#options = options;
    const { client, clock, logger, grantVersion } = options;
    this.#classes = client.informer(gatewayClasses);
    this.#gateways = client.informer(gateways);
    this.#routes = client.informer(httpRoutes, {
      indexes: {
        gateway: (route) =>
          (route.spec.parentRefs ?? []).flatMap(
            (each) => parentGateway(route, each) ?? [],
          ),
        service: (route) => servicesOf(route),
      },
    });
    this.#grants =
      grantVersion === undefined
        ? undefined
        : client.informer(referenceGrants(grantVersion));
    this.#namespaces = client.informer(namespaces);
    this.#services = client.informer(services);
    this.#mayRefer = referencesBy(
      (namespace) => this.#grants?.lister.list(namespace) ?? [],
    );
    this.#statuses = new GatewayStatuses({
      client,
      classes: this.#classes.lister,
      gateways: this.#gateways.lister,
      routes: this.#routes.lister,
      listenersOf: (key) => this.#listeners.get(key),
      planOf: (key) => this.#plans.get(key),
      attachedRoutes: (key, listener) =>
        this.#attached.get(`${key}/${listener}`)?.size ?? 0,
      addresses: () => this.#addresses(),
      writes: () => writesForAll(options.nodes.lister.list(), options.nodeName),
      clock,
      logger,
    });
  }

  /** Those of the listeners that are served. */
  get sockets(): readonly SocketWish[] {
    return this.#sockets;
  }

  async start(): Promise<void> {
    await ensureGatewayClass(this.#options.client);
    const each = <T>(handler: (object: T) => void) => ({
      onAdd: handler,
      onUpdate: (_old: T, now: T) => handler(now),
      onDelete: handler,
    });
    const look = (): void => this.lookAtGateways();
    const everything = (): void => {
      look();
      for (const route of this.#routes.lister.list()) this.#markRoute(route);
    };
    this.#disposers.push(
      this.#classes.addHandler({
        ...each((object: GatewayClass) => {
          this.#statuses.add(classPrefix + object.metadata.name);
          look();
        }),
      }),
      this.#gateways.addHandler(each(look)),
      this.#routes.addHandler({
        ...each((route: HttpRoute) => this.#markRoute(route)),
        onUpdate: (old, now) => {
          // Its status alone changes no route.
          if (old.metadata.generation !== now.metadata.generation)
            this.#markRoute(now);
        },
      }),
      this.#services.addHandler({
        onAdd: (service) => this.#serviceChanged(service),
        onUpdate: (old, now) => {
          if (
            JSON.stringify(old.spec?.ports) !== JSON.stringify(now.spec?.ports)
          )
            this.#serviceChanged(now);
        },
        onDelete: (service) => this.#serviceChanged(service),
      }),
      this.#namespaces.addHandler({
        onUpdate: (old, now) => {
          if (
            JSON.stringify(old.metadata?.labels) !==
            JSON.stringify(now.metadata?.labels)
          )
            for (const route of this.#routes.lister.list(now.metadata?.name))
              this.#markRoute(route);
        },
      }),
      ...(this.#grants ? [this.#grants.addHandler(each(everything))] : []),
    );
    await Promise.all(
      [
        this.#classes,
        this.#gateways,
        this.#routes,
        this.#namespaces,
        this.#services,
        ...(this.#grants ? [this.#grants] : []),
      ].map((each) => each.synced()),
    );
    this.#statuses.start();
  }

  /** Everything that is served is marked; planOf has nothing more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const dispose of this.#disposers.splice(0)) dispose();
    const served = [...this.#listeners.keys()].map(
      (key) => gatewayPrefix + key,
    );
    const routes = [...this.#plans.keys()].map((key) => routePrefix + key);
    this.#listeners.clear();
    this.#plans.clear();
    this.#sockets = [];
    for (const key of [...served, ...routes]) this.#options.mark(key);
    this.#options.onSockets();
    await this.#statuses.stop();
  }

  /** Of a key that begins with the kind; undefined: it is gone, or another controller's. */
  planOf(key: string): ObjectPlan | undefined {
    if (this.#stopped) return undefined;
    return key.startsWith(gatewayPrefix)
      ? this.#gatewayPlan(key.slice(gatewayPrefix.length))
      : this.#routePlan(key.slice(routePrefix.length));
  }

  /** Gateways, or what they depend on (certificates, sockets, addresses), have changed. */
  lookAtGateways(): void {
    if (this.#due || this.#stopped) return;
    this.#due = true;
    setImmediate(() => {
      this.#due = false;
      if (!this.#stopped) this.#planGateways();
    });
  }

  /** Nodes that serve, or their addresses, have changed. */
  refreshStatuses(): void {
    this.lookAtGateways();
    for (const key of this.#listeners.keys())
      this.#statuses.add(gatewayPrefix + key);
    for (const key of this.#plans.keys()) this.#statuses.add(routePrefix + key);
    for (const { metadata } of this.#classes.lister.list())
      this.#statuses.add(classPrefix + metadata.name);
  }

  #markRoute(route: HttpRoute): void {
    this.#options.mark(routePrefix + objectKey(route));
  }

  #serviceChanged(service: Service): void {
    for (const route of this.#routes.lister.byIndex(
      "service",
      objectKey(service),
    ))
      this.#markRoute(route);
  }

  /** Of the nodes that serve. */
  #addresses(): readonly string[] {
    const { nodes, nodeName } = this.#options;
    return allServingAddresses(nodes.lister.list(), nodeName);
  }

  #isOurs({ spec }: Gateway): boolean {
    const found = this.#classes.lister.get(spec.gatewayClassName);
    return (
      found?.spec.controllerName === gatewayController &&
      !found.spec.parametersRef
    );
  }

  #planGateways(): void {
    const own = this.#gateways.lister
      .list()
      .filter((each) => this.#isOurs(each));
    own.sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1));
    const ports = new Map<number, SocketWish>();
    const changed = new Set(this.#listeners.keys());
    for (const gateway of own) {
      const key = objectKey(gateway);
      const planned = gateway.spec.listeners.map((spec) =>
        planListener(gateway, spec, {
          gatewayProblem: gatewayProblem(gateway.spec, this.#addresses()),
          mayRefer: this.#mayRefer,
          certificateProblem: this.#options.certificateProblem,
          socketState: this.#options.socketState,
          socketFor: (port, tls) => this.#socketFor(ports, port, tls),
        }),
      );
      const text = JSON.stringify([gateway.metadata.generation, planned]);
      if (this.#listenerTexts.get(key) === text) changed.delete(key);
      else changed.add(key);
      this.#listenerTexts.set(key, text);
      this.#listeners.set(key, planned);
    }
    const present = new Set(own.map(objectKey));
    for (const key of changed) {
      if (!present.has(key)) {
        this.#listeners.delete(key);
        this.#listenerTexts.delete(key);
      }
      this.#options.mark(gatewayPrefix + key);
      this.#statuses.add(gatewayPrefix + key);
      for (const route of this.#routes.lister.byIndex("gateway", key))
        this.#markRoute(route);
    }
    this.#sockets = [...ports.values()];
    this.#options.onSockets();
  }

  #socketFor(
    ports: Map<number, SocketWish>,
    port: number,
    tls: boolean,
  ): SocketWish | string {
    const known =
      ports.get(port) ??
      this.#options.ownSockets.find((each) => each.port === port);
    if (known && known.tls !== tls)
      return `port ${port} is used for ${known.tls ? "HTTPS" : "HTTP"}`;
    const socket = known ?? { id: `port ${port}`, port, tls };
    ports.set(port, socket);
    return socket;
  }

  #gatewayPlan(key: string): ObjectPlan | undefined {
    const listeners = this.#listeners.get(key);
    const gateway = this.#gateways.lister.get(
      splitKey(key).name,
      splitKey(key).namespace,
    );
    if (!listeners || !gateway) return undefined;
    return {
      routes: listenerSets(gateway, listeners),
      certificateUses: certificateUsesOf(gateway, listeners),
      backends: [],
      certificates: [
        ...new Set(listeners.flatMap((each) => each.certificates)),
      ],
      problems: [],
    };
  }

  #routePlan(key: string): ObjectPlan | undefined {
    const { namespace, name } = splitKey(key);
    const route = this.#routes.lister.get(name, namespace);
    const before = this.#plans.get(key);
    if (!route) {
      this.#attach(key, before?.attached ?? [], []);
      this.#plans.delete(key);
      return undefined;
    }
    const planned = planRoute(route, {
      mayRefer: this.#mayRefer,
      serviceHasPort: (of, service, port) =>
        this.#services.lister
          .get(service, of)
          ?.spec?.ports?.some((each) => each.port === port) ?? false,
      listenersOf: (gateway) => this.#listeners.get(gateway),
      admits: (gateway, listener, of) => this.#admits(gateway, listener, of),
    });
    this.#plans.set(key, planned);
    this.#attach(key, before?.attached ?? [], planned.attached);
    this.#statuses.add(routePrefix + key);
    return planned.plan.routes.length > 0 ? planned.plan : undefined;
  }

  #admits(
    gateway: string,
    { spec }: PlannedListener,
    namespace: string,
  ): boolean {
    const { from = "Same", selector } = spec.allowedRoutes?.namespaces ?? {};
    if (from === "All") return true;
    if (from === "Same") return splitKey(gateway).namespace === namespace;
    if (from !== "Selector" || !selector) return false;
    const labels =
      this.#namespaces.lister.get(namespace)?.metadata?.labels ?? {};
    return selectorFromObject(selector).matches(labels);
  }

  #attach(
    route: string,
    before: readonly string[],
    now: readonly string[],
  ): void {
    const gatewaysChanged = new Set<string>();
    const touch = (listener: string): void =>
      void gatewaysChanged.add(listener.slice(0, listener.lastIndexOf("/")));
    for (const listener of before)
      if (!now.includes(listener)) {
        this.#attached.get(listener)?.delete(route);
        touch(listener);
      }
    for (const listener of now)
      if (!before.includes(listener)) {
        const routes = this.#attached.get(listener) ?? new Set();
        this.#attached.set(listener, routes.add(route));
        touch(listener);
      }
    for (const key of gatewaysChanged) this.#statuses.add(gatewayPrefix + key);
  }
}

function ageOf({ metadata }: Gateway): string {
  return `${metadata.creationTimestamp ?? ""} ${objectKey({ metadata })}`;
}
