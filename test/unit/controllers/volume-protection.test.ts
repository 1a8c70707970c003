// A volume and its claim are deleted together, in every order of what the controllers see of it: both go.
import { errors } from "../../../api/errors.ts";
import type {
  PersistentVolume,
  PersistentVolumeClaim,
} from "../../../api/types/core-v1.ts";
import {
  persistentVolumeClaims,
  persistentVolumes,
  pods,
} from "../../../client/resources.ts";
import {
  passes,
  startControlPlane,
  testPod,
  type ControlPlane,
} from "../../support/control-plane.ts";

let plane: ControlPlane;
afterEach(() => plane.stop());

const volumes = () => plane.client.resource(persistentVolumes);
const claims = () => plane.client.resource(persistentVolumeClaims);
const phase = async (): Promise<string | undefined> =>
  (await volumes().get("v")).status?.phase;

async function bound(): Promise<void> {
  plane = await startControlPlane({
    controllers: {
      controllers: [
        "persistentvolume-binder-controller",
        "persistentvolume-protection-controller",
        "persistentvolumeclaim-protection-controller",
      ],
    },
  });
  const volume: PersistentVolume = {
    metadata: { name: "v", finalizers: ["kubernetes.io/pv-protection"] },
    spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } },
  };
  const claim: PersistentVolumeClaim = {
    metadata: {
      name: "c",
      namespace: "default",
      finalizers: ["kubernetes.io/pvc-protection"],
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Gi" } },
    },
  };
  await volumes().create(volume);
  await claims().create(claim);
  await passes(async () => {
    expect(await phase()).toBe("Bound");
    expect((await claims().get("c", "default")).status?.phase).toBe("Bound");
  });
}

const allGone = () =>
  passes(() => {
    expect(plane.api.all(persistentVolumeClaims)).toEqual([]);
    expect(plane.api.all(persistentVolumes)).toEqual([]);
  });

test("the volume first: it stays as long as its claim, then both are gone", async () => {
  await bound();
  await volumes().delete("v");
  expect(await phase()).toBe("Bound");
  await claims().delete("c", "default");
  await allGone();
});

test("the claim first, the volume before anybody has released it", async () => {
  await bound();
  // The volume's deletion is there before the binder writes that the volume is released.
  let held = false;
  plane.api.intercept = ({ verb, resource, subresource }) => {
    if (
      held ||
      verb !== "update" ||
      subresource !== "status" ||
      resource.resource !== "persistentvolumes"
    )
      return;
    held = true;
    void volumes().delete("v");
    throw errors.stale(resource, "v");
  };
  await claims().delete("c", "default");
  await allGone();
  expect(held).toBe(true);
});

test("a volume that was released before it is deleted goes at once", async () => {
  await bound();
  await claims().delete("c", "default");
  await passes(async () => expect(await phase()).toBe("Released"));
  await volumes().delete("v");
  await allGone();
});

test("a claim made for a pod goes when that one's agent is done with it, though the pod waits for the claim", async () => {
  plane = await startControlPlane({
    controllers: {
      controllers: ["persistentvolumeclaim-protection-controller"],
    },
  });
  const volume = (name: string, source: object) => ({ name, ...source });
  const made = await plane.client.resource(pods).create({
    ...testPod("p", {
      nodeName: "n",
      volumes: [
        volume("own", { ephemeral: { volumeClaimTemplate: { spec: {} } } }),
        volume("other", { persistentVolumeClaim: { claimName: "other" } }),
      ],
    }),
  });
  const owner = { apiVersion: "v1", kind: "Pod", name: "p" };
  for (const [name, ownerReferences] of [
    ["p-own", [{ ...owner, uid: made.metadata.uid!, controller: true }]],
    ["other", undefined],
  ] as const) {
    await claims().create({
      metadata: {
        name,
        namespace: "default",
        finalizers: ["kubernetes.io/pvc-protection"],
        ...(ownerReferences ? { ownerReferences: [...ownerReferences] } : {}),
      },
      spec: {},
    });
    await claims().delete(name, "default");
  }
  const left = () =>
    plane.api
      .all<PersistentVolumeClaim>(persistentVolumeClaims)
      .map(({ metadata }) => metadata.name);
  expect(left()).toEqual(["p-own", "other"]);
  await plane.client.resource(pods).patch("p", "default", {
    type: "merge",
    body: {
      metadata: {
        finalizers: ["foregroundDeletion"],
        deletionTimestamp: "2025-01-01T00:00:00Z",
        deletionGracePeriodSeconds: 0,
      },
    },
  });
  await passes(() => expect(left()).toEqual(["other"]));
});
