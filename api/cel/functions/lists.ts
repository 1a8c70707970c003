// Functions of lists: sums, orders, positions. Positions in strings have the same names and are in strings.ts.
import type { Library, OverloadText } from "../checking/declarations.ts";
import { add } from "./operators.ts";
import { compare, equal } from "../values/equality.ts";
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

function* elements(list: Value | undefined): Iterable<Result> {
  const { size } = list as ListValue;
  for (let index = 0; index < size; index++)
    yield (list as ListValue).at(index);
}

function isSorted(list: Value | undefined): Result {
  let before: Value | undefined;
  for (const element of elements(list)) {
    if (element instanceof Failure) return element;
    if (before !== undefined) {
      const order = compare(before, element);
      if (order instanceof Failure) return order;
      if (order > 0) return false;
    }
    before = element;
  }
  return true;
}

function sum(list: Value | undefined, zero: Value): Result {
  let total: Value = zero;
  for (const element of elements(list)) {
    if (element instanceof Failure) return element;
    const next = add(total, element);
    if (next instanceof Failure) return next;
    total = next;
  }
  return total;
}

/** The first of the least (sign 1) or greatest (sign -1) elements. */
function extreme(name: string, sign: 1 | -1, list: Value | undefined): Result {
  let found: Value | undefined;
  for (const element of elements(list)) {
    if (element instanceof Failure) return element;
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

function position(
  list: Value | undefined,
  wanted: Value,
  fromEnd: boolean,
): Result {
  const found = list as ListValue;
  for (let step = 0; step < found.size; step++) {
    const index = fromEnd ? found.size - 1 - step : step;
    const element = found.at(index);
    if (!(element instanceof Failure) && equal(element, wanted) === true)
      return BigInt(index);
  }
  return -1n;
}

const positionOf = (id: string, fromEnd: boolean): OverloadText => ({
  id,
  member: true,
  args: "list(A), A",
  result: "int",
  call: ([list, wanted]) => position(list, wanted as Value, fromEnd),
});

export const listLibrary: Library = {
  isSorted: comparable.map((type) => ({
    id: `list_${type}_is_sorted_bool`,
    member: true,
    args: `list(${type})`,
    result: "bool",
    call: ([list]) => isSorted(list),
  })),
  sum: Object.entries(summable).map(([type, zero]) => ({
    id: `list_${type}_sum_${type}`,
    member: true,
    args: `list(${type})`,
    result: type,
    call: ([list]) => sum(list, zero),
  })),
  max: comparable.map((type) => ({
    id: `list_${type}_max_${type}`,
    member: true,
    args: `list(${type})`,
    result: type,
    call: ([list]) => extreme("max", -1, list),
  })),
  min: comparable.map((type) => ({
    id: `list_${type}_min_${type}`,
    member: true,
    args: `list(${type})`,
    result: type,
    call: ([list]) => extreme("min", 1, list),
  })),
  indexOf: [positionOf("list_a_index_of_int", false)],
  lastIndexOf: [positionOf("list_a_last_index_of_int", true)],
};

/** Whether an element is in a list; the first failure where none is. */
function includes(list: ListValue, wanted: Value): boolean | Failure {
  let failure: Failure | undefined;
  for (const element of elements(list)) {
    const same = element instanceof Failure ? element : equal(element, wanted);
    if (same === true) return true;
    if (same instanceof Failure) failure ??= same;
  }
  return failure ?? false;
}

function containsAll(list: ListValue, wanted: ListValue): Result {
  for (const element of elements(wanted)) {
    if (element instanceof Failure) return element;
    const found = includes(list, element);
    if (found !== true) return found;
  }
  return true;
}

function intersects(left: ListValue, right: ListValue): Result {
  for (const element of elements(left))
    if (!(element instanceof Failure) && includes(right, element) === true)
      return true;
  return false;
}

const ofSets = (
  id: string,
  test: (left: ListValue, right: ListValue) => Result,
): OverloadText[] => [
  {
    id,
    args: "list(T), list(T)",
    result: "bool",
    call: ([left, right]) => test(left as ListValue, right as ListValue),
  },
];

export const setLibrary: Library = {
  "sets.contains": ofSets("list_sets_contains_list", containsAll),
  "sets.equivalent": ofSets("list_sets_equivalent_list", (left, right) => {
    const contained = containsAll(left, right);
    return contained === true ? containsAll(right, left) : contained;
  }),
  "sets.intersects": ofSets("list_sets_intersects_list", intersects),
};
