import { ApiError } from "../../../../api/errors.ts";
import type { PatchSchema } from "../../../../api/patch/patch-schema.ts";
import { applyStrategicMergePatch } from "../../../../api/patch/strategic.ts";

const text: PatchSchema = { type: "string" };
const object = (fields: Record<string, object>): PatchSchema => ({
  type: "object",
  fields: new Map(Object.entries(fields)) as PatchSchema["fields"],
});
const port = object({
  containerPort: { schema: text },
  name: { schema: text },
});
const container = object({
  name: { schema: text },
  image: { schema: text },
  args: { schema: { type: "list", items: text } },
  ports: {
    schema: { type: "list", items: port },
    patchStrategy: ["merge"],
    patchMergeKey: "containerPort",
  },
});
const schema = object({
  metadata: {
    schema: object({
      labels: { schema: { type: "map", values: text } },
      finalizers: {
        schema: { type: "list", items: text },
        patchStrategy: ["merge"],
      },
    }),
  },
  containers: {
    schema: { type: "list", items: container },
    patchStrategy: ["merge"],
    patchMergeKey: "name",
  },
  strategy: {
    schema: object({ type: { schema: text }, rolling: { schema: object({}) } }),
    patchStrategy: ["retainKeys"],
  },
  whole: { schema: object({}), patchStrategy: ["replace"] },
  atomic: { schema: { type: "list", items: text } },
});

const a = { name: "a", image: "1" };
const b = { name: "b", image: "1" };
const c = { name: "c", image: "1" };

