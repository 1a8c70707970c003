// The text of an object is its JSON, wherever the documents of its managed fields come from.
import {
  encodeObject,
  encodeWith,
  objectText,
  printing,
} from "../../../../api/codec/object-text.ts";
import type { AnyObject } from "../../../../api/object.ts";
import {
  decodeFieldSet,
  encodeFieldSet,
} from "../../../../api/patch/field-set.ts";
import { finish } from "../../../../api/queueing/steps.ts";

const known = encodeFieldSet(
  decodeFieldSet({ "f:data": { ".": {}, "f:a": {} } })!,
);
const entry = (fieldsV1: object | undefined): object => ({
  manager: "m",
  operation: "Update",
  fieldsType: "FieldsV1",
  ...(fieldsV1 ? { fieldsV1 } : {}),
});

test.each<[string, object]>([
  ["no managed fields", { metadata: { name: "a" }, data: { b: "c" } }],
  ["an empty list", { metadata: { name: "a", managedFields: [] } }],
  [
    "a known document",
    {
      metadata: { name: "a", managedFields: [entry(known)] },
      data: { a: "\n" },
    },
  ],
  [
    "an unknown document",
    { metadata: { name: "a", managedFields: [entry({ "f:x": {} })] } },
  ],
  [
    "two entries",
    {
      metadata: {
        managedFields: [entry(known), entry({ "f:x": {} })],
        name: "a",
      },
      spec: {},
    },
  ],
  [
    "an entry without document",
    { metadata: { name: "a", managedFields: [entry(undefined), {}] } },
  ],
  ["nothing else", { metadata: { managedFields: [entry(known)] } }],
  ["no metadata", { data: {} }],
])("%s", (_, object) => {
  const whole = { apiVersion: "v1", kind: "ConfigMap", ...object };
  const text = objectText(whole as AnyObject);
  expect(text.startsWith('{"kind":"ConfigMap","apiVersion":"v1"')).toBe(true);
  expect(text.indexOf("\n")).toBe(text.length - 1);
  expect(JSON.parse(text)).toEqual(whole);
  finish(printing(whole as AnyObject));
  expect(encodeWith(whole as AnyObject, "[1]\n").toString()).toBe(
    `${text}[1]\n`,
  );
});

test("what was printed before has the metadata of now, and is used once", () => {
  const object = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", managedFields: [entry(known)] },
    data: { a: "1" },
  } as unknown as AnyObject & { data: { a: string } };
  finish(printing(object));
  object.metadata.resourceVersion = "7";
  expect(encodeObject(object).toString()).toBe(objectText(object));
  object.data.a = "2";
  expect(encodeObject(object).toString()).toBe(objectText(object));
});
