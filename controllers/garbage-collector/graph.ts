// The graph of owners and dependents over all objects a garbage collector watches, by uid.
//
// Worked example: ReplicaSet r (uid 1) is added, then Pod p (uid 2) with owner 1 → nodes 1 and 2, 2 among 1's dependents.
// When p comes first, a virtual node 1 replaces the owner until the informer shows it, or a read shows that it does
// not exist. Deleting r removes node 1 and hands 2 to be looked at.
//
// Invariants: a node is in dependents of exactly the nodes its owners name; a virtual node has dependents, or is removed.
import { apiVersionOf } from "../../api/object.ts";
import type { KubeObject } from "../../api/object.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type { ResourceRef } from "../../client/client.ts";

export interface GraphNode {
  readonly uid: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Undefined while virtual: only apiVersion and kind are known. */
  ref: ResourceRef | undefined;
  owners: readonly OwnerReference[];
  readonly dependents: Set<GraphNode>;
  /** Has a deletionTimestamp. */
  deleting: boolean;
  /** Is being deleted in the foreground: waits for its dependents. */
  deletingDependents: boolean;
  /** Known from an owner reference only. */
  virtual: boolean;
}

interface GraphListener {
  /** Look whether this object has to be deleted, or whether it exists at all. */
  examine(node: GraphNode): void;
  /** It is being deleted and its dependents shall stay. */
  orphan(node: GraphNode): void;
}

export const foregroundFinalizer = "foregroundDeletion";
export const orphanFinalizer = "orphan";

const hasFinalizer = (object: KubeObject, finalizer: string): boolean =>
  object.metadata.finalizers?.includes(finalizer) ?? false;

export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();

  constructor(private readonly listener: GraphListener) {}

  get(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  get size(): number {
    return this.#nodes.size;
  }

  /** An object as an informer shows it, new or changed. */
  observe(ref: ResourceRef, object: KubeObject): void {
    const { uid, name, namespace = "", deletionTimestamp } = object.metadata;
    if (!uid) return;
    let node = this.#nodes.get(uid);
    const coordinatesDiffer =
      node !== undefined &&
      (node.name !== name || node.namespace !== namespace);
    if (!node || coordinatesDiffer) {
      // An owner reference with a wrong name or namespace made the virtual node: the real one takes its place.
      const old = node;
      node = {
        uid,
        apiVersion: apiVersionOf(ref),
        kind: ref.kind,
        namespace,
        name,
        ref,
        owners: [],
        dependents: old?.dependents ?? new Set(),
        deleting: false,
        deletingDependents: false,
        virtual: false,
      };
      this.#nodes.set(uid, node);
      if (old)
        for (const dependent of old.dependents)
          this.listener.examine(dependent);
    }
    node.ref = ref;
    node.virtual = false;
    this.#setOwners(node, object.metadata.ownerReferences ?? []);
    node.deleting = deletionTimestamp !== undefined;
    if (!node.deleting) return;
    if (hasFinalizer(object, orphanFinalizer)) this.listener.orphan(node);
    if (hasFinalizer(object, foregroundFinalizer)) {
      if (!node.deletingDependents) {
        node.deletingDependents = true;
        for (const dependent of node.dependents)
          this.listener.examine(dependent);
      }
      this.listener.examine(node);
    }
  }

  /** An object is gone: its dependents have to be looked at, and owners that waited for it. */
  remove(uid: string): void {
    const node = this.#nodes.get(uid);
    if (!node) return;
    this.#nodes.delete(uid);
    this.#setOwners(node, []);
    for (const dependent of node.dependents) this.listener.examine(dependent);
  }

  /** A resource is followed in another version. What was not observed in it is looked for there. */
  move(from: ResourceRef, to: ResourceRef): void {
    for (const node of this.#nodes.values())
      if (node.ref === from) {
        node.ref = to;
        this.listener.examine(node);
      }
  }

  #setOwners(node: GraphNode, owners: readonly OwnerReference[]): void {
    const old = node.owners;
    if (old.length === 0 && owners.length === 0) return;
    node.owners = owners;
    for (const before of old) {
      const now = owners.find((owner) => owner.uid === before.uid);
      const owner = this.#nodes.get(before.uid);
      if (!owner) continue;
      if (!now) {
        owner.dependents.delete(node);
        if (owner.virtual && owner.dependents.size === 0)
          this.#nodes.delete(owner.uid);
      }
      // It no longer holds the owner up.
      const unblocked =
        before.blockOwnerDeletion === true && now?.blockOwnerDeletion !== true;
      if (owner.deletingDependents && (!now || unblocked))
        this.listener.examine(owner);
    }
    for (const reference of owners) {
      const known = this.#nodes.get(reference.uid);
      const owner = known ?? this.#virtual(reference, node.namespace);
      const added = !owner.dependents.has(node);
      owner.dependents.add(node);
      if (!known) this.listener.examine(owner);
      else if (
        added &&
        (owner.deletingDependents || this.#mismatch(owner, node))
      )
        this.listener.examine(node);
    }
  }

  /** The owner lives in another namespace than the reference can mean. */
  #mismatch(owner: GraphNode, dependent: GraphNode): boolean {
    return owner.namespace !== "" && owner.namespace !== dependent.namespace;
  }

  #virtual(reference: OwnerReference, namespace: string): GraphNode {
    const node: GraphNode = {
      uid: reference.uid,
      apiVersion: reference.apiVersion,
      kind: reference.kind,
      namespace,
      name: reference.name,
      ref: undefined,
      owners: [],
      dependents: new Set(),
      deleting: false,
      deletingDependents: false,
      virtual: true,
    };
    this.#nodes.set(node.uid, node);
    return node;
  }
}
