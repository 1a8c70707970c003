// A node with the pods on it and what they use: kept up to date pod by pod, so that a filter only compares numbers.
//
// Invariants: counts are of the pods there are; requested, scored, ports and the affinity sets are exactly the sums over `pods`.
import type { Node } from "../api/types/core-v1.ts";
import { addResources, toResources } from "../api/objects/pod-resources.ts";
import type { Resources } from "../api/objects/pod-resources.ts";
import type { PodView } from "./pod-view.ts";

/** On a node where no pod comes or goes. */
const maxCounts = 64;

export class NodeInfo {
  readonly name: string;
  /** Absent while only pods on it are known. */
  node: Node | undefined;
  allocatable: Resources = new Map();
  readonly pods = new Map<string, PodView>();
  readonly requested: Resources = new Map();
  readonly scored: Resources = new Map();
  readonly ports = new Map<string, number>();
  /** Pods with any pod affinity or anti-affinity. */
  readonly withAffinity = new Set<PodView>();
  readonly withRequiredAntiAffinity = new Set<PodView>();
  /** How many of the pods match something, by its name; forgotten when a pod comes or goes. */
  readonly #counts = new Map<string, number>();
  /** Image name → bytes. */
  images = new Map<string, number>();

  constructor(name: string) {
    this.name = name;
  }

  setNode(node: Node | undefined): void {
    this.node = node;
    this.allocatable = toResources(node?.status?.allocatable);
    this.images = new Map(
      (node?.status?.images ?? []).flatMap((image) =>
        (image.names ?? []).map((name) => [name, image.sizeBytes ?? 0]),
      ),
    );
  }

  add(view: PodView): void {
    this.remove(view.key);
    this.#counts.clear();
    this.pods.set(view.key, view);
    this.#count(view, 1);
    if (
      view.requiredAffinity.length +
        view.requiredAntiAffinity.length +
        view.preferredAffinity.length +
        view.preferredAntiAffinity.length >
      0
    )
      this.withAffinity.add(view);
    if (view.requiredAntiAffinity.length > 0)
      this.withRequiredAntiAffinity.add(view);
  }

  remove(key: string): boolean {
    const view = this.pods.get(key);
    if (!view) return false;
    this.pods.delete(key);
    this.#counts.clear();
    this.#count(view, -1);
    this.withAffinity.delete(view);
    this.withRequiredAntiAffinity.delete(view);
    return true;
  }

  /** @param key names `matches`: what is asked once more under the same name is not looked for again */
  count(key: string, matches: (view: PodView) => boolean): number {
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    let found = 0;
    for (const view of this.pods.values()) if (matches(view)) found++;
    if (this.#counts.size >= maxCounts) this.#counts.clear();
    this.#counts.set(key, found);
    return found;
  }

  /** A copy whose pods may be taken away for a trial. */
  clone(): NodeInfo {
    const copy = new NodeInfo(this.name);
    copy.node = this.node;
    copy.allocatable = this.allocatable;
    copy.images = this.images;
    for (const view of this.pods.values()) copy.add(view);
    return copy;
  }

  #count(view: PodView, sign: 1 | -1): void {
    addResources(this.requested, view.requests, sign);
    addResources(this.scored, view.scoredRequests, sign);
    for (const port of view.hostPorts) {
      const uses = (this.ports.get(port) ?? 0) + sign;
      if (uses > 0) this.ports.set(port, uses);
      else this.ports.delete(port);
    }
  }
}
