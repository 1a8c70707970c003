// A small API in memory behind the Transport contract, for tests of controllers and the scheduler without a server:
// versions, uids, generations, finalizers, two-phase deletion, status and a few subresources, patches with the real
// schemas, a live cache, and discovery from the catalogue. No defaults, no validation, no admission.
import { randomUUID } from "node:crypto";
import { builtinCatalogue } from "../../api/catalogue.ts";
import { formatTime } from "../../api/clock.ts";
import type { Clock } from "../../api/clock.ts";
import { errors } from "../../api/errors.ts";
import { apiVersionOf, objectKey } from "../../api/object.ts";
import type {
  AnyObject,
  GroupVersionResource,
  KubeList,
  KubeObject,
} from "../../api/object.ts";
import { applyMergePatch } from "../../api/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../../api/patch/strategic.ts";
import { schemaFor } from "../../api/schema.ts";
import { copyJson } from "../../api/patch/json-value.ts";
import { deepFreeze } from "../../api/objects/deep-freeze.ts";
import type { WatchStream } from "../../client/client.ts";
import type { ResourceHandler } from "../../client/informer.ts";
import { objectFilter } from "../../client/object-filter.ts";
import type {
  ApiRequest,
  ObjectCache,
  Transport,
} from "../../client/transport.ts";

/** As a server's, with devices and their claims. */
const catalogue = builtinCatalogue(
  ({ enabledByDefault, group, version }) =>
    enabledByDefault || (group === "resource.k8s.io" && version === "v1beta1"),
);
const noGeneration = new Set(["Event", "Lease", "ConfigMap", "Secret", "Node"]);

interface Table {
  objects: Map<string, AnyObject>;
  handlers: Set<ResourceHandler<never>>;
}

export class MemoryApi implements Transport {
  readonly #tables = new Map<string, Table>();
  #revision = 0;
  #generated = 0;
  /** Every write as `verb resource key`, to be looked at by tests. */
  readonly writes: string[] = [];
  /** Called before each request; may throw an ApiError to refuse it. */
  intercept: (request: ApiRequest) => void = () => {};

  constructor(private readonly clock: Clock) {}

