// The client's Transport on the registry itself: no encoding, no sockets. Requests pass the dispatch as those over HTTP
// do, so rules, refusals and answers are the same; answers are shared and frozen. Informers read the watch cache.
// Requests are those of one user and pass admission, not authorization: the composition decides which parts get a
// transport. They are counted, and audited where there is a policy; informers' reads of the cache are no requests.
import { builtinGroupVersions } from "../../api/catalogue.ts";
import type { UserInfo } from "../../api/contracts.ts";
import { ApiError } from "../../api/errors.ts";
import type {
  GroupVersionResource,
  KubeList,
  KubeObject,
} from "../../api/object.ts";
import type { WatchOptions, WatchStream } from "../../client/client.ts";
import { checkRequest } from "../../client/http-paths.ts";
import { watchQuery } from "../../client/http-watch.ts";
import type { ResourceHandler } from "../../client/informer.ts";
import type {
  ApiRequest,
  ObjectCache,
  Transport,
} from "../../client/transport.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import { deepFreeze } from "../../api/objects/deep-freeze.ts";
import { perform } from "../dispatch/perform.ts";
import { pathNotFound } from "../request/refusals.ts";
import { checkVerb } from "../dispatch/places.ts";
import {
  callOf,
  type Outcome,
  type RequestContext,
} from "../dispatch/request.ts";
import { keepWatch, openWatch, watchTimeoutMs } from "../dispatch/watch.ts";
import { mediaTypeOfPatch, patchTypeOf } from "../dispatch/patch-types.ts";
import { pageNotFound } from "../request/route.ts";
import type { Endpoint } from "../registry/endpoint.ts";
import type { Listed } from "../registry/verbs/list.ts";
import { listMetadata } from "../registry/verbs/list-metadata.ts";
import type { Registry } from "../registry/registry.ts";
import { objectBody } from "./object-body.ts";
import {
  RequestRecorder,
  type RecordedRequest,
  type RecorderOptions,
} from "./request-recorder.ts";
import { served, WatchQueue } from "./watch-queue.ts";
import { typed } from "../resources/typed.ts";

type RawRequest = (
  user: UserInfo,
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ status: number; body: unknown }>;

interface InProcessOptions extends RecorderOptions {
  readonly registry: Registry;
  readonly rawRequest: RawRequest;
  /** Undefined: the resource is this server's own. */
  readonly elsewhere: (
    resource: GroupVersionResource,
    user: UserInfo,
  ) => Pick<Transport, "request" | "watch"> | undefined;
  readonly bookmarkIntervalMs: number;
}

/** Objects that are parsed between two looks at the clock. */
const itemsPerLook = 8;
const nothing: ObjectCache<never> = {
  lister: { get: () => undefined, list: () => [] },
  subscribe: () => () => undefined,
};

export class InProcessTransport implements Transport {
  readonly #stops = new Set<() => void>();
  readonly #recorder: RequestRecorder;

  constructor(private readonly options: InProcessOptions) {
    this.#recorder = new RequestRecorder(options);
  }

  /** Watches and informers that are open. */
  get openStreams(): number {
    return this.#stops.size;
  }

