// Hints by the zones' CPU as the controller of EndpointSlices uses them: reads the nodes when they changed, records why a Service
// has none, and has Services looked at again whose hints no longer fit.
import { isConditionTrue } from "../../api/objects/conditions.ts";
import type { Node, Service } from "../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import type { Lister } from "../../client/informer.ts";
import type { SlicePlan } from "./slice-plan.ts";
import { TopologyHints } from "./topology-hints.ts";
import { addressTypes, asksForHints, zoneLabel } from "./wanted-endpoints.ts";

const zoneOf = ({ metadata }: Node): string | undefined =>
  metadata.labels?.[zoneLabel];
const isReady = ({ status }: Node): boolean =>
  isConditionTrue(status?.conditions, "Ready");

export class ServiceHints {
  readonly #topology = new TopologyHints();
  #nodesChanged = true;

  constructor(
    private readonly nodes: Pick<Lister<Node>, "list">,
    private readonly recorder: EventWriter,
    private readonly requeue: (serviceKey: string) => void,
  ) {}

  /** Sets hints in the plan, or takes them off. */
  apply(
    key: string,
    service: Service,
    plan: SlicePlan,
    existing: readonly EndpointSlice[],
  ): void {
    const types = addressTypes(service);
    const asks = asksForHints(service);
    if (asks) this.#readNodes();
    const events = asks
      ? types.flatMap((type) =>
          this.#topology.assign(key, type, plan, existing),
        )
      : this.#topology.remove(key, types);
    for (const { type, reason, message } of events)
      this.recorder.event(service, type, reason, message);
  }

  forget(serviceKey: string): void {
    this.#topology.forget(serviceKey);
  }

  nodeChanged(old: Node, node: Node): void {
    if (zoneOf(old) !== zoneOf(node) || isReady(old) !== isReady(node))
      this.nodesMoved();
  }

  /** Nodes came, went or changed in what hints are made of. */
  nodesMoved(): void {
    if (this.#nodesChanged) return;
    this.#nodesChanged = true;
    setImmediate(() => {
      this.#readNodes();
      for (const key of this.#topology.misfits()) this.requeue(key);
    });
  }

  /** Of a burst of changes once, when hints are to be made. */
  #readNodes(): void {
    if (!this.#nodesChanged) return;
    this.#nodesChanged = false;
    this.#topology.setNodes(this.nodes.list());
  }
}
