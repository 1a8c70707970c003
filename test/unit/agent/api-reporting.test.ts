// Mirror pods and statuses as one room: a static pod gets its mirror when the node and the API are known, its status goes
// there, and a mirror that is deleted comes back with it. What is left over goes only when every static source was read.
import pino from "pino";
import type { Pod, PodStatus } from "../../../api/types/core-v1.ts";
import type { OwnerReference } from "../../../api/types/meta-v1.ts";
import {
  configHashAnnotation,
  configMirrorAnnotation,
  configSourceAnnotation,
} from "../../../agent/pods/shape/labels.ts";
import { ApiReporting } from "../../../agent/reporting/api-reporting.ts";
import type { Client } from "../../../client/client.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";

function reportsOf() {
  const calls: string[] = [];
  const clock = new FakeClock();
  const node: { owner: OwnerReference | undefined } = { owner: undefined };
  let made = 0;
  const client = {
    resource: () => ({
      create(mirror: Pod) {
        calls.push(`create ${mirror.metadata.name}`);
        return Promise.resolve({
          ...mirror,
          metadata: { ...mirror.metadata, uid: `m${++made}` },
        });
      },
      patch(name: string, _namespace: string, patch: { body: Pod }) {
        const { uid } = patch.body.metadata;
        calls.push(`status ${name} ${uid} ${patch.body.status?.phase}`);
        return Promise.resolve({});
      },
      delete(name: string) {
        calls.push(`delete ${name}`);
        return Promise.resolve({});
      },
    }),
  } as unknown as Client;
  const reports = new ApiReporting({
    client,
    nodeOwner: () => node.owner,
    clock,
    logger: pino({ level: "silent" }),
  });
  return { reports, mirrors: reports.mirrors!, calls, clock, node };
}

const owner: OwnerReference = {
  apiVersion: "v1",
  kind: "Node",
  name: "n",
  uid: "node",
};
const running: PodStatus = { phase: "Running" };

const staticPod = (hash = "h"): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "p-n",
    namespace: "ns",
    uid: hash,
    annotations: {
      [configHashAnnotation]: hash,
      [configSourceAnnotation]: "file",
    },
  },
  spec: { containers: [{ name: "c", image: "i" }] },
});

const mirrorOf = (hash: string, uid: string): Pod => ({
  ...staticPod(hash),
  metadata: {
    ...staticPod(hash).metadata,
    uid,
    annotations: { [configMirrorAnnotation]: hash },
  },
});

test("the mirror waits for the API's list and the node, the status for the mirror", async () => {
  const { reports, mirrors, calls, node } = reportsOf();
  reports.statuses.set(staticPod(), running);
  mirrors.setStatic([staticPod()], true);
  await settle();
  mirrors.ready();
  await settle();
  expect(calls).toEqual([]);
  node.owner = owner;
  mirrors.reconcile();
  await settle();
  expect(calls).toEqual(["create p-n", "status p-n m1 Running"]);
});

test("a mirror that is deleted comes back with the status", async () => {
  const { reports, mirrors, calls, node } = reportsOf();
  node.owner = owner;
  mirrors.setStatic([staticPod()], true);
  mirrors.ready();
  await settle();
  reports.statuses.set(staticPod(), running);
  await settle();
  calls.length = 0;
  mirrors.onMirrorDeleted(mirrorOf("h", "m1"));
  await settle();
  expect(calls).toEqual(["create p-n", "status p-n m2 Running"]);
});

test("a pod that is over while its status is written is deleted once", async () => {
  const { reports, calls } = reportsOf();
  const pod: Pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...{ name: "api", namespace: "ns", uid: "u" },
      deletionTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: { containers: [] },
  };
  reports.statuses.set(pod, { phase: "Succeeded" });
  reports.statuses.finish(pod);
  await settle();
  expect(calls).toEqual(["status api u Succeeded", "delete api"]);
});

test("the mirror of an older version is replaced", async () => {
  const { mirrors, calls, node } = reportsOf();
  node.owner = owner;
  mirrors.onMirror(mirrorOf("old", "m0"));
  mirrors.setStatic([staticPod("new")], true);
  mirrors.ready();
  await settle();
  expect(calls).toEqual(["delete p-n", "create p-n"]);
});

test("a mirror without its static pod goes only when every source was read", async () => {
  const { mirrors, calls, node } = reportsOf();
  node.owner = owner;
  mirrors.onMirror(mirrorOf("h", "m0"));
  mirrors.ready();
  mirrors.setStatic([], false);
  await settle();
  expect(calls).toEqual([]);
  mirrors.setStatic([], true);
  await settle();
  expect(calls).toEqual(["delete p-n"]);
});

test("after stop nothing is written", async () => {
  const { reports, mirrors, calls, node, clock } = reportsOf();
  node.owner = owner;
  reports.stop();
  mirrors.setStatic([staticPod()], true);
  mirrors.ready();
  reports.statuses.set(staticPod(), running);
  await settle();
  await clock.advanceAsync(60_000);
  expect(calls).toEqual([]);
  expect(reports.statuses.get(staticPod())).toEqual({
    ...running,
    conditions: [],
  });
});
