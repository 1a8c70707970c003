// What carries a Client's calls: verbs on resources, not HTTP. Implemented over HTTP in client/http-transport.ts and
// in process by apiserver-lite on its registry (as a fixed user, usually system:masters).
import type {
  GroupVersionResource,
  KubeList,
  KubeObject,
} from "../api/object.ts";
import type { Lister, ResourceHandler } from "./informer.ts";
import type { Patch, WatchOptions, WatchStream } from "./client.ts";

export interface ApiRequest {
  verb:
    | "get"
    | "list"
    | "create"
    | "update"
    | "patch"
    | "delete"
    | "deletecollection";
  resource: GroupVersionResource;
  namespace?: string;
  name?: string;
  subresource?: string;
  /** The object, or DeleteOptions for the deletes. The transport does not change it and the caller must not, afterwards. */
  body?: object;
  patch?: Patch;
  /** Query parameters by their API names: labelSelector, resourceVersion, dryRun, fieldManager, force … */
  query?: Readonly<Record<string, string>>;
}

/** A live, shared view of one resource's objects that needs no watch: the in-process transport has it. */
export interface ObjectCache<T extends KubeObject> {
  readonly lister: Pick<Lister<T>, "get" | "list">;
  /** Replays the present state as onAdd, then follows. Returns a disposer. */
  subscribe(handler: ResourceHandler<T>): () => void;
}

export interface Transport {
  /** The object, list or Status the server answers. Rejects with an ApiError. */
  request(request: ApiRequest): Promise<KubeObject | KubeList<KubeObject>>;
  watch(
    resource: GroupVersionResource,
    options: WatchOptions,
  ): WatchStream<KubeObject>;
  raw(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }>;
  /** Present where the state is in this process; undefined for a resource that has to be listed and watched there too. */
  cache?<T extends KubeObject>(
    resource: GroupVersionResource,
  ): ObjectCache<T> | undefined;
  close(): Promise<void>;
}

/** Below HTTP: the server could not be reached or the connection broke. */
export class TransportError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TransportError";
  }
}
