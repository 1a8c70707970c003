// Objects with thousands of keys in one place are copied, and their owned fields encoded, in many short steps, to the same
// values as at once.
import type { AnyObject } from "../../../../api/object.ts";
import {
  applyPatch,
  updateManagedFields,
} from "../../../../api/patch/apply.ts";
import {
  encodeFieldSet,
  encodingLarge,
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
  large: true,
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
  const { steps } = counted(encodingLarge(set));
  expect(steps).toBeGreaterThanOrEqual(4);
  const text = JSON.stringify(encodeFieldSet(set));
  expect(text).toBe(JSON.stringify(encodeFieldSet(wideSet())));
  // Known now.
  expect(counted(encodingLarge(set)).steps).toBe(0);
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

test("the fields of a large pod are found in steps, as at once", () => {
  const pod = (): AnyObject => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", finalizers: ["a/b"], creationTimestamp: "" },
    spec: {
      containers: Array.from({ length: 300 }, (_, at) => ({
        name: `c-${at}`,
        ports: [{ containerPort: at + 1, protocol: "TCP" }, { hostPort: 1 }],
        env: [{ name: "B", value: "x" }, { name: "A" }, null],
        args: ["a", "b"],
        resources: { requests: { memory: "1Mi", cpu: at } },
        livenessProbe: null,
      })),
      nodeSelector: { [`__proto__`]: "x", b: undefined },
    },
    status: { conditions: [{ type: "Ready", lastProbeTime: null }] },
  });
  const fieldsOf = (live: AnyObject | undefined, large: boolean) => {
    const object = pod();
    if (live) object.metadata.managedFields = live.metadata.managedFields!;
    const { steps } = counted(
      updateManagedFields(live, object, {
        ...management,
        schema: schemaFor("", "v1", "Pod"),
        manager: live ? "second" : "first",
        large,
      }),
    );
    return {
      steps,
      entries: JSON.stringify(object.metadata.managedFields),
      object,
    };
  };
  const whole = fieldsOf(undefined, false);
  const created = fieldsOf(undefined, true);
  expect(created.entries).toBe(whole.entries);
  expect(created.entries).toContain('"f:memory"');
  expect(created.steps).toBeGreaterThanOrEqual(whole.steps + 4);
  // Everything but the first container is new to the second manager, and what it removes goes from the first.
  const live = (): AnyObject => ({
    ...created.object,
    spec: { containers: [{ name: "c-0" }, { name: "gone", args: ["x"] }] },
  });
  const [once, inSteps] = [fieldsOf(live(), false), fieldsOf(live(), true)];
  expect(inSteps.entries).toBe(once.entries);
  expect(inSteps.steps).toBeGreaterThanOrEqual(once.steps + 4);
});
