// Objects with thousands of keys in one place are copied, and their owned fields encoded, in many short steps, to the same
// values as at once.
import type { AnyObject } from "../../../../api/object.ts";
import {
  applyPatch,
  updateManagedFields,
} from "../../../../api/patch/apply.ts";
import {
  encodeFieldSet,
  encodingWide,
  FieldSetBuilder,
  type FieldSet,
} from "../../../../api/patch/field-set.ts";
import { copyingJson, copyJson } from "../../../../api/patch/json-value.ts";
import type { Steps } from "../../../../api/queueing/steps.ts";
import { schemaFor } from "../../../../api/schema.ts";

function counted<T>(steps: Steps<T>): { value: T; steps: number } {
  for (let count = 0; ; count++) {
    const step = steps.next();
    if (step.done) return { value: step.value, steps: count };
  }
}

const count = 5000;
const data = Object.fromEntries([
  ["__proto__", "own"],
  ...Array.from({ length: count }, (_, at) => [`key-${at}`, `value ${at}`]),
]) as Record<string, string>;
const configMap = (values: object): AnyObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "wide", namespace: "default" },
  data: values,
});
const management = {
  manager: "test",
  apiVersion: "v1",
  subresource: "",
  nowMs: 0,
  schema: schemaFor("", "v1", "ConfigMap"),
};

function wideSet(): FieldSet {
  const builder = new FieldSetBuilder();
  builder.insert(["f:data"]);
  for (let at = 0; at < count; at++) builder.insert(["f:data", `f:key-${at}`]);
  builder.insert(["f:metadata", "f:labels"]);
  return builder.build();
}

test("a wide set is encoded in steps, as at once", () => {
  const set = wideSet();
  const { steps } = counted(encodingWide(set));
  expect(steps).toBeGreaterThanOrEqual(4);
  const text = JSON.stringify(encodeFieldSet(set));
  expect(text).toBe(JSON.stringify(encodeFieldSet(wideSet())));
  // Known now.
  expect(counted(encodingWide(set)).steps).toBe(0);
});

test("a wide object is copied in steps, as at once", () => {
  const object = { data, gone: undefined, list: [{ a: 1 }] };
  const { value, steps } = counted(copyingJson(object));
  expect(steps).toBeGreaterThanOrEqual(4);
  expect(JSON.stringify(value)).toBe(JSON.stringify(copyJson(object)));
  expect(Object.hasOwn(value.data, "__proto__")).toBe(true);
  expect(value.data).not.toBe(object.data);
  expect(value.list[0]).not.toBe(object.list[0]);
});

test("creates, updates and applies of a wide object take many steps", () => {
  const object = configMap({ ...data });
  expect(
    counted(updateManagedFields(undefined, object, management)).steps,
  ).toBeGreaterThanOrEqual(4);
  const changed = configMap(
    Object.fromEntries(Object.keys(data).map((key) => [key, "other"])),
  );
  changed.metadata.managedFields = object.metadata.managedFields!;
  expect(
    counted(
      updateManagedFields(object, changed, { ...management, manager: "b" }),
    ).steps,
  ).toBeGreaterThanOrEqual(4);
  const { value, steps } = counted(
    applyPatch(undefined, configMap(data), { ...management, force: false }),
  );
  expect(steps).toBeGreaterThanOrEqual(8);
  expect(JSON.stringify(value["data"])).toBe(JSON.stringify(data));
  const [entry] = value.metadata.managedFields!;
  expect(
    Object.keys((entry!.fieldsV1 as { "f:data": object })["f:data"]),
  ).toHaveLength(count + 1);
});
