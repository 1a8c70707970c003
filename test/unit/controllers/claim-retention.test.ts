// Who owns the claims of a StatefulSet's pods: each policy, in the range and out of it, and claims that others own.
import type { StatefulSet } from "../../../api/types/apps-v1.ts";
import type { PersistentVolumeClaim, Pod } from "../../../api/types/core-v1.ts";
import type { OwnerReference } from "../../../api/types/meta-v1.ts";
import {
  claimRetention,
  isStaleClaim,
} from "../../../controllers/statefulset/claim-retention.ts";

/** `kind name uid`, with ` -` where it does not control. */
const owner = (text: string): OwnerReference => {
  const [kind = "", name = "", uid = "", not] = text.split(" ");
  return {
    apiVersion: kind === "StatefulSet" ? "apps/v1" : "v1",
    kind,
    name,
    uid,
    controller: not === undefined,
    blockOwnerDeletion: true,
  };
};
const textOf = ({ kind, name, uid, controller }: OwnerReference): string =>
  `${kind} ${name} ${uid}${controller ? "" : " -"}`;

/** Whole words: D Delete, R Retain; the first when the set is deleted, the second when it is scaled. */
const setOf = (policy: string): StatefulSet => ({
  metadata: { name: "s", namespace: "ns", uid: "set" },
  spec: {
    replicas: 2,
    selector: {},
    serviceName: "s",
    template: { spec: { containers: [] } },
    persistentVolumeClaimRetentionPolicy: {
      whenDeleted: policy.startsWith("D") ? "Delete" : "Retain",
      whenScaled: policy.endsWith("D") ? "Delete" : "Retain",
    },
  },
});
const podOf = (ordinal: number): Pod => ({
  metadata: { name: `s-${ordinal}`, namespace: "ns", uid: `pod${ordinal}` },
  spec: { containers: [] },
});
const claimOf = (owners: readonly string[]): PersistentVolumeClaim => ({
  metadata: {
    name: "data-s-0",
    namespace: "ns",
    ...(owners.length > 0 ? { ownerReferences: owners.map(owner) } : {}),
  },
  spec: {},
});

const bySet = "StatefulSet s set";
const external = "ConfigMap other x -";
const foreign = "ConfigMap other x";
const stay = undefined;

test.each<[string, number, string[], string[] | undefined]>([
  // Nothing owns what is retained.
  ["RR", 0, [], stay],
  ["RR", 0, [bySet], []],
  ["RR", 2, ["Pod s-2 pod2", external], [external]],
  ["RR", 0, [foreign], stay],
  // The set owns what goes with it.
  ["DR", 0, [], [bySet]],
  ["DR", 0, [bySet], stay],
  ["DR", 2, [], [bySet]],
  ["DR", 2, ["Pod s-2 pod2"], [bySet]],
  ["DR", 0, [`${bySet} -`], [bySet]],
  ["DR", 0, [external], [external, bySet]],
  // The pod owns what goes when it is out of the range.
  ["RD", 0, [], stay],
  ["RD", 0, ["Pod s-0 pod0"], []],
  ["RD", 2, [], ["Pod s-2 pod2"]],
  ["RD", 2, ["Pod s-2 pod2"], stay],
  ["RD", 2, [bySet], ["Pod s-2 pod2"]],
  ["DD", 0, [], [bySet]],
  ["DD", 2, [bySet], ["Pod s-2 pod2"]],
  ["DD", 0, ["Pod s-0 pod0"], [bySet]],
  // Earlier objects of the name: the garbage collector decides.
  ["DD", 0, ["StatefulSet s earlier"], stay],
  ["DR", 0, ["Pod s-0 earlier"], stay],
  ["RR", 0, ["Pod s-0 earlier"], stay],
])("%s of pod %i, owned by %j", (policy, ordinal, owners, expected) => {
  const found = claimRetention(claimOf(owners), setOf(policy), podOf(ordinal));
  expect(found.owners?.map(textOf)).toEqual(expected);
});

test.each<[string, string[], string[] | undefined, boolean]>([
  ["DR", [foreign], stay, true],
  ["DR", [foreign, bySet], [foreign], true],
  ["RD", [foreign], stay, true],
  ["DD", ["StatefulSet s earlier"], stay, true],
  ["RR", [foreign], stay, false],
  ["DR", [external, bySet], stay, false],
])("%s conflicts with %j", (policy, owners, expected, conflicts) => {
  const found = claimRetention(claimOf(owners), setOf(policy), podOf(0));
  expect([found.owners?.map(textOf), found.conflicts]).toEqual([
    expected,
    conflicts,
  ]);
});

test("a claim of an earlier pod keeps the next from being made where scaling deletes", () => {
  const made = { metadata: { name: "s-0", namespace: "ns" } };
  const claim = claimOf(["Pod s-0 earlier"]);
  expect(isStaleClaim(claim, setOf("RD"), made)).toBe(true);
  expect(isStaleClaim(claim, setOf("DR"), made)).toBe(false);
  expect(isStaleClaim(claimOf([bySet]), setOf("DD"), made)).toBe(false);
});
