import { ApiError } from "../../../api/errors.ts";
import type { ConfigMap, Namespace } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import {
  configMaps,
  namespaces,
  pods,
  serviceAccounts,
} from "../../../client/resources.ts";
import { deleteContent } from "../../../controllers/namespace/content.ts";
import type { Discovery } from "../../../controllers/discovery/resource-discovery.ts";
import {
  passes,
  startControlPlane,
  testPod,
} from "../../support/control-plane.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";

let plane: ControlPlane;
const start = async (controllers: object = {}): Promise<void> => {
  plane = await startControlPlane({
    controllers: { rootCa: "CA", ...controllers },
    runPods: true,
  });
};
beforeEach(() => start());
afterEach(() => plane.stop());

const create = (name: string) =>
  plane.client
    .resource(namespaces)
    .create({ metadata: { name }, spec: {} } as Namespace);

test("a namespace gets its service account and root CA, which is repaired", async () => {
  await create("a");
  await passes(() =>
    expect(plane.api.all(serviceAccounts)).toMatchObject([
      { metadata: { name: "default", namespace: "a" } },
    ]),
  );
  const ca = () => plane.api.all<ConfigMap>(configMaps)[0]?.data;
  await passes(() => expect(ca()).toEqual({ "ca.crt": "CA" }));
  await plane.client.resource(configMaps).patch("kube-root-ca.crt", "a", {
    type: "merge",
    body: { data: { "ca.crt": "x" } },
  });
  await passes(() => expect(ca()).toEqual({ "ca.crt": "CA" }));
  await plane.client.resource(configMaps).delete("kube-root-ca.crt", "a");
  await passes(() => expect(ca()).toEqual({ "ca.crt": "CA" }));
});

test("a deleted namespace goes with all its content; what holds it up is reported", async () => {
  await create("b");
  await plane.client.resource(configMaps).create({
    metadata: { name: "held", namespace: "b", finalizers: ["test/hold"] },
  });
  const pod = testPod("p");
  await plane.client.resource(pods).create({
    ...pod,
    metadata: { ...pod.metadata, namespace: "b" },
    spec: { ...pod.spec, nodeName: "n" },
  });
  await plane.client.resource(namespaces).delete("b");
  await passes(async () => {
    const { status } = await plane.client.resource(namespaces).get("b");
    const texts = (status?.conditions ?? []).map(
      ({ type, reason, message }) => `${type} ${reason}: ${message}`,
    );
    expect(texts).toContain(
      "NamespaceContentRemaining SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances",
    );
    expect(texts).toContain(
      "NamespaceFinalizersRemaining SomeFinalizersRemain: Some content in the namespace has finalizers remaining: test/hold in 1 resource instances",
    );
  });
  expect(plane.api.all(pods)).toHaveLength(0);
  await plane.client.resource(configMaps).patch("held", "b", {
    type: "merge",
    body: { metadata: { finalizers: null } },
  });
  await passes(() => expect(plane.api.all(namespaces)).toHaveLength(0));
});

test("with its gate nothing goes before the last pod", async () => {
  await plane.stop();
  await start({ featureGates: { OrderedNamespaceDeletion: true } });
  await create("c");
  await plane.client
    .resource(configMaps)
    .create({ metadata: { name: "kept", namespace: "c" } });
  const pod = testPod("p");
  await plane.client.resource(pods).create({
    ...pod,
    metadata: {
      ...pod.metadata,
      namespace: "c",
      finalizers: ["test/hold"],
    },
    spec: { ...pod.spec, nodeName: "n" },
  });
  await plane.client.resource(namespaces).delete("c");
  await passes(async () => {
    const { status } = await plane.client.resource(namespaces).get("c");
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({
        type: "NamespaceContentRemaining",
        message: "Some resources are remaining: pods. has 1 resource instances",
      }),
    );
  });
  expect(plane.api.all(configMaps)).toContainEqual(
    expect.objectContaining({
      metadata: expect.objectContaining({ name: "kept" }) as object,
    }),
  );
  await plane.client.resource(pods).patch("p", "c", {
    type: "merge",
    body: { metadata: { finalizers: null } },
  });
  await plane.client.resource(pods).delete("p", "c", { gracePeriodSeconds: 0 });
  await passes(async () => {
    const { items } = await plane.client.resource(namespaces).list({});
    expect(items.map(({ metadata }) => metadata.name)).not.toContain("c");
  });
});

