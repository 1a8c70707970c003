// Objects of one shape share the document of their fields; whatever makes the fields differ is seen.
import fc from "fast-check";
import type { AnyObject } from "../../../../api/object.ts";
import {
  updateManagedFields as updateSteps,
  type FieldManagement,
} from "../../../../api/patch/apply.ts";
import { finish } from "../../../../api/queueing/steps.ts";
import type { PatchSchema } from "../../../../api/patch/patch-schema.ts";
import { schemaFor } from "../../../../api/schema.ts";

const updateManagedFields = (...given: Parameters<typeof updateSteps>): void =>
  finish(updateSteps(...given));

const schema = schemaFor("", "v1", "Pod")! as PatchSchema;

const pod = (): AnyObject =>
  ({
    kind: "Pod",
    apiVersion: "v1",
    metadata: {
      name: "p",
      namespace: "d",
      labels: { app: "a", tier: "b" },
      finalizers: ["example.com/one"],
      ownerReferences: [{ uid: "u", kind: "K", name: "n", apiVersion: "v1" }],
    },
    spec: {
      containers: [
        {
          name: "c",
          image: "i",
          ports: [{ containerPort: 80, protocol: "TCP" }],
          env: [{ name: "E", value: "x" }],
          command: ["run"],
        },
      ],
      nodeSelector: { os: "linux" },
      hostNetwork: true,
      terminationGracePeriodSeconds: 30,
      volumes: [{ name: "v", configMap: { name: "m" } }],
    },
  }) as unknown as AnyObject;

/** Places in the pod, and what may come there; undefined: nothing. */
const places: readonly [path: string, values: readonly unknown[]][] = [
  ["metadata.name", ["p", "q", ""]],
  ["metadata.labels.app", ["a", "b", "", undefined]],
  ["metadata.labels.more", ["x", undefined]],
  ["metadata.labels", [{}, undefined, { tier: "b", app: "a" }]],
  ["metadata.finalizers.0", ["example.com/one", "example.com/two"]],
  ["metadata.finalizers.1", ["example.com/one", "example.com/three"]],
  ["metadata.finalizers", [[], undefined]],
  ["metadata.ownerReferences.0.uid", ["u", "w"]],
  ["spec.containers.0.name", ["c", "d"]],
  ["spec.containers.0.ports.0.containerPort", [80, 81, 0]],
  ["spec.containers.0.ports.0.protocol", ["TCP", "UDP", undefined]],
  ["spec.containers.0.env.0.name", ["E", "F"]],
  ["spec.containers.0.env.1", [{ name: "E" }, { name: "G", value: "" }]],
  ["spec.containers.0.command", [["run"], [], ["a", "b"], undefined]],
  ["spec.containers.0.stdin", [true, false]],
  ["spec.containers.0.resources", [{}, { limits: { cpu: "1" } }]],
  ["spec.nodeSelector", [{}, { os: "linux" }, { arch: "x" }, undefined]],
  ["spec.hostNetwork", [true, false, undefined]],
  ["spec.terminationGracePeriodSeconds", [30, 0, undefined]],
  ["spec.volumes.0.name", ["v", "w"]],
  ["spec.volumes.0.configMap", [{ name: "m" }, {}, { name: "" }]],
  ["spec.securityContext", [{}, { runAsUser: 0 }, { runAsUser: 7 }]],
];

function put(object: AnyObject, path: string, value: unknown): void {
  const steps = path.split(".");
  const last = steps.pop()!;
  let node = object as unknown as Record<string, unknown>;
  for (const step of steps) {
    node = node[step] as Record<string, unknown>;
    if (node === undefined) return;
  }
  if (value === undefined) delete node[last];
  else node[last] = structuredClone(value);
}

function fieldsOf(object: AnyObject, fields: PatchSchema): unknown {
  const management: FieldManagement = {
    manager: "m",
    apiVersion: "v1",
    subresource: "",
    nowMs: 0,
    schema: fields,
    resetPaths: [["status"]],
  };
  const copy = structuredClone(object);
  updateManagedFields(undefined, copy, management);
  return copy.metadata.managedFields;
}

const changes = fc.array(
  fc
    .constantFrom(...places)
    .chain(([path, values]) =>
      fc.constantFrom(...values).map((value) => ({ path, value })),
    ),
  { maxLength: 4 },
);

test("objects seen before do not change what a create owns", () => {
  fc.assert(
    fc.property(changes, (list) => {
      const object = pod();
      for (const { path, value } of list) put(object, path, value);
      // A schema of its own has no memory.
      const fresh = { type: schema.type, fields: schema.fields! };
      expect(fieldsOf(object, schema)).toEqual(fieldsOf(object, fresh));
    }),
    { numRuns: 2000, seed: 20261123 },
  );
});

test("every single change alone", () => {
  for (const [path, values] of places)
    for (const value of values) {
      fieldsOf(pod(), schema);
      const object = pod();
      put(object, path, value);
      const fresh = { type: schema.type, fields: schema.fields! };
      expect([path, value, fieldsOf(object, schema)]).toEqual([
        path,
        value,
        fieldsOf(object, fresh),
      ]);
    }
});

test("what differs only in values shares one document", () => {
  const [a, b] = [pod(), pod()];
  put(b, "metadata.name", "other");
  put(b, "metadata.labels.app", "other");
  put(b, "spec.containers.0.image", "other");
  const document = (object: AnyObject): unknown =>
    (fieldsOf(object, schema) as { fieldsV1: unknown }[])[0]!.fieldsV1;
  expect(document(a)).toBe(document(b));
  put(b, "spec.containers.0.name", "other");
  expect(document(a)).not.toBe(document(b));
});

test("paths that are reset belong to the shape", () => {
  const object = pod();
  const owned = (resetPaths: string[][]): unknown => {
    const copy = structuredClone(object);
    updateManagedFields(undefined, copy, {
      manager: "m",
      apiVersion: "v1",
      subresource: "",
      nowMs: 0,
      schema,
      resetPaths,
    });
    return Object.keys(copy.metadata.managedFields![0]!.fieldsV1!);
  };
  expect(owned([])).toContain("f:spec");
  expect(owned([["spec"]])).not.toContain("f:spec");
  expect(owned([])).toContain("f:spec");
});
