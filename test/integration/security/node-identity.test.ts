// What the agent of a node may do with its identity, and what it may not, as in the reference's Node authorizer (with
// selectors) and NodeRestriction of 1.32. Two nodes, a pod on each; the requests are n1's.
import { createPrivateKeyPem } from "../../../api/pki/keys.ts";
import { createCsr } from "../../../api/pki/signing-request.ts";
import {
  patchHeader,
  startTester,
  type Json,
  type Tester,
} from "../conformance/support.ts";

let tester: Tester;
const uids: Record<string, string> = {};
const api = "/api/v1";
const ns = `${api}/namespaces/s10`;
const leases = "/apis/coordination.k8s.io/v1/namespaces";
const csiNodes = "/apis/storage.k8s.io/v1/csinodes";
const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

const pod = (name: string, nodeName: string): Json => ({
  metadata: { name, labels: { a: "b" } },
  spec: {
    nodeName,
    serviceAccountName: `account-${nodeName}`,
    containers: [
      {
        name: "c",
        image: "i",
        envFrom: [{ configMapRef: { name: `map-${nodeName}` } }],
      },
    ],
    volumes: [
      { name: "s", secret: { secretName: `secret-${nodeName}` } },
      { name: "v", persistentVolumeClaim: { claimName: `claim-${nodeName}` } },
    ],
  },
});
const mirror = (change: (pod: Json) => void = () => {}): Json => {
  const object = {
    metadata: {
      name: "static-n1",
      annotations: { "kubernetes.io/config.mirror": "hash" },
      ownerReferences: [
        {
          apiVersion: "v1",
          kind: "Node",
          name: "n1",
          uid: uids["n1"],
          controller: true,
        },
      ],
    },
    spec: { nodeName: "n1", containers: [{ name: "c", image: "i" }] },
  };
  change(object);
  return object;
};
const csr = (commonName: string, signerName: string): Json => ({
  metadata: { generateName: "r-" },
  spec: {
    request: Buffer.from(
      createCsr(createPrivateKeyPem(), {
        commonName,
        organizations: ["system:nodes"],
      }),
    ).toString("base64"),
    signerName: `kubernetes.io/${signerName}`,
    usages: ["digital signature", "client auth"],
  },
});

beforeAll(async () => {
  tester = await startTester();
  await tester.namespace("s10");
  for (const node of ["n1", "n2"]) {
    const made = await tester.ok("POST", `${api}/nodes`, {
      metadata: { name: node },
    });
    uids[node] = made.metadata.uid;
    await tester.ok("POST", `${ns}/serviceaccounts`, {
      metadata: { name: `account-${node}` },
    });
    await tester.ok("POST", `${api}/persistentvolumes`, {
      metadata: { name: `volume-${node}` },
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        csi: {
          driver: "d",
          volumeHandle: node,
          nodeStageSecretRef: { name: `stage-${node}`, namespace: "s10" },
          controllerExpandSecretRef: {
            name: `expand-${node}`,
            namespace: "s10",
          },
        },
        claimRef: { namespace: "s10", name: `claim-${node}` },
      },
    });
    await tester.ok("POST", `${ns}/persistentvolumeclaims`, {
      metadata: { name: `claim-${node}` },
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        volumeName: `volume-${node}`,
        storageClassName: "",
      },
    });
    const made2 = await tester.ok("POST", `${ns}/pods`, pod(`p-${node}`, node));
    uids[`p-${node}`] = made2.metadata.uid;
    for (const name of ["secret", "stage", "expand"])
      await tester.ok("POST", `${ns}/secrets`, {
        metadata: { name: `${name}-${node}` },
      });
    await tester.ok("POST", `${ns}/configmaps`, {
      metadata: { name: `map-${node}` },
    });
    await tester.ok("POST", csiNodes, {
      metadata: { name: node },
      spec: { drivers: [] },
    });
    await tester.ok("POST", "/apis/storage.k8s.io/v1/volumeattachments", {
      metadata: { name: `attachment-${node}` },
      spec: {
        attacher: "d",
        nodeName: node,
        source: { persistentVolumeName: `volume-${node}` },
      },
    });
  }
});
afterAll(() => tester.stop());

