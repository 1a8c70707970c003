// The ingress controller: the proxy's thread and what feeds it. The thread is started with the first object to serve, and
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
import { ProxyFeed } from "./feed/proxy-feed.ts";
import { ingressFamilies } from "./ingress-metrics.ts";
import { IngressThread } from "./ingress-thread.ts";
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
  readonly #events: EventRecorder;
  readonly #nodes: Informer<Node>;
  readonly #disposers: (() => void)[] = [];
  readonly #sockets = new Map<string, SocketState>();
  readonly #reportedProblems = new Map<string, string>();
  #sentSockets = "";
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
      planOf: (key) => this.#source.planOf(key),
      onProblems: (key, problems) => this.#source.setProblems(key, problems),
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
    const refresh = (): void => this.#source.refreshStatuses();
    const addressesOf = (node: Node): string =>
      JSON.stringify(node.status?.addresses ?? []);
    this.#disposers.push(
      this.#nodes.addHandler({
        onAdd: refresh,
        onUpdate: (old, now) => {
          if (addressesOf(old) !== addressesOf(now)) refresh();
        },
        onDelete: refresh,
      }),
    );
    await this.#nodes.synced();
    await this.#feed.start();
    await this.#source.start();
  }

  /** Requests under way have their grace. */
  async stop(): Promise<void> {
    for (const dispose of this.#disposers.splice(0)) dispose();
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

  /** Those of what there is to serve. */
  #openSockets(): void {
    const { address, httpPort, httpsPort } = this.#options;
    const wanted: SocketSpec[] = [];
    const add = (id: string, port: number | undefined, tls: boolean): void => {
      if (port !== undefined)
        wanted.push({
          id,
          port,
          tls,
          ...(address === undefined ? {} : { address }),
        });
    };
    if (this.#source.any) {
      add("http", httpPort, false);
      add("https", httpsPort, true);
      this.#thread.start();
    }
    const text = JSON.stringify(wanted);
    if (text === this.#sentSockets) return;
    this.#sentSockets = text;
    this.#thread.post({ kind: "sockets", sockets: wanted });
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
