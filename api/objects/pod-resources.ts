// What a pod asks for and may use, as quota, limit ranges, the scheduler, the node agent and eviction count it: one sum,
// the reference's. Its containers and sidecars (init containers that restart always) run at once; before them the init
// containers run one after the other, each beside the sidecars started by then. The pod needs the greater of the two,
// resource by resource:
//
//   containers 100m + 200m, init: a sidecar of 50m, then one of 400m   →   max(100 + 200 + 50, 50 + 400) = 450m
//
// What the pod says for cpu and memory as a whole (pod-level resources, where the API keeps that field) takes the place
// of the sum. Overhead is added to requests, and to limits where there is one.
import {
  addQuantities,
  compareQuantities,
  quantityMilliValue,
  quantityValue,
} from "../quantity.ts";
import { sameJson } from "./json-equality.ts";
import type {
  Container,
  PodSpec,
  PodStatus,
  ResourceRequirements,
} from "../types/core-v1.ts";

/** CPU in millicores, all else in bytes or pieces. */
export type Resources = Map<string, number>;
type Quantities = Readonly<Record<string, string | number>>;

/** For scoring only: what a container that asks for nothing is counted with. */
const unspecified = { cpu: 100, memory: 200 * 1024 * 1024 };
/** What a pod may say as a whole. */
export const podLevelResources: readonly string[] = ["cpu", "memory"];

/** Does it say for cpu or memory what the pod as a whole asks for or may use? */
export function saysPodLevelResources(
  resources: ResourceRequirements | undefined,
): boolean {
  const { requests = {}, limits = {} } = resources ?? {};
  return podLevelResources.some((name) => name in requests || name in limits);
}

/** A quantity as a number in the unit of its resource: millicores for cpu, else bytes or pieces. */
export function resourceAmount(
  name: string,
  quantity: string | number,
): number {
  return name === "cpu"
    ? quantityMilliValue(quantity)
    : quantityValue(quantity);
}

export function toResources(list: Quantities | undefined): Resources {
  const resources: Resources = new Map();
  for (const [name, quantity] of Object.entries(list ?? {}))
    resources.set(name, resourceAmount(name, quantity));
  return resources;
}

export function addResources(to: Resources, what: Resources, sign = 1): void {
  for (const [name, amount] of what)
    to.set(name, (to.get(name) ?? 0) + sign * amount);
}

/** How amounts are counted: as numbers where they are compared, as quantities where they are shown. */
interface Arithmetic<A> {
  read(list: Quantities | undefined): Map<string, A>;
  add(a: A, b: A): A;
  exceeds(a: A, b: A): boolean;
  isZero(a: A): boolean;
}

const numbers: Arithmetic<number> = {
  read: toResources,
  add: (a, b) => a + b,
  exceeds: (a, b) => a > b,
  isZero: (a) => a === 0,
};

const texts: Arithmetic<string> = {
  read: (list) =>
    new Map(
      Object.entries(list ?? {}).map(([name, value]) => [name, String(value)]),
    ),
  add: addQuantities,
  exceeds: (a, b) => compareQuantities(a, b) > 0,
  isZero: (a) => compareQuantities(a, "0") === 0,
};

type Part = "requests" | "limits";

interface SumOptions {
  /** Default true. Limit ranges leave it out. */
  readonly overhead?: boolean;
  /**
   * What the node reports of the containers counts too. While a resize is under way a container may still have what the
   * spec takes away, or have room kept for what it gives: the greater of the two counts, resource by resource. Of a resize
   * that the node can never do the report alone counts. Agents report resources behind a gate only.
   */
  readonly status?: PodStatus | undefined;
}

/** Containers with what they have or may get, whichever is more; see `SumOptions.status`. */
function effectiveContainers(
  containers: readonly Container[],
  { containerStatuses, resize }: PodStatus,
): readonly Container[] {
  const reports = new Map<string, ResourceRequirements>();
  for (const { name, resources } of containerStatuses ?? [])
    if (resources) reports.set(name, resources);
  if (reports.size === 0) return containers;
  return containers.map((container) => {
    const report = reports.get(container.name);
    if (!report) return container;
    if (resize === "Infeasible") return { ...container, resources: report };
    const { requests, limits } = container.resources ?? {};
    const resources: ResourceRequirements = {
      requests: greater(requests, report.requests),
      limits: greater(limits, report.limits),
    };
    return { ...container, resources };
  });
}

function greater<List extends Quantities>(
  a: List | undefined,
  b: List | undefined,
): Record<string, string> {
  const result = texts.read(a);
  for (const [name, amount] of texts.read(b)) {
    const known = result.get(name);
    if (known === undefined || texts.exceeds(amount, known))
      result.set(name, amount);
  }
  return Object.fromEntries(result);
}

