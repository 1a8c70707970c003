// Hints of Services with `service.kubernetes.io/topology-mode: Auto`: each zone gets endpoints by its share of the nodes' CPU, those
// of its own first, so that clients stay in their zone without any endpoint taking more than 20 % too much. Where that is
// impossible there are no hints, and an event says why. Source: the reference's topology cache, whose texts these are; zones are
// taken in the order of their names, where the reference takes any.
//
// Worked example: zones a and b with half of the CPU each, three ready endpoints in a and one in b. Each zone wants two: one
// endpoint of a gets the hint b. With three endpoints in all each zone wants 1.5, at least 2 in whole numbers: given up.
import { isConditionTrue } from "../../api/objects/conditions.ts";
import { quantityMilliValue } from "../../api/quantity.ts";
import type { Node } from "../../api/types/core-v1.ts";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { SlicePlan } from "./slice-plan.ts";
import { zoneLabel } from "./wanted-endpoints.ts";
import {
  zoneTransfers,
  zoneAllocations,
  type Allocations,
} from "./zone-allocations.ts";

const excludedLabels = [
  "node-role.kubernetes.io/control-plane",
  "node-role.kubernetes.io/master",
];

interface HintEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
}

interface Hinted {
  endpoints?: Endpoint[];
}

/** The slices of one address type, with what is planned for them. */
interface TypeParts {
  /** Written anyway; their endpoints may be replaced. */
  readonly changing: Hinted[];
  readonly unchanged: readonly EndpointSlice[];
}

function isNodeReady({ status }: Node): boolean {
  return isConditionTrue(status?.conditions, "Ready");
}

const isReady = ({ conditions }: Endpoint): boolean =>
  conditions?.ready === true;

function withoutHints(endpoint: Endpoint): Endpoint {
  if (!endpoint.hints) return endpoint;
  const { hints: _, ...rest } = endpoint;
  return rest;
}

function withHint(endpoint: Endpoint, zone: string): Endpoint {
  return { ...endpoint, hints: { forZones: [{ name: zone }] } };
}

function partsOf(
  plan: SlicePlan,
  addressType: string,
  existing: readonly EndpointSlice[],
): TypeParts {
  const planned = new Set(
    [...plan.update, ...plan.delete].map(({ metadata }) => metadata.name),
  );
  const ofType = <T extends { addressType: string }>(
    slices: readonly T[],
  ): T[] => slices.filter((each) => each.addressType === addressType);
  return {
    changing: [...ofType(plan.create), ...ofType(plan.update)],
    unchanged: ofType(existing).filter(
      ({ metadata }) => !planned.has(metadata.name),
    ),
  };
}

export class TopologyHints {
  /** Of each zone; undefined: not all nodes say their zone and CPU, or there is one zone alone. */
  #shares: ReadonlyMap<string, number> | undefined;
  /** By service and address type: zone to the number of its endpoints. */
  readonly #given = new Map<string, Map<string, ReadonlyMap<string, number>>>();
  /** Services that would have hints with other nodes. */
  readonly #refused = new Set<string>();

