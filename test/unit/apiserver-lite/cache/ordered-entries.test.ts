// Entries in key order against a sorted array, over random inserts, replacements, deletes and ranges.
import fc from "fast-check";
import { CacheEntry } from "../../../../apiserver-lite/cache/cache-entry.ts";
import { OrderedEntries } from "../../../../apiserver-lite/cache/ordered-entries.ts";

const json = Buffer.from("{}\n");
const entryOf = (key: string, revision = 1): CacheEntry =>
  new CacheEntry(key, revision, json, {}, {});
const keyOf = (index: number): string => String(index).padStart(5, "0");

const ranges = fc.array(fc.tuple(fc.nat(2100), fc.option(fc.nat(2100))), {
  minLength: 1,
  maxLength: 4,
});

test("is the sorted array, whatever the order of writes", () => {
  fc.assert(
    fc.property(
      fc.nat(1500),
      fc.array(fc.tuple(fc.nat(2000), fc.boolean()), { maxLength: 1200 }),
      ranges,
      (loaded, writes, asked) => {
        const model = new Map<string, CacheEntry>();
        const ordered = new OrderedEntries();
        const first = Array.from({ length: loaded }, (_, index) =>
          entryOf(keyOf(index)),
        );
        ordered.load(first);
        for (const entry of first) model.set(entry.key, entry);
        for (const [index, [at, kept]] of writes.entries()) {
          const entry = entryOf(keyOf(at), index + 2);
          if (kept) {
            ordered.set(entry);
            model.set(entry.key, entry);
          } else {
            ordered.delete(entry.key);
            model.delete(entry.key);
          }
        }
        const sorted = [...model.values()].sort((a, b) =>
          a.key < b.key ? -1 : 1,
        );
        expect(ordered.size).toBe(sorted.length);
        const same = (from: string, to: string): void => {
          const expected = sorted.filter(
            ({ key }) => key >= from && (to === "" || key < to),
          );
          const found = ordered.slice(from, to);
          expect(found.length).toBe(expected.length);
          expect(found.every((each, at) => each === expected[at])).toBe(true);
          expect(ordered.count(from, to)).toBe(expected.length);
        };
        same("", "");
        for (const [from, length] of asked)
          same(keyOf(from), length === null ? "" : keyOf(from + length));
      },
    ),
    { numRuns: 150, seed: 20261122 },
  );
});

test("what was taken stays as it was", () => {
  const ordered = new OrderedEntries();
  ordered.load([entryOf("a"), entryOf("c")]);
  const all = ordered.slice("");
  const some = ordered.slice("b", "z");
  ordered.set(entryOf("b"));
  ordered.delete("c");
  expect(all.map(({ key }) => key)).toEqual(["a", "c"]);
  expect(some.map(({ key }) => key)).toEqual(["c"]);
  expect(new OrderedEntries().slice("")).toEqual([]);
});
