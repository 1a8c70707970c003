import fc from "fast-check";
import {
  decodeFieldSet,
  difference,
  encodeFieldSet,
  equalSets,
  FieldSetBuilder,
  pathsOf,
  union,
  type FieldSet,
} from "../../../../api/patch/field-set.ts";

const paths = fc.array(
  fc.array(fc.constantFrom("f:a", "f:b", "v:1", 'k:{"n":"x"}'), {
    minLength: 1,
    maxLength: 4,
  }),
  { maxLength: 8 },
);

function setOf(list: readonly (readonly string[])[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of list) builder.insert(path);
  return builder.build();
}

const texts = (set: FieldSet): string[] =>
  pathsOf(set)
    .map((path) => path.join("/"))
    .sort();

describe("field sets", () => {
  test("union and difference are those of the paths, and keep what does not change", () => {
    fc.assert(
      fc.property(paths, paths, (left, right) => {
        const [a, b] = [setOf(left), setOf(right)];
        const [x, y] = [texts(a), texts(b)];
        expect(texts(union(a, b))).toEqual([...new Set([...x, ...y])].sort());
        expect(texts(difference(a, b))).toEqual(
          x.filter((path) => !y.includes(path)),
        );
        expect(union(a, a)).toBe(a);
        expect(texts(a)).toEqual(x);
        expect(union(union(a, b), b)).toEqual(union(a, b));
      }),
      { seed: 11, numRuns: 500 },
    );
  });

  test("nothing in common: the same set comes back", () => {
    const a = setOf([["f:a"], ["f:b", "f:c"]]);
    expect(difference(a, setOf([["f:b"], ["f:z"]]))).toBe(a);
    expect(union(a, setOf([["f:b", "f:c"]]))).toBe(a);
  });

  test("documents and sets lead to each other", () => {
    fc.assert(
      fc.property(paths, (list) => {
        const set = setOf(list);
        const document = encodeFieldSet(set);
        expect(encodeFieldSet(set)).toBe(document);
        const fresh = decodeFieldSet(JSON.parse(JSON.stringify(document)))!;
        expect(equalSets(fresh, set)).toBe(true);
        expect(equalSets(decodeFieldSet(document)!, set)).toBe(true);
      }),
      { seed: 12, numRuns: 300 },
    );
  });

  test("equal sets share one document, also with others encoded between", () => {
    const list = [["f:a"], ["f:b", "f:c"]];
    const first = encodeFieldSet(setOf(list));
    expect(encodeFieldSet(setOf([["f:b", "f:c"]]))).toEqual({
      "f:b": { "f:c": {} },
    });
    expect(encodeFieldSet(setOf(list))).toBe(first);
    expect(first).toEqual({ "f:a": {}, "f:b": { "f:c": {} } });
  });
});
