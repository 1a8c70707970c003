// sig-api-machinery: discovery, version, watches, chunks, tables, field validation, namespaces and garbage collection as
// the conformance tests go through them.
import { eventually } from "../../support/eventually.ts";
import { patchHeader, startTester, type Json, type Tester } from "./support.ts";

let tester: Tester;
let ns: string;
let count = 0;
beforeAll(async () => {
  tester = await startTester();
});
afterAll(() => tester.stop());
beforeEach(async () => {
  ns = await tester.namespace(`machinery-${count++}`);
});

const api = (path: string): string => `/api/v1/namespaces/${ns}/${path}`;
const apps = (path: string): string => `/apis/apps/v1/namespaces/${ns}/${path}`;
const map = (name: string, label: string, data: Json = {}): Json => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { "watch-this-configmap": label } },
  data,
});
const template = {
  metadata: { labels: { name: "simpletest" } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: "c", image: "i" }],
  },
};
const podsLeft = async (): Promise<number> =>
  (await tester.ok("GET", api("pods"))).items.length;

describe("discovery and version", () => {
  test("every group has a preferred version that it lists, with resources", async () => {
    const { groups } = await tester.ok("GET", "/apis");
    for (const group of groups) {
      const one = await tester.ok("GET", `/apis/${group.name}`);
      expect(one.preferredVersion).toEqual(group.preferredVersion);
      expect(one.versions).toContainEqual(group.preferredVersion);
      const { groupVersion, resources } = await tester.ok(
        "GET",
        `/apis/${group.preferredVersion.groupVersion}`,
      );
      expect(groupVersion).toBe(group.preferredVersion.groupVersion);
      expect(resources.length).toBeGreaterThan(0);
    }
  });

  test("aggregated discovery under both accept headers", async () => {
    for (const version of ["v2", "v2beta1"])
      for (const path of ["/api", "/apis"]) {
        const { body, headers } = await tester.call("GET", path, undefined, {
          accept: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
        });
        expect(body).toMatchObject({
          kind: "APIGroupDiscoveryList",
          apiVersion: `apidiscovery.k8s.io/${version}`,
        });
        expect(headers.get("content-type")).toContain(`v=${version}`);
      }
  });

  test("the version", async () => {
    const version = await tester.ok("GET", "/version");
    expect(version.major).toBe("1");
    expect(version.minor).toMatch(/^32\+?$/);
    expect(version.gitVersion).toMatch(/^v1\.32\./);
  });
});

describe("watchers", () => {
  test("see adds, updates and deletes of what they select", async () => {
    const select = (labels: string): string =>
      api(
        `configmaps?watch=1&labelSelector=${encodeURIComponent(`watch-this-configmap in (${labels})`)}`,
      );
    const a = await tester.watch(select("A"));
    const ab = await tester.watch(select("A,B"));
    const both = async (
      accept: (event: { type: string; object: Json }) => boolean,
    ) => Promise.all([a.until(accept), ab.until(accept)]);
    await tester.ok("POST", api("configmaps"), map("m", "A"));
    await both(({ type }) => type === "ADDED");
    await tester.ok(
      "PUT",
      api("configmaps/m"),
      map("m", "A", { mutation: "1" }),
    );
    await both(
      ({ type, object }) => type === "MODIFIED" && object.data.mutation === "1",
    );
    // It stops to match, and matches again.
    await tester.ok("PUT", api("configmaps/m"), map("m", "changed"));
    await both(({ type }) => type === "DELETED");
    await tester.ok(
      "PUT",
      api("configmaps/m"),
      map("m", "A", { mutation: "3" }),
    );
    await both(
      ({ type, object }) => type === "ADDED" && object.data.mutation === "3",
    );
    await tester.ok("DELETE", api("configmaps/m"));
    await both(({ type }) => type === "DELETED");
  });

  test("start at a version, and again where another ended", async () => {
    await tester.ok("POST", api("configmaps"), map("m", "A"));
    const first = await tester.ok(
      "PUT",
      api("configmaps/m"),
      map("m", "A", { mutation: "1" }),
    );
    await tester.ok(
      "PUT",
      api("configmaps/m"),
      map("m", "A", { mutation: "2" }),
    );
    await tester.ok("DELETE", api("configmaps/m"));
    const watch = await tester.watch(
      api(
        `configmaps?watch=1&fieldSelector=metadata.name%3Dm&resourceVersion=${first.metadata.resourceVersion}`,
      ),
    );
    const event = await watch.until(() => true);
    expect([event.type, event.object.data.mutation]).toEqual(["MODIFIED", "2"]);
    expect((await watch.until(() => true)).type).toBe("DELETED");
  });

  test("concurrent ones see the same order", async () => {
    const watches = await Promise.all(
      Array.from({ length: 5 }, () =>
        tester.watch(
          api("configmaps?watch=1&labelSelector=watch-this-configmap"),
        ),
      ),
    );
    const names = Array.from({ length: 20 }, (_, index) => `c-${index}`);
    await Promise.all(
      names.map((name) => tester.ok("POST", api("configmaps"), map(name, "A"))),
    );
    const orders = await Promise.all(
      watches.map(async (watch) => {
        const seen: string[] = [];
        while (seen.length < names.length)
          seen.push(
            (await watch.until(() => true)).object.metadata.resourceVersion,
          );
        return seen.join();
      }),
    );
    expect(new Set(orders).size).toBe(1);
  });
});