test("nothing else goes while a pod can't be deleted", async () => {
  await create("d");
  await plane.client
    .resource(configMaps)
    .create({ metadata: { name: "kept", namespace: "d" } });
  const deletable = { namespaced: true, verbs: ["list", "delete"] };
  const discovery = {
    resources: () =>
      Promise.resolve({
        resources: [pods, configMaps].map((one) => ({ ...one, ...deletable })),
        failures: [],
      }),
  } as unknown as Discovery;
  const withoutPods = {
    resource: (one: typeof pods) =>
      one.resource === "pods"
        ? {
            list: () =>
              Promise.reject(
                new ApiError({ code: 500, message: "no pods today" }),
              ),
          }
        : plane.client.resource(one),
  } as unknown as Client;
  const content = (podsFirst: boolean) =>
    deleteContent(
      withoutPods,
      discovery,
      "d",
      Date.now(),
      podsFirst,
      Date.now(),
    );
  expect((await content(true)).deletionErrors).toEqual(["no pods today"]);
  const kept = () =>
    plane.api.all<ConfigMap>(configMaps).map(({ metadata }) => metadata.name);
  expect(kept()).toContain("kept");
  await content(false);
  expect(kept()).not.toContain("kept");
});

test("pods that stay beyond their grace are reported, and looked at again", async () => {
  await plane.stop();
  const clock = new FakeClock();
  plane = await startControlPlane({
    clock,
    controllers: { controllers: ["namespace-controller"] },
  });
  await create("e");
  const pod = testPod("lost", {
    nodeName: "n",
    terminationGracePeriodSeconds: 30,
  });
  pod.metadata.namespace = "e";
  await plane.client.resource(pods).create(pod);
  await plane.client.resource(namespaces).delete("e");
  const failure = async () => {
    const { status } = await plane.client.resource(namespaces).get("e");
    return status?.conditions?.find(
      ({ type }) => type === "NamespaceDeletionContentFailure",
    );
  };
  await clock.advanceAsync(10_000);
  expect(await failure()).toMatchObject({ status: "False" });
  await clock.advanceAsync(30_000);
  expect(await failure()).toMatchObject({
    status: "True",
    reason: "ContentDeletionFailed",
    message:
      "Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: e for gvr: /v1, Resource=pods",
  });
  await plane.client.resource(pods).delete("lost", "e", {
    gracePeriodSeconds: 0,
  });
  await clock.advanceAsync(60_000);
  expect(plane.api.all(namespaces)).toEqual([]);
});

test("content stays for a moment, so that who deletes it one by one still finds it", async () => {
  await plane.stop();
  const clock = new FakeClock();
  plane = await startControlPlane({
    clock,
    controllers: { controllers: ["namespace-controller"] },
  });
  await create("f");
  const maps = plane.client.resource(configMaps);
  for (const name of ["one", "two"])
    await maps.create({ metadata: { name, namespace: "f" } });
  await plane.client.resource(namespaces).delete("f");
  await clock.advanceAsync(900);
  await maps.delete("one", "f");
  expect(await maps.list({ namespace: "f" })).toMatchObject({
    items: [{ metadata: { name: "two" } }],
  });
  await clock.advanceAsync(1_200);
  expect(plane.api.all(namespaces)).toEqual([]);
  expect((await maps.list({ namespace: "f" })).items).toEqual([]);
});
