// Functions of lists: sums, orders, positions. Positions in strings have the same names and are in strings.ts. All go
// through their lists in steps, which are taken at once where the lists are small.
import type { Library, OverloadText } from "../checking/declarations.ts";
import { add } from "./operators.ts";
import { compare, comparing, including } from "../values/equality.ts";
import { isLarge } from "../values/weight.ts";
import { finish, Pace, type Steps } from "../../queueing/steps.ts";
import {
  Duration,
  Failure,
  type ListValue,
  Uint,
  type Result,
  type Value,
} from "../values/value.ts";

const summable: Readonly<Record<string, Value>> = {
  int: 0n,
  uint: new Uint(0n),
  double: 0,
  duration: new Duration(0n),
};
const comparable = [
  ...["int", "uint", "double", "bool"],
  ...["duration", "timestamp", "string", "bytes"],
];

type Run = (args: readonly Value[], pace: Pace) => Steps<Result>;

/** Of a function whose first `lists` arguments are lists that it goes through. */
const steppedCall = (
  run: Run,
  lists = 1,
): Pick<OverloadText, "call" | "inSteps"> => ({
  call: (args) => finish(run(args, new Pace())),
  inSteps: (args) =>
    args.slice(0, lists).some(isLarge) ? run(args, new Pace()) : undefined,
});

function* isSorted([list]: readonly Value[], pace: Pace): Steps<Result> {
  const { size } = list as ListValue;
  let before: Value | undefined;
  for (let index = 0; index < size; index++) {
    const element = (list as ListValue).at(index);
    if (element instanceof Failure) return element;
    if (before !== undefined) {
      const order = compare(before, element);
      if (order instanceof Failure) return order;
      if (order > 0) return false;
    }
    before = element;
    if (pace.isOver()) yield;
  }
  return true;
}

function* sum(
  zero: Value,
  [list]: readonly Value[],
  pace: Pace,
): Steps<Result> {
  const { size } = list as ListValue;
  let total: Value = zero;
  for (let index = 0; index < size; index++) {
    const element = (list as ListValue).at(index);
    if (element instanceof Failure) return element;
    const next = add(total, element);
    if (next instanceof Failure) return next;
    total = next;
    if (pace.isOver()) yield;
  }
  return total;
}

/** The first of the least (sign 1) or greatest (sign -1) elements. */
function* extreme(
  name: string,
  sign: 1 | -1,
  [list]: readonly Value[],
  pace: Pace,
): Steps<Result> {
  const { size } = list as ListValue;
  let found: Value | undefined;
  for (let index = 0; index < size; index++) {
    const element = (list as ListValue).at(index);
    if (element instanceof Failure) return element;
    if (pace.isOver()) yield;
    if (found === undefined) {
      found = element;
      continue;
    }
    const order = compare(found, element);
    if (order instanceof Failure) return order;
    if (order * sign > 0) found = element;
  }
  return found === undefined
    ? new Failure(`${name} called on empty list`)
    : found;
}

function* position(
  fromEnd: boolean,
  [list, wanted]: readonly Value[],
  pace: Pace,
): Steps<Result> {
  const found = list as ListValue;
  for (let step = 0; step < found.size; step++) {
    const index = fromEnd ? found.size - 1 - step : step;
    const element = found.at(index);
    if (element instanceof Failure) continue;
    if ((yield* comparing(element, wanted as Value, pace)) === true)
      return BigInt(index);
  }
  return -1n;
}

const positionOf = (id: string, fromEnd: boolean): OverloadText => ({
  id,
  member: true,
  args: "list(A), A",
  result: "int",
  ...steppedCall((args, pace) => position(fromEnd, args, pace)),
});

export const listLibrary: Library = {
  isSorted: comparable.map((type) => ({
    id: `list_${type}_is_sorted_bool`,
    member: true,
    args: `list(${type})`,
    result: "bool",
    ...steppedCall(isSorted),
  })),
  sum: Object.entries(summable).map(([type, zero]) => ({
    id: `list_${type}_sum_${type}`,
    member: true,
    args: `list(${type})`,
    result: type,
    ...steppedCall((args, pace) => sum(zero, args, pace)),
  })),
  max: comparable.map((type) => ({
    id: `list_${type}_max_${type}`,
    member: true,
    args: `list(${type})`,
    result: type,
    ...steppedCall((args, pace) => extreme("max", -1, args, pace)),
  })),
  min: comparable.map((type) => ({
    id: `list_${type}_min_${type}`,
    member: true,
    args: `list(${type})`,
    result: type,
    ...steppedCall((args, pace) => extreme("min", 1, args, pace)),
  })),
  indexOf: [positionOf("list_a_index_of_int", false)],
  lastIndexOf: [positionOf("list_a_last_index_of_int", true)],
};

function* containsAll(
  list: ListValue,
  wanted: ListValue,
  pace: Pace,
): Steps<Result> {
  for (let index = 0; index < wanted.size; index++) {
    const element = wanted.at(index);
    if (element instanceof Failure) return element;
    const found = yield* including(list, element, pace);
    if (found !== true) return found;
  }
  return true;
}

function* intersects(
  left: ListValue,
  right: ListValue,
  pace: Pace,
): Steps<Result> {
  for (let index = 0; index < left.size; index++) {
    const element = left.at(index);
    if (element instanceof Failure) continue;
    if ((yield* including(right, element, pace)) === true) return true;
  }
  return false;
}

function* areEquivalent(
  left: ListValue,
  right: ListValue,
  pace: Pace,
): Steps<Result> {
  const contained = yield* containsAll(left, right, pace);
  return contained === true ? yield* containsAll(right, left, pace) : contained;
}

/** Two lists whose every pair may be compared. */
const maxPairsAtOnce = 2000;

const ofSets = (
  id: string,
  test: (left: ListValue, right: ListValue, pace: Pace) => Steps<Result>,
): OverloadText[] => {
  const run: Run = ([left, right], pace) =>
    test(left as ListValue, right as ListValue, pace);
  const { call, inSteps } = steppedCall(run, 2);
  return [
    {
      id,
      args: "list(T), list(T)",
      result: "bool",
      call,
      inSteps: (args) => {
        const [left, right] = args as [ListValue, ListValue];
        return left.size * right.size > maxPairsAtOnce
          ? run(args, new Pace())
          : inSteps?.(args);
      },
    },
  ];
};

export const setLibrary: Library = {
  "sets.contains": ofSets("list_sets_contains_list", containsAll),
  "sets.equivalent": ofSets("list_sets_equivalent_list", areEquivalent),
  "sets.intersects": ofSets("list_sets_intersects_list", intersects),
};
