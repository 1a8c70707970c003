import { bestVolume } from "../../../../api/objects/volumes/volume-match.ts";
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
} from "../../../../api/types/core-v1.ts";

type VolumeSpec = NonNullable<PersistentVolume["spec"]>;

const claim: PersistentVolumeClaim = {
  metadata: { name: "c", namespace: "ns", uid: "u" },
  spec: {
    accessModes: ["ReadWriteOnce"],
    resources: { requests: { storage: "2Gi" } },
  },
};
const volume = (
  name: string,
  storage: string,
  spec: Partial<VolumeSpec> = {},
): PersistentVolume => ({
  metadata: { name },
  spec: { capacity: { storage }, accessModes: ["ReadWriteOnce"], ...spec },
});
const reserved = { claimRef: { name: "c", namespace: "ns" } };
const inZone = (zone: string): Partial<VolumeSpec> => ({
  nodeAffinity: {
    required: {
      nodeSelectorTerms: [
        { matchExpressions: [{ key: "zone", operator: "In", values: [zone] }] },
      ],
    },
  },
});
const node: Node = { metadata: { name: "n", labels: { zone: "a" } }, spec: {} };

const three = [...claim.spec!.accessModes!, "ReadOnlyMany", "ReadWriteMany"];

test.each<[string, PersistentVolume[], Node | undefined, string | undefined]>([
  [
    "the smallest that is large enough",
    [volume("a", "5Gi"), volume("b", "3Gi"), volume("c", "1Gi")],
    undefined,
    "b",
  ],
  [
    "one that can do less comes before a smaller one",
    [volume("a", "3Gi"), volume("b", "2Gi", { accessModes: three })],
    undefined,
    "a",
  ],
  [
    "but not for a pod",
    [volume("a", "3Gi"), volume("b", "2Gi", { accessModes: three })],
    node,
    "b",
  ],
  [
    "the one that names the claim comes first",
    [volume("a", "2Gi"), volume("b", "9Gi", reserved)],
    undefined,
    "b",
  ],
  [
    "not where it is too small",
    [volume("a", "3Gi"), volume("b", "1Gi", reserved)],
    undefined,
    "a",
  ],
  [
    "is a device",
    [volume("b", "2Gi", { ...reserved, volumeMode: "Block" })],
    undefined,
    undefined,
  ],
  [
    "or lacks an access mode",
    [volume("b", "2Gi", { ...reserved, accessModes: ["ReadOnlyMany"] })],
    undefined,
    undefined,
  ],
  [
    "out of the node's reach it leaves the claim without any",
    [volume("a", "3Gi"), volume("b", "2Gi", { ...reserved, ...inZone("b") })],
    node,
    undefined,
  ],
])("%s", (_, volumes, at, expected) => {
  expect(bestVolume(claim, volumes, at)?.metadata.name).toBe(expected);
});
