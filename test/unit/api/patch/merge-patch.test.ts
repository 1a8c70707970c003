import {
  applyMergePatch,
  createMergePatch,
} from "../../../../api/patch/merge-patch.ts";

test.each([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  [{ a: [1] }, { a: [null, { b: null, c: 1 }] }, { a: [null, { c: 1 }] }],
  [
    {},
    { a: [[{ b: null }], { c: [{ d: null }] }] },
    { a: [[{}], { c: [{}] }] },
  ],
  [{ a: "b" }, { a: [{ b: null }] }, { a: [{}] }],
  [{ a: { b: 1 } }, { a: [{ b: null }] }, { a: [{ b: null }] }],
])("%j + %j", (document, patch, expected) => {
  const before = JSON.stringify(document);
  expect(applyMergePatch<unknown>(document, patch)).toEqual(expected);
  expect(JSON.stringify(document)).toBe(before);
});

test.each([[[]], ["x"], [null], [1]])("%j is no merge patch", (patch) =>
  expect(() => applyMergePatch({}, patch)).toThrow("json: cannot unmarshal"),
);

test("prototypes stay out of reach", () => {
  const patched = applyMergePatch(
    {},
    JSON.parse('{"__proto__":{"polluted":true}}'),
  );
  expect(JSON.stringify(patched)).toBe('{"__proto__":{"polluted":true}}');
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test("created patches lead from one to the other", () => {
  const from = { a: 1, b: { c: 1, d: 2 }, e: [1], gone: true };
  const to = { a: 1, b: { c: 2, d: 2 }, e: [1, 2], fresh: { x: "y" } };
  const patch = createMergePatch(from, to);
  expect(patch).toEqual({
    gone: null,
    b: { c: 2 },
    e: [1, 2],
    fresh: { x: "y" },
  });
  expect(applyMergePatch<unknown>(from, patch)).toEqual(to);
});
