// The informers of all resources that can be collected: those that can be listed, watched and deleted, by discovery, looked
// for again whenever a definition of resources changes. Owns its informers' handlers: stop() removes them.
import type { Logger } from "pino";
import type { Clock, Timer } from "../../api/clock.ts";
import type { KubeObject } from "../../api/object.ts";
import { Backoff, sleep } from "../../api/queueing/backoff.ts";
import type { Client, ResourceRef } from "../../client/client.ts";
import {
  apiServices,
  customResourceDefinitions,
} from "../../client/resources.ts";
import type {
  Discovered,
  DiscoveredResource,
  Discovery,
} from "../discovery/resource-discovery.ts";

/** A resource that does not answer must not keep the others from being collected. */
const maxSyncWaitMs = 30_000;
/** A definition is served a moment after it is established. */
const settleMs = 1000;
const retries = { baseMs: 1000, maxMs: 30_000 };
const neededVerbs = ["delete", "list", "watch"];

interface MonitorOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly discovery: Discovery;
  observe(ref: ResourceRef, object: KubeObject): void;
  removed(object: KubeObject): void;
  /** All objects of a resource have been observed in another version: what is left of the former one is gone. */
  moved(from: ResourceRef, to: ResourceRef): void;
  /** Called each time all resources are watched, and have synced or taken too long. */
  ready(): void;
}

interface Monitor {
  readonly ref: ResourceRef;
  /** Removes the handler. */
  readonly detach: () => void;
}

export class ResourceMonitors {
  readonly #options: MonitorOptions;
  /** By `group/resource`. */
  readonly #monitors = new Map<string, Monitor>();
  readonly #definitionHandlers: (() => void)[] = [];
  readonly #stopped = new AbortController();
  #work: Promise<void> = Promise.resolve();
  #settling: Timer | undefined;

  constructor(options: MonitorOptions) {
    this.#options = options;
  }

  start(): void {
    const { client } = this.#options;
    this.#refresh();
    let replaying = true;
    const changed = (): void => this.#definitionsChanged();
    const handler = {
      onAdd: () => {
        if (!replaying) changed();
      },
      onUpdate: changed,
      onDelete: changed,
    };
    this.#definitionHandlers.push(
      client.informer(customResourceDefinitions).addHandler(handler),
      client.informer(apiServices).addHandler(handler),
    );
    replaying = false;
  }

  stop(): void {
    this.#stopped.abort();
    this.#settling?.cancel();
    for (const detach of this.#definitionHandlers.splice(0)) detach();
    for (const { detach } of this.#monitors.values()) detach();
    this.#monitors.clear();
  }

  #definitionsChanged(): void {
    const { clock, discovery } = this.#options;
    discovery.invalidate();
    this.#settling ??= clock.after(settleMs, () => {
      this.#settling = undefined;
      discovery.invalidate();
      this.#refresh();
    });
  }

  #refresh(): void {
    this.#work = this.#work.then(() => this.#watchAll());
  }

  /** Tries until discovery answers. */
  async #watchAll(): Promise<void> {
    const { clock, logger, discovery, ready } = this.#options;
    const { signal } = this.#stopped;
    const backoff = new Backoff(retries);
    while (!signal.aborted)
      try {
        await this.#follow(await discovery.resources());
        if (!signal.aborted) ready();
        return;
      } catch (error) {
        logger.warn({ err: error }, "discovery failed, trying again");
        await sleep(clock, backoff.nextMs(), signal);
      }
  }

  /** Resolves when what is newly watched has synced, or its time is over. */
  async #follow({ resources, failures }: Discovered): Promise<void> {
    const { clock } = this.#options;
    const wanted = new Map(
      resources
        .filter(isCollectable)
        .map((ref) => [`${ref.group}/${ref.resource}`, ref]),
    );
    // The monitors of a failed group are kept: the group may only be away for a moment.
    if (failures.length === 0)
      for (const [key, { detach }] of this.#monitors)
        if (!wanted.has(key)) {
          detach();
          this.#monitors.delete(key);
        }
    const synced = [...wanted].map(([key, ref]) => this.#monitor(key, ref));
    const over = new AbortController();
    await Promise.race([
      Promise.all(synced),
      sleep(
        clock,
        maxSyncWaitMs,
        AbortSignal.any([over.signal, this.#stopped.signal]),
      ),
    ]);
    over.abort();
  }

  /** One that follows another version ends: that version may not be served any more, and shows nothing from then on. */
  async #monitor(
    key: string,
    { group, version, resource, kind, namespaced }: DiscoveredResource,
  ): Promise<void> {
    const former = this.#monitors.get(key);
    if (former?.ref.version === version || this.#stopped.signal.aborted) return;
    const { client, observe, removed, moved } = this.#options;
    const ref = { group, version, resource, kind, namespaced };
    const informer = client.informer(ref);
    const detach = informer.addHandler({
      onAdd: (object) => observe(ref, object),
      onUpdate: (old, object) => {
        if (old.metadata.resourceVersion !== object.metadata.resourceVersion)
          observe(ref, object);
      },
      onDelete: removed,
    });
    this.#monitors.set(key, { ref, detach });
    former?.detach();
    await informer.synced();
    if (former && this.#monitors.get(key)?.ref === ref) moved(former.ref, ref);
  }
}

function isCollectable({ resource, verbs }: DiscoveredResource): boolean {
  return (
    resource !== "events" && neededVerbs.every((verb) => verbs.includes(verb))
  );
}