  all<T extends KubeObject>(resource: GroupVersionResource): T[] {
    return [...this.#table(resource).objects.values()] as unknown as T[];
  }

  async request(
    request: ApiRequest,
  ): Promise<KubeObject | KubeList<KubeObject>> {
    // Never answer in the caller's turn, as a real API would not.
    await Promise.resolve();
    this.intercept(request);
    const { resource, verb, name = "", namespace } = request;
    const table = this.#table(resource);
    const key = objectKey({ metadata: { name, namespace } });
    if (!["get", "list"].includes(verb))
      this.writes.push(
        `${verb} ${resource.resource}${request.subresource ? `/${request.subresource}` : ""} ${key}`,
      );
    const current = (): AnyObject => {
      const object = table.objects.get(key);
      if (!object) throw errors.notFound(resource, name);
      return object;
    };
    if (request.subresource === "scale") return this.#scale(request, current());
    switch (verb) {
      case "get":
        return current();
      case "list":
        return this.#list(request);
      case "create":
        return request.subresource
          ? this.#createSubresource(request, current())
          : this.#create(request, table);
      case "update":
        return this.#update(
          request,
          current(),
          request.body as unknown as AnyObject,
        );
      case "patch": {
        const { patch } = request;
        const before = current();
        const uid = (patch!.body as { metadata?: { uid?: string } }).metadata
          ?.uid;
        if (uid && uid !== before.metadata.uid)
          throw errors.conflict(resource, name, "uid mismatch");
        const kind = this.#info(resource).kind;
        const patched =
          patch!.type === "strategic"
            ? applyStrategicMergePatch(
                copyJson(before),
                patch!.body,
                schemaFor(resource.group, resource.version, kind)!,
              )
            : applyMergePatch(copyJson(before), patch!.body);
        return this.#update(request, before, patched);
      }
      case "delete":
        return this.#delete(
          resource,
          current(),
          (request.body ?? {}) as DeleteBody,
        );
      case "deletecollection":
        for (const object of this.#list(request).items)
          this.#delete(
            resource,
            object as AnyObject,
            (request.body ?? {}) as DeleteBody,
          );
        return { metadata: { name: "" } };
    }
  }

  watch(): WatchStream<KubeObject> {
    throw new Error("the memory API has a cache, nobody has to watch");
  }

  async raw(
    _method: string,
    path: string,
  ): Promise<{ status: number; body: unknown }> {
    const versions = catalogue.groupVersions();
    if (path === "/apis")
      return {
        status: 200,
        body: {
          groups: versions
            .filter(({ group, preferred }) => group !== "" && preferred)
            .map((version) => ({
              preferredVersion: { groupVersion: apiVersionOf(version) },
            })),
        },
      };
    const match = /^\/apis?\/(?:([^/]+)\/)?([^/]+)$/.exec(path);
    const [, group = "", version = ""] = match ?? [];
    return {
      status: 200,
      body: {
        resources: catalogue
          .resources(group, version)
          .map(({ resource, ...info }) => ({ ...info, name: resource })),
      },
    };
  }

  cache<T extends KubeObject>(resource: GroupVersionResource): ObjectCache<T> {
    const table = this.#table(resource);
    const objects = table.objects as unknown as Map<string, T>;
    return {
      lister: {
        get: (name, namespace) =>
          objects.get(objectKey({ metadata: { name, namespace } })),
        list: (namespace) =>
          [...objects.values()].filter(
            (object) => !namespace || object.metadata.namespace === namespace,
          ),
      },
      subscribe(handler) {
        for (const object of objects.values()) handler.onAdd?.(object);
        table.handlers.add(handler);
        return () => table.handlers.delete(handler);
      },
    };
  }

  async close(): Promise<void> {}

  #info(resource: GroupVersionResource) {
    return catalogue.resource(
      resource.group,
      resource.version,
      resource.resource,
    )!;
  }

  #table({ group, resource }: GroupVersionResource): Table {
    const key = `${group}/${resource}`;
    let table = this.#tables.get(key);
    if (!table)
      this.#tables.set(
        key,
        (table = { objects: new Map(), handlers: new Set() }),
      );
    return table;
  }

  #list(request: ApiRequest): KubeList<KubeObject> {
    const { namespace, query = {}, resource } = request;
    const matches = objectFilter<KubeObject>({
      ...(namespace ? { namespace } : {}),
      ...query,
    });
    return {
      metadata: { resourceVersion: String(this.#revision) },
      items: this.all(resource).filter(matches),
    };
  }

  #create(request: ApiRequest, table: Table): KubeObject {
    const { resource, namespace } = request;
    const object = copyJson(request.body) as unknown as AnyObject;
    const uid = randomUUID();
    const name =
      object.metadata.name ||
      `${object.metadata.generateName}${++this.#generated}`;
    const key = objectKey({ metadata: { name, namespace } });
    if (table.objects.has(key)) throw errors.alreadyExists(resource, name);
    object.metadata = {
      ...object.metadata,
      name,
      uid,
      creationTimestamp: formatTime(this.clock.now()),
      ...(noGeneration.has(object.kind ?? "") ? {} : { generation: 1 }),
    };
    if (resource.resource === "namespaces")
      Object.assign(object, {
        spec: { finalizers: ["kubernetes"] },
        status: { phase: "Active" },
      });
    return this.#store(resource, undefined, object);
  }

  /** Of kinds whose replicas and selector are where a Deployment has them. */
  #scale({ resource, body }: ApiRequest, object: AnyObject): KubeObject {
    const given = body as { spec?: { replicas?: number } } | undefined;
    const spec = object["spec"] as {
      replicas?: number;
      selector?: { matchLabels?: Readonly<Record<string, string>> };
    };
    const scaled = given
      ? this.#store(resource, object, {
          ...copyJson(object),
          spec: { ...spec, replicas: given.spec?.replicas },
        })
      : object;
    const { name, namespace } = object.metadata;
    return {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name, namespace },
      spec: { replicas: (scaled["spec"] as typeof spec).replicas ?? 1 },
      status: {
        replicas: (object["status"] as typeof spec)?.replicas ?? 0,
        selector: Object.entries(spec.selector?.matchLabels ?? {})
          .map(([key, value]) => `${key}=${value}`)
          .join(","),
      },
    } as KubeObject;
  }

  #createSubresource(request: ApiRequest, parent: AnyObject): KubeObject {
    if (request.subresource !== "binding")
      throw errors.methodNotAllowed(request.resource, "create");
    const spec = parent["spec"] as { nodeName?: string };
    if (spec.nodeName)
      throw errors.conflict(
        request.resource,
        parent.metadata.name,
        "is already assigned",
      );
    const { target } = request.body as { target: { name: string } };
    return this.#store(request.resource, parent, {
      ...parent,
      spec: { ...spec, nodeName: target.name },
    });
  }

  #update(
    request: ApiRequest,
    before: AnyObject,
    given: AnyObject,
  ): KubeObject {
    const { resource, subresource } = request;
    const version = given.metadata.resourceVersion;
    if (version && version !== before.metadata.resourceVersion)
      throw errors.stale(resource, before.metadata.name);
    const object = copyJson(given);
    const { uid, creationTimestamp, deletionTimestamp } = before.metadata;
    object.metadata = {
      ...object.metadata,
      uid,
      creationTimestamp,
      ...(deletionTimestamp ? { deletionTimestamp } : {}),
    };
    if (subresource === "status") {
      const metadata = copyJson(before.metadata);
      delete metadata.annotations;
      delete metadata.labels;
      const { annotations, labels } = object.metadata;
      return this.#store(resource, before, {
        ...copyJson(before),
        metadata: {
          ...metadata,
          ...(annotations ? { annotations } : {}),
          ...(labels ? { labels } : {}),
        },
        status: object["status"],
      });
    }
    if (subresource !== "finalize") object["status"] = before["status"];
    if (object["status"] === undefined) delete object["status"];
    const changed =
      JSON.stringify(object["spec"]) !== JSON.stringify(before["spec"]);
    if (changed && object.metadata.generation !== undefined)
      object.metadata.generation = (before.metadata.generation ?? 0) + 1;
    return this.#store(resource, before, object);
  }

  #delete(
    resource: GroupVersionResource,
    object: AnyObject,
    options: DeleteBody,
  ): KubeObject {
    const { uid } = options.preconditions ?? {};
    if (uid && uid !== object.metadata.uid)
      throw errors.conflict(resource, object.metadata.name, "uid mismatch");
    const finalizers = new Set(object.metadata.finalizers);
    if (options.propagationPolicy === "Foreground")
      finalizers.add("foregroundDeletion");
    if (options.propagationPolicy === "Orphan") finalizers.add("orphan");
    const next = copyJson(object);
    next.metadata.deletionTimestamp ??= formatTime(this.clock.now());
    if (finalizers.size > 0) next.metadata.finalizers = [...finalizers];
    if (resource.resource === "namespaces")
      (next["status"] as { phase: string }).phase = "Terminating";
    const ends = options.gracePeriodSeconds === 0 || !isOnNode(next);
    return this.#store(resource, object, next, ends);
  }

  /** Stores a version, or removes the object when it is being deleted and nothing holds it. */
  #store(
    resource: GroupVersionResource,
    before: AnyObject | undefined,
    object: AnyObject,
    ends = !isOnNode(object),
  ): AnyObject {
    const table = this.#table(resource);
    const info = this.#info(resource);
    object.apiVersion = apiVersionOf(resource);
    object.kind = info.kind;
    const { resourceVersion: _, ...rest } = object.metadata;
    const going = object.metadata.deletionTimestamp !== undefined && ends;
    if (
      before &&
      !going &&
      JSON.stringify({ ...object, metadata: rest }) ===
        JSON.stringify({
          ...before,
          metadata: { ...before.metadata, resourceVersion: undefined },
        })
    )
      return before;
    object.metadata = { ...rest, resourceVersion: String(++this.#revision) };
    const key = objectKey(object);
    const held =
      (object.metadata.finalizers?.length ?? 0) > 0 ||
      ((object["spec"] as { finalizers?: string[] } | undefined)?.finalizers
        ?.length ?? 0) > 0;
    deepFreeze(object);
    const handlers = [
      ...table.handlers,
    ] as unknown as ResourceHandler<AnyObject>[];
    if (object.metadata.deletionTimestamp && !held && ends) {
      table.objects.delete(key);
      for (const handler of handlers) handler.onDelete?.(object);
      return object;
    }
    table.objects.set(key, object);
    for (const handler of handlers)
      if (before) handler.onUpdate?.(before, object);
      else handler.onAdd?.(object);
    return object;
  }
}

interface DeleteBody {
  preconditions?: { uid?: string };
  propagationPolicy?: string;
  gracePeriodSeconds?: number;
}

/** Such a pod stays until its node says that it ended. */
function isOnNode(object: AnyObject): boolean {
  const spec = object["spec"] as { nodeName?: string } | undefined;
  return object.kind === "Pod" && spec?.nodeName !== undefined;
}
