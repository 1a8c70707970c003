// How many of a Service's endpoints each zone wants by its share of the CPU, and which zones give endpoints to which. A pure
// function of shares and counts, in the order of the zones' names.

/** The most that an endpoint may have above its share. */
const overloadThreshold = 0.2;

interface Allocation {
  readonly minimum: number;
  readonly maximum: number;
  readonly desired: number;
}

export type Allocations = ReadonlyMap<string, Allocation>;

/** @param shares of each zone, 1 in all */
export function zoneAllocations(
  shares: ReadonlyMap<string, number>,
  endpoints: number,
): Allocations {
  const minima = new Map(
    [...shares].map(([zone, share]) => [
      zone,
      Math.ceil((share * endpoints) / (1 + overloadThreshold)),
    ]),
  );
  const total = [...minima.values()].reduce((sum, each) => sum + each, 0);
  return new Map(
    [...minima].map(([zone, minimum]) => [
      zone,
      {
        minimum,
        maximum: minimum + endpoints - total,
        desired: Math.max((shares.get(zone) ?? 0) * endpoints, minimum),
      },
    ]),
  );
}

function most(wanted: ReadonlyMap<string, number>): [string, number] {
  let found: [string, number] = ["", 0];
  for (const [zone, count] of wanted)
    if (count > found[1]) found = [zone, count];
  return found;
}

/** Whole numbers of endpoints that zones have too many of, and those that others want, the same in all. */
export function zoneTransfers(
  allocations: Allocations,
  counts: ReadonlyMap<string, number>,
): { giving: Map<string, number>; receiving: Map<string, number> } {
  const surplus = new Map<string, number>();
  const lack = new Map<string, number>();
  for (const [zone, { desired }] of allocations) {
    const more = (counts.get(zone) ?? 0) - desired;
    if (more > 0) surplus.set(zone, more);
    else if (more < 0) lack.set(zone, -more);
  }
  const giving = new Map<string, number>();
  const receiving = new Map<string, number>();
  for (;;) {
    const [from, gives] = most(surplus);
    const [to, takes] = most(lack);
    // A half is the least that is worth a transfer, and one side has to have a whole.
    if (gives < 0.5 || takes < 0.5 || (gives < 1 && takes < 1)) break;
    giving.set(from, (giving.get(from) ?? 0) + 1);
    receiving.set(to, (receiving.get(to) ?? 0) + 1);
    surplus.set(from, gives - 1);
    lack.set(to, takes - 1);
  }
  return { giving, receiving };
}
