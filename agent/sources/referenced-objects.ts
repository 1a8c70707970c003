// ConfigMaps, Secrets and Services that pods refer to. With an API server they are read from it and kept for a short
// time; without one, those of the manifests directory serve. Errors of the API other than "not found" are thrown, so that
// a pod waits rather than starting without what it needs.
import type { Clock } from "../../api/clock.ts";
import { isNotFound } from "../../api/errors.ts";
import type { AnyObject, KubeObject } from "../../api/object.ts";
import type { ConfigMap, Secret, Service } from "../../api/types/core-v1.ts";
import type { Client, ResourceRef } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import { configMaps, secrets, services } from "../../client/resources.ts";

const keptMs = 1000;
const maxKept = 2048;

export class ReferencedObjects {
  readonly #client: Client | undefined;
  readonly #clock: Clock;
  readonly #kept = new Map<
    string,
    { atMs: number; object: Promise<KubeObject | undefined> }
  >();
  #services: Informer<Service> | undefined;
  #local: readonly AnyObject[] = [];

  constructor(client: Client | undefined, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  start(): void {
    this.#services = this.#client?.informer(services);
  }

  /** Objects of the manifests directory, for a node without an API server. */
  setLocal(objects: readonly AnyObject[]): void {
    this.#local = objects;
  }

  configMap(namespace: string, name: string): Promise<ConfigMap | undefined> {
    return this.#get(configMaps, namespace, name);
  }

  secret(namespace: string, name: string): Promise<Secret | undefined> {
    return this.#get(secrets, namespace, name).then(withStringData);
  }

  services(namespace: string): readonly Service[] | undefined {
    return this.#services?.hasSynced()
      ? this.#services.lister.list(namespace)
      : undefined;
  }

  #get<T extends KubeObject>(
    ref: ResourceRef<T>,
    namespace: string,
    name: string,
  ): Promise<T | undefined> {
    if (!this.#client) {
      const found = this.#local.find(
        ({ kind, metadata }) =>
          kind === ref.kind &&
          metadata.name === name &&
          (metadata.namespace || "default") === namespace,
      );
      return Promise.resolve(found as unknown as T | undefined);
    }
    const key = `${ref.resource}/${namespace}/${name}`;
    const nowMs = this.#clock.monotonic();
    const kept = this.#kept.get(key);
    if (kept && nowMs - kept.atMs < keptMs)
      return kept.object as Promise<T | undefined>;
    const object = this.#client
      .resource(ref)
      .get(name, namespace)
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        this.#kept.delete(key);
        throw error;
      });
    if (this.#kept.size >= maxKept) this.#kept.clear();
    this.#kept.set(key, { atMs: nowMs, object });
    return object;
  }
}

/** What the API server does on write, for a Secret read from a file. */
function withStringData(secret: Secret | undefined): Secret | undefined {
  if (!secret?.stringData) return secret;
  const encoded = Object.entries(secret.stringData).map(([key, value]) => [
    key,
    Buffer.from(value).toString("base64"),
  ]);
  return {
    ...secret,
    data: {
      ...secret.data,
      ...(Object.fromEntries(encoded) as Record<string, string>),
    },
  };
}
