// What `transformMap` and `transformMapEntry` expand to: a map with one more entry, or all entries of another one.
import type { Library } from "../checking/declarations.ts";
import {
  EntryMap,
  Failure,
  type MapValue,
  type Result,
  type Value,
} from "../values/value.ts";

/** The accumulator is the loop's own: it grows in place. */
function insert(map: Value | undefined, key: Value, value: Result): Result {
  if (value instanceof Failure) return value;
  const grown = map instanceof EntryMap ? map : new EntryMap();
  if (grown.get(key) !== undefined)
    return new Failure(`insert failed: key ${String(key)} already exists`);
  grown.set(key, value);
  return grown;
}

export const mapInsertLibrary: Library = {
  "cel.@mapInsert": [
    {
      id: "@mapInsert_map_key_value",
      args: "map(K, V), K, V",
      result: "map(K, V)",
      call: ([map, key, value]) => insert(map, key as Value, value as Value),
    },
    {
      id: "@mapInsert_map_map",
      args: "map(K, V), map(K, V)",
      result: "map(K, V)",
      call([map, other]) {
        let grown: Result = map as Value;
        for (const key of (other as MapValue).keys()) {
          grown = insert(grown, key, (other as MapValue).get(key) as Result);
          if (grown instanceof Failure) return grown;
        }
        return grown;
      },
    },
  ],
};
