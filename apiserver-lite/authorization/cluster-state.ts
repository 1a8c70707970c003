// What authentication, authorization and admission need of the watch cache: present objects, shared and frozen, and to be
// told of changes. The API server's registry implements it.
import type { AnyObject } from "../../api/object.ts";

export interface StateChange {
  /** The new state; undefined: deleted. */
  readonly object: Readonly<AnyObject> | undefined;
  readonly previous: Readonly<AnyObject> | undefined;
}

export interface StateReader {
  read(
    group: string,
    resource: string,
    namespace: string,
    name: string,
  ): Readonly<AnyObject> | undefined;
  /** Of one namespace, or of all. */
  list(
    group: string,
    resource: string,
    namespace?: string,
  ): readonly Readonly<AnyObject>[];
}

export interface ClusterState extends StateReader {
  /** Calls back synchronously after each change; must not throw. Returns the way to stop. */
  onChange(
    group: string,
    resource: string,
    listener: (change: StateChange) => void,
  ): () => void;
}
