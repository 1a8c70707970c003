// sig-auth, and the pure API tests of sig-node, sig-network and sig-instrumentation that no table covers.
import { eventually } from "../../support/eventually.ts";
import { patchHeader, startTester, type Json, type Tester } from "./support.ts";
import { createPrivateKeyPem } from "../../../api/pki/keys.ts";
import { createCsr } from "../../../api/pki/signing-request.ts";

let tester: Tester;
let ns: string;
let count = 0;
beforeAll(async () => {
  tester = await startTester();
});
afterAll(() => tester.stop());
beforeEach(async () => {
  ns = await tester.namespace(`identity-${count++}`);
});

const api = (path: string): string => `/api/v1/namespaces/${ns}/${path}`;
const spec = {
  containers: [{ name: "c", image: "i" }],
  nodeSelector: { no: "where" },
};
const merge = (path: string, body: Json) =>
  tester.ok("PATCH", path, body, patchHeader("merge"));

describe("service accounts", () => {
  test("their root certificates come back when deleted or changed", async () => {
    const path = api("configmaps/kube-root-ca.crt");
    const there = async (): Promise<boolean> => {
      const { status, body } = await tester.call("GET", path);
      return status === 200 && /BEGIN CERTIFICATE/.test(body.data["ca.crt"]);
    };
    await eventually(there);
    await tester.ok("DELETE", path);
    await eventually(there);
    await merge(path, { data: { "ca.crt": "wrong" } });
    await eventually(there);
  });

  test("a token for an audience passes its review", async () => {
    const token = await tester.ok(
      "POST",
      api("serviceaccounts/default/token"),
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { audiences: ["aud"], expirationSeconds: 3600 },
      },
    );
    expect(token.kind).toBe("TokenRequest");
    const review = (audiences: string[]) =>
      tester.ok("POST", "/apis/authentication.k8s.io/v1/tokenreviews", {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token: token.status.token, audiences },
      });
    expect((await review(["aud"])).status).toMatchObject({
      authenticated: true,
      audiences: ["aud"],
      user: { username: `system:serviceaccount:${ns}:default` },
    });
    expect((await review(["other"])).status.authenticated).not.toBe(true);
  });

  test("mounting a token follows pod, then account", async () => {
    for (const [name, automount] of [
      ["mount", true],
      ["nomount", false],
    ] as const)
      await tester.ok("POST", api("serviceaccounts"), {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name },
        automountServiceAccountToken: automount,
      });
    for (const account of ["default", "mount", "nomount"])
      for (const own of [undefined, true, false]) {
        const pod = await tester.ok("POST", api("pods"), {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { generateName: "p-" },
          spec: {
            ...spec,
            serviceAccountName: account,
            ...(own === undefined ? {} : { automountServiceAccountToken: own }),
          },
        });
        const mounted = (pod.spec.containers[0].volumeMounts ?? []).length > 0;
        expect([account, own, mounted]).toEqual([
          account,
          own,
          own ?? account !== "nomount",
        ]);
      }
  });

  test("the issuer's discovery documents fit together", async () => {
    const config = await tester.ok("GET", "/.well-known/openid-configuration");
    const keys = await tester.ok("GET", new URL(config.jwks_uri).pathname);
    expect(keys.keys.length).toBeGreaterThan(0);
    const token = await tester.ok(
      "POST",
      api("serviceaccounts/default/token"),
      {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: {},
      },
    );
    const [head, body] = token.status.token
      .split(".")
      .map((part: string, index: number) =>
        index < 2
          ? JSON.parse(Buffer.from(part, "base64url").toString())
          : part,
      );
    expect(body.iss).toBe(config.issuer);
    expect(keys.keys.map(({ kid }: Json) => kid)).toContain(head.kid);
  });
});

