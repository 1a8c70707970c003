// Keeps an ObjectStore equal to the server's state over list and watch, as the reference's reflector does: one list (or
// a streaming list where the server has it), then a watch from its resourceVersion, resumed from the last version seen
// (bookmarks count), a new list when history is gone (410), back-off with jitter in between.
//
// Invariants: handlers see each object's versions in order; a relist is turned into the adds, updates and deletes that
// lead from the old state to the new one; objects are frozen before anybody sees them, and those that came over HTTP have no
// managedFields: these take half of a small object's memory, and no part reads them (the reference's informers leave
// them out, too).
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import { ApiError, isExpired } from "../api/errors.ts";
import { objectKey } from "../api/object.ts";
import type { KubeList, KubeObject } from "../api/object.ts";
import { Backoff, sleep } from "../api/queueing/backoff.ts";
import type { ResourceRef, WatchStream } from "./client.ts";
import { deepFreeze } from "../api/objects/deep-freeze.ts";
import type { InformerOptions } from "./informer.ts";
import { ObjectStore } from "./object-store.ts";
import { SharedInformer } from "./shared-informer.ts";
import type { Transport } from "./transport.ts";

const initialEventsEnd = "k8s.io/initial-events-end";
/** Watches end by themselves after 5 to 10 minutes, so that connections spread over servers again. */
const minWatchSeconds = 300;
/** A watch shorter than this that gave nothing counts as a failure. */
const shortWatchMs = 1000;
const pageSize = 500;

interface ReflectorOptions {
  transport: Transport;
  clock: Clock;
  logger: Logger;
  /** The resource is not served: its definition may be gone. */
  absent?: () => void;
}

/** Starts at once; stop() closes the watch and ends the loop. */
export function listInformer<T extends KubeObject>(
  ref: ResourceRef<T>,
  options: InformerOptions<T>,
  environment: ReflectorOptions,
): { informer: SharedInformer<T>; stop: () => void } {
  const reflector = new Reflector<T>(ref, options, environment);
  void reflector.run();
  return { informer: reflector.informer, stop: () => reflector.stop() };
}

class Reflector<T extends KubeObject> {
  readonly informer: SharedInformer<T>;
  readonly #store = new ObjectStore<T>();
  readonly #stopped = new AbortController();
  readonly #backoff = new Backoff({ baseMs: 100, maxMs: 30_000, jitter: 0.5 });
  #stream: WatchStream<KubeObject> | undefined;
  /** "" means: start again from the newest state. */
  #resourceVersion = "";
  #firstList = true;
  #streamingLists = true;

  constructor(
    private readonly ref: ResourceRef<T>,
    private readonly options: InformerOptions<T>,
    private readonly environment: ReflectorOptions,
  ) {
    this.informer = new SharedInformer<T>(
      this.#store,
      environment.logger.child({ resource: ref.resource }),
    );
  }

  stop(): void {
    this.#stopped.abort();
    this.#stream?.close();
  }

