import fc from "fast-check";
import { ExactNumber } from "../../../../api/exact-number.ts";
import { ElementIndex } from "../../../../api/patch/element-index.ts";
import { sameJson } from "../../../../api/objects/json-equality.ts";

/** Few different values, so that many are equal. */
const scalar = fc.constantFrom<unknown>(
  "",
  "a",
  "1",
  "#1",
  "{}",
  "[]",
  1,
  1.5,
  0,
  -0,
  true,
  "true",
  null,
  new ExactNumber("1.0"),
  new ExactNumber("1.00"),
);
const key = fc.constantFrom("k", "__proto__", "constructor", "x");
const tree = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    scalar,
    fc.array(tie("value"), { maxLength: 2 }),
    fc
      .array(fc.tuple(key, tie("value")), { maxLength: 2 })
      .map((pairs) => Object.fromEntries(pairs)),
  ),
})).value;

test("finds what a search one by one finds, by value", () => {
  fc.assert(
    fc.property(fc.array(tree, { maxLength: 12 }), tree, (list, item) => {
      const expected = list.findIndex((other) => sameJson(item, other));
      expect(new ElementIndex(list, "").indexOf(item)).toBe(expected);
    }),
    { numRuns: 2000, seed: 1 },
  );
});

test("finds what a search one by one finds, by key", () => {
  const keyOf = (item: unknown): unknown =>
    typeof item === "object" && item !== null && Object.hasOwn(item, "k")
      ? (item as { k: unknown }).k
      : undefined;
  const element = fc.oneof(
    fc.record({ k: tree, x: scalar }, { requiredKeys: [] }),
    scalar,
  );
  fc.assert(
    fc.property(fc.array(element, { maxLength: 12 }), element, (list, item) => {
      const expected = list.findIndex(
        (other) =>
          keyOf(item) !== undefined && sameJson(keyOf(item), keyOf(other)),
      );
      expect(new ElementIndex(list, "k").indexOf(item)).toBe(expected);
    }),
    { numRuns: 2000, seed: 2 },
  );
});

test("what is added stands at the end", () => {
  const index = new ElementIndex([{ k: "a" }], "k");
  index.add({ k: "b" });
  index.add({ k: "a" });
  index.add({ k: "c" });
  expect(["a", "b", "c", "d"].map((k) => index.indexOf({ k }))).toEqual([
    0, 1, 3, -1,
  ]);
});
