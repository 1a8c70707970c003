// The Node's resources as the agent reports them beside those that others write: a resource that a cluster's administrator or
// an add-on advertises in the capacity may be given to pods, so it is allocatable from the next look on, as at the reference.
// What is allocatable of no capacity goes, and so do sizes of huge pages that the machine no longer has (the reference's
// reconcileHugePageResource).
//
//   capacity, by another's hand | allocatable before | reported allocatable
//   example.com/gpu: 4          | -, or any          | example.com/gpu: 4
//   -                           | example.com/gpu: 4 | example.com/gpu: null
//   hugepages-3Mi: 9Mi → null   | any                | hugepages-3Mi: null
import { isExtendedResource } from "../../api/objects/resource-names.ts";
import { compareQuantities, parseQuantity } from "../../api/quantity.ts";
import type { Node } from "../../api/types/core-v1.ts";

type Resources = Record<string, string | null>;
type Status = NonNullable<Node["status"]>;

interface ReportedResources {
  readonly capacity: Resources;
  readonly allocatable: Resources;
}

/** For a strategic patch: null takes away what the API server has. */
export function besideOthers(
  known: Status = {},
  { capacity: own = {}, allocatable: ownAllocatable = {} }: Status,
): ReportedResources {
  const capacity: Resources = { ...own };
  const allocatable: Resources = { ...ownAllocatable };
  for (const [name, amount] of Object.entries(known.capacity ?? {})) {
    if (name in own) continue;
    const gone = name.startsWith("hugepages-");
    if (gone) capacity[name] = null;
    allocatable[name] = gone ? null : amount;
  }
  for (const name of Object.keys(known.allocatable ?? {})) {
    const may = isExtendedResource(name) || name.startsWith("hugepages-");
    if (may && !(name in allocatable)) allocatable[name] = null;
  }
  return { capacity, allocatable };
}

/** Another has written one of these resources, or has not got it yet. */
export function hasOtherResources(
  known: Status = {},
  reported: ReportedResources,
): boolean {
  return (["capacity", "allocatable"] as const).some((field) =>
    Object.entries(reported[field]).some(
      ([name, amount]) => !isSame(known[field]?.[name], amount ?? undefined),
    ),
  );
}

function isSame(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return compareQuantities(parseQuantity(one), parseQuantity(other)) === 0;
}