const n1 = {
  "impersonate-user": "system:node:n1",
  "impersonate-group": "system:nodes",
};
function send(method: string, path: string, body?: Json) {
  return tester.call(method, path, body, {
    ...(method === "PATCH" ? patchHeader("merge") : {}),
    ...n1,
  });
}

const none = "no relationship found between node 'n1' and this object";
const field = (selector: string): string =>
  `fieldSelector=${encodeURIComponent(selector)}`;

// [method and path, words of the refusal; none: it is allowed]
const reads: readonly [string, string?][] = [
  [`${api}/nodes/n1`],
  [`${api}/nodes/n2`, "node 'n1' cannot read 'n2', only its own Node object"],
  [`${api}/nodes`, "node 'n1' cannot read all nodes, only its own Node object"],
  [`${api}/nodes?${field("metadata.name=n1")}`],
  [`${api}/nodes?watch=1&timeoutSeconds=1&${field("metadata.name=n1")}`],
  [`${api}/nodes?${field("metadata.name=n2")}`, "cannot read 'n2'"],
  [`${api}/nodes/n1/status`, 'cannot get resource "nodes/status"'],
  [`${api}/pods`, "can only list/watch pods with spec.nodeName field selector"],
  [`${ns}/pods`, "can only list/watch pods with spec.nodeName field selector"],
  [`${api}/pods?${field("spec.nodeName=n1")}`],
  [`${api}/pods?${field("spec.nodeName=n1,status.phase!=Failed")}`],
  [`${api}/pods?watch=1&timeoutSeconds=1&${field("spec.nodeName=n1")}`],
  [`${api}/pods?${field("spec.nodeName=n2")}`, "with spec.nodeName"],
  [`${api}/pods?${field("spec.nodeName!=n2")}`, "with spec.nodeName"],
  [
    `${api}/pods?${field("spec.nodeName=n2")}&${field("spec.nodeName=n1")}`,
    "with spec.nodeName",
  ],
  [`/api/v1/watch/pods?${field("spec.nodeName=n1")}`, "with spec.nodeName"],
  [`${ns}/pods/p-n1`],
  [`${ns}/pods/p-n2`, none],
  [`${ns}/pods?${field("metadata.name=p-n1")}`],
  [`${ns}/pods?${field("metadata.name=p-n2")}`, none],
  [`${ns}/pods/p-n1/log`, 'cannot get resource "pods/log"'],
  [`${ns}/pods/p-n1/status`, 'cannot get resource "pods/status"'],
  [`${ns}/secrets/secret-n1`],
  [`${ns}/secrets/secret-n2`, none],
  [`${ns}/secrets`, "No Object name found"],
  [`${ns}/secrets?${field("metadata.name=secret-n1")}`],
  [
    `${ns}/secrets?watch=1&timeoutSeconds=1&${field("metadata.name=secret-n1")}`,
  ],
  [`${ns}/secrets?${field("metadata.name=secret-n2")}`, none],
  [`${ns}/secrets?${field("metadata.name!=secret-n2")}`, "No Object name"],
  [
    `${api}/secrets?${field("metadata.name=secret-n1")}`,
    "can only read namespaced object of this type",
  ],
  [`${ns}/secrets/stage-n1`],
  [`${ns}/secrets/stage-n2`, none],
  [`${ns}/secrets/expand-n1`, none],
  [`${ns}/configmaps/map-n1`],
  [`${ns}/configmaps/map-n2`, none],
  [
    `${ns}/configmaps?watch=1&timeoutSeconds=1&${field("metadata.name=map-n1")}`,
  ],
  [`${ns}/persistentvolumeclaims/claim-n1`],
  [`${ns}/persistentvolumeclaims/claim-n2`, none],
  [
    `${ns}/persistentvolumeclaims`,
    "can only get individual resources of this type",
  ],
  [`${ns}/persistentvolumeclaims/claim-n1/status`, "can only get/update/patch"],
  [`${api}/persistentvolumes/volume-n1`],
  [`${api}/persistentvolumes/volume-n2`, none],
  ["/apis/storage.k8s.io/v1/volumeattachments/attachment-n1"],
  ["/apis/storage.k8s.io/v1/volumeattachments/attachment-n2", none],
  [`${csiNodes}/n1`],
  [`${csiNodes}/n2`, "can only access CSINode with the same name"],
  [csiNodes, "can only get, create, update, patch, or delete a CSINode"],
  [`${leases}/kube-node-lease/leases`, "delete a node lease"],
  [`${ns}/serviceaccounts/account-n1`, "individual service accounts"],
  [`${api}/services`],
  [`${ns}/endpoints`, 'cannot list resource "endpoints"'],
];

