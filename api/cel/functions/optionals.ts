// Optional values: `optional.of(x)`, `x.?field`, `orValue`.
import type { Library, OverloadText } from "../checking/declarations.ts";
import {
  Duration,
  Failure,
  ListValue,
  MapValue,
  noSuchOverload,
  Optional,
  Timestamp,
  Uint,
  type Value,
} from "../values/value.ts";

function isZero(value: Value): boolean {
  switch (typeof value) {
    case "boolean":
      return !value;
    case "bigint":
      return value === 0n;
    case "number":
      return value === 0;
    case "string":
      return value === "";
  }
  if (value === null) return true;
  if (value instanceof ListValue || value instanceof MapValue)
    return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Optional) return value.value === undefined;
  // The zero time is the first moment of year 1.
  return (
    value instanceof Timestamp && value.nanos === -62_135_596_800_000_000_000n
  );
}

const inner = (value: Value | undefined): Value | undefined =>
  (value as Optional).value;

/** Run by the planner, which evaluates the second operand only when it is needed, or reads elements itself. */
const planned = (
  id: string,
  args: string,
  result: string,
  member?: true,
): OverloadText => ({
  id,
  args,
  result,
  ...(member ? { member } : {}),
  call: () => noSuchOverload,
});

export const optionalLibrary: Library = {
  "optional.of": [
    {
      id: "optional_of",
      args: "V",
      result: "optional(V)",
      call: ([value]) => new Optional(value as Value),
    },
  ],
  "optional.ofNonZeroValue": [
    {
      id: "optional_ofNonZeroValue",
      args: "V",
      result: "optional(V)",
      call: ([value]) =>
        isZero(value as Value) ? Optional.none : new Optional(value as Value),
    },
  ],
  "optional.none": [
    {
      id: "optional_none",
      args: "",
      result: "optional(V)",
      call: () => Optional.none,
    },
  ],
  value: [
    {
      id: "optional_value",
      member: true,
      args: "optional(V)",
      result: "V",
      call: ([value]) =>
        inner(value) === undefined
          ? new Failure("optional.none() dereference")
          : (inner(value) as Value),
    },
  ],
  hasValue: [
    {
      id: "optional_hasValue",
      member: true,
      args: "optional(V)",
      result: "bool",
      call: ([value]) => inner(value) !== undefined,
    },
  ],
  or: [
    planned(
      "optional_or_optional",
      "optional(V), optional(V)",
      "optional(V)",
      true,
    ),
  ],
  orValue: [planned("optional_orValue_value", "optional(V), V", "V", true)],
  "_?._": [planned("select_optional_field", "dyn, string", "optional(V)")],
  "_[?_]": [
    planned("list_optindex_optional_int", "list(V), int", "optional(V)"),
    planned(
      "optional_list_optindex_optional_int",
      "optional(list(V)), int",
      "optional(V)",
    ),
    planned("map_optindex_optional_value", "map(K, V), K", "optional(V)"),
    planned(
      "optional_map_optindex_optional_value",
      "optional(map(K, V)), K",
      "optional(V)",
    ),
  ],
  "_[_]": [
    planned("optional_list_index_int", "optional(list(V)), int", "optional(V)"),
    planned(
      "optional_map_index_value",
      "optional(map(K, V)), K",
      "optional(V)",
    ),
  ],
};
