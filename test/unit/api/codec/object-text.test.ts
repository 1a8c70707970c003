// The text of an object is its JSON, wherever the documents of its managed fields come from.
import { objectText } from "../../../../api/codec/object-text.ts";
import type { AnyObject } from "../../../../api/object.ts";
import {
  decodeFieldSet,
  encodeFieldSet,
} from "../../../../api/patch/field-set.ts";

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
});
