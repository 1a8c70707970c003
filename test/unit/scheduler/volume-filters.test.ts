// What is said of claims and volumes, and limits of drivers on nodes that are full already.
import type { KubeObject } from "../../../api/object.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { ClusterState } from "../../../scheduler/cluster-state.ts";
import { Placer, unavailableMessage } from "../../../scheduler/placement.ts";
import { PodViews } from "../../../scheduler/pod-view.ts";
import { StorageState } from "../../../scheduler/volumes/storage-state.ts";
import { createVolumeBindingFilter } from "../../../scheduler/volumes/volume-binding-filter.ts";
import { createVolumeLimitFilter } from "../../../scheduler/volumes/volume-limit-filters.ts";
import { testNode, testPod } from "../../support/control-plane.ts";

type Stored = KubeObject & Record<string, unknown>;

const clientOf = (objects: readonly Stored[]): Client =>
  ({
    informer: ({ kind }: { kind: string }) => ({
      lister: {
        get: (name: string) =>
          objects.find((o) => o.kind === kind && o.metadata.name === name),
        list: () => objects.filter((o) => o.kind === kind),
      },
    }),
  }) as unknown as Client;

const claim = (name: string, spec: object, extra: object = {}): Stored => ({
  kind: "PersistentVolumeClaim",
  metadata: { name, namespace: "default", ...extra },
  spec: { resources: { requests: { storage: "1Gi" } }, ...spec },
  status: { phase: "volumeName" in spec ? "Bound" : "Pending" },
});
const volume = (name: string, zone?: string): Stored => ({
  kind: "PersistentVolume",
  metadata: { name },
  spec: {
    csi: { driver: "d", volumeHandle: name },
    ...(zone === undefined
      ? {}
      : {
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [
                {
                  matchExpressions: [
                    { key: "zone", operator: "In", values: [zone] },
                  ],
                },
              ],
            },
          },
        }),
  },
});
const using = (name: string, ...claims: string[]): Pod =>
  testPod(name, {
    volumes: claims.map((claimName) => ({
      name: claimName,
      persistentVolumeClaim: { claimName },
    })),
  });

function result(pod: Pod, objects: Stored[], placed: Pod[] = []): string {
  const storage = new StorageState(clientOf(objects));
  const filters = [
    createVolumeLimitFilter(storage),
    createVolumeBindingFilter(storage),
  ];
  const views = new PodViews();
  const state = new ClusterState(() => ({}), views);
  state.setNode(testNode("n1"));
  for (const other of placed)
    state.setPod({ ...other, spec: { ...other.spec, nodeName: "n1" } });
  const { feasible, rejections } = new Placer({
    ...{ filters, scores: [], percentageOfNodesToScore: 100 },
  }).search(views.of(pod), state);
  return feasible[0]?.name ?? unavailableMessage(1, rejections);
}

test("a volume out of reach and one that can't be made are both said", () => {
  const message = result(using("p", "far", "new"), [
    volume("v", "elsewhere"),
    claim("far", { volumeName: "v" }),
    claim("new", { storageClassName: "none" }),
    {
      kind: "StorageClass",
      metadata: { name: "none" },
      provisioner: "kubernetes.io/no-provisioner",
      volumeBindingMode: "WaitForFirstConsumer",
    },
  ]);
  expect(message).toBe(
    "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind, 1 node(s) had volume node affinity conflict.",
  );
});

test("a claim that is missing is said first, then one that goes, then one that is not bound", () => {
  const going = claim("going", {}, { deletionTimestamp: "2024-01-01" });
  const objects = [claim("unbound", {}), going];
  expect(result(using("p", "unbound", "going", "missing"), objects)).toBe(
    '0/1 nodes are available: persistentvolumeclaim "missing" not found.',
  );
  expect(result(using("p", "unbound", "going"), objects)).toBe(
    '0/1 nodes are available: persistentvolumeclaim "going" is being deleted.',
  );
  expect(result(using("p", "unbound"), objects)).toBe(
    "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.",
  );
});

test("what is attached already costs nothing, also on a node with too many", () => {
  const objects: Stored[] = [
    ...["a", "b", "c"].flatMap((name) => [
      volume(name),
      claim(name, { volumeName: name }),
    ]),
    {
      kind: "CSINode",
      metadata: { name: "n1" },
      spec: { drivers: [{ name: "d", allocatable: { count: 1 } }] },
    },
  ];
  const placed = [using("x", "a"), using("y", "b")];
  expect(result(using("p", "a"), objects, placed)).toBe("n1");
  expect(result(using("p", "c"), objects, placed)).toBe(
    "0/1 nodes are available: 1 node(s) exceed max volume count.",
  );
});