describe("chunks", () => {
  test("walk through all, say how many remain, and show one version", async () => {
    for (let index = 0; index < 25; index++)
      await tester.ok("POST", api("podtemplates"), {
        apiVersion: "v1",
        kind: "PodTemplate",
        metadata: { name: `template-${String(index).padStart(4, "0")}` },
        template,
      });
    const names: string[] = [];
    let token = "";
    let version: string | undefined;
    do {
      const list = await tester.ok(
        "GET",
        api(`podtemplates?limit=10&continue=${encodeURIComponent(token)}`),
      );
      version ??= list.metadata.resourceVersion;
      expect(list.metadata.resourceVersion).toBe(version);
      names.push(...list.items.map(({ metadata }: Json) => metadata.name));
      token = list.metadata.continue ?? "";
      expect(list.metadata.remainingItemCount).toBe(
        token ? 25 - names.length : undefined,
      );
    } while (token);
    expect(names).toHaveLength(25);
    expect([...names].sort()).toEqual(names);
  });
});

describe("tables", () => {
  const accept = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };

  test("of nodes", async () => {
    const table = await tester.ok("GET", "/api/v1/nodes", undefined, accept);
    expect(table).toMatchObject({
      kind: "Table",
      apiVersion: "meta.k8s.io/v1",
    });
    expect(table.columnDefinitions[0].name).toBe("Name");
  });

  test("406 where there is no metadata to show", async () => {
    const answer = await tester.call(
      "POST",
      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SelfSubjectAccessReview",
        spec: { resourceAttributes: { verb: "get", resource: "pods" } },
      },
      { ...accept, "content-type": "application/json" },
    );
    expect(answer.status).toBe(406);
  });
});

describe("field validation", () => {
  const deployment = (extra: string): string =>
    `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"app":"nginx"}${extra}},"spec":{"unknown1":"val1","unknownDupe":"valDupe","unknownDupe":"valDupe2","paused":true,"paused":false,"selector":{"matchLabels":{"app":"nginx"}},"template":{"metadata":{"labels":{"app":"nginx"}},"spec":{"containers":[{"name":"nginx","image":"nginx:latest","unknownNested":"val1","imagePullPolicy":"Always","imagePullPolicy":"Never"}]}}}}`;

  test("strict finds unknown and duplicate fields", async () => {
    const answer = await tester.call(
      "POST",
      apps("deployments?fieldValidation=Strict"),
      deployment(""),
    );
    expect(answer.status).toBe(400);
    for (const each of [
      'unknown field "spec.unknown1"',
      'duplicate field "spec.paused"',
      'unknown field "spec.template.spec.containers[0].unknownNested"',
      'duplicate field "spec.template.spec.containers[0].imagePullPolicy"',
    ])
      expect(answer.body.message).toContain(each);
    expect(answer.body.message).toMatch(/strict decoding error: /);
  });

  test("warn says the same in headers", async () => {
    const answer = await tester.call(
      "POST",
      apps("deployments?fieldValidation=Warn"),
      deployment(""),
    );
    expect(answer.status).toBe(201);
    expect(answer.headers.get("warning")).toContain(
      'unknown field \\"spec.unknown1\\"',
    );
  });

  test("unknown metadata", async () => {
    const answer = await tester.call(
      "POST",
      apps("deployments?fieldValidation=Strict"),
      deployment(',"unknownMeta":"x"'),
    );
    expect(answer.body.message).toContain(
      'unknown field "metadata.unknownMeta"',
    );
  });

  test("of patches", async () => {
    await tester.ok(
      "POST",
      apps("deployments?fieldValidation=Ignore"),
      deployment(""),
    );
    for (const type of ["merge", "strategic"]) {
      const answer = await tester.call(
        "PATCH",
        apps("deployments/d?fieldValidation=Strict"),
        '{"spec":{"unknown1":"v","replicas":1,"replicas":2}}',
        patchHeader(type),
      );
      expect([type, answer.status]).toEqual([type, 422]);
      expect(answer.body.message).toContain('unknown field "spec.unknown1"');
      expect(answer.body.message).toContain('duplicate field "spec.replicas"');
    }
  });
});

