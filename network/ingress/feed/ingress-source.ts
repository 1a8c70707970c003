// The Ingresses of this controller: what the feed makes plans of, and whose status says where they are served. The status
// holds the address of every node that serves them: each controller writes its own node's, leaves those of other nodes,
// and drops those of nodes that are gone.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import { isConflict, isNotFound } from "../../../api/errors.ts";
import { objectKey, splitKey } from "../../../api/object.ts";
import type { Node } from "../../../api/types/core-v1.ts";
import type {
  Ingress,
  IngressClass,
} from "../../../api/types/networking-v1.ts";
import type { Client } from "../../../client/client.ts";
import type { EventRecorder } from "../../../client/event-recorder.ts";
import type { Informer } from "../../../client/informer.ts";
import { ingressClasses, ingresses } from "../../../client/resources.ts";
import { WorkQueue } from "../../../client/work-queue.ts";
import { isOurs } from "./ingress-class.ts";
import {
  ingressPlan,
  type IngressSockets,
  type ObjectPlan,
} from "./ingress-routes.ts";
import { withOwnAddresses } from "./node-addresses.ts";

/** What is applied together is there after so long: no events of what is still on its way. */
const problemDelayMs = 3000;

interface IngressSourceOptions {
  readonly client: Client;
  readonly nodes: Informer<Node>;
  readonly nodeName: string;
  readonly sockets: () => IngressSockets;
  /** Whether a socket of them listens. */
  readonly serving: () => boolean;
  /** The Ingress is to be looked at again. */
  readonly mark: (key: string) => void;
  readonly events: EventRecorder;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class IngressSource {
  readonly #options: IngressSourceOptions;
  readonly #ingresses: Informer<Ingress>;
  readonly #classes: Informer<IngressClass>;
  readonly #statuses: WorkQueue;
  readonly #reports: WorkQueue;
  readonly #ours = new Set<string>();
  readonly #problems = new Map<string, readonly string[]>();
  readonly #reported = new Map<string, string>();
  readonly #disposers: (() => void)[] = [];

  constructor(options: IngressSourceOptions) {
    this.#options = options;
    const { client, clock, logger } = options;
    this.#ingresses = client.informer(ingresses);
    this.#classes = client.informer(ingressClasses);
    this.#statuses = new WorkQueue({
      name: "ingress-status",
      clock,
      logger,
      concurrency: 4,
      process: (key) => this.#writeStatus(key),
      isExpected: isConflict,
    });
    this.#reports = new WorkQueue({
      name: "ingress-problems",
      clock,
      logger,
      process: (key) => {
        this.#report(key);
        return Promise.resolve();
      },
    });
  }

  /** Whether there is an Ingress to serve. */
  get any(): boolean {
    return this.#ours.size > 0;
  }

  async start(): Promise<void> {
    const changed = (ingress: Ingress): void => this.#look(objectKey(ingress));
    const all = (): void => {
      for (const ingress of this.#ingresses.lister.list()) changed(ingress);
    };
    this.#disposers.push(
      this.#classes.addHandler({ onAdd: all, onUpdate: all, onDelete: all }),
      this.#ingresses.addHandler({
        onAdd: changed,
        onUpdate: (old, now) => {
          // Its status alone changes no route; another node may have written it at the same time.
          if (specText(old) !== specText(now)) changed(now);
          else if (this.#ours.has(objectKey(now)))
            this.#statuses.add(objectKey(now));
        },
        onDelete: changed,
      }),
    );
    await Promise.all([this.#ingresses.synced(), this.#classes.synced()]);
    this.#statuses.start();
    this.#reports.start();
  }

  async stop(): Promise<void> {
    for (const dispose of this.#disposers.splice(0)) dispose();
    await Promise.all([this.#statuses.stop(), this.#reports.stop()]);
  }

  /** Undefined: it is gone, or another controller's. */
  planOf(key: string): ObjectPlan | undefined {
    const ingress = this.#own(key);
    return ingress && ingressPlan(ingress, this.#options.sockets());
  }

  setProblems(key: string, problems: readonly string[]): void {
    if (problems.length === 0) {
      this.#problems.delete(key);
      this.#reported.delete(key);
      return;
    }
    this.#problems.set(key, problems);
    this.#reports.addAfter(key, problemDelayMs);
  }

  /** Sockets or nodes have changed. */
  refreshStatuses(): void {
    for (const key of this.#ours) this.#statuses.add(key);
  }

  markAll(): void {
    for (const key of this.#ours) this.#options.mark(key);
  }

  #own(key: string): Ingress | undefined {
    const { namespace, name } = splitKey(key);
    const ingress = this.#ingresses.lister.get(name, namespace);
    return ingress && isOurs(ingress, this.#classes.lister)
      ? ingress
      : undefined;
  }

  #look(key: string): void {
    const ours = this.#own(key) !== undefined;
    if (!ours && !this.#ours.delete(key)) return;
    if (ours) {
      this.#ours.add(key);
      this.#statuses.add(key);
    }
    this.#options.mark(key);
  }

  async #writeStatus(key: string): Promise<void> {
    const ingress = this.#own(key);
    if (!ingress || ingress.metadata.deletionTimestamp) return;
    const { client, nodes, nodeName, serving } = this.#options;
    const current = ingress.status?.loadBalancer?.ingress ?? [];
    const wanted = withOwnAddresses(
      current.flatMap(({ ip }) => ip ?? []),
      nodes.lister.list(),
      nodeName,
      serving(),
    );
    const same =
      current.length === wanted.length &&
      current.every(({ ip }, n) => ip === wanted[n]);
    if (same) return;
    const { namespace, name } = splitKey(key);
    try {
      await client.resource(ingresses).patch(
        name,
        namespace,
        {
          type: "merge",
          body: {
            // Of two nodes that write at once the later one reads again.
            metadata: { resourceVersion: ingress.metadata.resourceVersion },
            status: { loadBalancer: { ingress: wanted.map((ip) => ({ ip })) } },
          },
        },
        { subresource: "status" },
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  #report(key: string): void {
    const ingress = this.#own(key);
    const problems = this.#problems.get(key);
    if (!ingress || !problems) return;
    const text = problems.slice(0, 10).join("; ");
    if (this.#reported.get(key) === text) return;
    this.#reported.set(key, text);
    this.#options.events.event(
      { apiVersion: "networking.k8s.io/v1", kind: "Ingress", ...ingress },
      "Warning",
      "NotServed",
      text,
    );
  }
}

function specText({ metadata, spec }: Ingress): string {
  return `${metadata.generation} ${spec.ingressClassName} ${JSON.stringify(metadata.annotations ?? {})}`;
}
