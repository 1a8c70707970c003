// Chooses CPUs that lie close together: whole sockets and nodes first, then whole cores, then single threads, each from
// where the fewest are free, so that large free places stay whole. Pure; the order is the reference's.
//
// Worked example: one socket with cores {0,4} {1,5} {2,6} {3,7}, CPU 0 taken. Three CPUs: the whole core {1,5}, then one
// thread from the core with the fewest free: 4. Spread over cores instead: 1, 2, 3. Aligned by caches of level 3, where
// {0,1,4,5} and {2,3,6,7} share one each: two CPUs are {1,5}, four are {2,3,6,7}.
import { without, type Ids } from "../machine/id-set.ts";
import type { CpuPlaces, Level } from "./cpu-places.ts";

/** What comes below whole sockets and nodes: whole cores; threads of different cores; what shares a cache, then cores. */
type Preference = "cores" | "spread" | "caches";

/** @throws Error when there are fewer than `count` */
export function takePacked(
  places: CpuPlaces,
  free: Ids,
  count: number,
  preference: Preference = "cores",
): number[] {
  checkEnough(free, count);
  const spread = preference === "spread";
  const taken: number[] = [];
  const left = (): number[] => without(free, taken);
  const depths = spread ? [1, 2] : [1, 2, 3];
  const levels: readonly Level[] = [...places.upper, "core"];
  for (const depth of depths) {
    if (depth === 3 && preference === "caches")
      taken.push(...takeCaches(places, left(), count - taken.length));
    const above = levels.slice(0, depth);
    taken.push(...takeWhole(places, left(), above, count - taken.length));
  }
  const socket = levels.indexOf("socket") + 1;
  const rest = nested(
    places,
    left(),
    spread ? levels.slice(0, socket) : levels,
  );
  taken.push(...rest.flat().slice(0, count - taken.length));
  return taken.sort((a, b) => a - b);
}

/** Groups of the last level of which nothing is taken, in order, each as long as no more than `count` are. */
function takeWhole(
  places: CpuPlaces,
  free: Ids,
  levels: readonly Level[],
  count: number,
): number[] {
  const level = levels.at(-1)!;
  const taken: number[] = [];
  for (const group of nested(places, free, levels)) {
    const whole = places.size(level, places.idOf(group[0]!, level));
    if (group.length === whole && whole <= count - taken.length)
      taken.push(...group);
  }
  return taken;
}

/** Whole caches while as many CPUs are wanted, then the rest from one that has it in whole cores; else less than wanted. */
function takeCaches(places: CpuPlaces, free: Ids, count: number): number[] {
  const upTo = places.upper.indexOf("node") + 1;
  const levels: readonly Level[] = [...places.upper.slice(0, upTo), "cache"];
  const taken: number[] = [];
  const left = (): number[] => without(free, taken);
  for (const [first] of nested(places, free, levels)) {
    if (count - taken.length >= places.cpusPerCache)
      taken.push(...takeWhole(places, left(), levels, count - taken.length));
    const wanted = count - taken.length;
    if (wanted === 0) break;
    const cache = [places.idOf(first!, "cache")];
    const cores = [
      ...places.group(places.within(left(), "cache", cache), "core"),
    ].sort(([a], [b]) => a - b);
    const fitting = cores
      .slice(0, Math.floor(wanted / places.cpusPerCore))
      .flatMap(([, cpus]) => cpus);
    if (fitting.length === wanted) taken.push(...fitting);
  }
  return taken;
}

/**
 * Spreads the CPUs evenly over as few NUMA nodes as can hold them; what is left over goes where the machine stays most
 * balanced. CPUs are taken in groups (whole cores) of `groupSize`. Packs them where no even split exists.
 * @throws Error when there are fewer than `count`
 */
export function takeDistributed(
  places: CpuPlaces,
  free: Ids,
  count: number,
  groupSize: number,
  preference: Preference = "cores",
): number[] {
  if (count % groupSize !== 0)
    return takePacked(places, free, count, preference);
  checkEnough(free, count);
  if (count === 0) return [];
  const split = chooseSplit(places, free, count, groupSize);
  if (!split) return takePacked(places, free, count, preference);
  const freeOf = places.group(free, "node");
  return [...split.cpus]
    .flatMap(([node, wanted]) => {
      const rest = Array.from(
        { length: (wanted - split.even) / groupSize },
        () => groupSize,
      );
      const steps = [split.even, ...rest];
      return takeInSteps(places, freeOf.get(node)!, steps, preference);
    })
    .sort((a, b) => a - b);
}

/** Not at once: what an even split leaves over fills begun cores first, as at the reference. */
function takeInSteps(
  places: CpuPlaces,
  free: Ids,
  steps: readonly number[],
  preference: Preference,
): number[] {
  const taken: number[] = [];
  for (const count of steps)
    taken.push(...takePacked(places, without(free, taken), count, preference));
  return taken;
}