test("access reviews of a service account", async () => {
  const user = `system:serviceaccount:${ns}:default`;
  const review = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: {
      user,
      resourceAttributes: {
        verb: "list",
        resource: "configmaps",
        namespace: ns,
        version: "v1",
      },
    },
  };
  const local = {
    ...review,
    kind: "LocalSubjectAccessReview",
    metadata: { namespace: ns },
  };
  const ask = async () => [
    (
      await tester.ok(
        "POST",
        "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        review,
      )
    ).status.allowed,
    (
      await tester.ok(
        "POST",
        `/apis/authorization.k8s.io/v1/namespaces/${ns}/localsubjectaccessreviews`,
        local,
      )
    ).status.allowed,
  ];
  expect(await ask()).toEqual([false, false]);
  await tester.ok(
    "POST",
    `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/rolebindings`,
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name: "view" },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "view",
      },
      subjects: [{ kind: "ServiceAccount", name: "default", namespace: ns }],
    },
  );
  expect(await ask()).toEqual([true, true]);
});

test("certificate requests: approval and status as subresources", async () => {
  const pem = createCsr(createPrivateKeyPem(), { commonName: "e2e" });
  const request = Buffer.from(pem).toString("base64");
  const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
  const created = await tester.ok("POST", path, {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { generateName: "e2e-example-csr-" },
    spec: {
      request,
      signerName: "example.com/e2e-signer",
      expirationSeconds: 86400,
      usages: ["digital signature", "key encipherment", "server auth"],
    },
  });
  const one = `${path}/${created.metadata.name}`;
  expect(created.spec.username).toBeTruthy();
  // Neither the main resource nor /status approves.
  for (const where of ["", "/status"]) {
    const changed = await tester.ok("GET", one);
    changed.status = {
      conditions: [
        { type: "Approved", status: "True", reason: "E2E", message: "m" },
      ],
    };
    const answer = await tester.call("PUT", one + where, changed);
    expect(answer.body.status?.conditions ?? []).not.toContainEqual(
      expect.objectContaining({ type: "Approved" }),
    );
  }
  expect((await tester.ok("GET", `${one}/approval`)).metadata.name).toBe(
    created.metadata.name,
  );
  const approved = await merge(`${one}/approval`, {
    metadata: { annotations: { patchedapproval: "true" } },
    status: {
      conditions: [{ type: "ApprovalPatch", status: "True", reason: "e2e" }],
    },
  });
  expect(approved.status.conditions).toContainEqual(
    expect.objectContaining({ type: "ApprovalPatch" }),
  );
  const withCertificate = await merge(`${one}/status`, {
    metadata: { annotations: { patchedstatus: "true" } },
    status: {
      certificate: Buffer.from(tester.cluster.certificateAuthority).toString(
        "base64",
      ),
    },
  });
  expect(withCertificate.status.certificate).toBeTruthy();
  expect(withCertificate.metadata.annotations.patchedstatus).toBe("true");
  await tester.ok("DELETE", one);
});

describe("immutable data and empty keys", () => {
  test.each(["ConfigMap", "Secret"])("%s", async (kind) => {
    const path = api(`${kind.toLowerCase()}s`);
    const value = kind === "Secret" ? "dmFsdWU=" : "value";
    expect(
      (
        await tester.call("POST", path, {
          apiVersion: "v1",
          kind,
          metadata: { name: "x" },
          data: { "": value },
        })
      ).status,
    ).toBe(422);
    await tester.ok("POST", path, {
      apiVersion: "v1",
      kind,
      metadata: { name: "i" },
      data: { a: value },
    });
    await merge(`${path}/i`, { immutable: true });
    for (const body of [
      { immutable: false },
      { immutable: null },
      { data: { a: "" } },
    ])
      expect(
        (await tester.call("PATCH", `${path}/i`, body, patchHeader("merge")))
          .status,
      ).toBe(422);
    await merge(`${path}/i`, { metadata: { labels: { still: "allowed" } } });
  });
});

