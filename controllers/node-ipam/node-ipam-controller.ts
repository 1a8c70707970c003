// Gives each node its ranges of pod addresses, one of each cluster range: spec.podCIDR and spec.podCIDRs. What nodes have at
// the start is theirs; a deleted node's ranges are free again. Follows the reference's RangeAllocator.
//
// Invariant: one worker; a range is taken before it is written and free only when no Node has it, so that two nodes never
// get the same one, whatever writes fail.
import type { Node } from "../../api/types/core-v1.ts";
import { nodes } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import type { ControllerOptions } from "../options.ts";
import { Reconciler } from "../reconciler.ts";
import { NodeIpamMetrics } from "./node-ipam-metrics.ts";
import { NodeRangePool } from "./node-ranges.ts";

type NodeIpamOptions = NonNullable<ControllerOptions["nodeIpam"]>;

function rangesOf({ spec }: Node): readonly string[] {
  if (spec?.podCIDRs?.length) return spec.podCIDRs;
  return spec?.podCIDR ? [spec.podCIDR] : [];
}

export function createNodeIpamController(
  context: ControllerContext,
  options: NodeIpamOptions,
): Controller {
  return new NodeIpam(context, options).reconciler;
}

class NodeIpam {
  readonly reconciler: Reconciler;
  readonly #context: ControllerContext;
  readonly #pools: readonly NodeRangePool[];
  /** What each known node has, by its name. */
  readonly #held = new Map<string, readonly string[]>();
  /** Nodes that got nothing because all was taken. */
  readonly #waiting = new Set<string>();
  readonly #informer;
  #seeded = false;

  constructor(
    context: ControllerContext,
    { clusterRanges, serviceRanges }: NodeIpamOptions,
  ) {
    this.#context = context;
    const metrics = new NodeIpamMetrics(() => this.#pools);
    context.metrics?.add("node-ipam", () => metrics.families());
    this.#pools = clusterRanges.map(
      ({ cidr, nodeBits }) =>
        new NodeRangePool(cidr, nodeBits, (parts) =>
          metrics.tried(cidr, parts),
        ),
    );
    for (const range of serviceRanges)
      for (const pool of this.#pools) pool.occupy(range);
    this.#informer = context.client.informer(nodes);
    this.reconciler = new Reconciler({
      name: "node-ipam-controller",
      context,
      reconcile: (name) => this.#reconcile(name),
    }).watchAll(this.#informer, ({ metadata }) =>
      this.reconciler.queue.add(metadata.name),
    );
  }

  async #reconcile(name: string): Promise<void> {
    this.#seed();
    const node = this.#informer.lister.get(name);
    if (!node) {
      this.#release(name);
      return;
    }
    const has = rangesOf(node);
    if (has.length > 0) {
      this.#hold(name, has);
      return;
    }
    await this.#assign(node);
  }

  /** What nodes have from before the start is theirs before the first one gets anything. */
  #seed(): void {
    if (this.#seeded) return;
    this.#seeded = true;
    for (const node of this.#informer.lister.list())
      this.#hold(node.metadata.name, rangesOf(node));
  }

  #hold(name: string, ranges: readonly string[]): void {
    this.#waiting.delete(name);
    const before = this.#held.get(name) ?? [];
    if (before.join() === ranges.join()) return;
    this.#free(name, before);
    for (const range of ranges)
      if (this.#pools.filter((pool) => pool.occupy(range)).length === 0)
        this.reconciler.logger.warn(
          { node: name, range },
          "a node's range of pod addresses is not one of the cluster's",
        );
    if (ranges.length > 0) this.#held.set(name, ranges);
    else this.#held.delete(name);
  }

  #release(name: string): void {
    this.#waiting.delete(name);
    const ranges = this.#held.get(name);
    this.#held.delete(name);
    if (!ranges) return;
    this.#free(name, ranges);
    for (const waiting of this.#waiting) this.reconciler.queue.add(waiting);
  }

  /** Ranges that no other node has. */
  #free(name: string, ranges: readonly string[]): void {
    const others = new Set(
      [...this.#held].flatMap(([other, held]) => (other === name ? [] : held)),
    );
    for (const range of ranges)
      if (!others.has(range))
        for (const pool of this.#pools) pool.release(range);
  }

  async #assign(node: Node): Promise<void> {
    const { name } = node.metadata;
    // Taken for this node before, when a write failed: it may have been done.
    let ranges = this.#held.get(name) ?? [];
    if (ranges.length === 0) {
      const taken = this.#pools.map((pool) => pool.take());
      ranges = taken.filter((range) => range !== undefined);
      if (ranges.length < taken.length) {
        this.#free(name, ranges);
        if (!this.#waiting.has(name)) this.#record(node, "CIDRNotAvailable");
        this.#waiting.add(name);
        return;
      }
      this.#held.set(name, ranges);
    }
    try {
      // Whatever else was written to the Node meanwhile: ranges that it has already are kept by its validation.
      await this.#context.client.resource(nodes).patch(name, undefined, {
        type: "strategic",
        body: {
          metadata: { uid: node.metadata.uid },
          spec: { podCIDR: ranges[0], podCIDRs: ranges },
        },
      });
      this.#waiting.delete(name);
    } catch (error) {
      this.#record(node, "CIDRAssignmentFailed");
      throw error;
    }
  }

  #record(node: Node, reason: string): void {
    const { name } = node.metadata;
    this.#context
      .recorder("cidrAllocator")
      .event(
        { ...node, metadata: { ...node.metadata, uid: name } },
        "Normal",
        reason,
        `Node ${name} status is now: ${reason}`,
      );
  }
}
