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
  const bodies: Pod[] = [];
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
        bodies.push(patch.body);
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
  return { reports, mirrors: reports.mirrors!, calls, bodies, clock, node };
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

const apiPod: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "api", namespace: "ns", uid: "u" },
  spec: { containers: [] },
};
const readyAs = (status: string, reason?: string): PodStatus => ({
  phase: "Running",
  conditions: [
    {
      type: "Ready",
      status,
      lastTransitionTime: `2026-01-01T00:00:0${status.length}Z`,
      ...(reason ? { reason } : {}),
    },
  ],
});

/** @returns what was written from now on, after that long */
async function writtenAfter(
  { reports, bodies, clock }: ReturnType<typeof reportsOf>,
  served: PodStatus,
  ms: number,
): Promise<unknown[]> {
  bodies.length = 0;
  reports.statuses.served("u", served);
  await settle();
  clock.advance(ms);
  await settle();
  return bodies.map(({ status }) => status);
}

test("what others change of the agent's own is set back after ten seconds, once", async () => {
  const on = reportsOf();
  on.reports.statuses.set(apiPod, readyAs("True"));
  await settle();
  const marked = readyAs("False", "NodeNotReady");
  expect(await writtenAfter(on, marked, 9_999)).toEqual([]);
  expect(await writtenAfter(on, marked, 1)).toMatchObject([
    { conditions: [{ type: "Ready", status: "True", reason: null }] },
  ]);
  // An API server that keeps it is left alone, until it showed what was sent.
  expect(await writtenAfter(on, marked, 60_000)).toEqual([]);
  expect(await writtenAfter(on, readyAs("True"), 60_000)).toEqual([]);
  expect(await writtenAfter(on, marked, 60_000)).toHaveLength(1);
});

test("what others may write, and the order of fields, are no difference", async () => {
  const on = reportsOf();
  const own = { ...readyAs("True"), hostIP: "192.0.2.1" };
  on.reports.statuses.set(apiPod, own);
  await settle();
  const { phase, conditions } = own;
  const [ready] = conditions!;
  const served: PodStatus = {
    hostIP: "192.0.2.1",
    nominatedNodeName: "other",
    conditions: [
      { type: "theirs", status: "True" },
      { reason: "", ...ready!, lastProbeTime: null } as never,
    ],
    phase: phase!,
  };
  expect(await writtenAfter(on, served, 60_000)).toEqual([]);
  expect(on.clock.pending).toBe(0);
});

test("what is set back leaves what others wrote meanwhile", async () => {
  const on = reportsOf();
  const claims = (resourceClaimName: string) => ({
    resourceClaimStatuses: [{ name: "c", resourceClaimName }],
  });
  on.reports.statuses.set(apiPod, { ...readyAs("True"), ...claims("old") });
  await settle();
  const marked = { ...readyAs("False"), ...claims("new"), resize: "Proposed" };
  const [written] = await writtenAfter(on, marked, 10_000);
  expect(Object.keys(written as object)).toEqual(["conditions"]);
});

test("one change after another is set back, each once", async () => {
  const on = reportsOf();
  on.reports.statuses.set(apiPod, readyAs("True"));
  await settle();
  const marked = readyAs("False", "NodeNotReady");
  expect(await writtenAfter(on, marked, 10_000)).toHaveLength(1);
  on.reports.statuses.served("u", readyAs("True"));
  expect(await writtenAfter(on, marked, 10_000)).toHaveLength(1);
});

test("a phase that others declared to be the last one stays", async () => {
  const on = reportsOf();
  on.reports.statuses.set(apiPod, readyAs("True"));
  await settle();
  const over = { ...readyAs("True"), phase: "Failed" };
  expect(await writtenAfter(on, over, 60_000)).toEqual([]);
});

test("a status that is served late takes nothing back", async () => {
  const on = reportsOf();
  on.reports.statuses.set(apiPod, readyAs("True"));
  await settle();
  on.reports.statuses.served("u", {});
  expect(await writtenAfter(on, readyAs("True"), 60_000)).toEqual([]);
  expect(on.clock.pending).toBe(0);
});

test("a mirror's status is set back", async () => {
  const { reports, mirrors, bodies, clock, node } = reportsOf();
  node.owner = owner;
  mirrors.setStatic([staticPod()], true);
  mirrors.ready();
  reports.statuses.set(staticPod(), running);
  await settle();
  bodies.length = 0;
  mirrors.onMirror({ ...mirrorOf("h", "m1"), status: { phase: "Failed" } });
  clock.advance(10_000);
  await settle();
  expect(bodies).toMatchObject([{ status: { phase: "Running" } }]);
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
