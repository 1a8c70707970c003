// A ClusterState held by a test: objects in, changes out.
import type { AnyObject } from "../../../api/object.ts";
import type {
  ClusterState,
  StateChange,
} from "../../../apiserver-lite/resources/state.ts";

export class FakeState implements ClusterState {
  readonly #objects = new Map<string, AnyObject>();
  readonly #listeners = new Map<string, Set<(change: StateChange) => void>>();

  put(group: string, resource: string, object: AnyObject): void {
    const key = keyOf(
      group,
      resource,
      object.metadata.namespace ?? "",
      object.metadata.name,
    );
    const previous = this.#objects.get(key);
    this.#objects.set(key, object);
    this.#tell(group, resource, { object, previous });
  }

  remove(
    group: string,
    resource: string,
    namespace: string,
    name: string,
  ): void {
    const key = keyOf(group, resource, namespace, name);
    const previous = this.#objects.get(key);
    this.#objects.delete(key);
    this.#tell(group, resource, { object: undefined, previous });
  }

  read(
    group: string,
    resource: string,
    namespace: string,
    name: string,
  ): AnyObject | undefined {
    return this.#objects.get(keyOf(group, resource, namespace, name));
  }

  list(group: string, resource: string, namespace = ""): AnyObject[] {
    const prefix = `${group}/${resource}/${namespace === "" ? "" : `${namespace}/`}`;
    return [...this.#objects]
      .filter(([key]) => key.startsWith(prefix))
      .map(([, object]) => object);
  }

  scan(group: string, resource: string): AnyObject[] {
    return this.list(group, resource);
  }

  onChange(
    group: string,
    resource: string,
    listener: (change: StateChange) => void,
  ): () => void {
    const key = `${group}/${resource}`;
    const listeners = this.#listeners.get(key) ?? new Set();
    this.#listeners.set(key, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  #tell(group: string, resource: string, change: StateChange): void {
    for (const listener of this.#listeners.get(`${group}/${resource}`) ?? [])
      listener(change);
  }
}

function keyOf(
  group: string,
  resource: string,
  namespace: string,
  name: string,
): string {
  return `${group}/${resource}/${namespace}/${name}`;
}
