// The ingress controller: the proxy's thread and what feeds it: Ingresses, and the Gateway API when its definitions are
// installed. The thread is started with the first object to serve, and
// its ports are opened then: a cluster without Ingresses takes no port of its machine. A port that another program has is
// reported (the log, an event of the IngressClass) and tried again; everything else goes on.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { Family } from "../../api/metrics/family.ts";
import type { Client } from "../../client/client.ts";
import { EventRecorder } from "../../client/event-recorder.ts";
import type { Informer } from "../../client/informer.ts";
import { nodes } from "../../client/resources.ts";
import type { Node } from "../../api/types/core-v1.ts";
import { ensureIngressClass, ingressClassName } from "./feed/ingress-class.ts";
import type { IngressSockets } from "./feed/ingress-routes.ts";
import { IngressSource } from "./feed/ingress-source.ts";
import { labelServingNode, servingText } from "./feed/serving-nodes.ts";
import { ProxyFeed } from "./feed/proxy-feed.ts";
import { ingressFamilies } from "./ingress-metrics.ts";
import { IngressThread } from "./ingress-thread.ts";
import { GatewayDefinitions } from "./gateway/gateway-definitions.ts";
import type { SocketState as ListenState } from "./gateway/listeners.ts";
import type { IngressStatistics } from "./front/statistics.ts";
import type { FromProxy, SocketSpec, SocketState } from "./messages.ts";

interface IngressOptions {
  readonly client: Client;
  /** The node whose addresses lead here. */
  readonly nodeName: string;
  /** Undefined: all of the machine. */
  readonly address?: string;
  /** Undefined: none; 0: a free one. */
  readonly httpPort?: number;
  readonly httpsPort?: number;
  /** CIDRs. */
  readonly trustedProxies: readonly string[];
  readonly accessLog?: string;
  readonly graceMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Of the built worker; default: beside the program. */
  readonly workerFile?: string;
}

export class IngressController {
  readonly #options: IngressOptions;
  readonly #thread: IngressThread;
  readonly #feed: ProxyFeed;
  readonly #source: IngressSource;
  readonly #gateways: GatewayDefinitions;
  readonly #events: EventRecorder;
  readonly #nodes: Informer<Node>;
  readonly #disposers: (() => void)[] = [];
  readonly #sockets = new Map<string, SocketState>();
  readonly #reportedProblems = new Map<string, string>();
  #sentSockets = "";
  /** Whether this node's label says that it serves. */
  #labelled = false;
  #statistics: IngressStatistics | undefined;

