// All nodes and the pods on them as the scheduler believes them to be: what informers showed, plus its own decisions
// whose binding has not been seen yet (assumed pods). An assumed pod is replaced by the real one when that shows up, and
// taken back by forget() when its binding failed.
import type { Node, Pod } from "../api/types/core-v1.ts";
import { objectKey } from "../api/object.ts";
import { NodeInfo } from "./node-info.ts";
import type { NamespaceLabels, PodView, PodViews } from "./pod-view.ts";

export class ClusterState {
  readonly #nodes = new Map<string, NodeInfo>();
  /** Pod key → name of the node it counts on. */
  readonly #placed = new Map<string, string>();
  readonly #assumed = new Set<string>();
  /** Pods that wait for their victims to leave a node. */
  readonly #nominated = new Map<string, { pod: Pod; nodeName: string }>();
  #list: readonly NodeInfo[] | undefined;

  constructor(
    readonly namespaceLabels: NamespaceLabels,
    private readonly views: PodViews,
  ) {}

  /** Nodes that exist. The array stays the same until a node comes or goes. */
  nodes(): readonly NodeInfo[] {
    return (this.#list ??= [...this.#nodes.values()].filter(
      (info) => info.node !== undefined,
    ));
  }

  /** How much is known, by the reference's names. */
  sizes(): Record<"nodes" | "pods" | "assumed_pods", number> {
    return {
      nodes: this.nodes().length,
      pods: this.#placed.size,
      assumed_pods: this.#assumed.size,
    };
  }

  node(name: string): NodeInfo | undefined {
    return this.#nodes.get(name);
  }

  setNode(node: Node): void {
    const info = this.#info(node.metadata.name);
    if (!info.node) this.#list = undefined;
    info.setNode(node);
  }

  removeNode(name: string): void {
    const info = this.#nodes.get(name);
    if (!info) return;
    info.setNode(undefined);
    this.#list = undefined;
    if (info.pods.size === 0) this.#nodes.delete(name);
  }

  /** A pod that is bound, new or changed. */
  setPod(pod: Pod): void {
    const key = objectKey(pod);
    this.#assumed.delete(key);
    this.#place(pod, key, pod.spec.nodeName ?? "");
  }

  removePod(key: string): void {
    const nodeName = this.#placed.get(key);
    if (nodeName === undefined) return;
    this.#placed.delete(key);
    this.#assumed.delete(key);
    const info = this.#nodes.get(nodeName);
    info?.remove(key);
    if (info && !info.node && info.pods.size === 0)
      this.#nodes.delete(nodeName);
  }

  /** Counts the pod on the node from now on. */
  assume(pod: Pod, nodeName: string): void {
    const key = objectKey(pod);
    this.#assumed.add(key);
    this.#place(pod, key, nodeName);
  }

  /**
   * Room on the node is kept for the pod, until it is placed or forgets its nomination.
   * @returns less important pods that wait for room on the same node
   */
  nominate(pod: Pod, nodeName: string): Pod[] {
    this.#nominated.set(objectKey(pod), { pod, nodeName });
    const { priority = 0 } = pod.spec;
    return [...this.#nominated.values()].flatMap((other) =>
      other.nodeName === nodeName && (other.pod.spec.priority ?? 0) < priority
        ? [other.pod]
        : [],
    );
  }

  dropNomination(key: string): void {
    this.#nominated.delete(key);
  }

  /** The node as a pod must see it: with the pods nominated to it that are no less important; itself when there are none. */
  reserved(info: NodeInfo, view: PodView): NodeInfo {
    if (this.#nominated.size === 0) return info;
    let copy: NodeInfo | undefined;
    for (const [key, { pod, nodeName }] of this.#nominated) {
      if (nodeName !== info.name || key === view.key) continue;
      if ((pod.spec.priority ?? 0) < (view.pod.spec.priority ?? 0)) continue;
      copy ??= info.clone();
      copy.add(this.views.of(pod));
    }
    return copy ?? info;
  }

  /** Takes an assumption back, unless the real pod has shown up. */
  forget(key: string): void {
    if (this.#assumed.has(key)) this.removePod(key);
  }

  isAssumed(key: string): boolean {
    return this.#assumed.has(key);
  }

  #place(pod: Pod, key: string, nodeName: string): void {
    const before = this.#placed.get(key);
    if (before !== undefined && before !== nodeName) this.removePod(key);
    this.#placed.set(key, nodeName);
    this.#nominated.delete(key);
    this.#info(nodeName).add(this.views.of(pod));
  }

  #info(name: string): NodeInfo {
    let info = this.#nodes.get(name);
    if (!info) this.#nodes.set(name, (info = new NodeInfo(name)));
    return info;
  }
}