// As objects: a row that is too short would get jest's callback.
const readCases = reads.map(([path, refusal]) => ({ path, refusal }));

it.each(readCases)("reads $path", async ({ path, refusal }) => {
  const { status, body } = await send("GET", path);
  expect([status, body.message]).toEqual(
    refusal === undefined
      ? [200, undefined]
      : [403, expect.stringContaining(refusal)],
  );
});

const setTo =
  (path: string, value: unknown) =>
  (object: Json): void => {
    const parts = path.split(".");
    const last = parts.pop()!;
    let at = object;
    for (const part of parts) at = at[part] ??= {};
    at[last] = value;
  };
const owner = (change: object) => (object: Json) =>
  Object.assign(object.metadata.ownerReferences[0], change);

const mirrors: readonly [string, (pod: Json) => void, string][] = [
  [
    "that are none",
    setTo("metadata.annotations", {}),
    'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
  ],
  [
    "for another node",
    setTo("spec.nodeName", "n2"),
    'node "n1" can only create pods with spec.nodeName set to itself',
  ],
  [
    "without owner",
    setTo("metadata.ownerReferences", []),
    "can only create pods with an owner reference set to itself",
  ],
  [
    "with two owners",
    (object) =>
      object.metadata.ownerReferences.push({
        apiVersion: "v1",
        kind: "Node",
        name: "n2",
        uid: uids["n2"],
      }),
    "can only create pods with a single owner reference set to itself",
  ],
  [
    "with another owner",
    owner({ name: "n2" }),
    "can only create pods with an owner reference set to itself",
  ],
  [
    "with an owner of another kind",
    owner({ kind: "Pod" }),
    "can only create pods with an owner reference set to itself",
  ],
  [
    "not controlled by their owner",
    owner({ controller: false }),
    "can only create pods with a controller owner reference set to itself",
  ],
  [
    "that hold up their owner",
    owner({ blockOwnerDeletion: true }),
    "must not set blockOwnerDeletion on an owner reference",
  ],
  ["of another Node", owner({ uid: "other" }), "node n1 UID mismatch"],
  [
    "with an account",
    setTo("spec.serviceAccountName", "account-n1"),
    "service account",
  ],
  [
    "with a secret",
    setTo("spec.volumes", [{ name: "v", secret: { secretName: "s" } }]),
    "secret",
  ],
  [
    "with a config map",
    setTo("spec.volumes", [{ name: "v", configMap: { name: "s" } }]),
    'node "n1" can not create pods that reference configmaps',
  ],
  [
    "with a claim",
    setTo("spec.volumes", [
      { name: "v", persistentVolumeClaim: { claimName: "s" } },
    ]),
    'node "n1" can not create pods that reference persistentvolumeclaims',
  ],
];

describe("mirror pods", () => {
  it.each(mirrors)("%s are refused", async (_, change, refusal) => {
    const { status, body } = await send("POST", `${ns}/pods`, mirror(change));
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining(refusal),
    ]);
  });

  it("of its own are made and deleted", async () => {
    expect((await send("POST", `${ns}/pods`, mirror())).status).toBe(201);
    const path = `${ns}/pods/static-n1?gracePeriodSeconds=0`;
    expect((await send("DELETE", path)).status).toBe(200);
  });
});

