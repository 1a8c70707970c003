// Server-side apply of custom resources: list types, map types, defaults of keys and unknown fields as the schema has them.
import type { AnyObject } from "../../../../api/object.ts";
import { applyPatch } from "../../../../api/patch/apply.ts";
import type { PatchSchema } from "../../../../api/patch/patch-schema.ts";
import { CustomSchema } from "../../../../api/structural/custom-schema.ts";
import { finish } from "../../../../api/queueing/steps.ts";
import type { JSONSchemaProps } from "../../../../api/types/apiextensions-v1.ts";

const text = { type: "string" };
const spec: JSONSchemaProps = {
  type: "object",
  properties: {
    ports: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["port", "protocol"],
      items: {
        type: "object",
        required: ["port"],
        properties: {
          port: { type: "integer" },
          protocol: { ...text, default: "TCP" },
          name: text,
        },
      },
    },
    set: { type: "array", items: text, "x-kubernetes-list-type": "set" },
    list: { type: "array", items: text },
    whole: {
      type: "object",
      "x-kubernetes-map-type": "atomic",
      properties: { a: text, b: text },
    },
    free: { type: "object", additionalProperties: text },
    any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    partly: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { known: { type: "object", properties: { a: text } } },
    },
    since: { type: "string", format: "date-time" },
    amount: { "x-kubernetes-int-or-string": true },
  },
};
const custom = new CustomSchema(
  () => ({ type: "object", properties: { spec } }),
  {
    group: "stable.example.com",
    version: "v1",
    kind: "CronTab",
    checkMetadata: () => [],
  },
);
const apiVersion = "stable.example.com/v1";

function apply(
  live: AnyObject | undefined,
  manager: string,
  given: object,
  force = false,
): AnyObject {
  const object = {
    apiVersion,
    kind: "CronTab",
    metadata: { name: "n" },
    spec: given,
  };
  return finish(
    applyPatch(live, object as AnyObject, {
      manager,
      apiVersion,
      subresource: "",
      nowMs: 0,
      schema: custom.objectSchema as PatchSchema,
      force,
    }),
  );
}

function fieldsOf(object: AnyObject, manager: string): unknown {
  const entry = object.metadata.managedFields?.find(
    (each) => each.manager === manager,
  );
  return (entry?.fieldsV1 as Record<string, unknown> | undefined)?.["f:spec"];
}

test("list maps are merged by their keys, whose defaults count", () => {
  const one = apply(undefined, "one", { ports: [{ port: 80, name: "web" }] });
  expect(fieldsOf(one, "one")).toEqual({
    "f:ports": {
      'k:{"port":80,"protocol":"TCP"}': {
        ".": {},
        "f:port": {},
        "f:name": {},
      },
    },
  });
  const two = apply(one, "two", { ports: [{ port: 81, protocol: "UDP" }] });
  expect(two["spec"]).toEqual({
    ports: [
      { port: 80, name: "web" },
      { port: 81, protocol: "UDP" },
    ],
  });
});

test("sets are merged by value, plain lists are one", () => {
  const one = apply(undefined, "one", { set: ["a"], list: ["a"] });
  expect(apply(one, "two", { set: ["b"] })["spec"]).toEqual({
    set: ["a", "b"],
    list: ["a"],
  });
  expect(() => apply(one, "two", { list: ["b"] })).toThrow(
    'conflict with "one": .spec.list',
  );
});

test("atomic maps are one, others are merged, known or not", () => {
  const one = apply(undefined, "one", {
    whole: { a: "1" },
    free: { a: "1" },
    any: { a: { b: [1] } },
    amount: "5%",
  });
  expect(fieldsOf(one, "one")).toEqual({
    "f:whole": {},
    "f:free": { "f:a": {} },
    "f:any": { "f:a": { ".": {}, "f:b": {} } },
    "f:amount": {},
  });
  expect(() => apply(one, "two", { whole: { b: "1" } })).toThrow(
    'conflict with "one": .spec.whole',
  );
  expect(
    apply(one, "two", { free: { b: "1" }, any: { a: { c: 1 } } })["spec"],
  ).toMatchObject({ free: { a: "1", b: "1" }, any: { a: { b: [1], c: 1 } } });
});

test("what the schema does not have is refused", () => {
  expect(() => apply(undefined, "one", { nope: 1, list: "text" })).toThrow(
    /\.spec\.list: expected list, got &\{text\}[^]*\.spec\.nope: field not declared in schema/,
  );
});

test("what a field that keeps unknown ones has below it may be unknown too", () => {
  const one = apply(undefined, "one", { partly: { known: { b: 1 } } });
  expect(fieldsOf(one, "one")).toEqual({
    "f:partly": { "f:known": { "f:b": {} } },
  });
});

test("text of a format may be any scalar, for validation to refuse", () => {
  expect(apply(undefined, "one", { since: 1.5 })["spec"]).toEqual({
    since: 1.5,
  });
  expect(() => apply(undefined, "one", { since: ["a"] })).toThrow(
    ".spec.since: expected any scalar, got &{[a]}",
  );
  expect(() => apply(undefined, "one", { set: [["a", null]] })).toThrow(
    '.spec.set[=["a",null]]: expected string, got &value.valueUnstructured{Value:[]interface {}{"a", interface {}(nil)}}',
  );
});

test("a value in place of an object takes its fields from their managers, and gives them back", () => {
  const one = apply(undefined, "one", { any: { a: { b: 1 } } });
  const two = apply(one, "two", { any: { a: 1 } }, true);
  expect(fieldsOf(two, "one")).toBeUndefined();
  expect(fieldsOf(two, "two")).toEqual({ "f:any": { "f:a": {} } });
  const three = apply(two, "one", { any: { a: { b: 1 } } }, true);
  expect(fieldsOf(three, "two")).toBeUndefined();
  expect(fieldsOf(three, "one")).toEqual({
    "f:any": { "f:a": { ".": {}, "f:b": {} } },
  });
});

test("conflicts are in the order of their paths", () => {
  const one = apply(undefined, "one", { since: "x", list: ["a"], set: ["b"] });
  expect(() =>
    apply(one, "two", { since: "y", set: ["b"], list: ["c"] }),
  ).toThrow("- .spec.list\n- .spec.since");
});

test("null leaves what is merged as it is, and takes the place of what is one", () => {
  const live = { free: { a: "1" }, set: ["a"], list: ["a"], whole: { a: "a" } };
  const one = apply(undefined, "one", live);
  const nulls = { free: null, set: null, list: null, whole: null };
  expect(apply(one, "two", nulls, true)["spec"]).toEqual({
    free: { a: "1" },
    set: ["a"],
    list: null,
    whole: null,
  });
});

test("a key may be null, for validation to refuse", () => {
  const ports = [{ port: null, protocol: "TCP" }];
  const one = apply(undefined, "one", { ports });
  expect(one["spec"]).toEqual({ ports });
});
