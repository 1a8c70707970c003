// Gives Services of type LoadBalancer their addresses: the nodes' own, or one of a pool for each family. Other controllers'
// classes are left alone. The finalizer keeps a Service until its address was given back, as the reference's does.
//
// Invariant: one worker, so that two Services never take the same address or port at once. The pool is filled from the
// Services' statuses before the first Service is looked at.
import { formatTime } from "../../api/clock.ts";
import { objectKey, splitKey } from "../../api/object.ts";
import type { Node, Service } from "../../api/types/core-v1.ts";
import type { Informer } from "../../client/informer.ts";
import { nodes, services } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import type { ControllerOptions } from "../options.ts";
import { Reconciler } from "../reconciler.ts";
import { recordAll, type PlannedEvent } from "../workloads/planned-event.ts";
import {
  balancerAddresses,
  poolCondition,
  pooledAddresses,
} from "../../api/objects/load-balancer.ts";
import { AddressPool } from "./address-pool.ts";
import { parseRange } from "../../api/addresses/address-range.ts";
import {
  balancerPortIndex,
  cleanupFinalizer,
  comesFirst,
  hasFinalizer,
  needsCleanup,
  nodePlan,
  nodeSignature,
  poolPlan,
  portProblem,
  wantsBalancer,
  type BalancerPlan,
} from "./balancer-plan.ts";

type LoadBalancerOptions = NonNullable<ControllerOptions["loadBalancer"]>;

const normal = (reason: string, message: string): PlannedEvent => ({
  type: "Normal",
  reason,
  message,
});
const warning = (reason: string, message: string): PlannedEvent => ({
  type: "Warning",
  reason,
  message,
});

const ensuring = normal("EnsuringLoadBalancer", "Ensuring load balancer");
const ensured = normal("EnsuredLoadBalancer", "Ensured load balancer");
const updated = normal(
  "UpdatedLoadBalancer",
  "Updated load balancer with new hosts",
);
const deleting = normal("DeletingLoadBalancer", "Deleting load balancer");
const deleted = normal("DeletedLoadBalancer", "Deleted load balancer");
const noNodes = warning(
  "UnAvailableLoadBalancer",
  "There are no available nodes for LoadBalancer",
);

export function createServiceLoadBalancerController(
  context: ControllerContext,
  options: LoadBalancerOptions,
): Controller {
  return new ServiceLoadBalancers(context, options).reconciler;
}

class ServiceLoadBalancers {
  readonly reconciler: Reconciler;
  readonly #context: ControllerContext;
  readonly #reservedPorts: readonly number[];
  readonly #services: Informer<Service>;
  /** Undefined: there is a pool. */
  readonly #nodes: Informer<Node> | undefined;
  readonly #pool: AddressPool | undefined;
  /** Services that lack an address of the pool. */
  readonly #waiting = new Set<string>();
  #seeded = false;