  constructor(options: IngressOptions) {
    this.#options = options;
    const { client, clock, logger } = options;
    this.#events = new EventRecorder({
      client,
      clock,
      logger,
      component: "orbit-ingress",
    });
    this.#nodes = client.informer(nodes);
    this.#thread = new IngressThread({
      data: {
        trustedProxies: options.trustedProxies,
        ...(options.accessLog === undefined
          ? {}
          : { accessLog: options.accessLog }),
        graceMs: options.graceMs,
        logLevel: logger.level,
      },
      onStarted: () => {
        this.#sentSockets = "";
        this.#feed.resend();
        this.#openSockets();
      },
      onMessage: (message) => this.#take(message),
      clock,
      logger,
      ...(options.workerFile === undefined
        ? {}
        : { workerFile: options.workerFile }),
    });
    this.#feed = new ProxyFeed({
      client,
      post: (message) => this.#thread.post(message),
      planOf: (key) =>
        isGatewayKey(key)
          ? this.#gateways.source?.planOf(key)
          : this.#source.planOf(key),
      onProblems: (key, problems) => {
        if (isGatewayKey(key)) this.#gateways.source?.lookAtGateways();
        else this.#source.setProblems(key, problems);
      },
    });
    this.#gateways = new GatewayDefinitions({
      client,
      logger,
      create: ({ GatewaySource }, grantVersion) =>
        new GatewaySource({
          client,
          grantVersion,
          nodes: this.#nodes,
          nodeName: options.nodeName,
          ownSockets: this.#ownSockets(),
          socketState: (id) => this.#listenState(id),
          certificateProblem: (key) => this.#feed.certificateProblem(key),
          mark: (key) => this.#feed.mark(key),
          onSockets: () => this.#openSockets(),
          clock,
          logger,
        }),
    });
    this.#source = new IngressSource({
      client,
      nodes: this.#nodes,
      nodeName: options.nodeName,
      sockets: () => this.#ingressSockets(),
      serving: () => this.#portOf("http") > 0 || this.#portOf("https") > 0,
      mark: (key) => {
        this.#feed.mark(key);
        this.#openSockets();
      },
      events: this.#events,
      clock,
      logger,
    });
  }

  /** The ports that Ingresses are served at; 0: none is open. */
  get ports(): { readonly http: number; readonly https: number } {
    return { http: this.#portOf("http"), https: this.#portOf("https") };
  }

  /** Resolves when what exists is on its way to the proxy. */
  async start(): Promise<void> {
    const { client, logger } = this.#options;
    await ensureIngressClass(client).catch((error: unknown) =>
      logger.error({ err: error }, "the IngressClass could not be created"),
    );
    const refresh = (): void => {
      this.#source.refreshStatuses();
      this.#gateways.source?.refreshStatuses();
    };
    this.#disposers.push(
      this.#nodes.addHandler({
        onAdd: (node) => {
          if (node.metadata.name === this.#options.nodeName)
            void this.#labelNode();
          refresh();
        },
        onUpdate: (old, now) => {
          if (servingText(old) !== servingText(now)) refresh();
        },
        onDelete: refresh,
      }),
    );
    await this.#nodes.synced();
    await this.#feed.start();
    await this.#source.start();
    this.#gateways.start();
  }

  /** Requests under way have their grace. */
  async stop(): Promise<void> {
    for (const dispose of this.#disposers.splice(0)) dispose();
    await this.#gateways.stop();
    this.#labelled = false;
    await this.#labelNode();
    await this.#source.stop();
    this.#feed.stop();
    this.#events.stop();
    await this.#thread.stop();
  }

  families(): Family[] {
    return ingressFamilies(this.#statistics, this.#thread.restarts);
  }

  #portOf(id: string): number {
    return this.#sockets.get(id)?.port ?? 0;
  }

  #ingressSockets(): IngressSockets {
    const { httpPort, httpsPort } = this.#options;
    return {
      http: httpPort === undefined ? undefined : "http",
      https: httpsPort === undefined ? undefined : "https",
      httpsPort: this.#portOf("https") || (httpsPort ?? 443),
    };
  }

  #ownSockets(): SocketSpec[] {
    const { httpPort, httpsPort } = this.#options;
    return [
      ...(httpPort === undefined
        ? []
        : [{ id: "http", port: httpPort, tls: false }]),
      ...(httpsPort === undefined
        ? []
        : [{ id: "https", port: httpsPort, tls: true }]),
    ];
  }

  #listenState(id: string): ListenState {
    const state = this.#sockets.get(id);
    if (state?.problem !== undefined) return { problem: state.problem };
    return state?.port === undefined ? "pending" : "open";
  }

  /** Those of what there is to serve. */
  #openSockets(): void {
    const { address } = this.#options;
    const wanted = new Map<string, SocketSpec>();
    for (const each of [
      ...(this.#source.any ? this.#ownSockets() : []),
      ...(this.#gateways.source?.sockets ?? []),
    ])
      wanted.set(each.id, {
        ...each,
        ...(address === undefined ? {} : { address }),
      });
    if (wanted.size > 0) this.#thread.start();
    if (this.#labelled !== wanted.size > 0) {
      this.#labelled = wanted.size > 0;
      void this.#labelNode();
    }
    const sockets = [...wanted.values()];
    const text = JSON.stringify(sockets);
    if (text === this.#sentSockets) return;
    this.#sentSockets = text;
    this.#thread.post({ kind: "sockets", sockets });
  }

  #labelNode(): Promise<void> {
    const { client, nodeName, logger } = this.#options;
    const node = this.#nodes.lister.get(nodeName);
    return labelServingNode(client, node, this.#labelled, logger);
  }

  #take(message: FromProxy): void {
    switch (message.kind) {
      case "sockets":
        this.#socketsChanged(message.states);
        break;
      case "certificates":
        for (const { key, problem } of message.states)
          this.#feed.certificateChecked(key, problem);
        break;
      case "statistics":
        this.#statistics = message.statistics;
        break;
      default:
        break;
    }
  }

  #socketsChanged(states: readonly SocketState[]): void {
    const httpsBefore = this.#portOf("https");
    this.#sockets.clear();
    for (const state of states) {
      this.#sockets.set(state.id, state);
      this.#reportSocket(state);
    }
    // Redirects name it.
    if (this.#portOf("https") !== httpsBefore) this.#source.markAll();
    this.#source.refreshStatuses();
    this.#gateways.source?.lookAtGateways();
  }

  #reportSocket({ id, port, problem }: SocketState): void {
    const { logger } = this.#options;
    const before = this.#reportedProblems.get(id);
    if (problem === undefined) {
      this.#reportedProblems.delete(id);
      if (before !== undefined)
        logger.info({ socket: id, port }, "the ingress port is open now");
      return;
    }
    if (before === problem) return;
    this.#reportedProblems.set(id, problem);
    logger.error(
      { socket: id, problem },
      "a port of the ingress can't be opened: it is tried again every ten seconds, or can be changed or turned off by --ingress-http-port and --ingress-https-port",
    );
    this.#events.event(
      {
        apiVersion: "networking.k8s.io/v1",
        kind: "IngressClass",
        name: ingressClassName,
      },
      "Warning",
      "PortUnavailable",
      `the ${id} port can't be opened: ${problem}`,
    );
  }
}

/** Keys of Ingresses are namespace/name, those of the Gateway API begin with the kind and a colon. */
function isGatewayKey(key: string): boolean {
  return key.includes(":");
}
