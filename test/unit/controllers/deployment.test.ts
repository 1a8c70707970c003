import type { Deployment, ReplicaSet } from "../../../api/types/apps-v1.ts";
import type { Event, Pod } from "../../../api/types/core-v1.ts";
import {
  deployments,
  events,
  pods,
  replicaSets,
} from "../../../client/resources.ts";
import { findCondition } from "../../../api/objects/conditions.ts";
import { passes, startControlPlane } from "../../support/control-plane.ts";
import type { ControlPlane } from "../../support/control-plane.ts";

let plane: ControlPlane;
beforeEach(async () => {
  plane = await startControlPlane({ runPods: true });
});
afterEach(() => plane.stop());

const deploymentOf = (
  replicas: number,
  extra: Partial<Deployment["spec"]> = {},
  image = "a",
): Deployment => ({
  metadata: { name: "web", namespace: "default" },
  spec: {
    replicas,
    selector: { matchLabels: { app: "web" } },
    progressDeadlineSeconds: 600,
    revisionHistoryLimit: 1,
    strategy: {
      type: "RollingUpdate",
      rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" },
    },
    template: {
      metadata: { labels: { app: "web" } },
      spec: { containers: [{ name: "c", image }] },
    },
    ...extra,
  },
});

const get = () => plane.client.resource(deployments).get("web", "default");
const sets = () => plane.api.all<ReplicaSet>(replicaSets);
const complete = async (replicas: number) =>
  passes(async () => {
    const { status, metadata } = await get();
    expect(status?.observedGeneration).toBe(metadata.generation);
    expect(status?.updatedReplicas).toBe(replicas);
    expect(status?.availableReplicas).toBe(replicas);
    expect(status?.replicas).toBe(replicas);
    expect(findCondition(status?.conditions, "Progressing")?.reason).toBe(
      "NewReplicaSetAvailable",
    );
  });
const setImage = (image: string) =>
  plane.client.resource(deployments).patch("web", "default", {
    type: "strategic",
    body: {
      spec: { template: { spec: { containers: [{ name: "c", image }] } } },
    },
  });

test("a rollout creates, updates, keeps revisions, and rolls back", async () => {
  await plane.client.resource(deployments).create(deploymentOf(5));
  await complete(5);
  const [first] = sets();
  expect(first!.metadata.name).toMatch(/^web-[a-z0-9]+$/);
  expect(first!.metadata.annotations).toMatchObject({
    "deployment.kubernetes.io/revision": "1",
    "deployment.kubernetes.io/desired-replicas": "5",
    "deployment.kubernetes.io/max-replicas": "7",
  });
  await setImage("b");
  await complete(5);
  await setImage("a");
  await complete(5);
  const current = (await get()).metadata.annotations;
  expect(current?.["deployment.kubernetes.io/revision"]).toBe("3");
  const again = sets().find(
    ({ metadata }) => metadata.uid === first!.metadata.uid,
  );
  expect(again!.metadata.annotations).toMatchObject({
    "deployment.kubernetes.io/revision": "3",
    "deployment.kubernetes.io/revision-history": "1",
  });
  await setImage("c");
  await complete(5);
  await passes(async () => expect(sets()).toHaveLength(2));
  await passes(async () => {
    const messages = plane.api
      .all<Event>(events)
      .filter((event) => event.involvedObject.kind === "Deployment")
      .map((event) => event.message);
    expect(messages[0]).toBe(
      `Scaled up replica set ${first!.metadata.name} from 0 to 5`,
    );
  });
});

test("the surge and the unavailable stay within bounds during a rollout", async () => {
  await plane.client.resource(deployments).create(deploymentOf(10));
  await complete(10);
  let most = 0;
  let least = Infinity;
  plane.client.informer(replicaSets).addHandler({
    onUpdate: () => {
      most = Math.max(
        most,
        sets().reduce((sum, set) => sum + (set.spec.replicas ?? 0), 0),
      );
      least = Math.min(
        least,
        sets().reduce(
          (sum, set) => sum + (set.status?.availableReplicas ?? 0),
          0,
        ),
      );
    },
  });
  await setImage("b");
  await complete(10);
  expect(most).toBeLessThanOrEqual(13);
  expect(least).toBeGreaterThanOrEqual(8);
});

