// The graph of owners and dependents over all objects a garbage collector watches, by uid.
//
// Worked example: ReplicaSet r (uid 1) is added, then Pod p (uid 2) with owner 1 → nodes 1 and 2, 2 among 1's dependents.
// When p comes first, a virtual node 1 replaces the owner until the informer shows it, or a read shows that it does
// not exist. Deleting r removes node 1 and hands 2 to be looked at.
//
// A virtual node has the name that one dependent uses. When a read shows that there is no such object, those dependents
// have no owner in it; others may name it otherwise (the namespace of a reference is its dependent's), so the node takes
// their name next.
//
// Invariants: a node is in dependents of exactly the nodes its owners name; a virtual node has dependents, or is removed.
import { apiVersionOf } from "../../api/object.ts";
import type { KubeObject } from "../../api/object.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type { ResourceRef } from "../../client/client.ts";

/** Where an object is looked for. */
interface Coordinates {
  readonly uid: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

export interface GraphNode extends Coordinates {
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
      (node.name !== name ||
        node.namespace !== namespace ||
        (node.virtual &&
          (node.kind !== ref.kind || node.apiVersion !== apiVersionOf(ref))));
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

  /**
   * A read showed that there is no object by a virtual node's coordinates. Says whether the node lives on under others,
   * to be read next.
   */
  missing(uid: string): boolean {
    const node = this.#nodes.get(uid);
    if (!node?.virtual) return false;
    const others = [...node.dependents].flatMap((dependent) =>
      dependent.owners
        .filter(
          (owner) => owner.uid === uid && !isNamed(node, owner, dependent),
        )
        .map((owner) => coordinatesOf(owner, dependent.namespace)),
    );
    // In turns: the next in the order of their texts.
    others.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    const next =
      others.find((other) => orderOf(other) > orderOf(node)) ?? others[0];
    if (!next) {
      this.remove(uid);
      return false;
    }
    this.#nodes.set(uid, { ...node, ...next });
    for (const dependent of node.dependents)
      if (dependent.owners.some((owner) => isNamed(node, owner, dependent)))
        this.listener.examine(dependent);
    return true;
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
        (owner.deletingDependents ||
          !isNamed(owner, reference, node) ||
          // It may be of a kind with namespaces, which a cluster-scoped dependent can't name.
          (owner.virtual && owner.namespace !== node.namespace))
      )
        this.listener.examine(node);
    }
  }

  #virtual(reference: OwnerReference, namespace: string): GraphNode {
    const node: GraphNode = {
      ...coordinatesOf(reference, namespace),
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

/** Where a reference of a dependent in this namespace points to, if its kind is namespaced. */
function coordinatesOf(
  { uid, apiVersion, kind, name }: OwnerReference,
  namespace: string,
): Coordinates {
  return { uid, apiVersion, kind, namespace, name };
}

/** The dependent's reference points to the owner as the graph knows it; one without a namespace is seen from all. */
function isNamed(
  owner: Coordinates,
  reference: OwnerReference,
  { namespace }: Coordinates,
): boolean {
  return (
    reference.uid === owner.uid &&
    reference.name === owner.name &&
    reference.kind === owner.kind &&
    reference.apiVersion === owner.apiVersion &&
    (owner.namespace === "" || owner.namespace === namespace)
  );
}

const orderOf = ({ kind, apiVersion, namespace, name }: Coordinates): string =>
  [kind, apiVersion, namespace, name].join("\0");
