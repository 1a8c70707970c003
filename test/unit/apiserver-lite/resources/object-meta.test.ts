import {
  validateObjectMeta,
  validateObjectMetaUpdate,
} from "../../../../apiserver-lite/resources/object-meta.ts";
import type { KubeObject } from "../../../../api/object.ts";

type Meta = Partial<KubeObject["metadata"]>;
const problems = (metadata: Meta, namespaced = true): string[] =>
  validateObjectMeta(
    { metadata: metadata as KubeObject["metadata"] },
    { namespaced },
  ).map(({ type, field, detail }) => `${type} ${field}: ${detail}`);

const good: Meta = { name: "a", namespace: "default" };
const owner = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  name: "rs",
  uid: "u1",
  controller: true,
};

test("a good one", () => {
  expect(
    problems({
      ...good,
      labels: { "a/b": "c" },
      annotations: { X: "any thing" },
      finalizers: ["a.b/c", "orphan"],
      ownerReferences: [owner],
    }),
  ).toEqual([]);
});

test.each<[string, Meta, boolean, string]>([
  [
    "no name",
    { namespace: "default" },
    true,
    "FieldValueRequired metadata.name: Required value: name or generateName is required",
  ],
  [
    "bad name",
    { ...good, name: "A" },
    true,
    'FieldValueInvalid metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain',
  ],
  [
    "bad generateName",
    { ...good, generateName: "Bad-" },
    true,
    'FieldValueInvalid metadata.generateName: Invalid value: "Bad-"',
  ],
  [
    "no namespace",
    { name: "a" },
    true,
    "FieldValueRequired metadata.namespace: Required value",
  ],
  [
    "namespace on cluster scope",
    good,
    false,
    "FieldValueForbidden metadata.namespace: Forbidden: not allowed on this type",
  ],
  [
    "label key",
    { ...good, labels: { "-": "x" } },
    true,
    'FieldValueInvalid metadata.labels: Invalid value: "-": name part must consist',
  ],
  [
    "label value",
    { ...good, labels: { a: "x y" } },
    true,
    'FieldValueInvalid metadata.labels: Invalid value: "x y": a valid label must be',
  ],
  [
    "annotations too long",
    { ...good, annotations: { a: "x".repeat(262144) } },
    true,
    "FieldValueTooLong metadata.annotations: Too long: may not be more than 262144 bytes",
  ],
  [
    "owner without uid",
    { ...good, ownerReferences: [{ ...owner, uid: "" }] },
    true,
    'FieldValueInvalid metadata.ownerReferences.uid: Invalid value: "": uid must not be empty',
  ],
  [
    "finalizer",
    { ...good, finalizers: ["x"] },
    true,
    'FieldValueInvalid metadata.finalizers[0]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
  ],
])("%s", (_, metadata, namespaced, expected) => {
  expect(
    problems(metadata, namespaced).some((text) => text.startsWith(expected)),
  ).toBe(true);
});

test("two controllers", () => {
  const text = problems({
    ...good,
    ownerReferences: [owner, { ...owner, name: "other" }],
  })[0];
  expect(text).toContain(
    'Only one reference can have Controller set to true. Found "true" in references for ReplicaSet/rs and ReplicaSet/other',
  );
});

test("updates", () => {
  const old = {
    metadata: {
      ...good,
      uid: "u",
      resourceVersion: "1",
      deletionTimestamp: "2025-01-01T00:00:00Z",
    },
  } as unknown as KubeObject;
  const update = (metadata: Meta): string[] =>
    validateObjectMetaUpdate(
      { metadata: { ...old.metadata, ...metadata } as KubeObject["metadata"] },
      old,
    ).map(({ field, detail }) => `${field}: ${detail}`);
  expect(update({})).toEqual([]);
  expect(update({ uid: "v" })).toEqual([
    'metadata.uid: Invalid value: "v": field is immutable',
  ]);
  expect(update({ resourceVersion: "" })).toEqual([
    'metadata.resourceVersion: Invalid value: "": must be specified for an update',
  ]);
  expect(update({ finalizers: ["a.b/c"] })).toEqual([
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.b/c"}',
  ]);
});
