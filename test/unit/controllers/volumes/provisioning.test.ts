// Claims that no volume suits: the built-in class makes a directory's volume on the chosen node, other classes name their
// provisioner; released volumes are reclaimed by their policy; ephemeral volumes get claims.
import {
  localPathAnnotation,
  localPathProvisioner,
} from "../../../../api/objects/volumes/local-path.ts";
import type {
  Event,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from "../../../../api/types/core-v1.ts";
import type { StorageClass } from "../../../../api/types/storage-v1.ts";
import {
  events,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  storageClasses,
} from "../../../../client/resources.ts";
import {
  passes,
  startControlPlane,
  testNode,
  testPod,
  type ControlPlane,
} from "../../../support/control-plane.ts";

let plane: ControlPlane;
afterEach(() => plane.stop());

const start = async (
  options: Parameters<typeof startControlPlane>[0] = {},
): Promise<void> => {
  plane = await startControlPlane(options);
};
const make = {
  class: (name: string, extra: Partial<StorageClass> = {}) =>
    plane.client.resource(storageClasses).create({
      metadata: { name },
      provisioner: localPathProvisioner,
      reclaimPolicy: "Delete",
      volumeBindingMode: "WaitForFirstConsumer",
      ...extra,
    }),
  claim: (name: string, extra: Partial<PersistentVolumeClaim["spec"]> = {}) =>
    plane.client.resource(persistentVolumeClaims).create({
      metadata: { name, namespace: "default" },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        storageClassName: "local-path",
        ...extra,
      },
    }),
  node: (directory?: string) =>
    plane.client.resource(nodes).create({
      ...testNode("n1"),
      metadata: {
        name: "n1",
        labels: { "kubernetes.io/hostname": "host-1" },
        ...(directory
          ? { annotations: { [localPathAnnotation]: directory } }
          : {}),
      },
    }),
  pod: (claim: string) =>
    plane.client.resource(pods).create(
      testPod("p", {
        nodeName: "n1",
        volumes: [{ name: "v", persistentVolumeClaim: { claimName: claim } }],
      }),
    ),
};
const claimed = (name: string) =>
  plane.client.resource(persistentVolumeClaims).get(name, "default");
const volumes = () => plane.api.all<PersistentVolume>(persistentVolumes);
const messages = () =>
  plane.api.all<Event>(events).map(({ message }) => message);

test("how long volumes took is counted by provisioner, and what failed", async () => {
  await start();
  await make.node("/srv/volumes");
  await make.class("outside", {
    provisioner: "csi.example.com",
    volumeBindingMode: "Immediate",
  });
  await make.class("by-hand", { provisioner: "kubernetes.io/no-provisioner" });
  await make.class("waiting");
  for (const name of ["outside", "by-hand"])
    await make.claim(name, { storageClassName: name });
  await make.claim("c", { storageClassName: "waiting" });
  await make.pod("c");
  await passes(async () =>
    expect((await claimed("c")).status?.phase).toBe("Bound"),
  );
  const count = (operation: string, plugin: string): number =>
    Number(
      new RegExp(
        `^volume_operation_total_seconds_count\\{operation_name="${operation}",plugin_name="${plugin}"\\} (\\d+)$`,
        "m",
      ).exec(plane.metrics())?.[1] ?? 0,
    );
  await passes(() => expect(count("provision", localPathProvisioner)).toBe(1));
  // It is not over before the volume is bound.
  expect(count("provision", "csi.example.com")).toBe(0);
  await plane.client
    .resource(pods)
    .delete("p", "default", { gracePeriodSeconds: 0 });
  await plane.client.resource(persistentVolumeClaims).delete("c", "default");
  await passes(() => expect(count("delete", localPathProvisioner)).toBe(1));
  expect(plane.metrics()).not.toContain("no-provisioner");
});

test("a claim that is bound keeps its capacity while its volume is made larger", async () => {
  await start();
  const client = plane.client.resource(persistentVolumes);
  const spec = {
    accessModes: ["ReadWriteOnce"],
    storageClassName: "outside",
    csi: { driver: "csi.example.com", volumeHandle: "h" },
  };
  await client.create({
    metadata: { name: "v" },
    spec: { ...spec, capacity: { storage: "1Gi" } },
  });
  await make.claim("c", { storageClassName: "outside", volumeName: "v" });
  await passes(async () =>
    expect((await claimed("c")).status).toMatchObject({
      phase: "Bound",
      capacity: { storage: "1Gi" },
    }),
  );
  // As a driver's resizer does it.
  await client.patch("v", undefined, {
    type: "merge",
    body: { spec: { capacity: { storage: "2Gi" } } },
  });
  // The binder looks at it after that, and does what it has to do.
  await client.patch("v", undefined, {
    type: "merge",
    body: { spec: { accessModes: ["ReadWriteOnce", "ReadOnlyMany"] } },
  });
  await passes(async () =>
    expect((await claimed("c")).status?.accessModes).toContain("ReadOnlyMany"),
  );
  expect((await claimed("c")).status?.capacity).toEqual({ storage: "1Gi" });
});

