// The client's Transport on the registry itself: no encoding, no sockets. Informers read the watch cache; what callers
// get is shared and frozen. Requests are those of one user and pass admission, not authorization: who composes the
// server decides whom to hand one to.
import { builtinGroupVersions } from "../api/catalogue.ts";
import type { UserInfo } from "../api/contracts.ts";
import { errors } from "../api/errors.ts";
import type {
  AnyObject,
  GroupVersionResource,
  KubeList,
  KubeObject,
} from "../api/object.ts";
import { ApiError } from "../api/errors.ts";
import type { DeleteOptions } from "../api/types/meta-v1.ts";
import type {
  WatchEvent,
  WatchOptions,
  WatchStream,
} from "../client/client.ts";
import type { ResourceHandler } from "../client/informer.ts";
import type {
  ApiRequest,
  ObjectCache,
  Transport,
} from "../client/transport.ts";
import type { CacheEntry } from "./cache/cache-entry.ts";
import { deepFreeze } from "./cache/deep-freeze.ts";
import type { CacheEvent } from "./cache/history.ts";
import { Call } from "./registry/call.ts";
import { create } from "./registry/create.ts";
import { removeCollection } from "./registry/delete-collection.ts";
import { remove } from "./registry/delete.ts";
import type { Endpoint } from "./registry/endpoint.ts";
import { get } from "./registry/get.ts";
import { list } from "./registry/list.ts";
import { patch } from "./registry/patch.ts";
import { patchOf } from "./registry/patch-text.ts";
import type { Registry } from "./registry/registry.ts";
import { patchSubresource, runSubresource } from "./registry/subresource.ts";
import { update } from "./registry/update.ts";
import { watch, type OpenWatch, type WatchType } from "./registry/watch.ts";

export type RawRequest = (
  user: UserInfo,
  method: string,
  path: string,
  body?: unknown,
) => Promise<{ status: number; body: unknown }>;

const nothing: ObjectCache<never> = {
  lister: { get: () => undefined, list: () => [] },
  subscribe: () => () => undefined,
};

export class InProcessTransport implements Transport {
  readonly #stops = new Set<() => void>();

  constructor(
    private readonly registry: Registry,
    private readonly user: UserInfo,
    private readonly rawRequest: RawRequest,
    private readonly component: string,
  ) {}

  async request(
    request: ApiRequest,
  ): Promise<KubeObject | KubeList<KubeObject>> {
    const call = this.#call(request.resource, request);
    const { endpoint } = call;
    const { verb, subresource = "" } = request;
    if (!endpoint.isObject(subresource)) {
      if (verb === "patch" && endpoint.strategy.subresources?.[subresource])
        return patchSubresource(
          call,
          request.patch!.type,
          patchOf(request.patch!.body),
        );
      if (
        verb === "get" ||
        verb === "create" ||
        verb === "update" ||
        verb === "delete"
      )
        return runSubresource(
          call,
          verb,
          request.body && (copy(request.body) as AnyObject),
        );
    }
    switch (verb) {
      case "get":
        return served(endpoint, await get(call));
      case "list": {
        const listed = await list(call);
        return listOf(endpoint, listed);
      }
      case "create": {
        const body = named(endpoint, copy(request.body!) as AnyObject);
        const { virtual } = endpoint.strategy;
        if (virtual) return virtual.create(body, call);
        return served(endpoint, await create(call, body));
      }
      case "update":
        return served(
          endpoint,
          (
            await update(
              call,
              named(endpoint, copy(request.body!) as AnyObject),
            )
          ).entry,
        );
      case "patch":
        return served(
          endpoint,
          (
            await patch(
              call,
              request.patch!.type,
              patchOf(copy(request.patch!.body)),
            )
          ).entry,
        );
      case "delete": {
        const options = (
          request.body ? copy(request.body) : {}
        ) as DeleteOptions;
        return served(endpoint, (await remove(call, options)).entry);
      }
      case "deletecollection": {
        const options = (
          request.body ? copy(request.body) : {}
        ) as DeleteOptions;
        return listOf(endpoint, await removeCollection(call, options));
      }
    }
  }