test.each<[string, object, object, object]>([
  [
    "maps merge",
    { metadata: { labels: { x: "1", y: "2" } } },
    { metadata: { labels: { y: null, z: "3" } } },
    { metadata: { labels: { x: "1", z: "3" } } },
  ],
  [
    "lists without strategy are replaced",
    { atomic: ["a"] },
    { atomic: ["b"] },
    { atomic: ["b"] },
  ],
  [
    "lists merge by key",
    { containers: [a, b] },
    { containers: [{ name: "b", image: "2" }] },
    { containers: [a, { name: "b", image: "2" }] },
  ],
  [
    "a new element goes first",
    { containers: [a] },
    { containers: [c] },
    { containers: [c, a] },
  ],
  [
    "elements delete",
    { containers: [a, b] },
    { containers: [{ $patch: "delete", name: "a" }] },
    { containers: [b] },
  ],
  [
    "lists replace",
    { containers: [a, b] },
    { containers: [{ $patch: "replace" }, c] },
    { containers: [c] },
  ],
  [
    "maps replace",
    { metadata: { labels: { x: "1" } } },
    { metadata: { labels: { $patch: "replace", y: "2" } } },
    { metadata: { labels: { y: "2" } } },
  ],
  [
    "maps delete",
    { metadata: { labels: { x: "1" } } },
    { metadata: { labels: { $patch: "delete" } } },
    { metadata: { labels: {} } },
  ],
  [
    "nested merge keys",
    {
      containers: [
        { name: "a", ports: [{ containerPort: 80 }, { containerPort: 81 }] },
      ],
    },
    {
      containers: [{ name: "a", ports: [{ containerPort: 80, name: "web" }] }],
    },
    {
      containers: [
        {
          name: "a",
          ports: [{ containerPort: 80, name: "web" }, { containerPort: 81 }],
        },
      ],
    },
  ],
  [
    "primitive lists are sets",
    { metadata: { finalizers: ["a", "b"] } },
    { metadata: { finalizers: ["b", "c"] } },
    { metadata: { finalizers: ["a", "b", "c"] } },
  ],
  [
    "primitives delete",
    { metadata: { finalizers: ["a", "b"] } },
    { metadata: { "$deleteFromPrimitiveList/finalizers": ["a"] } },
    { metadata: { finalizers: ["b"] } },
  ],
  [
    "set order",
    { containers: [a, b, c] },
    {
      "$setElementOrder/containers": [{ name: "c" }, { name: "a" }],
      containers: [{ name: "a", image: "9" }],
    },
    { containers: [b, c, { name: "a", image: "9" }] },
  ],
  [
    "set order with a new element",
    { containers: [a, b] },
    {
      "$setElementOrder/containers": [
        { name: "a" },
        { name: "c" },
        { name: "b" },
      ],
      containers: [c],
    },
    { containers: [a, c, b] },
  ],
  [
    "order without changes",
    { containers: [a, b] },
    { "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] },
    { containers: [b, a] },
  ],
  [
    "order of primitives",
    { metadata: { finalizers: ["a", "b"] } },
    { metadata: { "$setElementOrder/finalizers": ["b", "a"] } },
    { metadata: { finalizers: ["b", "a"] } },
  ],
  [
    "retain keys",
    { strategy: { type: "x", rolling: { n: 1 } } },
    { strategy: { $retainKeys: ["type"], type: "y" } },
    { strategy: { type: "y" } },
  ],
  [
    "replaced maps",
    { whole: { a: 1 } },
    { whole: { b: 2 } },
    { whole: { b: 2 } },
  ],
  [
    "null removes",
    { containers: [a], atomic: ["x"] },
    { containers: null, nothing: null },
    { atomic: ["x"] },
  ],
  [
    "new values lose nulls and directives",
    {},
    {
      metadata: { labels: { x: null, y: "1" } },
      containers: [{ $patch: "delete", name: "a" }, b],
    },
    { metadata: { labels: { y: "1" } }, containers: [b] },
  ],
  ["types change", { atomic: { x: 1 } }, { atomic: ["a"] }, { atomic: ["a"] }],
])("%s", (_, document, patch, expected) => {
  const before = JSON.stringify([document, patch]);
  expect(applyStrategicMergePatch<unknown>(document, patch, schema)).toEqual(
    expected,
  );
  expect(JSON.stringify([document, patch])).toBe(before);
});

test.each<[string, object, unknown, number, string]>([
  ["no object", {}, [], 400, "cannot unmarshal array"],
  ["unknown directive", {}, { metadata: { $patch: "frob" } }, 200, ""],
  [
    "unknown directive on a map",
    { metadata: {} },
    { metadata: { $patch: "frob" } },
    400,
    "unknown patch type: frob in map",
  ],
  [
    "no merge key",
    { containers: [a] },
    { containers: [{ image: "2" }] },
    400,
    "does not contain declared merge key: name",
  ],
  [
    "delete without key",
    { containers: [a] },
    { containers: [{ $patch: "delete" }] },
    400,
    "does not contain declared merge key: name",
  ],
  [
    "merge in a list",
    { containers: [a] },
    { containers: [{ $patch: "merge", name: "a" }] },
    400,
    "merging lists cannot yet",
  ],
  [
    "retain keys mismatch",
    { strategy: {} },
    { strategy: { $retainKeys: ["rolling"], type: "y" } },
    400,
    "invalid patch format of retainKeys",
  ],
  [
    "retain keys no list",
    { strategy: {} },
    { strategy: { $retainKeys: "type" } },
    400,
    "invalid patch format of retainKeys",
  ],
  [
    "order no list",
    { containers: [a] },
    { "$setElementOrder/containers": "x" },
    400,
    "expected a []interface {}, but received a string",
  ],
  [
    "order mismatch",
    { containers: [a] },
    { "$setElementOrder/containers": [{ name: "b" }], containers: [a] },
    400,
    "The order in patch list",
  ],
  [
    "delete list no list",
    { metadata: { finalizers: ["a"] } },
    { metadata: { "$deleteFromPrimitiveList/finalizers": "a" } },
    200,
    "",
  ],
  [
    "values of two types",
    { metadata: { finalizers: ["a"] } },
    { metadata: { finalizers: [1] } },
    400,
    "list element types are not identical: [[a] [1]]",
  ],
  [
    "merge on a map",
    { metadata: {} },
    { metadata: { $patch: "merge" } },
    400,
    "unknown patch type: merge in map: map[$patch:merge]",
  ],
])("%s", (_, document, patch, code, message) => {
  let failure: unknown;
  try {
    applyStrategicMergePatch(document, patch, schema);
  } catch (error) {
    failure = error;
  }
  if (code === 200) return expect(failure).toBeUndefined();
  expect(failure).toBeInstanceOf(ApiError);
  expect((failure as ApiError).code).toBe(code);
  expect((failure as ApiError).message).toContain(message);
});
