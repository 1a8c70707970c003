// What is parsed without the documents of managed fields is the object but for these documents.
import {
  endOfMetadata,
  parseWithout,
} from "../../../../apiserver-lite/cache/lean-object.ts";

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
  const start = '{"kind":"ConfigMap","apiVersion":"v1",'.length;
  const member = `"metadata":${JSON.stringify(metadata)}`;
  // The second time the documents are known.
  for (let turn = 0; turn < 2; turn++) {
    const documents: number[] = [];
    const end = endOfMetadata(json, start, documents);
    expect(json.toString("utf8", start, end)).toBe(member);
    expect(endOfMetadata(json, start)).toBe(end);
    const lean = parseWithout(json, documents);
    expect(JSON.stringify(lean)).toBe(JSON.stringify(withoutDocuments(object)));
  }
});

test("fields named like the key below the metadata", () => {
  const object = {
    metadata: { managedFields: [managed(fields)], labels: {} },
    spec: { fieldsV1: { a: 1 }, metadata: { managedFields: [managed({})] } },
  };
  const json = Buffer.from(JSON.stringify(object));
  const documents: number[] = [];
  endOfMetadata(json, 1, documents);
  const lean = parseWithout(json, documents);
  expect(JSON.stringify(lean)).toBe(JSON.stringify(withoutDocuments(object)));
});

test("a document that begins like a known one", () => {
  const shorter = { "f:a": {} };
  const longer = { "f:a": {}, "f:b": { ".": {} } };
  for (const fieldsV1 of [shorter, longer, shorter, { "f:a": { ".": {} } }]) {
    const metadata = { managedFields: [managed(fieldsV1)], name: "a" };
    const json = Buffer.from(JSON.stringify({ metadata, data: {} }));
    const documents: number[] = [];
    const end = endOfMetadata(json, 1, documents);
    expect(json.toString("utf8", end)).toBe(',"data":{}}');
    expect(json.toString("utf8", documents[0], documents[1])).toBe(
      JSON.stringify(fieldsV1),
    );
  }
});

test.each([
  ["nothing", ""],
  ["another member", '{"spec":{}}'],
  ["metadata that are no object", '{"metadata":null}'],
  ["a cut object", '{"metadata":{"name":"a"'],
  ["a cut text", '{"metadata":{"name":"a'],
  ["a cut document", '{"metadata":{"fieldsV1":{"f:a":{}'],
  ["a cut key", '{"metadata":{"fieldsV'],
])("no end of metadata: %s", (_name, text) => {
  expect(endOfMetadata(Buffer.from(text), 1)).toBe(-1);
});