describe("namespaces", () => {
  test("take pods and services with them", async () => {
    await tester.ok("POST", api("pods"), {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "p" },
      spec: template.spec,
    });
    await tester.ok("POST", api("services"), {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "s" },
      spec: { ports: [{ port: 80 }] },
    });
    await tester.ok("DELETE", `/api/v1/namespaces/${ns}`);
    await eventually(
      async () =>
        (await tester.call("GET", `/api/v1/namespaces/${ns}`)).status === 404,
    );
    await tester.namespace(ns);
    expect(await podsLeft()).toBe(0);
    expect((await tester.ok("GET", api("services"))).items).toEqual([]);
  });

  test("keep a finalizer of their own until it is taken away", async () => {
    const path = `/api/v1/namespaces/${ns}`;
    const object = await tester.ok("GET", path);
    object.spec.finalizers.push("e2e.example.com/fakeFinalizer");
    const updated = await tester.ok("PUT", `${path}/finalize`, object);
    expect(updated.spec.finalizers).toContain("e2e.example.com/fakeFinalizer");
    await tester.ok("DELETE", path);
    await eventually(async () => {
      const { spec, status } = await tester.ok("GET", path);
      return (
        status.phase === "Terminating" &&
        !spec.finalizers.includes("kubernetes")
      );
    });
    const left = await tester.ok("GET", path);
    left.spec.finalizers = [];
    await tester.ok("PUT", `${path}/finalize`, left);
    await eventually(
      async () => (await tester.call("GET", path)).status === 404,
    );
  });
});

