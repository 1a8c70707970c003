// Objects of one process that has no API server, as a Transport: what is written for a Client works on them unchanged, as
// long as it reads, follows caches, creates, updates and deletes. Only the present state is kept; a watch, a patch, a
// subresource or a selector of a list is refused by name.
// Invariants: an object has a uid, and a resourceVersion that only grows; objects handed out are frozen.
import { randomUUID } from "node:crypto";
import { errors } from "../api/errors.ts";
import {
  objectKey,
  type GroupVersionResource,
  type KubeList,
  type KubeObject,
} from "../api/object.ts";
import { deepFreeze } from "../api/objects/deep-freeze.ts";
import type { WatchStream } from "./client.ts";
import type { ResourceHandler } from "./informer.ts";
import { ObjectStore } from "./object-store.ts";
import type { ApiRequest, ObjectCache, Transport } from "./transport.ts";

/** The objects of one resource and who follows them. */
interface Kept {
  readonly objects: ObjectStore<KubeObject>;
  readonly handlers: Set<ResourceHandler<KubeObject>>;
}

export class MemoryObjects implements Transport {
  readonly #kept = new Map<string, Kept>();
  #version = 0;

  /** Creates it, or replaces the one of the same name; the uid of the one before stays unless the object has another. */
  put<T extends KubeObject>(resource: GroupVersionResource, object: T): T {
    const { objects, handlers } = this.#of(resource);
    const before = objects.get(objectKey(object));
    const stored = deepFreeze({
      ...structuredClone(object),
      metadata: {
        ...structuredClone(object.metadata),
        uid: object.metadata.uid ?? before?.metadata.uid ?? randomUUID(),
        resourceVersion: String(++this.#version),
      },
    });
    objects.set(stored);
    for (const handler of handlers)
      if (before) handler.onUpdate?.(before, stored);
      else handler.onAdd?.(stored);
    return stored;
  }

  /** Returns whether there was one. */
  remove(
    resource: GroupVersionResource,
    name: string,
    namespace?: string,
  ): boolean {
    const { objects, handlers } = this.#of(resource);
    const before = objects.delete(
      objectKey({ metadata: { name, ...(namespace ? { namespace } : {}) } }),
    );
    if (!before) return false;
    for (const handler of handlers) handler.onDelete?.(before);
    return true;
  }

  async request(
    request: ApiRequest,
  ): Promise<KubeObject | KubeList<KubeObject>> {
    const { resource, verb, subresource, query = {} } = request;
    if (subresource)
      throw errors.methodNotAllowed(resource, `${verb} of ${subresource}`);
    if (verb === "list") {
      if (query["labelSelector"] || query["fieldSelector"])
        throw errors.methodNotAllowed(resource, "a list by selector");
      return {
        metadata: { resourceVersion: String(this.#version) },
        items: [...this.#of(resource).objects.list(request.namespace)],
      } as unknown as KubeList<KubeObject>;
    }
    if (verb === "create" || verb === "update") return this.#write(request);
    const { name = "", namespace } = request;
    const key = objectKey({
      metadata: { name, ...(namespace ? { namespace } : {}) },
    });
    const found = this.#of(resource).objects.get(key);
    if (!found) throw errors.notFound(resource, name);
    if (verb === "delete") this.remove(resource, name, namespace);
    else if (verb !== "get") throw errors.methodNotAllowed(resource, verb);
    return found;
  }

  #write({ verb, resource, body }: ApiRequest): KubeObject {
    const given = body as KubeObject;
    const { generateName } = given.metadata as { generateName?: string };
    const name =
      given.metadata.name || `${generateName}${randomUUID().slice(0, 5)}`;
    const object = { ...given, metadata: { ...given.metadata, name } };
    const before = this.#of(resource).objects.get(objectKey(object));
    if (verb === "create") {
      if (before) throw errors.alreadyExists(resource, name);
      return this.put(resource, object);
    }
    if (!before) throw errors.notFound(resource, name);
    const { resourceVersion } = given.metadata;
    if (resourceVersion && resourceVersion !== before.metadata.resourceVersion)
      throw errors.stale(resource, name);
    return this.put(resource, object);
  }

  watch(resource: GroupVersionResource): WatchStream<KubeObject> {
    throw errors.methodNotAllowed(resource, "watch");
  }

  raw(method: string, path: string): Promise<never> {
    return Promise.reject(
      errors.badRequest(`${method} ${path}: no API server`),
    );
  }

  cache<T extends KubeObject>(resource: GroupVersionResource): ObjectCache<T> {
    const { objects, handlers } = this.#of(resource) as unknown as {
      objects: ObjectStore<T>;
      handlers: Set<ResourceHandler<T>>;
    };
    return {
      lister: {
        get: (name, namespace) =>
          objects.get(
            objectKey({
              metadata: { name, ...(namespace ? { namespace } : {}) },
            }),
          ),
        list: (namespace) => objects.list(namespace),
      },
      subscribe(handler) {
        for (const object of objects.list()) handler.onAdd?.(object);
        handlers.add(handler);
        return () => handlers.delete(handler);
      },
    };
  }

  close(): Promise<void> {
    for (const { handlers } of this.#kept.values()) handlers.clear();
    return Promise.resolve();
  }

  #of({ group, resource }: GroupVersionResource): Kept {
    const key = `${group}/${resource}`;
    let kept = this.#kept.get(key);
    if (!kept) {
      kept = { objects: new ObjectStore(), handlers: new Set() };
      this.#kept.set(key, kept);
    }
    return kept;
  }
}
