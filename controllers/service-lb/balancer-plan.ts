// What a Service of type LoadBalancer is to have: whether it is this controller's, and its addresses, out of the nodes or
// out of a pool. Nothing here writes to the API; the pool remembers what it gave.
// Source: the reference's service controller, for which Services and nodes count.
import { addressKind } from "../../api/address-kind.ts";
import { isConditionTrue } from "../../api/objects/conditions.ts";
import { objectKey } from "../../api/object.ts";
import { balancerAddresses } from "../../api/objects/load-balancer.ts";
import type { Node, Service } from "../../api/types/core-v1.ts";
import { shortest, type AddressPool } from "./address-pool.ts";
import {
  familyOf,
  type AddressFamily,
} from "../../api/addresses/address-range.ts";

export const cleanupFinalizer = "service.kubernetes.io/load-balancer-cleanup";
const ownClass = "orbit.io/node";
const excludeLabel = "node.kubernetes.io/exclude-from-external-load-balancers";
const goingTaint = "ToBeDeletedByClusterAutoscaler";

/** A Service without a class is ours, as the reference's controller has it. */
function isOurs({ spec }: Service): boolean {
  return (spec?.loadBalancerClass ?? ownClass) === ownClass;
}

export function wantsBalancer(service: Service): boolean {
  return (
    service.spec?.type === "LoadBalancer" &&
    isOurs(service) &&
    !service.metadata.deletionTimestamp
  );
}

/** It had a balancer of ours, and is to have none. */
export function needsCleanup(service: Service): boolean {
  return !wantsBalancer(service) && isOurs(service) && hasFinalizer(service);
}

export function hasFinalizer({ metadata }: Service): boolean {
  return metadata.finalizers?.includes(cleanupFinalizer) ?? false;
}

function familiesOf({ spec }: Service): AddressFamily[] {
  const given = spec?.ipFamilies?.length
    ? spec.ipFamilies
    : (spec?.clusterIPs ?? []).map(familyOf);
  return given.filter((family) => family === "IPv4" || family === "IPv6");
}

export interface BalancerPlan {
  readonly addresses: readonly string[];
  /** Why the Service has not all that it is to have; for an event. */
  readonly problem?: string;
}

function portKeys({ spec }: Service): string[] {
  return (spec?.ports ?? []).map(
    ({ protocol, port }) => `${protocol ?? "TCP"} ${port}`,
  );
}

/** Of Services that share the nodes' addresses: by protocol and port. */
export function balancerPortIndex(service: Service): readonly string[] {
  return wantsBalancer(service) ? portKeys(service) : [];
}

/** Who has addresses stays before who has none, then the older one. */
export function comesFirst(a: Service, b: Service): boolean {
  const [hasA, hasB] = [a, b].map((each) => balancerAddresses(each).length > 0);
  if (hasA !== hasB) return hasA === true;
  const age = ({ metadata }: Service): string =>
    `${metadata.creationTimestamp ?? ""} ${objectKey({ metadata })}`;
  return age(a) < age(b);
}

/**
 * Why the Service can't have the nodes' addresses: another has one of its ports, or the node itself.
 * @param sharing Services with this protocol and port, this one included
 */
export function portProblem(
  service: Service,
  sharing: (key: string) => readonly Service[],
  reservedPorts: readonly number[],
): string | undefined {
  for (const key of portKeys(service)) {
    const [protocol, port] = key.split(" ");
    if (protocol === "TCP" && reservedPorts.includes(Number(port)))
      return `port ${port}/TCP of the nodes is in use by the cluster itself`;
    const other = sharing(key).find(
      (each) =>
        each.metadata.uid !== service.metadata.uid && comesFirst(each, service),
    );
    if (other)
      return `port ${port}/${protocol} of the nodes is in use by the Service ${objectKey(other)}`;
  }
  return undefined;
}

function isReady({ status }: Node): boolean {
  return isConditionTrue(status?.conditions, "Ready");
}

function takesTraffic({ metadata, spec }: Node): boolean {
  return (
    !metadata.deletionTimestamp &&
    metadata.labels?.[excludeLabel] === undefined &&
    !(spec?.taints ?? []).some(({ key }) => key === goingTaint)
  );
}

/** What of a node decides about addresses, to compare. */
export function nodeSignature(node: Node): string {
  return JSON.stringify([
    isReady(node),
    takesTraffic(node),
    node.status?.addresses ?? [],
  ]);
}

/** External addresses of a family, or else internal ones. */
function addressesOfNode({ status }: Node, family: AddressFamily): string[] {
  const ofType = (type: string): string[] =>
    (status?.addresses ?? []).flatMap((each) =>
      each.type === type &&
      familyOf(each.address) === family &&
      addressKind(each.address) === "outside"
        ? [each.address]
        : [],
    );
  const external = ofType("ExternalIP");
  return external.length > 0 ? external : ofType("InternalIP");
}

/** Those of the ready nodes. While no node is ready, a Service keeps what it has of those that are there. */
export function nodePlan(
  service: Service,
  nodes: readonly Node[],
): BalancerPlan {
  const candidates = nodes
    .filter(takesTraffic)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const ready = candidates.filter(isReady);
  const found = familiesOf(service).flatMap((family) =>
    (ready.length > 0 ? ready : candidates).flatMap((node) =>
      addressesOfNode(node, family),
    ),
  );
  const had = balancerAddresses(service);
  const addresses = [...new Set(found)].filter(
    (address) => ready.length > 0 || had.includes(address),
  );
  return { addresses };
}

/** One address of each family, taken from the pool; what the Service had before stays where it may. */
export function poolPlan(service: Service, pool: AddressPool): BalancerPlan {
  const owner = objectKey(service);
  const requested = service.spec?.loadBalancerIP ?? "";
  const failed = (problem: string): BalancerPlan => {
    pool.release(owner);
    return { addresses: [], problem };
  };
  const families = familiesOf(service);
  if (requested !== "") {
    const family = familyOf(requested);
    if (!family || !pool.contains(requested))
      return failed(
        `the address ${requested} of spec.loadBalancerIP is not in --load-balancer-cidr`,
      );
    if (!families.includes(family))
      return failed(
        `the address ${requested} of spec.loadBalancerIP is none of the Service's families`,
      );
    if (!pool.claim(requested, owner))
      return failed(
        `the address ${requested} of spec.loadBalancerIP is in use by the Service ${pool.ownerOf(requested)}`,
      );
  }
  const addresses: string[] = [];
  const exhausted: AddressFamily[] = [];
  const missing: AddressFamily[] = [];
  for (const family of families) {
    const own = pool
      .addressesOf(owner)
      .filter((address) => familyOf(address) === family);
    const address =
      requested !== "" && familyOf(requested) === family
        ? shortest(requested)
        : (own[0] ?? pool.take(family, owner));
    if (address !== undefined) addresses.push(address);
    else if (pool.has(family)) exhausted.push(family);
    else missing.push(family);
  }
  pool.release(owner, addresses);
  if (exhausted.length > 0)
    return {
      addresses,
      problem: `all ${exhausted.join(" and ")} addresses of --load-balancer-cidr are in use`,
    };
  // A Service of two families has what the pool has.
  return addresses.length > 0 || missing.length === 0
    ? { addresses }
    : {
        addresses,
        problem: `--load-balancer-cidr has no ${missing.join(" and ")} addresses`,
      };
}
