// Owner references that point elsewhere than to their uid's object: what they say is never held against other dependents.
import type { ConfigMap, Event } from "../../../api/types/core-v1.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { OwnerReference } from "../../../api/types/meta-v1.ts";
import {
  clusterRoles,
  configMaps,
  events,
  secrets,
} from "../../../client/resources.ts";
import { startControlPlane } from "../../support/control-plane.ts";
import type { ControlPlane } from "../../support/control-plane.ts";
import { FakeClock } from "../../support/fake-clock.ts";

let plane: ControlPlane;
let clock: FakeClock;
beforeEach(async () => {
  clock = new FakeClock();
  plane = await startControlPlane({
    clock,
    controllers: { controllers: ["garbage-collector-controller"] },
  });
  await clock.advanceAsync(1000);
});
afterEach(() => plane.stop());

const refer = (
  { apiVersion = "", kind = "", metadata }: KubeObject,
  change: Partial<OwnerReference> = {},
): OwnerReference => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid!,
  ...change,
});
const make = async (
  name: string,
  namespace: string,
  ...ownerReferences: OwnerReference[]
): Promise<ConfigMap> => {
  const made = await plane.client
    .resource(configMaps)
    .create({ metadata: { name, namespace, ownerReferences } });
  await clock.advanceAsync(1000);
  return made;
};
const left = () =>
  plane.api.all<ConfigMap>(configMaps).map(({ metadata }) => metadata.name);
const reports = () =>
  plane.api
    .all<Event>(events)
    .filter(({ reason }) => reason === "OwnerRefInvalidNamespace")
    .map(({ message }) => message);

// The collector follows no events: such an owner is known by references alone.
const unfollowedOwner = () =>
  plane.client.resource(events).create({
    metadata: { name: "owner", namespace: "b" },
    involvedObject: {},
  });

test.each([
  ["another namespace", "a", {}],
  ["another name", "b", { name: "x" }],
  ["another kind", "b", { kind: "Secret" }],
])(
  "a reference with %s goes alone, whichever came first",
  async (_, namespace, change) => {
    const owner = await unfollowedOwner();
    await make("bad1", namespace, refer(owner, change));
    const good1 = await make("good", "b", refer(owner));
    await make("bad2", namespace, refer(owner, change));
    await plane.client.resource(configMaps).patch("good", "b", {
      type: "merge",
      body: {
        metadata: {
          ownerReferences: [
            ...good1.metadata.ownerReferences!,
            refer(owner, { name: "y", uid: "absent" }),
          ],
        },
      },
    });
    await clock.advanceAsync(120_000);
    expect(left()).toEqual(["good"]);
    expect(
      plane.api.all<ConfigMap>(configMaps)[0]!.metadata.ownerReferences,
    ).toEqual([refer(owner)]);
  },
);

test("when an owner that is not followed goes its dependents go as well", async () => {
  const owner = await unfollowedOwner();
  await make("dependent", "b", refer(owner));
  await clock.advanceAsync(120_000);
  expect(left()).toEqual(["dependent"]);
  await plane.client.resource(events).delete("owner", "b");
  await clock.advanceAsync(120_000);
  expect(left()).toEqual([]);
});

test("of an owner that is followed a reference with another name or kind is none", async () => {
  const owner = await make("owner", "b");
  await make("name", "b", refer(owner, { name: "x" }));
  await make("kind", "b", refer(owner, { kind: "Secret" }));
  await make("good", "b", refer(owner));
  expect(left()).toEqual(["owner", "good"]);
  await plane.client.resource(configMaps).delete("owner", "b");
  await clock.advanceAsync(1000);
  expect(left()).toEqual([]);
});

test("a cluster-scoped object that names a namespaced owner is left alone", async () => {
  const owner = await make("owner", "b");
  const role = (name: string, ...ownerReferences: OwnerReference[]) =>
    plane.client
      .resource(clusterRoles)
      .create({ metadata: { name, ownerReferences } });
  await role("of-one-that-is-there", refer(owner));
  await role("of-one-that-is-not", refer(owner, { uid: "absent" }));
  await clock.advanceAsync(1000);
  await plane.client.resource(configMaps).delete("owner", "b");
  await clock.advanceAsync(120_000);
  expect(
    plane.api
      .all<KubeObject>(clusterRoles)
      .map(({ metadata }) => metadata.name),
  ).toEqual(["of-one-that-is-there", "of-one-that-is-not"]);
  expect(reports()).toEqual([
    `ownerRef [v1/ConfigMap, namespace: , name: owner, uid: ${owner.metadata.uid}] does not exist in namespace ""`,
  ]);
  // Nor does it hold dependents in a namespace up, which mean the same uid.
  await make("namespaced", "b", refer(owner, { uid: "absent" }));
  expect(left()).toEqual([]);
});

test("secrets of another namespace are reported and go", async () => {
  const owner = await make("owner", "b");
  await plane.client.resource(secrets).create({
    metadata: { name: "s", namespace: "a", ownerReferences: [refer(owner)] },
  });
  await clock.advanceAsync(1000);
  expect(plane.api.all(secrets)).toEqual([]);
  expect(reports()).toEqual([
    `ownerRef [v1/ConfigMap, namespace: a, name: owner, uid: ${owner.metadata.uid}] does not exist in namespace "a"`,
  ]);
});
