// Watches the ConfigMaps and Secrets that mounted volumes were made of: one watch an object, by its name (a node may read
// no others), as long as a pod holds it. An immutable object is read once and not watched any further.
//
// Invariants: onChange is called once for each version that differs from the one seen before, by a read or by the watch.
// No more than maxFollowed objects are watched: the others are read again with their pods, as all are when the server
// refuses the watch.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { Backoff, sleep } from "../../api/queueing/backoff.ts";
import type { ConfigMap, Secret } from "../../api/types/core-v1.ts";
import type { Client, ResourceRef, WatchStream } from "../../client/client.ts";
import type { ObjectName } from "../volumes/payload/payload-names.ts";
import { configMaps, secrets } from "../../client/resources.ts";

type Followed = ConfigMap | Secret;

export const nameKey = ({ resource, namespace, name }: ObjectName): string =>
  `${resource}/${namespace}/${name}`;

interface FollowedOptions {
  client: Client;
  clock: Clock;
  logger: Logger;
  /** `object` undefined: it was deleted. */
  onChange: (key: string, object: Followed | undefined) => void;
}

/** Over HTTP each watch is a connection. */
const maxFollowed = 512;
/** A pod's start comes first. */
const delayMs = 100;
const minWatchSeconds = 300;
/** One that lasted so long was no failure. */
const longWatchMs = 1000;

export class FollowedObjects {
  readonly #options: FollowedOptions;
  readonly #followed = new Map<string, FollowedObject>();

  constructor(options: FollowedOptions) {
    this.#options = options;
  }

  follow(of: ObjectName): void {
    const key = nameKey(of);
    if (this.#followed.has(key) || this.#followed.size >= maxFollowed) return;
    const followed = new FollowedObject(this.#options, of);
    this.#followed.set(key, followed);
    void followed.run();
  }

  forget(key: string): void {
    this.#followed.get(key)?.stop();
    this.#followed.delete(key);
  }

  /** What the server answered a reader; `version` "": it is not there. */
  wasRead(key: string, version: string): void {
    this.#followed.get(key)?.wasRead(version);
  }

  close(): void {
    for (const followed of this.#followed.values()) followed.stop();
    this.#followed.clear();
  }
}

class FollowedObject {
  /** The resourceVersion that was read first, then that of the last event; "": it was not there. */
  #seen: string | undefined;
  #immutable = false;
  #stream: WatchStream<Followed> | undefined;
  readonly #stopped = new AbortController();
  readonly #backoff = new Backoff({
    baseMs: 100,
    maxMs: 60_000,
    jitter: 0.5,
  });

  constructor(
    private readonly options: FollowedOptions,
    private readonly of: ObjectName,
  ) {}

  async run(): Promise<void> {
    const { clock, logger } = this.options;
    const { signal } = this.#stopped;
    await sleep(clock, delayMs, signal);
    while (!signal.aborted) {
      const startedMs = clock.monotonic();
      try {
        await this.#watch();
      } catch (error) {
        logger.debug({ err: error, ...this.of }, "can't watch an object");
      }
      if (this.#immutable) return;
      if (clock.monotonic() - startedMs > longWatchMs) this.#backoff.reset();
      await sleep(clock, this.#backoff.nextMs(), signal);
    }
  }

  wasRead(version: string): void {
    this.#seen ??= version;
  }

  stop(): void {
    this.#stopped.abort();
    this.#stream?.close();
  }

  /** Without a version: the server begins with the object as it is. */
  async #watch(): Promise<void> {
    const { client } = this.options;
    const { resource, namespace, name } = this.of;
    const ref = resource === "configmaps" ? configMaps : secrets;
    const stream = client.resource(ref as ResourceRef<Followed>).watch({
      namespace,
      fieldSelector: `metadata.name=${name}`,
      timeoutSeconds: Math.floor(minWatchSeconds * (1 + Math.random())),
    });
    this.#stream = stream;
    try {
      for await (const { type, object } of stream) {
        if (this.#stopped.signal.aborted) return;
        if (type === "BOOKMARK") continue;
        this.#changed(type === "DELETED" ? undefined : object);
        if (this.#immutable) return;
      }
    } finally {
      stream.close();
      this.#stream = undefined;
    }
  }

  #changed(object: Followed | undefined): void {
    const before = this.#seen;
    this.#immutable = object?.immutable === true;
    this.#seen = object?.metadata.resourceVersion ?? "";
    if (before !== this.#seen) this.options.onChange(nameKey(this.of), object);
  }
}
