import type { AnyObject } from "../../../../api/object.ts";
import {
  decodeIndexed,
  encodeIndexed,
  withoutIndex,
} from "../../../../apiserver-lite/registry/indexed-json.ts";

const object: AnyObject = {
  kind: "ConfigMap",
  apiVersion: "v1",
  metadata: { name: "a", labels: { app: "ä\n]", "x/y": "" } },
  data: { text: "two\nlines\n[1]" },
} as never;
const fields = { "spec.nodeName": "n1" };
const json = `${JSON.stringify(object)}\n`;

it("holds the JSON, and what the cache needs of it", () => {
  const made = encodeIndexed(object, 7, fields);
  expect(made.json.toString()).toBe(json);
  expect(made.value.toString()).toBe(
    `${json}${JSON.stringify([1, 7, object.metadata.labels, fields])}\n`,
  );
  const read = decodeIndexed(made.value, 7)!;
  expect(read.json.toString()).toBe(json);
  expect(read.labels).toEqual(object.metadata.labels);
  expect(read.fields).toEqual(fields);
  expect(withoutIndex(made.value).toString()).toBe(json);
});

it.each([
  ["of another revision", encodeIndexed(object, 8, fields).value],
  ["without an index", Buffer.from(json)],
  ["without a newline", Buffer.from(json.slice(0, -1))],
  ["that is empty", Buffer.alloc(0)],
  ["with an index of another version", Buffer.from(`${json}[2,7,{},{}]\n`)],
  ["with a cut index", encodeIndexed(object, 7, fields).value.subarray(0, -9)],
  ["that is an array", Buffer.from("[1]\n")],
  ["that is YAML", Buffer.from("a:\n[b\n")],
])("reads no index from a value %s", (_, value) => {
  expect(decodeIndexed(value, 7)).toBeUndefined();
});
