// How every part talks to the API: one Client, whatever the transport. The HTTP transport lives here; the in-process
// one is given by the API server, which implements Transport on its registry. Errors are ApiError on both.
import type {
  GroupVersionResource,
  KubeList,
  KubeObject,
} from "../api/object.ts";
import type { DeleteOptions } from "../api/types/meta-v1.ts";
import type { Informer, InformerOptions } from "./informer.ts";

/** A resource type together with the TypeScript type of its objects; see client/resources.ts for the constants. */
export interface ResourceRef<
  T extends KubeObject = KubeObject,
> extends GroupVersionResource {
  readonly kind: string;
  readonly namespaced: boolean;
  /** Only for type inference; never set. */
  readonly objectType?: T;
}

/** The objects of a resource: ObjectOf<typeof pods> is the type of a Pod. */
export type ObjectOf<R> = R extends ResourceRef<infer T> ? T : never;

export interface ListOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  resourceVersionMatch?: "Exact" | "NotOlderThan";
  limit?: number;
  continue?: string;
  timeoutSeconds?: number;
}

export interface WatchOptions extends ListOptions {
  allowWatchBookmarks?: boolean;
  sendInitialEvents?: boolean;
}

export interface WriteOptions {
  dryRun?: boolean;
  fieldManager?: string;
  fieldValidation?: "Ignore" | "Warn" | "Strict";
  /** Server-side apply only. */
  force?: boolean;
}

export type Patch =
  | { type: "json"; body: readonly unknown[] }
  | { type: "merge" | "strategic" | "apply"; body: object };

export type WatchEvent<T> =
  | { type: "ADDED" | "MODIFIED" | "DELETED"; object: T }
  /** Only metadata.resourceVersion (and the initial-events-end annotation) is set. */
  | { type: "BOOKMARK"; object: T };

/** Ends without error when the server closes it; throws an ApiError for an ERROR event (410 among them). */
export interface WatchStream<T> extends AsyncIterable<WatchEvent<T>> {
  close(): void;
}

export interface ResourceClient<T extends KubeObject> {
  get(
    name: string,
    namespace?: string,
    options?: { resourceVersion?: string },
  ): Promise<T>;
  list(options?: ListOptions): Promise<KubeList<T>>;
  watch(options?: WatchOptions): WatchStream<T>;
  /** The namespace is taken from the object. */
  create(object: T, options?: WriteOptions): Promise<T>;
  /** With metadata.resourceVersion set the write is conditional. */
  update(object: T, options?: WriteOptions): Promise<T>;
  updateStatus(object: T, options?: WriteOptions): Promise<T>;
  patch(
    name: string,
    namespace: string | undefined,
    patch: Patch,
    options?: WriteOptions & { subresource?: string },
  ): Promise<T>;
  delete(
    name: string,
    namespace?: string,
    options?: DeleteOptions,
  ): Promise<void>;
  deleteCollection(list?: ListOptions, options?: DeleteOptions): Promise<void>;
  /** Creates through a subresource: `binding`, `eviction`, `token` …; returns what the server answers. */
  createSubresource<B, R = B>(
    name: string,
    namespace: string | undefined,
    subresource: string,
    body: B,
  ): Promise<R>;
  getSubresource<R>(
    name: string,
    namespace: string | undefined,
    subresource: string,
  ): Promise<R>;
  updateSubresource<B, R = B>(
    name: string,
    namespace: string | undefined,
    subresource: string,
    body: B,
  ): Promise<R>;
}

export interface Client {
  resource<T extends KubeObject>(ref: ResourceRef<T>): ResourceClient<T>;
  /**
   * Shared: the same ref and options give the same informer. It starts at the first call and stops with the client, or
   * when its handlers have been removed and its resource is no longer served.
   */
  informer<T extends KubeObject>(
    ref: ResourceRef<T>,
    options?: InformerOptions<T>,
  ): Informer<T>;
  /** For what has no object model: discovery, version, health. Rejects with an ApiError on a status ≥ 400. */
  raw(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }>;
  close(): Promise<void>;
}
