// What is parsed without the documents of managed fields is the object but for these documents.
import { endOfObject } from "../../../../api/codec/json-tape.ts";
import { parseLean } from "../../../../apiserver-lite/cache/lean-object.ts";

/** What is left of an object: its metadata's documents are empty. */
function withoutDocuments<T extends { metadata: object }>(object: T): T {
  const { metadata } = object as { metadata: { managedFields?: object[] } };
  if (!metadata.managedFields) return object;
  const managedFields = metadata.managedFields.map((entry) =>
    "fieldsV1" in entry && entry.fieldsV1 !== null
      ? { ...entry, fieldsV1: {} }
      : entry,
  );
  return { ...object, metadata: { ...metadata, managedFields } };
}

const fields = { "f:data": { ".": {}, 'f:a"}{': {}, 'k:{"name":"x"}': {} } };
const managed = (fieldsV1: object) => ({
  manager: "m",
  operation: "Update",
  apiVersion: "v1",
  time: "2025-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1,
});

const objects: [string, object][] = [
  ["none", { name: "a" }],
  ["one", { name: "a", managedFields: [managed(fields)] }],
  ["several", { managedFields: [managed({}), managed(fields)], name: "ä" }],
  ["one without", { managedFields: [{ manager: "m" }, managed(fields)] }],
  ["the key in text", { annotations: { x: '"fieldsV1":{"a":1}' } }],
  [
    "the key in an annotation's JSON",
    { annotations: { fieldsV1: '{"fieldsV1":{}}' } },
  ],
  ["no object", { managedFields: [{ ...managed({}), fieldsV1: null }] }],
];

test.each(objects)("%s", (_name, metadata) => {
  const object = {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata,
    data: { fieldsV1: "{}", other: '"fieldsV1":{}' },
  };
  const json = Buffer.from(`${JSON.stringify(object)}\n`);
  const start = '{"kind":"ConfigMap","apiVersion":"v1","metadata":'.length;
  const lean = parseLean(json, endOfObject(json, start));
  expect(JSON.stringify(lean)).toBe(JSON.stringify(withoutDocuments(object)));
  // An unknown end of the metadata leaves nothing unparsed.
  expect(parseLean(json, -1)).toEqual(object);
});

test("fields named like the key below the metadata", () => {
  const object = {
    metadata: { managedFields: [managed(fields)], labels: {} },
    spec: { fieldsV1: { a: 1 }, metadata: { managedFields: [managed({})] } },
  };
  const json = Buffer.from(JSON.stringify(object));
  const lean = parseLean(json, endOfObject(json, '{"metadata":'.length));
  expect(JSON.stringify(lean)).toBe(JSON.stringify(withoutDocuments(object)));
});