test("a claim waits for a pod, gets a volume on its node, and the volume goes with it", async () => {
  await start();
  await make.class("local-path");
  await make.node("/data/local-path");
  await make.claim("c");
  await passes(() =>
    expect(messages()).toContain(
      "waiting for first consumer to be created before binding",
    ),
  );
  expect(volumes()).toEqual([]);
  await make.pod("c");
  await passes(async () =>
    expect((await claimed("c")).status?.phase).toBe("Bound"),
  );
  const { metadata } = await claimed("c");
  const [volume] = volumes();
  expect(volume).toMatchObject({
    metadata: {
      name: `pvc-${metadata.uid}`,
      annotations: { "pv.kubernetes.io/provisioned-by": localPathProvisioner },
    },
    spec: {
      capacity: { storage: "1Gi" },
      claimRef: { name: "c", uid: metadata.uid },
      local: { path: `/data/local-path/pvc-${metadata.uid}` },
      persistentVolumeReclaimPolicy: "Delete",
    },
    status: { phase: "Bound" },
  });
  expect(JSON.stringify(volume!.spec?.nodeAffinity)).toContain("host-1");
  await plane.client
    .resource(pods)
    .delete("p", "default", { gracePeriodSeconds: 0 });
  await plane.client.resource(persistentVolumeClaims).delete("c", "default");
  await passes(() => expect(volumes()).toEqual([]));
});

const released = (
  name: string,
  persistentVolumeReclaimPolicy: string,
  source: PersistentVolume["spec"] = { hostPath: { path: "/etc" } },
) =>
  plane.client.resource(persistentVolumes).create({
    metadata: {
      name,
      annotations: { "pv.kubernetes.io/bound-by-controller": "yes" },
    },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "10Gi" },
      claimRef: { name: "gone", namespace: "default", uid: "u" },
      persistentVolumeReclaimPolicy,
      ...source,
    },
  });
const phases = () =>
  volumes().map(({ metadata, status }) => [metadata.name, status?.phase]);

test("Retain keeps the volume; what nothing here can recycle or delete fails by name", async () => {
  await start();
  await released("r", "Retain");
  await released("y", "Recycle", { local: { path: "/x" } });
  await released("d", "Delete");
  await passes(() =>
    expect(phases()).toEqual([
      ["r", "Released"],
      ["y", "Failed"],
      ["d", "Failed"],
    ]),
  );
  await passes(() =>
    expect(messages()).toEqual(
      expect.arrayContaining([
        "No recycler plugin found for the volume!",
        'error getting deleter volume plugin for volume "d": no deletable volume plugin matched',
      ]),
    ),
  );
});

test("a volume is recycled by a pod of the template and available again; one whose pod fails is not", async () => {
  const template: Pod = {
    metadata: { name: "x", namespace: "scrub" },
    spec: {
      containers: [{ name: "c", image: "scrubber" }],
      volumes: [{ name: "v" }],
    },
  };
  await start({
    controllers: { recyclerTemplates: { hostPath: template } },
  });
  await released("a", "Recycle");
  const podOf = (name: string, namespace: string) =>
    plane.client.resource(pods).get(`recycler-for-${name}`, namespace);
  await passes(async () =>
    expect((await podOf("a", "scrub")).spec).toMatchObject({
      containers: [{ image: "scrubber" }],
      volumes: [{ name: "v", hostPath: { path: "/etc" } }],
      restartPolicy: "Never",
      // 30 s for each GiB.
      activeDeadlineSeconds: 300,
    }),
  );
  const end = async (
    pod: Pod,
    phase: string,
    message?: string,
  ): Promise<void> => {
    await plane.client.resource(pods).updateStatus({
      ...pod,
      status: { phase, ...(message ? { message } : {}) },
    });
  };
  await end(await podOf("a", "scrub"), "Succeeded");
  await passes(() => expect(phases()).toEqual([["a", "Available"]]));
  expect(volumes()[0]!.spec?.claimRef).toBeUndefined();
  await released("b", "Recycle", { nfs: { server: "s", path: "/" } });
  await passes(async () =>
    expect((await podOf("b", "default")).spec.volumes).toEqual([
      { name: "vol", nfs: { server: "s", path: "/" } },
    ]),
  );
  await end(await podOf("b", "default"), "Failed", "no space");
  await passes(() => expect(messages()).toContain("Recycle failed: no space"));
  await passes(() => expect(phases()[1]).toEqual(["b", "Failed"]));
});

test.each([
  [
    "Block",
    { volumeMode: "Block" },
    "does not support block volume provisioning",
  ],
  ["shared", { accessModes: ["ReadWriteMany"] }, "ReadWriteMany"],
  [
    "copied",
    { dataSource: { kind: "PersistentVolumeClaim", name: "x" } },
    "Only CSI plugin can provision a claim with a datasource",
  ],
])("a claim that is %s is refused by name", async (_, spec, text) => {
  await start();
  await make.class("local-path");
  await make.node("/d");
  await make.claim("c", spec);
  await make.pod("c");
  await passes(() =>
    expect(messages().some((message) => message?.includes(text))).toBe(true),
  );
  expect(volumes()).toEqual([]);
});

