// ServiceAccountNodeAudienceRestriction: the agent of a node gets tokens for audiences that volumes of its pod need, projected
// or by way of CSI drivers, and for no other.
import { startTester, type Json, type Tester } from "../conformance/support.ts";

const ns = "/api/v1/namespaces/default";
const n1 = {
  "impersonate-user": "system:node:n1",
  "impersonate-group": "system:nodes",
};
let tester: Tester;
let uid: string;

beforeAll(async () => {
  tester = await startTester([
    "--feature-gates=ServiceAccountNodeAudienceRestriction=true",
  ]);
  const make = (path: string, body: Json): Promise<Json> =>
    tester.ok("POST", path, body);
  for (const [name, audience] of [
    ["inline", "of-inline"],
    ["claimed", "of-claimed"],
    ["ephemeral", "of-ephemeral"],
    ["unused", "of-unused"],
  ])
    await make("/apis/storage.k8s.io/v1/csidrivers", {
      metadata: { name: `${name}.example.com` },
      spec: { tokenRequests: [{ audience }] },
    });
  for (const [name, claim] of [
    ["claimed", "c"],
    ["ephemeral", "p-e"],
  ]) {
    await make("/api/v1/persistentvolumes", {
      metadata: { name },
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        csi: { driver: `${name}.example.com`, volumeHandle: name },
      },
    });
    await make(`${ns}/persistentvolumeclaims`, {
      metadata: { name: claim },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        volumeName: name,
        storageClassName: "",
      },
    });
  }
  await make("/api/v1/nodes", { metadata: { name: "n1" } });
  await make(`${ns}/serviceaccounts`, { metadata: { name: "sa" } });
  const made = await make(`${ns}/pods`, {
    metadata: { name: "p" },
    spec: {
      nodeName: "n1",
      serviceAccountName: "sa",
      containers: [{ name: "c", image: "i" }],
      volumes: [
        {
          name: "t",
          projected: {
            sources: [
              { serviceAccountToken: { path: "t", audience: "vault" } },
            ],
          },
        },
        { name: "i", csi: { driver: "inline.example.com" } },
        { name: "c", persistentVolumeClaim: { claimName: "c" } },
        {
          name: "e",
          ephemeral: {
            volumeClaimTemplate: {
              spec: {
                accessModes: ["ReadWriteOnce"],
                resources: { requests: { storage: "1Gi" } },
              },
            },
          },
        },
        { name: "gone", persistentVolumeClaim: { claimName: "gone" } },
      ],
    },
  });
  uid = made.metadata.uid;
});
afterAll(() => tester.stop());

const ask = (audiences: unknown, headers: Record<string, string> = n1) =>
  tester.call(
    "POST",
    `${ns}/serviceaccounts/sa/token`,
    {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: {
        audiences,
        boundObjectRef: { apiVersion: "v1", kind: "Pod", name: "p", uid },
      },
    },
    headers,
  );

it.each([
  ["none: that of the pod's usual volume", []],
  ["a projected volume's", ["vault"]],
  ["an inline volume's driver's", ["of-inline"]],
  ["a claim's driver's", ["of-claimed"]],
  ["an ephemeral volume's driver's", ["of-ephemeral"]],
])("%s is given", async (_, audiences) => {
  const { status, body } = await ask(audiences);
  expect([status, typeof body.status?.token]).toEqual([201, "string"]);
});

it.each([
  [["of-unused"], 'audience "of-unused" not found in pod spec volume'],
  [["Vault"], 'audience "Vault" not found in pod spec volume'],
  [["vault", "of-inline"], "node may only request 0 or 1 audiences"],
])("%j is refused", async (audiences, why) => {
  const { status, body } = await ask(audiences);
  expect([status, body.message]).toEqual([
    403,
    `serviceaccounts "sa" is forbidden: ${why}`,
  ]);
});

it("other users ask for what they like", async () => {
  const { status } = await ask(["of-unused", "x"], {});
  expect(status).toBe(201);
});
