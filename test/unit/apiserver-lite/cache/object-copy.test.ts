// A private copy of a stored object: everything but the documents of managed fields is its own, and patches leave those
// documents as they are.
import type { AnyObject } from "../../../../api/object.ts";
import {
  applyJsonPatch,
  parseJsonPatch,
} from "../../../../api/patch/json-patch.ts";
import { applyMergePatch } from "../../../../api/patch/merge-patch.ts";
import { applyStrategicMergePatch } from "../../../../api/patch/strategic.ts";
import { schemaFor } from "../../../../api/schema.ts";
import { deepFreeze } from "../../../../api/objects/deep-freeze.ts";
import { copyObject } from "../../../../apiserver-lite/cache/object-copy.ts";

const stored = (): AnyObject =>
  deepFreeze({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "a",
      labels: { b: "c" },
      managedFields: [
        {
          manager: "m",
          operation: "Update",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": { "f:a": {} } },
        },
      ],
    },
    data: { a: "1" },
  }) as unknown as AnyObject;

test("nothing but the documents is shared", () => {
  const object = stored();
  const copy = copyObject(object);
  expect(JSON.stringify(copy)).toBe(JSON.stringify(object));
  expect(copy.metadata.labels).not.toBe(object.metadata.labels);
  expect(copy["data"]).not.toBe(object["data"]);
  const [entry] = copy.metadata.managedFields!;
  const [before] = object.metadata.managedFields!;
  expect(entry).not.toBe(before);
  expect(entry!.fieldsV1).toBe(before!.fieldsV1);
  copy.metadata.labels!["b"] = "d";
  entry!.manager = "other";
  copy.metadata.managedFields!.pop();
  expect(JSON.stringify(object)).toBe(JSON.stringify(stored()));
});

test("values that are undefined are left out", () => {
  const object = {
    metadata: { name: "a", uid: undefined },
    gone: undefined,
  } as unknown as AnyObject;
  expect(Object.keys(copyObject(object))).toEqual(["metadata"]);
  expect(Object.keys(copyObject(object).metadata)).toEqual(["name"]);
});

const inside = { "f:data": { "f:a": null, "f:b": {} } };

test.each<[string, (object: AnyObject) => unknown]>([
  [
    "merge",
    (object) =>
      applyMergePatch(object, {
        metadata: { managedFields: [{ fieldsV1: inside }] },
      }),
  ],
  [
    "strategic merge",
    (object) =>
      applyStrategicMergePatch(
        object,
        { metadata: { managedFields: [{ fieldsV1: inside }] } },
        schemaFor("", "v1", "ConfigMap")!,
      ),
  ],
  [
    "JSON",
    (object) =>
      applyJsonPatch(
        object,
        parseJsonPatch([
          {
            op: "add",
            path: "/metadata/managedFields/0/fieldsV1/f:data/f:b",
            value: {},
          },
          {
            op: "remove",
            path: "/metadata/managedFields/0/fieldsV1/f:data/f:a",
          },
        ]),
      ),
  ],
])("a %s patch of the documents changes a copy", (_, patch) => {
  const object = stored();
  const patched = patch(copyObject(object)) as AnyObject;
  expect(JSON.stringify(patched)).not.toBe(JSON.stringify(object));
  expect(JSON.stringify(object)).toBe(JSON.stringify(stored()));
});