  setNodes(nodes: readonly Node[]): void {
    const cpu = new Map<string, number>();
    this.#shares = undefined;
    for (const node of nodes) {
      const { labels = {} } = node.metadata;
      if (excludedLabels.some((label) => label in labels)) continue;
      if (!isNodeReady(node)) continue;
      const zone = labels[zoneLabel];
      const milli = quantityMilliValue(
        node.status?.allocatable?.["cpu"] ?? "0",
      );
      if (!zone || milli === 0) return;
      cpu.set(zone, (cpu.get(zone) ?? 0) + milli);
    }
    if (cpu.size < 2) return;
    const total = [...cpu.values()].reduce((sum, each) => sum + each, 0);
    this.#shares = new Map(
      [...cpu].sort().map(([zone, each]) => [zone, each / total]),
    );
  }

  /** Services whose hints no longer fit the nodes, or that may have hints now. */
  misfits(): string[] {
    const overloaded = [...this.#given].flatMap(([key, types]) =>
      [...types.values()].some((counts) => this.#overloads(counts))
        ? [key]
        : [],
    );
    return [...overloaded, ...this.#refused];
  }

  #overloads(counts: ReadonlyMap<string, number>): boolean {
    if (counts.size === 0) return false;
    if (!this.#shares) return true;
    const total = [...counts.values()].reduce((sum, each) => sum + each, 0);
    const allocations = zoneAllocations(this.#shares, total);
    return [...allocations].some(
      ([zone, { minimum }]) => (counts.get(zone) ?? 0) < minimum,
    );
  }

  /** The service is gone. */
  forget(serviceKey: string): void {
    this.#given.delete(serviceKey);
    this.#refused.delete(serviceKey);
  }

  /** The service asks for no hints any more. Returns an event where it had some; the plan takes them off. */
  remove(serviceKey: string, addressTypes: readonly string[]): HintEvent[] {
    const had = this.#given.has(serviceKey);
    this.forget(serviceKey);
    return had
      ? addressTypes
          .slice(0, 1)
          .map((type) =>
            disabled("Topology Aware Hints has been disabled", type),
          )
      : [];
  }

  /**
   * Gives the endpoints of one address type their hints in the plan, or takes them off.
   * @param existing the service's slices; endpoints of the plan that were there have the hints that they had
   */
  assign(
    serviceKey: string,
    addressType: string,
    plan: SlicePlan,
    existing: readonly EndpointSlice[],
  ): HintEvent[] {
    const { changing, unchanged } = partsOf(plan, addressType, existing);
    const giveUp = (reason: string): HintEvent[] => {
      this.#giveUp(serviceKey, addressType);
      for (const slice of changing)
        slice.endpoints = (slice.endpoints ?? []).map(withoutHints);
      for (const slice of unchanged)
        if (
          !plan.update.some(
            ({ metadata }) => metadata.name === slice.metadata.name,
          ) &&
          slice.endpoints?.some(({ hints }) => hints)
        )
          plan.update.push({
            ...slice,
            endpoints: slice.endpoints.map(withoutHints),
          });
      return [disabled(reason, addressType)];
    };
    const ready = [...changing, ...unchanged]
      .flatMap(({ endpoints }) => endpoints ?? [])
      .filter(isReady);
    const problem = this.#problem(ready.length);
    if (problem !== undefined || !this.#shares) return giveUp(problem ?? "");
    if (ready.some(({ zone }) => !zone))
      return giveUp("One or more endpoints do not have a zone specified");
    const allocations = zoneAllocations(this.#shares, ready.length);
    const counts = new Map<string, number>();
    for (const slice of unchanged)
      if (!keepHints(slice, allocations, counts)) {
        const changed = { ...slice };
        plan.update.push(changed);
        changing.push(changed);
      }
    for (const slice of changing) stayAtHome(slice, counts);
    redistribute(changing, allocations, counts);
    const before = this.#given.get(serviceKey);
    const types = before ?? new Map<string, ReadonlyMap<string, number>>();
    this.#given.set(serviceKey, types.set(addressType, counts));
    this.#refused.delete(serviceKey);
    return before
      ? []
      : [
          {
            type: "Normal",
            reason: "TopologyAwareHintsEnabled",
            message: `Topology Aware Hints has been enabled, addressType: ${addressType}`,
          },
        ];
  }

  #giveUp(serviceKey: string, addressType: string): void {
    const types = this.#given.get(serviceKey);
    types?.delete(addressType);
    if (types?.size === 0) this.#given.delete(serviceKey);
    this.#refused.add(serviceKey);
  }

  #problem(ready: number): string | undefined {
    const shares = this.#shares;
    if (!shares)
      return "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes";
    const what = `(${ready} endpoints, ${shares.size} zones)`;
    if (shares.size > ready) return `Insufficient number of endpoints ${what}`;
    const minimum = [...zoneAllocations(shares, ready).values()].reduce(
      (sum, each) => sum + each.minimum,
      0,
    );
    return minimum > ready
      ? `Unable to allocate minimum required endpoints to each zone without exceeding overload threshold ${what}`
      : undefined;
  }
}

function disabled(reason: string, addressType: string): HintEvent {
  return {
    type: "Warning",
    reason: "TopologyAwareHintsDisabled",
    message: `${reason}, addressType: ${addressType}`,
  };
}

/** Whether a slice's hints may stay as they are; counts them then. */
function keepHints(
  { endpoints = [] }: EndpointSlice,
  allocations: Allocations,
  counts: Map<string, number>,
): boolean {
  const own = new Map<string, number>();
  for (const endpoint of endpoints) {
    if (!isReady(endpoint)) continue;
    const zones = endpoint.hints?.forZones ?? [];
    if (zones.length === 0) return false;
    for (const { name } of zones) own.set(name, (own.get(name) ?? 0) + 1);
  }
  for (const [zone, count] of own) {
    const maximum = allocations.get(zone)?.maximum ?? -1;
    if (count + (counts.get(zone) ?? 0) > maximum) return false;
  }
  for (const [zone, count] of own)
    counts.set(zone, (counts.get(zone) ?? 0) + count);
  return true;
}

/** Every endpoint is for its own zone at first. */
function stayAtHome(slice: Hinted, counts: Map<string, number>): void {
  slice.endpoints = (slice.endpoints ?? []).map((endpoint) => {
    if (!isReady(endpoint) || !endpoint.zone) return withoutHints(endpoint);
    counts.set(endpoint.zone, (counts.get(endpoint.zone) ?? 0) + 1);
    return withHint(endpoint, endpoint.zone);
  });
}

/** Zones with more endpoints than they want give some to those with fewer. */
function redistribute(
  slices: readonly Hinted[],
  allocations: Allocations,
  counts: Map<string, number>,
): void {
  const { giving, receiving } = zoneTransfers(allocations, counts);
  for (const slice of slices)
    slice.endpoints = (slice.endpoints ?? []).map((endpoint) => {
      const from = endpoint.zone ?? "";
      const [to] = receiving.keys();
      if (!isReady(endpoint) || !giving.has(from) || to === undefined)
        return endpoint;
      take(giving, from);
      take(receiving, to);
      counts.set(from, (counts.get(from) ?? 0) - 1);
      counts.set(to, (counts.get(to) ?? 0) + 1);
      return withHint(endpoint, to);
    });
}

function take(left: Map<string, number>, zone: string): void {
  const count = left.get(zone) ?? 0;
  if (count > 1) left.set(zone, count - 1);
  else left.delete(zone);
}