/** Does the node report other resources of a container than before? */
export function reportsOtherResources(
  status: PodStatus | undefined,
  before: PodStatus | undefined,
): boolean {
  const resourcesOf = (one: PodStatus | undefined): unknown[] => [
    one?.resize === "Infeasible",
    ...(one?.containerStatuses ?? []).flatMap(({ name, resources }) =>
      resources ? [name, resources] : [],
    ),
  ];
  return !sameJson(resourcesOf(status), resourcesOf(before));
}

function sumOf<A>(
  spec: PodSpec,
  part: Part,
  { overhead = true, status }: SumOptions,
  { read, add, exceeds, isZero }: Arithmetic<A>,
  amountsOf: (container: Container) => Map<string, A>,
): Map<string, A> {
  const addAll = (to: Map<string, A>, what: ReadonlyMap<string, A>): void => {
    for (const [name, amount] of what) {
      const known = to.get(name);
      to.set(name, known === undefined ? amount : add(known, amount));
    }
  };
  const raiseTo = (to: Map<string, A>, what: ReadonlyMap<string, A>): void => {
    for (const [name, amount] of what) {
      const known = to.get(name);
      if (known === undefined || exceeds(amount, known)) to.set(name, amount);
    }
  };
  const total = new Map<string, A>();
  const containers = status
    ? effectiveContainers(spec.containers, status)
    : spec.containers;
  for (const container of containers) addAll(total, amountsOf(container));
  if (spec.initContainers) {
    const sidecars = new Map<string, A>();
    const peak = new Map<string, A>();
    for (const container of spec.initContainers) {
      const amounts = amountsOf(container);
      if (container.restartPolicy === "Always") {
        addAll(total, amounts);
        addAll(sidecars, amounts);
        raiseTo(peak, sidecars);
      } else {
        addAll(amounts, sidecars);
        raiseTo(peak, amounts);
      }
    }
    raiseTo(total, peak);
  }
  if (spec.resources)
    for (const [name, amount] of read(spec.resources[part]))
      if (podLevelResources.includes(name)) total.set(name, amount);
  if (overhead && spec.overhead) {
    const more = read(spec.overhead);
    if (part === "limits")
      for (const name of more.keys()) {
        const limit = total.get(name);
        if (limit === undefined || isZero(limit)) more.delete(name);
      }
    addAll(total, more);
  }
  return total;
}

const requestsOf = (container: Container): Resources =>
  toResources(container.resources?.requests);

function scoredRequestsOf(container: Container): Resources {
  const requests = requestsOf(container);
  for (const [name, amount] of Object.entries(unspecified))
    if (!requests.has(name)) requests.set(name, amount);
  return requests;
}

/** As the API server defaults it; pods from files may not have been there. */
const defaultedRequestsOf = (container: Container): Resources =>
  toResources({
    ...container.resources?.limits,
    ...container.resources?.requests,
  });

interface RequestOptions extends SumOptions {
  /** For scoring: containers that ask for nothing are counted with a little. */
  readonly nonZero?: boolean;
  /** A container that has only a limit asks for that. */
  readonly fromLimits?: boolean;
}

export function podRequests(
  spec: PodSpec,
  options: RequestOptions = {},
): Resources {
  if (
    options.nonZero &&
    saysPodLevelResources({ requests: spec.resources?.requests ?? {} })
  )
    return scoredWhole(spec, options);
  const amountsOf = options.nonZero
    ? scoredRequestsOf
    : options.fromLimits
      ? defaultedRequestsOf
      : requestsOf;
  return sumOf(spec, "requests", options, numbers, amountsOf);
}

/** A pod that asks as a whole: only what neither it nor a container asks for is counted with a little. */
function scoredWhole(spec: PodSpec, options: RequestOptions): Resources {
  const asked = podRequests(spec, { ...options, nonZero: false });
  const scored = podRequests({ ...spec, resources: {} }, options);
  for (const name of Object.keys(unspecified))
    if (!asked.has(name)) asked.set(name, scored.get(name) ?? 0);
  return asked;
}

export function podLimits(spec: PodSpec, options: SumOptions = {}): Resources {
  return sumOf(spec, "limits", options, numbers, (container) =>
    toResources(container.resources?.limits),
  );
}

/** The same in exact quantities, in the form of the first that was added. */
export function podQuantities(
  spec: PodSpec,
  part: Part,
  options: SumOptions = {},
): Record<string, string> {
  return Object.fromEntries(
    sumOf(spec, part, options, texts, (container) =>
      texts.read(container.resources?.[part]),
    ),
  );
}