const writes: readonly [string, string, Json, string?][] = [
  ["PATCH", `${api}/nodes/n1`, { metadata: { labels: { "my/own": "x" } } }],
  [
    "PATCH",
    `${api}/nodes/n1`,
    { metadata: { labels: { "kubernetes.io/os": "linux" } } },
  ],
  [
    "PATCH",
    `${api}/nodes/n1`,
    { metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } } },
    "is not allowed to modify labels: node-role.kubernetes.io/control-plane",
  ],
  [
    "PATCH",
    `${api}/nodes/n1`,
    { metadata: { labels: { "x.node-restriction.kubernetes.io/a": "" } } },
    "is not allowed to modify labels",
  ],
  [
    "PATCH",
    `${api}/nodes/n1/status`,
    { metadata: { labels: { "node-role.kubernetes.io/x": "" } } },
    "is not allowed to modify labels",
  ],
  [
    "PATCH",
    `${api}/nodes/n1`,
    { spec: { taints: [{ key: "k", effect: "NoSchedule" }] } },
    'node "n1" is not allowed to modify taints',
  ],
  // CVE-2025-5187
  [
    "PATCH",
    `${api}/nodes/n1`,
    {
      metadata: {
        ownerReferences: [
          { apiVersion: "v1", kind: "ConfigMap", name: "gone", uid: "gone" },
        ],
      },
    },
    'node "n1" is not allowed to modify ownerReferences',
  ],
  [
    "PATCH",
    `${api}/nodes/n1`,
    {
      spec: {
        configSource: {
          configMap: {
            name: "m",
            namespace: "s10",
            kubeletConfigKey: "kubelet",
          },
        },
      },
    },
    "configSource",
  ],
  [
    "PATCH",
    `${api}/nodes/n2`,
    { metadata: { labels: { "my/own": "x" } } },
    'node "n1" is not allowed to modify node "n2"',
  ],
  ["PATCH", `${api}/nodes/n2/status`, {}, 'is not allowed to modify node "n2"'],
  ["DELETE", `${api}/nodes/n1`, undefined, 'cannot delete resource "nodes"'],
  [
    "POST",
    `${api}/nodes`,
    { metadata: { name: "n3" } },
    'node "n1" is not allowed to modify node "n3"',
  ],
  [
    "PATCH",
    `${ns}/persistentvolumeclaims/claim-n2/status`,
    { status: { phase: "Lost" } },
    none,
  ],
  [
    "PATCH",
    `${ns}/persistentvolumeclaims/claim-n1/status`,
    { status: { phase: "Lost" } },
    'node "n1" is not allowed to update fields other than status.capacity and status.conditions',
  ],
  [
    "PATCH",
    `${ns}/persistentvolumeclaims/claim-n1/status`,
    { metadata: { finalizers: ["example.com/f"] } },
    "is not allowed to update fields other than",
  ],
  [
    "PATCH",
    `${ns}/persistentvolumeclaims/claim-n1/status`,
    { status: { capacity: { storage: "2Gi" } } },
  ],
  [
    "PATCH",
    `${ns}/persistentvolumeclaims/claim-n1`,
    { metadata: { labels: { a: "b" } } },
    "can only get individual resources of this type",
  ],
  [
    "PATCH",
    `${ns}/pods/p-n1/status`,
    { status: { message: "said by its node" } },
  ],
  [
    "PATCH",
    `${ns}/pods/p-n1/status`,
    { metadata: { labels: { a: "c" } } },
    'node "n1" cannot update labels through pod status',
  ],
  [
    "PATCH",
    `${ns}/pods/p-n1/status`,
    {
      status: {
        resourceClaimStatuses: [{ name: "c", resourceClaimName: "theirs" }],
      },
    },
    'node "n1" cannot update resource claim statues',
  ],
  [
    "PATCH",
    `${ns}/pods/p-n2/status`,
    { status: { phase: "Failed" } },
    'node "n1" can only update pod status for pods with spec.nodeName set to itself',
  ],
  ["PATCH", `${ns}/pods/p-n1`, {}, 'cannot patch resource "pods"'],
  [
    "DELETE",
    `${ns}/pods/p-n2`,
    undefined,
    'node "n1" can only delete pods with spec.nodeName set to itself',
  ],
  [
    "DELETE",
    `${ns}/pods?${field("spec.nodeName=n1")}`,
    undefined,
    'cannot deletecollection resource "pods"',
  ],
  [
    "POST",
    `${ns}/pods/p-n2/eviction`,
    { metadata: { name: "p-n2" } },
    "node n1 can only evict pods with spec.nodeName set to itself",
  ],
  [
    "POST",
    `${ns}/pods/p-n2/eviction?dryRun=All`,
    { metadata: { name: "p-n2" } },
    "node n1 can only evict pods with spec.nodeName set to itself",
  ],
  [
    "POST",
    `${ns}/pods/p-n1/binding`,
    { metadata: { name: "p-n1" }, target: { name: "n2" } },
    'cannot create resource "pods/binding"',
  ],
  [
    "POST",
    `${leases}/kube-node-lease/leases`,
    { metadata: { name: "n2" } },
    "can only access node lease with the same name as the requesting node",
  ],
  [
    "POST",
    `${leases}/s10/leases`,
    { metadata: { name: "n1" } },
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  ["POST", `${leases}/kube-node-lease/leases`, { metadata: { name: "n1" } }],
  [
    "POST",
    csiNodes,
    { metadata: { name: "n3" }, spec: { drivers: [] } },
    "can only access CSINode with the same name as the requesting node",
  ],
  ["DELETE", `${csiNodes}/n2`, undefined, "can only access CSINode"],
  ["PATCH", `${csiNodes}/n1`, { metadata: { labels: { a: "b" } } }],
];

