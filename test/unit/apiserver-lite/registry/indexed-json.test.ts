import type { AnyObject } from "../../../../api/object.ts";
import {
  noFields,
  SharedFields,
} from "../../../../apiserver-lite/cache/shared-fields.ts";
import {
  decodeIndexed as decode,
  encodeIndexed as encode,
  withoutIndex,
} from "../../../../apiserver-lite/registry/indexed-json.ts";
import { TextBlocks } from "../../../../apiserver-lite/registry/text-blocks.ts";

const encodeIndexed = (
  each: AnyObject,
  revision: number,
  selectable: Record<string, string>,
  shared = new SharedFields(),
) => encode(each, revision, selectable, shared, new TextBlocks());
const decodeIndexed = (
  value: Uint8Array,
  revision: number,
  shared = new SharedFields(),
) => decode(value, revision, shared);

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

it.each([
  ["labels that are no object", `${json}[1,7,[],{}]\n`],
  ["fields that are no object", `${json}[1,7,{},1]\n`],
  ["nothing between", `${json}[1,7,{}{}]\n`],
  ["text behind the fields", `${json}[1,7,{},{},{}]\n`],
  ["an open object", `${json}[1,7,{},{"a":"}]\n`],
  ["a malformed object", `${json}[1,7,{},{"a"}]\n`],
  ["a longer revision", `${json}[1,77,{},{}]\n`],
])("reads no index with %s", (_, value) => {
  expect(decodeIndexed(Buffer.from(value), 7)).toBeUndefined();
});

it("shares labels and fields that are alike, bounded", () => {
  const shared = new SharedFields(3);
  const made = encodeIndexed(object, 7, fields, shared);
  const again = encodeIndexed(
    structuredClone(object),
    8,
    { ...fields },
    shared,
  );
  expect(again.labels).toBe(made.labels);
  expect(again.fields).toBe(made.fields);
  const read = decodeIndexed(made.value, 7, shared)!;
  expect(read.labels).toBe(made.labels);
  expect(read.fields).toBe(made.fields);
  expect(shared.of("{}")).toBe(noFields);
  for (let each = 0; each < 9; each++) shared.of(`{"a":"${each}"}`);
  expect(decodeIndexed(made.value, 7, shared)!.labels).toEqual(made.labels);
  expect(decodeIndexed(made.value, 7, shared)!.labels).not.toBe(made.labels);
});
