import fc from "fast-check";
import { ApiError } from "../../../../api/errors.ts";
import {
  applyJsonPatch,
  maxJsonPatchOperations,
  parseJsonPatch,
} from "../../../../api/patch/json-patch.ts";

const apply = (document: unknown, patch: unknown): unknown =>
  applyJsonPatch(document, parseJsonPatch(patch));

function codeOf(run: () => unknown): number {
  try {
    run();
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
  return 200;
}

test.each([
  ["add", { a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
  ["add over", { a: 1 }, [{ op: "add", path: "/a", value: [] }], { a: [] }],
  ["add null", { a: 1 }, [{ op: "add", path: "/b" }], { a: 1, b: null }],
  [
    "append",
    { a: [1] },
    [{ op: "add", path: "/a/-", value: 2 }],
    { a: [1, 2] },
  ],
  [
    "insert",
    { a: [1, 3] },
    [{ op: "add", path: "/a/1", value: 2 }],
    { a: [1, 2, 3] },
  ],
  [
    "insert at end",
    { a: [1] },
    [{ op: "add", path: "/a/1", value: 2 }],
    { a: [1, 2] },
  ],
  ["negative", { a: [1, 2] }, [{ op: "remove", path: "/a/-1" }], { a: [1] }],
  [
    "remove",
    { a: { b: 1, c: 2 } },
    [{ op: "remove", path: "/a/b" }],
    { a: { c: 2 } },
  ],
  [
    "replace",
    { a: [1, 2] },
    [{ op: "replace", path: "/a/0", value: 9 }],
    { a: [9, 2] },
  ],
  ["move", { a: 1 }, [{ op: "move", from: "/a", path: "/b" }], { b: 1 }],
  [
    "copy",
    { a: [1] },
    [{ op: "copy", from: "/a", path: "/b" }],
    { a: [1], b: [1] },
  ],
  [
    "test",
    { a: { x: 1, y: [2] } },
    [{ op: "test", path: "/a", value: { y: [2], x: 1 } }],
    { a: { x: 1, y: [2] } },
  ],
  ["test absent is null", {}, [{ op: "test", path: "/a", value: null }], {}],
  [
    "escapes",
    { "a/b": 1, "c~d": 2 },
    [
      { op: "remove", path: "/a~1b" },
      { op: "remove", path: "/c~0d" },
    ],
    {},
  ],
  ["replace missing", {}, [{ op: "replace", path: "/a", value: 1 }], { a: 1 }],
  ["copy missing", {}, [{ op: "copy", from: "/a", path: "/b" }], { b: null }],
  [
    "leading zero",
    { a: [1, 2] },
    [{ op: "remove", path: "/a/01" }],
    { a: [1] },
  ],
  [
    "whole by text",
    { a: 1 },
    [{ op: "replace", path: "", value: "" }],
    { a: 1 },
  ],
  ["no operations", { a: 1 }, null, { a: 1 }],
  ["escape order", { "~1": 1 }, [{ op: "remove", path: "/~01" }], {}],
])("%s", (_, document, patch, expected) => {
  const before = JSON.stringify(document);
  expect(apply(document, patch)).toEqual(expected);
  expect(JSON.stringify(document)).toBe(before);
});

test.each([
  ["remove missing", {}, [{ op: "remove", path: "/a" }]],
  ["add below missing", {}, [{ op: "add", path: "/a/b", value: 1 }]],
  ["index too big", { a: [] }, [{ op: "add", path: "/a/1", value: 1 }]],
  ["no index", { a: [] }, [{ op: "add", path: "/a/x", value: 1 }]],
  ["test fails", { a: 1 }, [{ op: "test", path: "/a", value: "1" }]],
  [
    "move into itself",
    { a: { b: {} } },
    [{ op: "move", from: "/a", path: "/a/b/c" }],
  ],
  ["unknown op", {}, [{ op: "frob", path: "/a" }]],
  ["no path", {}, [{ op: "add", value: 1 }]],
  ["relative path", {}, [{ op: "add", path: "a", value: 1 }]],
  ["add the whole", {}, [{ op: "add", path: "", value: {} }]],
  ["test without value", {}, [{ op: "test", path: "/a" }]],
  ["through a scalar", { a: "text" }, [{ op: "add", path: "/a/0", value: 1 }]],
  ["inherited", {}, [{ op: "remove", path: "/constructor" }]],
  [
    "second fails",
    { a: 1 },
    [
      { op: "remove", path: "/a" },
      { op: "remove", path: "/a" },
    ],
  ],
])("%s is 422", (_, document, patch) =>
  expect(codeOf(() => apply(document, patch))).toBe(422),
);

test.each([[{}], ["x"], [[{ op: 1 }]], [[1]], [["op"]]])("%j is 400", (patch) =>
  expect(codeOf(() => apply({}, patch))).toBe(400),
);

test("bounds", () => {
  const many = Array.from({ length: maxJsonPatchOperations + 1 }, () => ({
    op: "test",
    path: "/a",
    value: null,
  }));
  expect(codeOf(() => apply({}, many))).toBe(413);
  const bomb = [
    { op: "add", path: "/a", value: ["x".repeat(1000)] },
    ...Array.from({ length: 40 }, () => ({
      op: "copy",
      from: "/a",
      path: "/a/-",
    })),
  ];
  expect(codeOf(() => apply({}, bomb))).toBe(422);
});

test("prototypes stay out of reach", () => {
  const patched = apply(
    {},
    JSON.parse('[{"op":"add","path":"/__proto__","value":{"polluted":true}}]'),
  );
  expect(Object.keys(patched as object)).toEqual(["__proto__"]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test("unknown fields are told", () => {
  expect(
    parseJsonPatch([{ op: "test", path: "/a", foo: 1 }]).unknownFields,
  ).toEqual(['json patch unknown field "[0].foo"']);
});

test("any patch ends in a result or an ApiError", () => {
  const path = fc.constantFrom(
    "",
    "/",
    "/a",
    "/a/0",
    "/a/-",
    "/a/-1",
    "/b/c",
    "/b",
    "a",
    "/~",
    "/~2",
    "/__proto__/x",
  );
  const operation = fc.record(
    {
      op: fc.constantFrom(
        "add",
        "remove",
        "replace",
        "move",
        "copy",
        "test",
        "x",
      ),
      path,
      from: path,
      value: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 6 }), (patch) => {
      expect([200, 400, 413, 422]).toContain(
        codeOf(() => apply({ a: [1, { x: 2 }], b: { c: "d" } }, patch)),
      );
    }),
    { seed: 7, numRuns: 500 },
  );
});