describe("garbage collection", () => {
  const rc = (name: string, replicas: number): Json => ({
    apiVersion: "v1",
    kind: "ReplicationController",
    metadata: { name },
    spec: { replicas, selector: { name: "simpletest" }, template },
  });
  const deployment = (): Json => ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d" },
    spec: {
      replicas: 2,
      selector: { matchLabels: { name: "simpletest" } },
      template,
    },
  });
  const options = (propagationPolicy: string): Json => ({
    apiVersion: "v1",
    kind: "DeleteOptions",
    propagationPolicy,
  });
  const owner = (object: Json, extra: Json = {}): Json => ({
    apiVersion: object.apiVersion,
    kind: object.kind,
    name: object.metadata.name,
    uid: object.metadata.uid,
    ...extra,
  });

  test("an owner of another namespace is none, and an event says so", async () => {
    const elsewhere = await tester.namespace(`machinery-owner-${count}`);
    const there = await tester.ok(
      "POST",
      `/api/v1/namespaces/${elsewhere}/configmaps`,
      map("owner", "gc"),
    );
    const owned = map("owned", "gc");
    owned.metadata.ownerReferences = [owner(there)];
    await tester.ok("POST", api("configmaps"), owned);
    await eventually(
      async () => {
        const { items } = await tester.ok("GET", api("events"));
        const event = items.find(
          ({ reason }: Json) => reason === "OwnerRefInvalidNamespace",
        );
        expect(event).toMatchObject({
          type: "Warning",
          involvedObject: { kind: "ConfigMap", name: "owned" },
          message: `ownerRef [v1/ConfigMap, namespace: ${ns}, name: owner, uid: ${there.metadata.uid}] does not exist in namespace "${ns}"`,
        });
        const left = await tester.call("GET", api("configmaps/owned"));
        return left.status === 404;
      },
      { what: "the object goes and says why" },
    );
  });

  test("pods of a replication controller stay when nothing is said", async () => {
    const held = rc("held", 0);
    held.metadata.finalizers = ["example.com/held"];
    await tester.ok("POST", api("replicationcontrollers"), held);
    const path = api("replicationcontrollers/held");
    expect((await tester.ok("DELETE", path)).metadata.finalizers).toEqual([
      "example.com/held",
      "orphan",
    ]);
    await tester.call(
      "PATCH",
      path,
      { metadata: { finalizers: null } },
      { "content-type": "application/merge-patch+json" },
    );
  });

  test("pods of a replication controller: deleted, kept, foreground", async () => {
    await tester.ok("POST", api("replicationcontrollers"), rc("a", 3));
    await eventually(async () => (await podsLeft()) === 3);
    await tester.ok(
      "DELETE",
      api("replicationcontrollers/a"),
      options("Background"),
    );
    await eventually(async () => (await podsLeft()) === 0);

    await tester.ok("POST", api("replicationcontrollers"), rc("b", 3));
    await eventually(async () => (await podsLeft()) === 3);
    await tester.ok(
      "DELETE",
      api("replicationcontrollers/b"),
      options("Orphan"),
    );
    await eventually(
      async () =>
        (await tester.call("GET", api("replicationcontrollers/b"))).status ===
        404,
    );
    const { items } = await tester.ok("GET", api("pods"));
    expect(items).toHaveLength(3);
    expect(items.every(({ metadata }: Json) => !metadata.ownerReferences)).toBe(
      true,
    );
    await tester.ok("DELETE", api("pods"));

    await tester.ok("POST", api("replicationcontrollers"), rc("c", 3));
    await eventually(async () => (await podsLeft()) === 3);
    await tester.ok(
      "DELETE",
      api("replicationcontrollers/c"),
      options("Foreground"),
    );
    await eventually(
      async () =>
        (await tester.call("GET", api("replicationcontrollers/c"))).status ===
        404,
    );
    expect(await podsLeft()).toBe(0);
  });

  test("replica sets of a deployment: deleted or kept", async () => {
    const sets = async (): Promise<Json[]> =>
      (await tester.ok("GET", apps("replicasets"))).items;
    await tester.ok("POST", apps("deployments"), deployment());
    await eventually(async () => (await sets()).length === 1);
    await tester.ok("DELETE", apps("deployments/d"), options("Background"));
    await eventually(async () => (await sets()).length === 0);
    await tester.ok("POST", apps("deployments"), deployment());
    await eventually(async () => (await sets()).length === 1);
    await tester.ok("DELETE", apps("deployments/d"), options("Orphan"));
    await eventually(
      async () =>
        (await tester.call("GET", apps("deployments/d"))).status === 404,
    );
    expect(
      (await sets()).map(({ metadata }) => metadata.ownerReferences),
    ).toEqual([undefined]);
  });

  test("a dependent with another valid owner stays", async () => {
    const one = await tester.ok(
      "POST",
      api("replicationcontrollers"),
      rc("goes", 2),
    );
    await eventually(async () => (await podsLeft()) === 2);
    const other = await tester.ok("POST", api("configmaps"), map("stays", "A"));
    const [first] = (await tester.ok("GET", api("pods"))).items;
    await tester.ok(
      "PATCH",
      api(`pods/${first.metadata.name}`),
      { metadata: { ownerReferences: [owner(other)] } },
      patchHeader("strategic"),
    );
    expect(one.metadata.uid).toBeTruthy();
    await tester.ok(
      "DELETE",
      api("replicationcontrollers/goes"),
      options("Foreground"),
    );
    await eventually(
      async () =>
        (await tester.call("GET", api("replicationcontrollers/goes")))
          .status === 404,
    );
    const left = (await tester.ok("GET", api("pods"))).items;
    expect(
      left.map(({ metadata }: Json) =>
        metadata.ownerReferences.map(({ name }: Json) => name),
      ),
    ).toEqual([["stays"]]);
  });

  test("a circle of owners is no obstacle", async () => {
    const pods: Json[] = [];
    for (const name of ["pod1", "pod2", "pod3"])
      pods.push(
        await tester.ok("POST", api("pods"), {
          apiVersion: "v1",
          kind: "Pod",
          metadata: { name },
          spec: template.spec,
        }),
      );
    for (const [index, pod] of pods.entries())
      await tester.ok(
        "PATCH",
        api(`pods/${pod.metadata.name}`),
        {
          metadata: {
            ownerReferences: [
              owner(pods[(index + 2) % 3], {
                controller: true,
                blockOwnerDeletion: true,
              }),
            ],
          },
        },
        patchHeader("strategic"),
      );
    await tester.ok("DELETE", api("pods/pod1"), options("Foreground"));
    await eventually(async () => (await podsLeft()) === 0, {});
  });
});

test("three namespaces never go", async () => {
  for (const name of ["default", "kube-system", "kube-public"]) {
    await tester.call("POST", "/api/v1/namespaces", { metadata: { name } });
    expect(
      await tester.call("DELETE", `/api/v1/namespaces/${name}`),
    ).toMatchObject({
      status: 403,
      body: {
        message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
      },
    });
  }
});
