// What rules, authentication, authorization and admission need of the watch cache: present objects, shared and frozen, and
// notifications of changes. The API server's registry implements it.
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
  /**
   * The present objects whose selectable field is not "", one at a time, for one look each: they are not kept, so that
   * looking at many does not fill the memory. Goes on over the state as it was at the call.
   */
  scan(
    group: string,
    resource: string,
    field: string,
  ): Iterable<Readonly<AnyObject>>;
  /** Calls back synchronously after each change; must not throw. Returns a disposer. */
  onChange(
    group: string,
    resource: string,
    listener: (change: StateChange) => void,
  ): () => void;
}