test("a node that offers no directory gets no volume", async () => {
  await start();
  await make.class("local-path");
  await make.node();
  await make.claim("c");
  await make.pod("c");
  await passes(() =>
    expect(messages().join()).toContain('node "n1" offers no directory'),
  );
});

test("other classes name their provisioner; --enable-dynamic-provisioning=false does not", async () => {
  await start();
  await make.class("fast", {
    provisioner: "disk.example.com",
    volumeBindingMode: "Immediate",
  });
  await make.claim("c", { storageClassName: "fast" });
  await passes(async () =>
    expect((await claimed("c")).metadata.annotations).toEqual({
      "volume.kubernetes.io/storage-provisioner": "disk.example.com",
      "volume.beta.kubernetes.io/storage-provisioner": "disk.example.com",
    }),
  );
  await plane.stop();
  await start({ controllers: { enableDynamicProvisioning: false } });
  await make.class("fast", { volumeBindingMode: "Immediate" });
  await make.claim("c", { storageClassName: "fast" });
  await make.claim("other", { storageClassName: "" });
  await passes(() =>
    expect(messages().join()).toContain("no storage class is set"),
  );
  expect((await claimed("c")).metadata.annotations).toBeUndefined();
});

test("a claim made before there was a default class gets it", async () => {
  await start();
  const { metadata, spec } = await make.claim("c");
  const { storageClassName: _, ...withoutClass } = spec!;
  await plane.client
    .resource(persistentVolumeClaims)
    .update({ metadata, spec: withoutClass });
  await make.class("local-path", {
    metadata: {
      name: "local-path",
      annotations: { "storageclass.kubernetes.io/is-default-class": "true" },
    },
  });
  await passes(async () =>
    expect((await claimed("c")).spec?.storageClassName).toBe("local-path"),
  );
});

test("an ephemeral volume gets a claim that its pod owns, never another's", async () => {
  await start();
  const template = {
    metadata: { labels: { a: "b" } },
    spec: {
      accessModes: ["ReadWriteOnce"],
      resources: { requests: { storage: "1Mi" } },
    },
  };
  const volumesOf = [
    { name: "mine", ephemeral: { volumeClaimTemplate: template } },
  ];
  const pod: Pod = await plane.client
    .resource(pods)
    .create(testPod("p", { volumes: volumesOf }));
  await passes(async () =>
    expect(await claimed("p-mine")).toMatchObject({
      metadata: {
        labels: { a: "b" },
        ownerReferences: [
          { kind: "Pod", name: "p", uid: pod.metadata.uid, controller: true },
        ],
      },
      spec: template.spec,
    }),
  );
  await make.claim("q-mine");
  await plane.client
    .resource(pods)
    .create(testPod("q", { volumes: volumesOf }));
  await passes(() =>
    expect(messages()).toContain(
      "ephemeral volume mine: PVC default/q-mine was not created for pod default/q (pod is not owner)",
    ),
  );
});

test("a claim whose volume is gone, or another's, is lost and says so", async () => {
  await start();
  const volume = (name: string): Promise<PersistentVolume> =>
    plane.client.resource(persistentVolumes).create({
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        capacity: { storage: "1Gi" },
        hostPath: { path: "/srv" },
        persistentVolumeReclaimPolicy: "Retain",
        storageClassName: "",
      },
    });
  for (const name of ["gone", "taken"]) {
    await volume(name);
    await make.claim(name, { storageClassName: "", volumeName: name });
    await passes(async () =>
      expect((await claimed(name)).status?.phase).toBe("Bound"),
    );
  }
  const taken = await plane.client.resource(persistentVolumes).get("taken");
  const claimRef = { ...taken.spec?.claimRef, name: "b", uid: "b" };
  await plane.client
    .resource(persistentVolumes)
    .update({ ...taken, spec: { ...taken.spec, claimRef } });
  // The binder looks at the claim again when it changes, or each 15 s.
  const seen = await claimed("taken");
  const labels = { seen: "again" };
  await plane.client
    .resource(persistentVolumeClaims)
    .update({ ...seen, metadata: { ...seen.metadata, labels } });
  // By force: its protection would keep it as long as the claim is there.
  await plane.client.resource(persistentVolumes).delete("gone");
  const gone = await plane.client.resource(persistentVolumes).get("gone");
  const metadata = { ...gone.metadata, finalizers: [] };
  await plane.client.resource(persistentVolumes).update({ ...gone, metadata });
  await passes(async () => {
    expect((await claimed("gone")).status?.phase).toBe("Lost");
    expect((await claimed("taken")).status?.phase).toBe("Lost");
    const reasons = plane.api
      .all<Event>(events)
      .map(({ reason, involvedObject }) => `${involvedObject?.name} ${reason}`);
    expect(reasons).toContain("gone ClaimLost");
    expect(reasons).toContain("taken ClaimMisbound");
  });
});