test("events of both groups are one", async () => {
  await tester.ok("POST", `/apis/events.k8s.io/v1/namespaces/${ns}/events`, {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: "e" },
    eventTime: "2026-01-01T00:00:00.000001Z",
    note: "n",
    action: "Do",
    reason: "Test",
    type: "Normal",
    reportingController: "test-controller",
    reportingInstance: "i",
    regarding: { kind: "Pod", namespace: ns, name: "p" },
  });
  const old = await tester.ok("GET", api("events/e"));
  expect(old).toMatchObject({
    message: "n",
    involvedObject: { name: "p" },
    reportingComponent: "test-controller",
  });
  await merge(`/apis/events.k8s.io/v1/namespaces/${ns}/events/e`, {
    series: { count: 2, lastObservedTime: "2026-01-01T00:00:01.000000Z" },
  });
  expect((await tester.ok("GET", api("events/e"))).series.count).toBe(2);
  const listed = await tester.ok(
    "GET",
    `/api/v1/events?fieldSelector=${encodeURIComponent(`involvedObject.namespace=${ns},source=test-controller,reason=Test`)}`,
  );
  expect(listed.items).toHaveLength(1);
  const newer = (selector: string) =>
    tester.call(
      "GET",
      `/apis/events.k8s.io/v1/namespaces/${ns}/events?fieldSelector=${encodeURIComponent(selector)}`,
    );
  const found = await newer(
    "reportingController=test-controller,regarding.name=p",
  );
  expect(found.body.items).toHaveLength(1);
  expect(
    (await newer("reportingController!=test-controller")).body.items,
  ).toHaveLength(0);
  // Each group has its own names.
  expect(await newer("involvedObject.name=p")).toMatchObject({
    status: 400,
    body: { message: "field label not supported: involvedObject.name" },
  });
});

describe("services and endpoints", () => {
  const service = (name: string, extra: Json = {}): Json => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { ports: [{ name: "http", port: 80, protocol: "TCP" }], ...extra },
  });

  test("change their type", async () => {
    await tester.ok("POST", api("services"), {
      ...service("s"),
      spec: { type: "ExternalName", externalName: "foo.example.com" },
    });
    const toNodePort = await merge(api("services/s"), {
      spec: {
        type: "NodePort",
        externalName: null,
        ports: [{ port: 80, name: "http" }],
      },
    });
    expect(toNodePort.spec.ports[0].nodePort).toBeGreaterThanOrEqual(30000);
    expect(toNodePort.spec.clusterIP).toMatch(/^\d/);
    const toExternal = await merge(api("services/s"), {
      spec: {
        type: "ExternalName",
        externalName: "foo.example.com",
        clusterIP: "",
      },
    });
    expect(toExternal.spec.clusterIP ?? "").toBe("");
    const toCluster = await merge(api("services/s"), {
      spec: {
        type: "ClusterIP",
        externalName: null,
        ports: [{ port: 80, name: "http" }],
      },
    });
    expect(toCluster.spec.clusterIP).toMatch(/^\d/);
  });

  test("a collection is deleted by label", async () => {
    for (const name of ["a", "b", "c"]) {
      const made = service(name);
      made.metadata.labels = name === "c" ? {} : { doomed: "yes" };
      await tester.ok("POST", api("services"), made);
    }
    await tester.ok("DELETE", api("services?labelSelector=doomed%3Dyes"));
    expect(
      (await tester.ok("GET", api("services"))).items.map(
        ({ metadata }: Json) => metadata.name,
      ),
    ).toEqual(["c"]);
  });

  test("endpoints made by hand are mirrored through their life", async () => {
    await tester.ok("POST", api("services"), service("m"));
    const endpoints = (ip: string): Json => ({
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name: "m" },
      subsets: [{ ports: [{ name: "http", port: 80 }], addresses: [{ ip }] }],
    });
    const slices = async (): Promise<Json[]> =>
      (
        await tester.ok(
          "GET",
          `/apis/discovery.k8s.io/v1/namespaces/${ns}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dm`,
        )
      ).items;
    await tester.ok("POST", api("endpoints"), endpoints("10.1.2.3"));
    await eventually(
      async () => (await slices())[0]?.endpoints[0].addresses[0] === "10.1.2.3",
    );
    expect(
      (await slices())[0].metadata.labels[
        "endpointslice.kubernetes.io/managed-by"
      ],
    ).toBe("endpointslicemirroring-controller.k8s.io");
    await tester.ok("PUT", api("endpoints/m"), endpoints("10.2.3.4"));
    await eventually(
      async () => (await slices())[0]?.endpoints[0].addresses[0] === "10.2.3.4",
    );
    await tester.ok("DELETE", api("endpoints/m"));
    await eventually(async () => (await slices()).length === 0);
  });

  test("the API server's own service has endpoints and slices", async () => {
    const own = "/api/v1/namespaces/default";
    expect(
      (await tester.ok("GET", `${own}/services/kubernetes`)).spec.ports[0],
    ).toMatchObject({ name: "https", port: 443 });
    const { subsets } = await tester.ok("GET", `${own}/endpoints/kubernetes`);
    expect(subsets[0].addresses.length).toBeGreaterThan(0);
    const { items } = await tester.ok(
      "GET",
      "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dkubernetes",
    );
    expect(items[0].endpoints[0].addresses).toEqual([
      subsets[0].addresses[0].ip,
    ]);
  });
});

