// ConfigMaps, Secrets and Services that pods refer to: read from the API server or, where there is none, from the objects of
// the manifests directory. Errors other than "not found" are thrown, so that a pod waits rather than starting without what
// it needs.
//
// How a change of what a pod's volumes were made of is noticed is the strategy of KubeletConfiguration: Watch (each
// object is watched while a pod holds it, and the pod is named to the listener at once), Cache (reads are kept for the
// time that the Node's annotation names), Get (each read asks the server). With the latter two, pods see changes when
// they are looked at again. Objects of the directory are in memory: each read sees the last, and changes are named at once.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import { isNotFound } from "../../api/errors.ts";
import type { KubeObject } from "../../api/object.ts";
import type {
  ConfigMap,
  Node,
  Secret,
  Service,
} from "../../api/types/core-v1.ts";
import type { Client, ResourceRef } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import { configMaps, secrets, services } from "../../client/resources.ts";
import type { ChangeDetection } from "../config/agent-config.ts";
import type { ObjectName } from "../volumes/payload/payload-names.ts";
import { FollowedObjects, nameKey } from "./followed-objects.ts";
import { ObjectHolders } from "./object-holders.ts";

interface ReferencedObjectsOptions {
  client: Client;
  /** The client's objects are in memory. */
  isLocal: boolean;
  clock: Clock;
  logger: Logger;
  changeDetection: ChangeDetection;
}

/** What was read this short a time ago is not read again. */
const keptMs = 1000;
const maxKept = 2048;

export class ReferencedObjects {
  readonly #options: ReferencedObjectsOptions;
  readonly #kept = new Map<
    string,
    { atMs: number; object: Promise<KubeObject | undefined> }
  >();
  readonly #holders = new ObjectHolders();
  readonly #followed: FollowedObjects | undefined;
  #services: Informer<Service> | undefined;
  readonly #disposers: (() => void)[] = [];
  #changed: (uid: string) => void = () => undefined;
  #cacheMs: () => number = () => keptMs;

  constructor(options: ReferencedObjectsOptions) {
    this.#options = options;
    if (!options.isLocal && options.changeDetection === "Watch")
      this.#followed = new FollowedObjects({
        ...options,
        onChange: (key, object) => {
          this.#keep(key, Promise.resolve(object));
          this.#notify(key);
        },
      });
  }

  start(): void {
    const { client, isLocal } = this.#options;
    this.#services = client.informer(services);
    for (const ref of isLocal ? [configMaps, secrets] : []) {
      const notify = ({ metadata }: KubeObject): void => {
        const { name, namespace = "default" } = metadata;
        this.#notify(nameKey({ resource: ref.resource, namespace, name }));
      };
      this.#disposers.push(
        client.informer<KubeObject>(ref).addHandler({
          onAdd: notify,
          onUpdate: notify,
          onDelete: notify,
        }),
      );
    }
  }

  stop(): void {
    for (const dispose of this.#disposers.splice(0)) dispose();
    this.#followed?.close();
  }

  /** Listens to changes of what pods hold, by the pod's uid. */
  onChange(listener: (uid: string) => void): void {
    this.#changed = listener;
  }

  /** How long the strategy Cache keeps what was read. */
  setCacheTime(milliseconds: () => number): void {
    this.#cacheMs = milliseconds;
  }

  /** A pod's volumes are made of these objects. Replaces what it held before. */
  hold(uid: string, names: readonly ObjectName[]): void {
    const isNew = !this.#holders.has(uid);
    const unheld = this.#holders.hold(uid, names.map(nameKey));
    for (const name of names) {
      // A new pod gets its objects as they are now.
      if (isNew) this.#forgetCached(nameKey(name));
      this.#followed?.follow(name);
    }
    for (const key of unheld) this.#followed?.forget(key);
  }

  release(uid: string): void {
    for (const key of this.#holders.release(uid)) this.#followed?.forget(key);
  }

  #forgetCached(key: string): void {
    if (this.#options.changeDetection === "Cache") this.#kept.delete(key);
  }

  #notify(key: string): void {
    for (const uid of this.#holders.of(key)) this.#changed(uid);
  }

  configMap(namespace: string, name: string): Promise<ConfigMap | undefined> {
    return this.#get(configMaps, namespace, name);
  }

  secret(namespace: string, name: string): Promise<Secret | undefined> {
    return this.#get(secrets, namespace, name);
  }

  services(namespace: string): readonly Service[] | undefined {
    return this.#services?.hasSynced()
      ? this.#services.lister.list(namespace)
      : undefined;
  }

  /** The address of the DNS server's Service. */
  dnsServiceAddress(): string | undefined {
    return this.#services?.lister.get("kube-dns", "kube-system")?.spec
      .clusterIP;
  }

  #get<T extends KubeObject>(
    ref: ResourceRef<T>,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    const key = nameKey({ resource: ref.resource, namespace, name });
    const { client, clock } = this.#options;
    const nowMs = clock.monotonic();
    const kept = this.#kept.get(key);
    if (kept && nowMs - kept.atMs < this.#keptMs())
      return kept.object as Promise<T | undefined>;
    const object = client
      .resource(ref)
      .get(name, namespace)
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        this.#kept.delete(key);
        throw error;
      })
      .then((read) => {
        const version = read?.metadata.resourceVersion ?? "";
        this.#followed?.wasRead(key, version);
        return read;
      });
    this.#keep(key, object);
    return object;
  }

  #keep(key: string, object: Promise<KubeObject | undefined>): void {
    if (this.#kept.size >= maxKept) this.#kept.clear();
    const atMs = this.#options.clock.monotonic();
    this.#kept.set(key, { atMs, object });
  }

  #keptMs(): number {
    if (this.#options.isLocal) return 0;
    switch (this.#options.changeDetection) {
      case "Watch":
        return keptMs;
      case "Cache":
        return this.#cacheMs();
      case "Get":
        return 0;
    }
  }
}

/** What the Node's annotation asks for, else a minute: how long the strategy Cache keeps what was read. */
export function objectCacheMs(node: Node | undefined): number {
  const text = node?.metadata.annotations?.["node.alpha.kubernetes.io/ttl"];
  const seconds = text === undefined ? NaN : Number(text);
  return Number.isInteger(seconds) ? seconds * 1000 : 60_000;
}
