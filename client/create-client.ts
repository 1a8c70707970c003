// The Client over a Transport: typed calls turned into ApiRequests, and informers shared among all callers. With
// transport.cache informers read that cache itself; without it they list and watch (list-reflector.ts).
//
// Owns its informers: close() stops them and closes the transport.
import type { Logger } from "pino";
import type { Clock } from "../api/clock.ts";
import { apiVersionOf } from "../api/object.ts";
import type { KubeList, KubeObject } from "../api/object.ts";
import { cacheInformer } from "./cache-source.ts";
import type {
  Client,
  ListOptions,
  ResourceClient,
  ResourceRef,
  WatchStream,
  WriteOptions,
} from "./client.ts";
import type { Informer, InformerOptions } from "./informer.ts";
import { listInformer } from "./list-reflector.ts";
import type { SharedInformer } from "./shared-informer.ts";
import type { ApiRequest, Transport } from "./transport.ts";

interface ClientEnvironment {
  clock: Clock;
  logger: Logger;
}

export function createClient(
  transport: Transport,
  environment: ClientEnvironment,
): Client {
  return new TransportClient(transport, environment);
}

interface RunningInformer {
  informer: SharedInformer<never>;
  stop: () => void;
}

class TransportClient implements Client {
  readonly #informers = new Map<string, RunningInformer>();
  #closed = false;

  constructor(
    private readonly transport: Transport,
    private readonly environment: ClientEnvironment,
  ) {}

  resource<T extends KubeObject>(ref: ResourceRef<T>): ResourceClient<T> {
    return resourceClient(this.transport, ref);
  }

  informer<T extends KubeObject>(
    ref: ResourceRef<T>,
    options: InformerOptions<T> = {},
  ): Informer<T> {
    if (this.#closed) throw new Error("the client is closed");
    const { namespace = "", labelSelector = "", fieldSelector = "" } = options;
    const key = [
      apiVersionOf(ref),
      ref.resource,
      namespace,
      labelSelector,
      fieldSelector,
    ].join("|");
    let running = this.#informers.get(key);
    if (!running) {
      const cache = this.transport.cache?.<T>(ref);
      running = (cache
        ? cacheInformer(cache, options, this.environment.logger)
        : listInformer(ref, options, {
            transport: this.transport,
            ...this.environment,
            absent: () => this.#dropForsaken(key),
          })) as unknown as RunningInformer;
      this.#informers.set(key, running);
    }
    return (running.informer as unknown as SharedInformer<T>).view(options);
  }

  /** A resource that is gone and has no followers left is not listed again. */
  #dropForsaken(key: string): void {
    const running = this.#informers.get(key);
    if (!running?.informer.isForsaken) return;
    running.stop();
    this.#informers.delete(key);
  }

  raw(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }> {
    return this.transport.raw(method, path, body);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { stop } of this.#informers.values()) stop();
    this.#informers.clear();
    await this.transport.close();
  }
}

function resourceClient<T extends KubeObject>(
  transport: Transport,
  ref: ResourceRef<T>,
): ResourceClient<T> {
  const resource = {
    group: ref.group,
    version: ref.version,
    resource: ref.resource,
  };
  const call = async <R>(
    request: Omit<ApiRequest, "resource" | "namespace" | "name"> & {
      namespace: string | undefined;
      name?: string;
    },
  ): Promise<R> => {
    const { namespace, ...rest } = request;
    return (await transport.request({
      resource,
      ...(namespace ? { namespace } : {}),
      ...rest,
    })) as unknown as R;
  };
  const withKind = (object: T): T =>
    object.kind
      ? object
      : { apiVersion: apiVersionOf(ref), kind: ref.kind, ...object };
  const write = (
    verb: "create" | "update",
    object: T,
    options: WriteOptions | undefined,
    subresource?: string,
  ): Promise<T> =>
    call<T>({
      verb,
      namespace: object.metadata.namespace,
      ...(verb === "update" ? { name: object.metadata.name } : {}),
      ...(subresource ? { subresource } : {}),
      body: withKind(object),
      query: writeQuery(options),
    });
  return {
    get: (name, namespace, options) =>
      call<T>({
        verb: "get",
        name,
        namespace,
        query: options?.resourceVersion
          ? { resourceVersion: options.resourceVersion }
          : {},
      }),
    list: (options = {}) =>
      call<KubeList<T>>({
        verb: "list",
        namespace: options.namespace,
        query: listQuery(options),
      }),
    watch: (options = {}) =>
      transport.watch(resource, options) as WatchStream<T>,
    create: (object, options) => write("create", object, options),
    update: (object, options) => write("update", object, options),
    updateStatus: (object, options) =>
      write("update", object, options, "status"),
    patch: (name, namespace, patch, options) =>
      call<T>({
        verb: "patch",
        name,
        namespace,
        patch,
        ...(options?.subresource ? { subresource: options.subresource } : {}),
        query: writeQuery(options),
      }),
    async delete(name, namespace, options) {
      await call({
        verb: "delete",
        name,
        namespace,
        ...(options ? { body: deleteOptions(options) } : {}),
      });
    },
    async deleteCollection(list = {}, options) {
      await call({
        verb: "deletecollection",
        namespace: list.namespace,
        query: listQuery(list),
        ...(options ? { body: deleteOptions(options) } : {}),
      });
    },
    createSubresource: (name, namespace, subresource, body) =>
      call({
        verb: "create",
        name,
        namespace,
        subresource,
        body: body as object,
      }),
    getSubresource: (name, namespace, subresource) =>
      call({ verb: "get", name, namespace, subresource }),
    updateSubresource: (name, namespace, subresource, body) =>
      call({
        verb: "update",
        name,
        namespace,
        subresource,
        body: body as object,
      }),
  };
}

function deleteOptions(options: object): object {
  return { apiVersion: "v1", kind: "DeleteOptions", ...options };
}

/** Options of a list or watch by their query parameter names; the namespace is part of the path instead. */
function listQuery(options: ListOptions): Record<string, string> {
  const query: Record<string, string> = {};
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && value !== "" && name !== "namespace")
      query[name] = String(value);
  return query;
}

function writeQuery(options: WriteOptions | undefined): Record<string, string> {
  const query: Record<string, string> = {};
  if (options?.dryRun) query["dryRun"] = "All";
  if (options?.fieldManager) query["fieldManager"] = options.fieldManager;
  if (options?.fieldValidation)
    query["fieldValidation"] = options.fieldValidation;
  if (options?.force) query["force"] = "true";
  return query;
}