  watch(
    resource: GroupVersionResource,
    options: WatchOptions,
  ): WatchStream<KubeObject> {
    const query: Record<string, string> = {};
    for (const [name, value] of Object.entries(options))
      if (value !== undefined && name !== "namespace")
        query[name] = String(value);
    const call = this.#call(resource, {
      query,
      ...(options.namespace ? { namespace: options.namespace } : {}),
    });
    const stream = new EventQueue(call);
    this.#stops.add(() => stream.close());
    return stream;
  }

  raw(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }> {
    return this.rawRequest(this.user, method, path, body);
  }

  cache<T extends KubeObject>(resource: GroupVersionResource): ObjectCache<T> {
    if (this.#isSwitchedOff(resource)) return nothing;
    const endpoint = this.#endpoint(resource);
    const cache = endpoint.stored?.cache;
    const show = (entry: CacheEntry): T =>
      served(endpoint, entry) as unknown as T;
    return {
      lister: {
        get: (name, namespace = "") => {
          const entry = cache?.get(endpoint.stored!.keyOf(namespace, name));
          return entry && show(entry);
        },
        list: (namespace = "") =>
          cache ? cache.entries(namespace).map(show) : [],
      },
      subscribe: (handler: ResourceHandler<T>) => {
        if (!cache) return () => undefined;
        const stop = cache.listen(({ entry, previous }) => {
          if (entry && previous)
            handler.onUpdate?.(show(previous), show(entry));
          else if (entry) handler.onAdd?.(show(entry));
          else if (previous) handler.onDelete?.(show(previous));
        });
        for (const entry of cache.entries()) handler.onAdd?.(show(entry));
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

  /** A built-in resource that --runtime-config took away: parts of the process that follow it see no objects. */
  #isSwitchedOff({ group, version, resource }: GroupVersionResource): boolean {
    return (
      !this.registry.catalogue.resource(group, version, resource) &&
      builtinGroupVersions.some(
        (one) =>
          one.group === group &&
          one.version === version &&
          one.resources.includes(resource),
      )
    );
  }

  #endpoint({ group, version, resource }: GroupVersionResource): Endpoint {
    const endpoint = this.registry.endpoint(group, version, resource);
    if (!endpoint)
      throw new ApiError({
        code: 404,
        reason: "NotFound",
        message: "the server could not find the requested resource",
        details: {},
      });
    return endpoint;
  }

  #call(
    resource: GroupVersionResource,
    request: Pick<
      ApiRequest,
      "namespace" | "name" | "subresource" | "query" | "body"
    >,
  ): Call {
    const endpoint = this.#endpoint(resource);
    const query = new URLSearchParams(request.query);
    const bodyNamespace = (request.body as KubeObject | undefined)?.metadata
      ?.namespace;
    const validation = query.get("fieldValidation");
    return new Call(this.registry, {
      user: this.user,
      endpoint,
      namespace: endpoint.info.namespaced
        ? (request.namespace ?? bodyNamespace ?? "")
        : "",
      name:
        request.name ??
        (request.body as KubeObject | undefined)?.metadata?.name ??
        "",
      subresource: request.subresource ?? "",
      dryRun: query.get("dryRun") === "All",
      fieldManager: query.get("fieldManager") ?? "",
      userAgent: this.component,
      force: query.get("force") === "true",
      fieldValidation:
        validation === "Strict" || validation === "Warn"
          ? validation
          : "Ignore",
      query,
    });
  }
}

function served(endpoint: Endpoint, entry: CacheEntry): AnyObject {
  return endpoint.native
    ? entry.object
    : deepFreeze(endpoint.toServed(entry.object as AnyObject));
}

function listOf(
  endpoint: Endpoint,
  listed: Awaited<ReturnType<typeof list>>,
): KubeList<KubeObject> {
  return {
    apiVersion: endpoint.apiVersion,
    kind: `${endpoint.info.kind}List`,
    metadata: {
      resourceVersion: String(listed.revision),
      ...(listed.continue ? { continue: listed.continue } : {}),
    },
    items: listed.entries.map((entry) => served(endpoint, entry)),
  };
}

function named(endpoint: Endpoint, object: AnyObject): AnyObject {
  object.kind = endpoint.info.kind;
  object.apiVersion = endpoint.apiVersion;
  object.metadata ??= {} as AnyObject["metadata"];
  return object;
}

function copy(value: object): object {
  return JSON.parse(JSON.stringify(value)) as object;
}

const maxQueued = 100_000;

/** A watch as an async iterable; events wait in a bounded queue. */
class EventQueue implements WatchStream<KubeObject> {
  readonly #queue: WatchEvent<KubeObject>[] = [];
  readonly #opened: Promise<OpenWatch>;
  #wake: (() => void) | undefined;
  #failure: Error | undefined;
  #closed = false;

  constructor(call: Call) {
    const { endpoint, query } = call;
    const push = (event: WatchEvent<KubeObject>): void => {
      if (this.#queue.length >= maxQueued) {
        this.#failure = errors.expired("the watcher was too slow");
        this.close();
        return;
      }
      this.#queue.push(event);
      this.#wake?.();
    };
    const tell = (type: WatchType, event: CacheEvent): void =>
      push({
        type,
        object:
          type === "DELETED"
            ? lastState(endpoint, event)
            : served(endpoint, event.entry!),
      });
    this.#opened = watch(
      call,
      {
        labelSelector: query.get("labelSelector") ?? "",
        fieldSelector: query.get("fieldSelector") ?? "",
        resourceVersion: query.get("resourceVersion") ?? "",
        resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
        allowWatchBookmarks: query.get("allowWatchBookmarks") === "true",
        sendInitialEvents: query.has("sendInitialEvents")
          ? query.get("sendInitialEvents") === "true"
          : undefined,
      },
      {
        initial: (entries, selected) => {
          for (const entry of entries)
            if (selected(entry))
              push({ type: "ADDED", object: served(endpoint, entry) });
        },
        past: (events, typeOf) => {
          for (const event of events) {
            const type = typeOf(event);
            if (type) tell(type, event);
          }
        },
        event: tell,
        lost: (error) => {
          this.#failure =
            error instanceof Error ? error : new Error(String(error));
          this.close();
        },
        bookmark: (revision, initialEnd) =>
          push({
            type: "BOOKMARK",
            object: {
              kind: endpoint.info.kind,
              apiVersion: endpoint.apiVersion,
              metadata: {
                name: "",
                resourceVersion: String(revision),
                ...(initialEnd
                  ? { annotations: { "k8s.io/initial-events-end": "true" } }
                  : {}),
              },
            },
          }),
      },
    );
    this.#opened.then(
      (opened) => {
        if (this.#closed) opened.close();
      },
      (error: Error) => {
        this.#failure = error;
        this.#wake?.();
      },
    );
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchEvent<KubeObject>> {
    try {
      for (;;) {
        const event = this.#queue.shift();
        if (event) yield event;
        else if (this.#failure) throw this.#failure;
        else if (this.#closed) return;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.close();
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wake?.();
    this.#opened.then(
      (opened) => opened.close(),
      () => undefined,
    );
  }
}

function lastState(endpoint: Endpoint, event: CacheEvent): KubeObject {
  const last = event.previous!.copy();
  last.metadata.resourceVersion = String(event.revision);
  return deepFreeze(endpoint.toServed(last));
}