test("revisions are counted in 64 bits", async () => {
  await plane.client.resource(deployments).create(deploymentOf(1));
  await complete(1);
  const [first] = sets();
  await plane.client
    .resource(replicaSets)
    .patch(first!.metadata.name, "default", {
      type: "merge",
      body: {
        metadata: {
          annotations: {
            "deployment.kubernetes.io/revision": "3546343826724305832",
          },
        },
      },
    });
  await setImage("b");
  await passes(async () =>
    expect(
      (await get()).metadata.annotations?.["deployment.kubernetes.io/revision"],
    ).toBe("3546343826724305833"),
  );
});

test("Recreate has no pods of both revisions at once", async () => {
  await plane.client
    .resource(deployments)
    .create(deploymentOf(3, { strategy: { type: "Recreate" } }));
  await complete(3);
  let mixed = false;
  plane.client.informer(pods).addHandler({
    onAdd: () => {
      const images = new Set(
        plane.api.all<Pod>(pods).map((pod) => pod.spec.containers[0]!.image),
      );
      mixed ||= images.size > 1;
    },
  });
  await setImage("b");
  await complete(3);
  expect(mixed).toBe(false);
});

test("a paused Deployment scales but does not roll out", async () => {
  await plane.client.resource(deployments).create(deploymentOf(2));
  await complete(2);
  await plane.client.resource(deployments).patch("web", "default", {
    type: "merge",
    body: { spec: { paused: true, replicas: 4 } },
  });
  await setImage("b");
  await passes(async () => {
    const { status } = await get();
    expect(status?.availableReplicas).toBe(4);
    expect(findCondition(status?.conditions, "Progressing")?.reason).toBe(
      "DeploymentPaused",
    );
  });
  expect(sets()).toHaveLength(1);
  await plane.client.resource(deployments).patch("web", "default", {
    type: "merge",
    body: { spec: { paused: false } },
  });
  await complete(4);
  expect(sets()).toHaveLength(2);
});

test("an orphan pod that matches is adopted, one that no longer matches is released and replaced", async () => {
  await plane.client.resource(deployments).create(deploymentOf(2));
  await complete(2);
  const all = () => plane.api.all<Pod>(pods);
  const victim = all()[0]!;
  await plane.client.resource(pods).patch(victim.metadata.name, "default", {
    type: "merge",
    body: { metadata: { labels: { app: "other" } } },
  });
  await passes(async () => {
    expect(all()).toHaveLength(3);
    const free = all().find(
      ({ metadata }) => metadata.uid === victim.metadata.uid,
    );
    expect(free!.metadata.ownerReferences ?? []).toHaveLength(0);
  });
  await plane.client.resource(pods).patch(victim.metadata.name, "default", {
    type: "merge",
    body: { metadata: { labels: { app: "web" } } },
  });
  await passes(async () => expect(all()).toHaveLength(2));
});

test("deleting a Deployment removes its ReplicaSets and pods", async () => {
  await plane.client.resource(deployments).create(deploymentOf(3));
  await complete(3);
  await plane.client.resource(deployments).delete("web", "default", {
    propagationPolicy: "Background",
  });
  await passes(async () => {
    expect(sets()).toHaveLength(0);
    expect(plane.api.all(pods)).toHaveLength(0);
  });
});

test("foreground deletion removes pods before ReplicaSet before Deployment", async () => {
  await plane.client.resource(deployments).create(deploymentOf(2));
  await complete(2);
  const gone: string[] = [];
  const note = (object: { kind?: string }) => gone.push(object.kind ?? "");
  plane.client.informer(pods).addHandler({ onDelete: note });
  plane.client.informer(replicaSets).addHandler({ onDelete: note });
  plane.client.informer(deployments).addHandler({ onDelete: note });
  await plane.client.resource(deployments).delete("web", "default", {
    propagationPolicy: "Foreground",
  });
  await passes(async () => expect(gone.at(-1)).toBe("Deployment"));
  expect(gone).toEqual(["Pod", "Pod", "ReplicaSet", "Deployment"]);
});

test("orphaning leaves the ReplicaSet running without an owner", async () => {
  await plane.client.resource(deployments).create(deploymentOf(2));
  await complete(2);
  await plane.client.resource(deployments).delete("web", "default", {
    propagationPolicy: "Orphan",
  });
  await passes(async () => {
    expect(plane.api.all(deployments)).toHaveLength(0);
    expect(sets()[0]!.metadata.ownerReferences ?? []).toHaveLength(0);
  });
  expect(plane.api.all(pods)).toHaveLength(2);
});
