// What calls cost when they run, by the reference's model: a unit a call, more for what walks over strings and lists.
import { finish, Pace, type Steps } from "../../queueing/steps.ts";
import {
  Failure,
  ListValue,
  MapValue,
  OpaqueValue,
  sizeOf,
  type Result,
  type Value,
} from "../values/value.ts";

type CallCost = (overload: string, args: readonly Value[]) => number;

const arg = (args: readonly Value[], index: number): Value =>
  args[index] ?? null;
const walk = (value: Value, factor = 0.1): number =>
  Math.ceil(sizeOf(value) * factor);

/** Comparing two values looks at as much as the smaller has. */
export function equalityCost(left: Value, right: Value): number {
  if (typeof left === "bigint" || typeof left === "boolean") return 1;
  if (left instanceof OpaqueValue) return 1;
  return Math.ceil(Math.min(sizeOf(left), sizeOf(right)) * 0.1);
}

/** All of a tree of lists and maps. */
function* treeCosting(value: Result, pace: Pace): Steps<number> {
  if (value instanceof Failure) return 1;
  if (typeof value === "string")
    return Math.floor(Buffer.byteLength(value) * 0.1);
  if (value instanceof Uint8Array) return Math.floor(value.length * 0.1);
  if (pace.isOver()) yield;
  let cost = 0;
  if (value instanceof ListValue) {
    for (let index = 0; index < value.size; index++) {
      const element = value.at(index);
      cost +=
        typeof element === "bigint" ? 1 : yield* treeCosting(element, pace);
      if (pace.isOver()) yield;
    }
    return cost;
  }
  if (value instanceof MapValue) {
    for (const key of value.keys())
      cost +=
        (yield* treeCosting(key, pace)) +
        (yield* treeCosting(value.get(key) as Result, pace));
    return cost;
  }
  return 1;
}

const one: CallCost = () => 1;
const walkFirst: CallCost = (_id, args) => walk(arg(args, 0));
const walkFirstTwice: CallCost = (_id, args) => walk(arg(args, 0), 0.2);
const treeOfFirst: CallCost = (_id, args) =>
  finish(treeCosting(arg(args, 0), new Pace()));
const patternCost: CallCost = (_id, args) =>
  Math.ceil((1 + sizeOf(arg(args, 0))) * 0.1) *
  Math.ceil(sizeOf(arg(args, 1)) * 0.25);
const selectorCost: CallCost = (_id, args) => {
  const size = sizeOf(arg(args, 1));
  return 10 + Math.ceil(size * 0.1) + Math.ceil(size * 0.5) * 50;
};

const sets =
  (factor: number): CallCost =>
  (_id, args) =>
    1 + sizeOf(arg(args, 0)) * sizeOf(arg(args, 1)) * factor;

/** By the size of the string that a list is joined to. */
function* joinCosting(args: readonly Value[], pace: Pace): Steps<number> {
  const list = arg(args, 0) as ListValue;
  const separator = args.length > 1 ? sizeOf(arg(args, 1)) : 0;
  let size = Math.max(0, list.size - 1) * separator;
  for (let index = 0; index < list.size; index++) {
    const element = list.at(index);
    if (!(element instanceof Failure)) size += sizeOf(element);
    if (pace.isOver()) yield;
  }
  return Math.ceil(size * 0.2);
}

/** Parsing a string of the other side is charged beside comparing the addresses. */
const containment =
  (base: (size: number) => number): CallCost =>
  (id, args) =>
    base(sizeOf(arg(args, 0))) +
    (id.endsWith("_string") ? walk(arg(args, 1)) : 0);

const costs: Readonly<Record<string, CallCost>> = {
  check: () => 350_000,
  fieldSelector: selectorCost,
  labelSelector: selectorCost,
  ...Object.fromEntries(
    ["isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"].map((name) => [
      name,
      treeOfFirst,
    ]),
  ),
  ...Object.fromEntries(
    [
      ...["url", "lowerAscii", "upperAscii", "substring", "trim"],
      ...["cidr", "isIP", "isCIDR", "quantity", "isQuantity"],
      "jsonpatch.escapeKey",
    ].map((name) => [name, walkFirst]),
  ),
  replace: walkFirstTwice,
  split: walkFirstTwice,
  "ip.isCanonical": walkFirstTwice,
  ip: (id, args) => (id === "cidr_ip" ? 1 : walk(arg(args, 0))),
  join: (_id, args) => finish(joinCosting(args, new Pace())),
  "sets.contains": sets(1),
  "sets.intersects": sets(1),
  "sets.equivalent": sets(2),
  find: patternCost,
  findAll: patternCost,
  matches: patternCost,
  containsIP: containment((size) => Math.ceil(2 * size * 0.1)),
  containsCIDR: containment(
    (size) => Math.ceil(2 * size * 0.1) + Math.ceil(size * 0.1) + 1,
  ),
  validate: (_id, args) => {
    const format = arg(args, 0) as { maxPatternSize?: number } | null;
    return (
      Math.ceil((1 + sizeOf(arg(args, 1))) * 0.1) *
      Math.ceil((format?.maxPatternSize ?? 128) * 0.25)
    );
  },
  // The reference counts the target, not the affix.
  startsWith: walkFirst,
  endsWith: walkFirst,
  contains: (_id, args) => walk(arg(args, 0)) * walk(arg(args, 1)),
  format: walkFirst,
  "strings.quote": walkFirst,
  bytes: (id, args) => (id === "string_to_bytes" ? walk(arg(args, 0)) : 1),
  string: (id, args) => (id === "bytes_to_string" ? walk(arg(args, 0)) : 1),
};

/** The same in steps, where finding it out takes long itself. */
export function* callCostInSteps(
  name: string,
  overload: string,
  args: readonly Value[],
): Steps<number> {
  if (name === "join") return yield* joinCosting(args, new Pace());
  return callCostOf(name) === treeOfFirst
    ? yield* treeCosting(arg(args, 0), new Pace())
    : callCostOf(name)(overload, args);
}

/** What calls of a function cost; it is charged before they run. */
export function callCostOf(name: string): CallCost {
  return Object.hasOwn(costs, name) ? (costs[name] as CallCost) : one;
}
