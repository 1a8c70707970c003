// What metadata may say, and what an update may change of it: the same for every kind, shown on ConfigMaps.
import { plain, updateEach } from "../cases.ts";
import type { Scenario } from "../scenario.ts";
import { tryEach } from "../table.ts";

const map = (metadata: object): object => ({
  metadata: { name: "m", ...metadata },
});
const owner = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };
const owned = (...ownerReferences: unknown[]): object =>
  map({ ownerReferences });

const rows = {
  "name upper case": map({ name: "A" }),
  "name with an underscore": map({ name: "a_b" }),
  "name long": map({ name: "a".repeat(254) }),
  "name with dots": map({ name: "a.b" }),
  "name empty": map({ name: "" }),
  "no metadata": {},
  "metadata null": { metadata: null },
  "prefix and name": map({ generateName: "g-" }),
  "prefix wrong and name": map({ generateName: "A_" }),
  "namespace of another": map({ namespace: "other" }),
  "namespace empty": map({ namespace: "" }),
  "uid given": map({ uid: "x" }),
  "version given": map({ resourceVersion: "5" }),
  "version zero": map({ resourceVersion: "0" }),
  "generation given": map({ generation: 5 }),
  "generation negative": map({ generation: -1 }),
  "deletion given": map({
    deletionTimestamp: "2024-01-01T00:00:00Z",
    deletionGracePeriodSeconds: 5,
  }),
  "creation given": map({ creationTimestamp: "2024-01-01T00:00:00Z" }),
  "self link": map({ selfLink: "/x" }),
  "label key": map({ labels: { "a b": "x" } }),
  "label key without a prefix": map({ labels: { "/c": "y" } }),
  "label key without a name": map({ labels: { "d/": "z" } }),
  "label key of three parts": map({ labels: { "e/f/g": "" } }),
  "label key long": map({ labels: { [`a${"b".repeat(63)}`]: "x" } }),
  "label key domain": map({ labels: { "A_/b": "x" } }),
  "label empty key": map({ labels: { "": "x" } }),
  "label value": map({ labels: { a: "b c" } }),
  "label value of a dash": map({ labels: { d: "-" } }),
  "label value long": map({ labels: { e: "x".repeat(64) } }),
  "annotation key": map({ annotations: { "a b": "x" } }),
  "annotation key upper case": map({ annotations: { "A/B": "x" } }),
  "annotation large": map({ annotations: { a: "x".repeat(256 * 1024) } }),
  owner: owned(owner),
  "owner empty": owned({}),
  "owner version": owned({ ...owner, apiVersion: "a/b/c" }),
  "owner event": owned({ ...owner, kind: "Event" }),
  "owners twice": owned(owner, owner),
  "owners of one uid": owned(owner, { ...owner, name: "q" }),
  block: owned({ ...owner, blockOwnerDeletion: true }),
  finalizer: map({ finalizers: ["a.b/c"] }),
  "finalizer plain": map({ finalizers: ["abc"] }),
  "finalizer without a path": map({ finalizers: ["a.b.c"] }),
  "finalizer bad": map({ finalizers: ["a b/c"] }),
  "finalizer known": map({ finalizers: ["kubernetes"] }),
  "finalizers both": map({ finalizers: ["orphan", "foregroundDeletion"] }),
  "finalizer twice": map({ finalizers: ["a.b/c", "a.b/c"] }),
  "managed fields": map({
    managedFields: [
      {
        manager: "x",
        operation: "Apply",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: {},
      },
    ],
  }),
  "managed fields wrong": map({
    managedFields: [
      {
        operation: "Other",
        fieldsType: "x",
        manager: "a".repeat(129),
        subresource: "s",
      },
    ],
  }),
  "managed fields text": map({
    managedFields: [
      {
        manager: "x",
        operation: "Update",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: { a: {} },
      },
    ],
  }),
};

export const coreMetadata: Scenario = {
  name: "core-metadata",
  async run(server) {
    const { call, namespace } = server;
    const all = `/api/v1/namespaces/${namespace}/configmaps`;
    await tryEach(server, all, "create", map({}), rows);
    await updateEach(
      server,
      "plain",
      all,
      map({ name: "a", finalizers: ["x.y/z"], labels: { l: "1" } }),
      [
        {},
        { "metadata.name": "b" },
        { "metadata.name": "" },
        { "metadata.namespace": "other" },
        { "metadata.namespace": "" },
        { "metadata.uid": "x" },
        { "metadata.uid": "" },
        { "metadata.resourceVersion": "1" },
        { "metadata.resourceVersion": "" },
        { "metadata.resourceVersion": "0" },
        { "metadata.resourceVersion": "x" },
        { "metadata.creationTimestamp": "2020-01-01T00:00:00Z" },
        { "metadata.creationTimestamp": undefined },
        { "metadata.deletionTimestamp": "2020-01-01T00:00:00Z" },
        { "metadata.deletionGracePeriodSeconds": 7 },
        { "metadata.generateName": "g-" },
        { "metadata.generation": 7 },
        { "metadata.selfLink": "/x" },
        { "metadata.labels": { "a b": "c" } },
        { "metadata.labels": null },
        { "metadata.finalizers": ["x.y/z", "p.q/r"] },
        { "metadata.finalizers": ["abc"] },
        { "metadata.finalizers": [] },
        { "metadata.ownerReferences": [owner] },
        { "metadata.ownerReferences": [{}] },
        { metadata: { name: "a" } },
        { metadata: {} },
      ],
    );
    await call("delete with a finalizer", "DELETE", `${all}/a`, plain);
    await call("delete again", "DELETE", `${all}/a`, plain);
    await updateEach(server, "deleting", all, map({ name: "a" }), [
      {},
      { "metadata.deletionTimestamp": undefined },
      { "metadata.finalizers": ["x.y/z", "p.q/r"] },
      { "metadata.finalizers": ["p.q/r"] },
      { "metadata.labels": { a: "c" } },
      { "metadata.finalizers": [] },
    ]);
    await call("create over it", "POST", all, {
      body: map({ name: "a" }),
      ...plain,
    });
    await call("last finalizer", "PATCH", `${all}/a`, {
      body: { metadata: { finalizers: null } },
      headers: { "content-type": "application/merge-patch+json" },
      ...plain,
    });
    await call("gone", "GET", `${all}/a`, plain);
    for (const [label, options] of Object.entries({
      uid: { preconditions: { uid: "x" } },
      grace: { gracePeriodSeconds: -1 },
      policy: { propagationPolicy: "Sometimes" },
      "both policies": { propagationPolicy: "Orphan", orphanDependents: true },
      "dry run": { dryRun: ["Some"] },
      "dry run all": { dryRun: ["All"] },
      orphan: { propagationPolicy: "Orphan" },
    })) {
      await call("", "POST", all, { body: map({ name: "d" }), silent: true });
      await call(`delete options: ${label}`, "DELETE", `${all}/d`, {
        body: options,
        ...plain,
      });
    }
    await call("orphaned", "GET", `${all}/d`, plain);
    await call("put what is not there", "PUT", `${all}/none`, {
      body: map({ name: "none" }),
      ...plain,
    });
  },
};