  request(request: ApiRequest): Promise<KubeObject | KubeList<KubeObject>> {
    const elsewhere = this.#elsewhere(request.resource);
    if (elsewhere) return elsewhere.request(request);
    return this.#recorder.record(request, async (context) => {
      const endpoint = this.#place(request, context);
      const { patch } = request;
      const { trail } = context;
      if (request.verb === "patch" && !patch) patchTypeOf(undefined);
      context.body = objectBody(
        request.body,
        patch,
        trail &&
          ((text, type) => trail.receivedPatch(text, mediaTypeOfPatch(type))),
      );
      const performing = perform(context);
      const outcome =
        performing instanceof Promise ? await performing : performing;
      const answer =
        "listed" in outcome
          ? await this.#listOf(endpoint, outcome.listed)
          : shown(endpoint, outcome);
      return { status: outcome.status, answer };
    });
  }

  watch(
    resource: GroupVersionResource,
    options: WatchOptions,
  ): WatchStream<KubeObject> {
    const elsewhere = this.#elsewhere(resource);
    if (elsewhere) return elsewhere.watch(resource, options);
    const { registry, bookmarkIntervalMs } = this.options;
    const { namespace = "" } = options;
    const query = watchQuery(options);
    const request = { verb: "watch", resource, namespace, query } as const;
    const queue = new WatchQueue();
    const open = async (context: RequestContext): Promise<void> => {
      const endpoint = this.#place(request, context);
      context.body = objectBody(undefined, undefined);
      const call = callOf(context);
      const timeoutMs = watchTimeoutMs(call.query) ?? Infinity;
      const live = await openWatch(call, queue.sink(endpoint));
      const close = keepWatch(live, {
        clock: registry.clock,
        timeoutMs,
        bookmarkIntervalMs,
        finish: () => queue.end(),
      });
      queue.onEnd(close);
    };
    this.#recorder
      .recordWatch(request, open, (callback) => queue.onEnd(callback))
      .catch((error: unknown) => queue.fail(error));
    const stop = (): void => queue.close();
    this.#stops.add(stop);
    queue.onEnd(() => this.#stops.delete(stop));
    return queue;
  }

  raw(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }> {
    const { rawRequest, user } = this.options;
    return rawRequest(user, method, path, body);
  }

  cache<T extends KubeObject>(
    resource: GroupVersionResource,
  ): ObjectCache<T> | undefined {
    if (this.#elsewhere(resource)) return undefined;
    if (this.#isSwitchedOff(resource)) return nothing;
    let endpoint = this.#endpoint(resource);
    // Kinds that must be converted outside of this process are listed and watched.
    if (endpoint.converts) return undefined;
    const { group, version, resource: plural } = resource;
    const { registry } = this.options;
    // A kind that is gone is read as it was until it comes back, as the readers of a watch do.
    const present = (): Endpoint => {
      if (endpoint.stored?.cache.closed)
        endpoint = registry.endpoint(group, version, plural) ?? endpoint;
      return endpoint;
    };
    const show = (entry: CacheEntry): T => typed<T>(served(present(), entry));
    return {
      lister: {
        get: (name, namespace = "") => {
          const { stored } = present();
          const entry = stored?.cache.get(stored.keyOf(namespace, name));
          return entry && show(entry);
        },
        list: (namespace = "") =>
          present().stored?.cache.entries(namespace).map(show) ?? [],
      },
      subscribe: (handler: ResourceHandler<T>) => {
        const stop = registry.kinds.follow(
          group,
          plural,
          ({ entry, previous }) => {
            if (entry && previous)
              handler.onUpdate?.(show(previous), show(entry));
            else if (entry) handler.onAdd?.(show(entry));
            else if (previous) handler.onDelete?.(show(previous));
          },
          true,
        );
        this.#stops.add(stop);
        return () => {
          this.#stops.delete(stop);
          stop();
        };
      },
    };
  }

  close(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#stops.clear();
    return Promise.resolve();
  }

  #elsewhere(
    resource: GroupVersionResource,
  ): Pick<Transport, "request" | "watch"> | undefined {
    return this.options.elsewhere(resource, this.options.user);
  }

  /** A built-in resource that --runtime-config took away: parts of the process that follow it see no objects. */
  #isSwitchedOff({ group, version, resource }: GroupVersionResource): boolean {
    return (
      !this.options.registry.catalogue.resource(group, version, resource) &&
      builtinGroupVersions.some(
        (one) =>
          one.group === group &&
          one.version === version &&
          one.resources.includes(resource),
      )
    );
  }

  /** Throws ApiError 404. */
  #endpoint({ group, version, resource }: GroupVersionResource): Endpoint {
    const { registry } = this.options;
    const endpoint = registry.endpoint(group, version, resource);
    if (endpoint) return endpoint;
    throw registry.servesGroup(group)
      ? pathNotFound()
      : new ApiError({
          code: 404,
          reason: "NotFound",
          message: pageNotFound().text.trim(),
        });
  }

  /** Throws ApiError 400, 404, 405. */
  #place(request: RecordedRequest, context: RequestContext): Endpoint {
    checkRequest(request);
    const endpoint = this.#endpoint(request.resource);
    const { verb, namespace = "", name = "", subresource = "" } = request;
    checkVerb(endpoint, { namespace, name, subresource }, verb);
    context.placeAt(this.options.registry, endpoint);
    context.verb = verb;
    return endpoint;
  }

  /** The objects of a long list are parsed in slices of time. */
  async #listOf(
    endpoint: Endpoint,
    listed: Listed,
  ): Promise<KubeList<KubeObject>> {
    const { slices } = this.options.registry;
    const items: KubeObject[] = [];
    for (const [index, entry] of listed.entries.entries()) {
      items.push(served(endpoint, entry));
      if (index % itemsPerLook === 0 && slices.over) await slices.next();
    }
    return {
      apiVersion: endpoint.apiVersion,
      kind: endpoint.listKind,
      metadata: listMetadata(listed, endpoint.custom),
      items,
    };
  }
}

function shown(
  endpoint: Endpoint,
  outcome: Exclude<Outcome, { listed: Listed }>,
): KubeObject {
  if ("entry" in outcome) return served(endpoint, outcome.entry);
  return deepFreeze(outcome.value) as KubeObject;
}