const writeCases = writes.map(([method, path, body, refusal]) => ({
  method,
  path,
  body,
  refusal,
}));

it.each(writeCases)("$method $path $body", async (row) => {
  const { method, path, body, refusal } = row;
  const { status, body: answer } = await send(method, path, body);
  expect([status >= 400 ? status : 200, answer.message]).toEqual(
    refusal === undefined
      ? [200, undefined]
      : [403, expect.stringContaining(refusal)],
  );
});

describe("tokens", () => {
  const ask = (account: string, boundObjectRef?: Json) =>
    send("POST", `${ns}/serviceaccounts/${account}/token`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { ...(boundObjectRef ? { boundObjectRef } : {}) },
    });
  const bound = (name: string, uid = uids[name]): Json => ({
    apiVersion: "v1",
    kind: "Pod",
    name,
    uid,
  });

  it.each<[string, () => ReturnType<typeof ask>, string]>([
    ["bound to nothing", () => ask("account-n1"), "not bound to a pod"],
    [
      "bound to a secret",
      () => ask("account-n1", { ...bound("secret-n1", "x"), kind: "Secret" }),
      "not bound to a pod",
    ],
    [
      "without the pod's uid",
      () => ask("account-n1", bound("p-n1", "")),
      "without a uid",
    ],
    [
      "with another uid",
      () => ask("account-n1", bound("p-n1", "other")),
      "does not match the UID in record",
    ],
    [
      "for a pod of another node",
      () => ask("account-n1", bound("p-n2")),
      "bound to a pod scheduled on a different node",
    ],
    [
      "of an account no pod of it runs as",
      () => ask("account-n2", bound("p-n2")),
      none,
    ],
  ])("are refused %s", async (_, request, refusal) => {
    const { status, body } = await request();
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining(refusal),
    ]);
  });

  it("of its own pods are given", async () => {
    const { status, body } = await ask("account-n1", bound("p-n1"));
    expect([status, typeof body.status?.token]).toEqual([201, "string"]);
  });
});

describe("certificates", () => {
  it.each([
    ["kube-apiserver-client-kubelet", "system:node:n2", 403],
    ["kubelet-serving", "system:node:n2", 403],
    ["kube-apiserver-client-kubelet", "system:node:n1", 201],
  ])("by %s for %s: %d", async (signer, name, expected) => {
    const { status, body } = await send("POST", requests, csr(name, signer));
    expect(status).toBe(expected);
    if (expected === 403)
      expect(body.message).toContain(
        "can only create a node CSR with CN=system:node:n1",
      );
  });
});

it("evicts its own pods", async () => {
  const path = `${ns}/pods/p-n1/eviction`;
  const { status } = await send("POST", path, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name: "p-n1" },
  });
  expect(status).toBe(201);
});

it("restricts nobody else", async () => {
  const others: Record<string, string>[] = [
    // A user that is in the group without a node's name, and one without the group, have no node's rights.
    { "impersonate-user": "x", "impersonate-group": "system:nodes" },
    { "impersonate-user": "system:node:n1" },
    // A node without a name has none either.
    { "impersonate-user": "system:node:", "impersonate-group": "system:nodes" },
  ];
  for (const headers of others) {
    const { status } = await tester.call(
      "GET",
      `${api}/nodes/n1`,
      undefined,
      headers,
    );
    expect(status).toBe(403);
  }
});