  constructor(
    context: ControllerContext,
    { ranges, reservedPorts }: LoadBalancerOptions,
  ) {
    this.#context = context;
    this.#reservedPorts = reservedPorts;
    this.#services = context.client.informer(services, {
      indexes: { balancerPort: balancerPortIndex },
    });
    this.reconciler = new Reconciler({
      name: "service-lb-controller",
      context,
      reconcile: (key) => this.#reconcile(key),
    });
    this.#watchServices();
    if (ranges.length > 0)
      this.#pool = new AddressPool(
        ranges.flatMap((range) => parseRange(range) ?? []),
      );
    else this.#watchNodes((this.#nodes = context.client.informer(nodes)));
  }

  #watchServices(): void {
    const { queue } = this.reconciler;
    // The Service, and those that may have or lose a port of the nodes by its change.
    const look = (service: Service): void => {
      queue.add(objectKey(service));
      if (this.#pool) return;
      for (const port of balancerPortIndex(service))
        for (const other of this.#sharing(port)) queue.add(objectKey(other));
    };
    this.reconciler.watch(this.#services, {
      onAdd: look,
      onUpdate: (old, now) => {
        look(old);
        look(now);
      },
      onDelete: look,
    });
  }

  #watchNodes(informer: Informer<Node>): void {
    const lookAtAll = (): void => {
      for (const service of this.#services.lister.list())
        if (wantsBalancer(service))
          this.reconciler.queue.add(objectKey(service));
    };
    this.reconciler.watch(informer, {
      onAdd: lookAtAll,
      onUpdate: (old, now) => {
        if (nodeSignature(old) !== nodeSignature(now)) lookAtAll();
      },
      onDelete: lookAtAll,
    });
  }

  #sharing(key: string): readonly Service[] {
    return this.#services.lister.byIndex("balancerPort", key);
  }

  async #reconcile(key: string): Promise<void> {
    this.#seed();
    const { name, namespace } = splitKey(key);
    const service = this.#services.lister.get(name, namespace);
    if (service && wantsBalancer(service)) return this.#ensure(key, service);
    if (service && needsCleanup(service)) await this.#cleanUp(service);
    this.#waiting.delete(key);
    if (this.#pool?.release(key)) this.#wake();
  }

  /** What Services have from before the start is theirs; of two with one address, the older keeps it. */
  #seed(): void {
    if (!this.#pool || this.#seeded) return;
    this.#seeded = true;
    const had = this.#services.lister
      .list()
      .filter((service) => wantsBalancer(service) || needsCleanup(service))
      .toSorted((a, b) => (comesFirst(a, b) ? -1 : 1));
    for (const service of had)
      for (const address of balancerAddresses(service))
        this.#pool.claim(address, objectKey(service));
  }

  /** An address of the pool is free again. */
  #wake(): void {
    for (const key of this.#waiting) this.reconciler.queue.add(key);
    this.#waiting.clear();
  }

  #plan(key: string, service: Service): BalancerPlan {
    const pool = this.#pool;
    if (!pool) {
      const problem = portProblem(
        service,
        (port) => this.#sharing(port),
        this.#reservedPorts,
      );
      return problem === undefined
        ? nodePlan(service, this.#nodes?.lister.list() ?? [])
        : { addresses: [], problem };
    }
    const before = pool.addressesOf(key);
    const plan = poolPlan(service, pool);
    const after = pool.addressesOf(key);
    if (before.some((address) => !after.includes(address))) this.#wake();
    if (plan.problem === undefined) this.#waiting.delete(key);
    else this.#waiting.add(key);
    return plan;
  }

  async #ensure(key: string, found: Service): Promise<void> {
    const isNew = !hasFinalizer(found);
    if (isNew) this.#record(found, ensuring);
    const others = found.metadata.finalizers ?? [];
    const service = isNew
      ? await this.#setFinalizers(found, [...others, cleanupFinalizer])
      : found;
    const { addresses, problem } = this.#plan(key, service);
    if (problem !== undefined)
      this.#record(
        service,
        warning(
          "SyncLoadBalancerFailed",
          `Error syncing load balancer: failed to ensure load balancer: ${problem}`,
        ),
      );
    else if (addresses.length === 0) this.#record(service, noNodes);
    const had = balancerAddresses(service);
    const announced = this.#pool ? addresses.length : 0;
    if (
      had.join() === addresses.join() &&
      pooledAddresses(service).length === announced
    )
      return;
    await this.#setAddresses(service, addresses);
    if (addresses.length > 0 && had.join() !== addresses.join())
      this.#record(service, had.length === 0 ? ensured : updated);
  }

  async #cleanUp(found: Service): Promise<void> {
    this.#record(found, deleting);
    const service =
      balancerAddresses(found).length > 0
        ? await this.#setAddresses(found, [])
        : found;
    await this.#setFinalizers(
      service,
      (service.metadata.finalizers ?? []).filter(
        (each) => each !== cleanupFinalizer,
      ),
    );
    this.#record(found, deleted);
  }

  #record(service: Service, event: PlannedEvent): void {
    recordAll(this.#context.recorder("service-controller"), service, [event]);
  }

  #setFinalizers(
    service: Service,
    finalizers: readonly string[],
  ): Promise<Service> {
    return this.#context.client.resource(services).update({
      ...service,
      metadata: { ...service.metadata, finalizers: [...finalizers] },
    });
  }

  #setAddresses(
    service: Service,
    addresses: readonly string[],
  ): Promise<Service> {
    const ingress = addresses.map((ip) => ({ ip, ipMode: "VIP" }));
    const { conditions: had = [], ...status } = service.status ?? {};
    const conditions = had.filter(({ type }) => type !== poolCondition);
    if (this.#pool && ingress.length > 0)
      conditions.push({
        type: poolCondition,
        status: "True",
        reason: "Assigned",
        message: "One of the nodes announces the addresses",
        lastTransitionTime: formatTime(this.#context.clock.now()),
      });
    return this.#context.client.resource(services).updateStatus({
      ...service,
      status: {
        ...status,
        ...(conditions.length > 0 ? { conditions } : {}),
        loadBalancer: ingress.length > 0 ? { ingress } : {},
      },
    });
  }
}