test("pods: update of labels and deadline only, their collection, their status", async () => {
  for (const name of ["a", "b"])
    await tester.ok("POST", api("pods"), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, labels: { type: "Testing" } },
      spec: { ...spec, terminationGracePeriodSeconds: 1 },
    });
  const pod = await tester.ok("GET", api("pods/a"));
  pod.metadata.labels.time = "changed";
  pod.spec.activeDeadlineSeconds = 5;
  await tester.ok("PUT", api("pods/a"), pod);
  expect(
    (
      await tester.call(
        "PATCH",
        api("pods/a"),
        { spec: { restartPolicy: "Never" } },
        patchHeader("merge"),
      )
    ).status,
  ).toBe(422);
  const patched = await merge(api("pods/a/status"), {
    status: { message: "Patched", reason: "E2E" },
  });
  expect(patched.status.message).toBe("Patched");
  await tester.ok("DELETE", api("pods?labelSelector=type%3DTesting"));
  await eventually(
    async () => (await tester.ok("GET", api("pods"))).items.length === 0,
  );
});

test("pods of a class that is missing are refused", async () => {
  const answer = await tester.call("POST", api("pods"), {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { ...spec, runtimeClassName: "absent" },
  });
  expect(answer.status).toBe(403);
});

test("leases are updated, patched and deleted by collection", async () => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
  await tester.ok("POST", path, {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: "lease", labels: { deletecollection: "true" } },
    spec: {
      holderIdentity: "holder",
      leaseDurationSeconds: 30,
      acquireTime: "2026-01-01T00:00:00.000000Z",
      renewTime: "2026-01-01T00:00:01.123456Z",
      leaseTransitions: 0,
    },
  });
  const lease = await tester.ok("GET", `${path}/lease`);
  expect(lease.spec.renewTime).toBe("2026-01-01T00:00:01.123456Z");
  lease.spec = {
    ...lease.spec,
    holderIdentity: "holder2",
    leaseTransitions: 1,
  };
  await tester.ok("PUT", `${path}/lease`, lease);
  await tester.ok(
    "PATCH",
    `${path}/lease`,
    { spec: { leaseDurationSeconds: 60 } },
    patchHeader("strategic"),
  );
  await tester.ok("DELETE", `${path}?labelSelector=deletecollection%3Dtrue`);
  expect((await tester.ok("GET", path)).items).toEqual([]);
});