  async run(): Promise<void> {
    const { clock, logger } = this.environment;
    while (!this.#stopped.signal.aborted) {
      try {
        if (this.#resourceVersion === "") await this.#start();
        else await this.#follow();
      } catch (error) {
        if (error instanceof ApiError && error.code === 404)
          this.environment.absent?.();
        if (this.#stopped.signal.aborted) return;
        if (isExpired(error)) {
          this.#resourceVersion = "";
          logger.debug(
            { resource: this.ref.resource },
            "watch history is gone, listing anew",
          );
          // The first one is expected after a pause: go on at once.
          if (this.#backoff.failures === 0) {
            this.#backoff.nextMs();
            continue;
          }
        } else {
          logger.warn(
            { err: error, resource: this.ref.resource },
            "list or watch failed, trying again",
          );
        }
        await sleep(clock, this.#backoff.nextMs(), this.#stopped.signal);
      }
    }
  }

  /**
   * Brings the store up to a first full state. A server that knows streaming lists may still have none of a resource: one over
   * an etcd without progress requests answers with an error inside of the watch.
   */
  async #start(): Promise<void> {
    if (this.#streamingLists) {
      try {
        return await this.#streamingList();
      } catch (error) {
        // What a list would meet, too, is left to the loop.
        const hasStarted = this.#resourceVersion !== "";
        if (
          hasStarted ||
          !(error instanceof ApiError) ||
          isExpired(error) ||
          error.code === 429
        )
          throw error;
        this.#streamingLists = ![400, 403, 405, 422].includes(error.code);
      }
    }
    await this.#list();
  }

  async #list(): Promise<void> {
    const { transport } = this.environment;
    const items: T[] = [];
    const query = this.#query();
    if (this.#firstList) query["resourceVersion"] = "0";
    query["limit"] = String(pageSize);
    for (;;) {
      const page = (await transport.request({
        verb: "list",
        resource: this.ref,
        ...(this.options.namespace
          ? { namespace: this.options.namespace }
          : {}),
        query,
      })) as KubeList<T>;
      items.push(...page.items);
      this.#resourceVersion = page.metadata.resourceVersion ?? "";
      if (!page.metadata.continue) break;
      query["continue"] = page.metadata.continue;
      delete query["resourceVersion"];
    }
    this.#replace(items);
  }

  /** A watch that first sends the whole state; ends where an ordinary one would. */
  async #streamingList(): Promise<void> {
    const items: T[] = [];
    let initial = true;
    await this.#consume(
      { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" },
      (event) => {
        if (!initial) return false;
        if (event.type === "BOOKMARK") {
          if (!event.object.metadata.annotations?.[initialEventsEnd])
            return true;
          initial = false;
          this.#resourceVersion = event.object.metadata.resourceVersion ?? "";
          // The watch goes on for minutes, and keeps this list until its end.
          this.#replace(items.splice(0));
        } else if (event.type !== "DELETED") items.push(event.object as T);
        return true;
      },
    );
    if (initial && !this.#stopped.signal.aborted)
      throw new Error("streaming list ended before its end was marked");
  }

  async #follow(): Promise<void> {
    const startedMs = this.environment.clock.monotonic();
    const before = this.#resourceVersion;
    await this.#consume({ resourceVersion: before }, () => false);
    const lastedMs = this.environment.clock.monotonic() - startedMs;
    if (
      this.#resourceVersion === before &&
      lastedMs < shortWatchMs &&
      !this.#stopped.signal.aborted
    )
      await sleep(
        this.environment.clock,
        this.#backoff.nextMs(),
        this.#stopped.signal,
      );
  }

  /** Reads one watch to its end. `take` gets each event first and says whether it dealt with it. */
  async #consume(
    start: {
      resourceVersion?: string;
      resourceVersionMatch?: "NotOlderThan";
      sendInitialEvents?: boolean;
    },
    take: (event: { type: string; object: KubeObject }) => boolean,
  ): Promise<void> {
    const { namespace, labelSelector, fieldSelector } = this.options;
    const stream = this.environment.transport.watch(this.ref, {
      ...(namespace ? { namespace } : {}),
      ...(labelSelector ? { labelSelector } : {}),
      ...(fieldSelector ? { fieldSelector } : {}),
      allowWatchBookmarks: true,
      timeoutSeconds: Math.floor(minWatchSeconds * (1 + Math.random())),
      ...start,
    });
    this.#stream = stream;
    try {
      for await (const event of stream) {
        if (this.#stopped.signal.aborted) return;
        this.#backoff.reset();
        if (take(event)) continue;
        const version = event.object.metadata.resourceVersion;
        if (event.type === "DELETED") this.#delete(event.object as T);
        else if (event.type !== "BOOKMARK") this.#set(event.object as T);
        if (version) this.#resourceVersion = version;
      }
    } finally {
      stream.close();
      this.#stream = undefined;
    }
  }

  #query(): Record<string, string> {
    const { labelSelector, fieldSelector } = this.options;
    return {
      ...(labelSelector ? { labelSelector } : {}),
      ...(fieldSelector ? { fieldSelector } : {}),
    };
  }

  #set(object: T): void {
    dropManagedFields(object);
    deepFreeze(object);
    const old = this.#store.set(object);
    if (old && old.metadata.uid !== object.metadata.uid) {
      this.informer.deliver(old, undefined);
      this.informer.deliver(undefined, object);
    } else this.informer.deliver(old, object);
  }

  #delete(object: T): void {
    const old = this.#store.delete(objectKey(object));
    if (old) this.informer.deliver(old, undefined);
  }

  #replace(items: readonly T[]): void {
    const seen = new Set<string>();
    for (const item of items) {
      const key = objectKey(item);
      seen.add(key);
      const old = this.#store.get(key);
      if (old?.metadata.resourceVersion !== item.metadata.resourceVersion)
        this.#set(item);
    }
    for (const key of this.#store.keys()) {
      if (seen.has(key)) continue;
      const old = this.#store.delete(key);
      if (old) this.informer.deliver(old, undefined);
    }
    this.#firstList = false;
    this.informer.markSynced();
  }
}

/**
 * An update that has none leaves the server's as they are. An object of a server in this process is frozen, and shared
 * with the server: it stays whole.
 */
function dropManagedFields(object: KubeObject): void {
  if (object.metadata.managedFields === undefined || Object.isFrozen(object))
    return;
  // Neither deleted nor spread: objects of one kind keep one hidden class.
  const metadata: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(object.metadata))
    if (key !== "managedFields") metadata[key] = value;
  object.metadata = metadata as unknown as KubeObject["metadata"];
}