function checkEnough(free: Ids, count: number): void {
  if (free.length < count)
    throw new Error(
      `not enough cpus available to satisfy request: requested=${count}, available=${free.length}`,
    );
}

/** The groups of the last level in order: within each level those with the fewest CPUs first, then by id. */
function nested(
  places: CpuPlaces,
  cpus: Ids,
  levels: readonly Level[],
): number[][] {
  const [level, ...deeper] = levels;
  if (level === undefined) return [[...cpus]];
  return [...places.group(cpus, level)]
    .sort(([idA, a], [idB, b]) => a.length - b.length || idA - idB)
    .flatMap(([, group]) => nested(places, group, deeper));
}

/** undefined: there is no even split. */
function chooseSplit(
  places: CpuPlaces,
  free: Ids,
  count: number,
  groupSize: number,
): Split | undefined {
  const freeOf = new Map(
    [...places.group(free, "node")].map(([node, cpus]) => [node, cpus.length]),
  );
  const upTo = places.upper.indexOf("node") + 1;
  const nodes = nested(places, free, places.upper.slice(0, upTo)).map((cpus) =>
    places.idOf(cpus[0]!, "node"),
  );
  const groups = count / groupSize;
  const groupsPerNode = Math.ceil(
    Math.ceil(places.all.length / groupSize) / places.nodeIds.length,
  );
  const fewest = Math.ceil(groups / groupsPerNode);
  const most = Math.min(groups, nodes.length);
  for (let size = fewest; size <= most; size++) {
    let best: Split | undefined;
    for (const chosen of combinations(nodes, size)) {
      const split = splitOver(chosen, freeOf, count, groupSize);
      if (split && (!best || split.imbalance < best.imbalance)) best = split;
      if (best?.imbalance === 0) break;
    }
    if (best) return best;
  }
  return undefined;
}

interface Split {
  /** How many CPUs each of the chosen nodes gives. */
  cpus: Map<number, number>;
  /** What each of them gives at least. */
  even: number;
  /** How unequal the nodes' free CPUs are afterwards. */
  imbalance: number;
}

function splitOver(
  nodes: Ids,
  freeOf: ReadonlyMap<number, number>,
  count: number,
  groupSize: number,
): Split | undefined {
  const groupsOf = (node: number): number =>
    Math.floor(freeOf.get(node)! / groupSize);
  const even = Math.floor(count / nodes.length / groupSize) * groupSize;
  const groups = nodes.reduce((sum, node) => sum + groupsOf(node), 0);
  if (groups * groupSize < count) return undefined;
  if (nodes.some((node) => freeOf.get(node)! < even)) return undefined;
  const base = new Map(nodes.map((node) => [node, even]));
  const rest = count - even * nodes.length;
  if (rest === 0)
    return { cpus: base, even, imbalance: imbalance(freeOf, base) };
  const takers = nodes.filter((node) => freeOf.get(node)! - even >= groupSize);
  let best: Split | undefined;
  for (let size = takers.length; size >= 1; size--)
    for (const chosen of combinations(takers, size)) {
      const cpus = giveRest(chosen, freeOf, base, rest, groupSize);
      if (!cpus) continue;
      const split = { cpus, even, imbalance: imbalance(freeOf, cpus) };
      if (!best || split.imbalance < best.imbalance) best = split;
    }
  return best;
}

/** Groups one by one to the nodes in turn; undefined: they can't take all of it. */
function giveRest(
  nodes: Ids,
  freeOf: ReadonlyMap<number, number>,
  base: ReadonlyMap<number, number>,
  rest: number,
  groupSize: number,
): Map<number, number> | undefined {
  const cpus = new Map(base);
  for (let left = rest; left > 0;) {
    const before = left;
    for (const node of nodes) {
      const has = cpus.get(node)!;
      if (left === 0 || freeOf.get(node)! - has < groupSize) continue;
      cpus.set(node, has + groupSize);
      left -= groupSize;
    }
    if (left === before) return undefined;
  }
  return cpus;
}

/** Standard deviation of what the nodes have free, to three places: smaller differences do not count. */
function imbalance(
  freeOf: ReadonlyMap<number, number>,
  taken: ReadonlyMap<number, number>,
): number {
  const left = [...freeOf].map(([node, free]) => free - (taken.get(node) ?? 0));
  const round = (value: number): number => Math.round(value * 1000) / 1000;
  const mean = round(left.reduce((sum, each) => sum + each, 0) / left.length);
  const squares = left.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  return round(Math.sqrt(squares / left.length));
}

/** Every selection of `size` of the list, in its order. */
function combinations(list: Ids, size: number): number[][] {
  if (size === 0) return [[]];
  return list.flatMap((first, index) =>
    combinations(list.slice(index + 1), size - 1).map((rest) => [
      first,
      ...rest,
    ]),
  );
}
