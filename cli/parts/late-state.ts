// The cluster's state before there is an API server: authorizers and token authenticators are made with it, the server is
// made with them, then its state is attached. Reading before that is an error of the composition.
import type {
  ClusterState,
  StateChange,
} from "../../apiserver-lite/authorization/cluster-state.ts";
import type { AnyObject } from "../../api/object.ts";

export class LateState implements ClusterState {
  #state: ClusterState | undefined;

  attach(state: ClusterState): void {
    this.#state = state;
  }

  get #attached(): ClusterState {
    if (!this.#state) throw new Error("the cluster's state is not there yet");
    return this.#state;
  }

  read(
    group: string,
    resource: string,
    namespace: string,
    name: string,
  ): Readonly<AnyObject> | undefined {
    return this.#attached.read(group, resource, namespace, name);
  }

  list(
    group: string,
    resource: string,
    namespace?: string,
  ): readonly Readonly<AnyObject>[] {
    return this.#attached.list(group, resource, namespace);
  }

  onChange(
    group: string,
    resource: string,
    listener: (change: StateChange) => void,
  ): () => void {
    return this.#attached.onChange(group, resource, listener);
  }
}
