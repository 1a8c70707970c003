// The types that the operators take, as the checker needs them. How they compute is in operators.ts.
import type { Library, OverloadText } from "../checking/declarations.ts";
import { noSuchOverload } from "../values/value.ts";

/** Operators run by the planner, not by their overloads. */
const call = (): typeof noSuchOverload => noSuchOverload;

const of = (id: string, args: string, result: string): OverloadText => ({
  id,
  args,
  result,
  call,
});

const orderedTypes: Readonly<Record<string, string>> = {
  bool: "bool",
  int64: "int",
  uint64: "uint",
  double: "double",
  string: "string",
  bytes: "bytes",
  timestamp: "timestamp",
  duration: "duration",
};
const numericTypes = ["int64", "uint64", "double"];

/** Overloads of an order: of each type with itself and of numbers with other numbers. */
function ordering(id: string): OverloadText[] {
  const same = Object.entries(orderedTypes).map(([name, type]) =>
    of(`${id}_${name}`, `${type}, ${type}`, "bool"),
  );
  const mixed = numericTypes.flatMap((left) =>
    numericTypes
      .filter((right) => right !== left)
      .map((right) =>
        of(
          `${id}_${left}_${right}`,
          `${orderedTypes[left]}, ${orderedTypes[right]}`,
          "bool",
        ),
      ),
  );
  return [...same, ...mixed];
}

/** Overloads of an operator of numbers with their own type. */
function arithmetic(id: string, types = numericTypes): OverloadText[] {
  return types.map((name) => {
    const type = orderedTypes[name] as string;
    return of(`${id}_${name}`, `${type}, ${type}`, type);
  });
}

export const operatorLibrary: Library = {
  "_?_:_": [of("conditional", "bool, A, A", "A")],
  "_&&_": [of("logical_and", "bool, bool", "bool")],
  "_||_": [of("logical_or", "bool, bool", "bool")],
  "!_": [of("logical_not", "bool", "bool")],
  "@not_strictly_false": [of("not_strictly_false", "bool", "bool")],
  "_==_": [of("equals", "A, A", "bool")],
  "_!=_": [of("not_equals", "A, A", "bool")],
  "_+_": [
    of("add_bytes", "bytes, bytes", "bytes"),
    of("add_double", "double, double", "double"),
    of("add_duration_duration", "duration, duration", "duration"),
    of("add_duration_timestamp", "duration, timestamp", "timestamp"),
    of("add_timestamp_duration", "timestamp, duration", "timestamp"),
    of("add_int64", "int, int", "int"),
    of("add_list", "list(A), list(A)", "list(A)"),
    of("add_string", "string, string", "string"),
    of("add_uint64", "uint, uint", "uint"),
  ],
  "_-_": [
    ...arithmetic("subtract"),
    of("subtract_duration_duration", "duration, duration", "duration"),
    of("subtract_timestamp_duration", "timestamp, duration", "timestamp"),
    of("subtract_timestamp_timestamp", "timestamp, timestamp", "duration"),
  ],
  "_*_": arithmetic("multiply"),
  "_/_": arithmetic("divide"),
  "_%_": arithmetic("modulo", ["int64", "uint64"]),
  "-_": [
    of("negate_double", "double", "double"),
    of("negate_int64", "int", "int"),
  ],
  "_<_": ordering("less"),
  "_<=_": ordering("less_equals"),
  "_>_": ordering("greater"),
  "_>=_": ordering("greater_equals"),
  "_[_]": [
    of("index_list", "list(A), int", "A"),
    of("index_map", "map(A, B), A", "B"),
  ],
  "@in": [
    of("in_list", "A, list(A)", "bool"),
    of("in_map", "A, map(A, B)", "bool"),
  ],
};
