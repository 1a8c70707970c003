// Create, update, patch, dry run and deletion over real sockets.
import {
  configMap,
  configMaps,
  startTestServer,
  type Json,
  type TestServer,
} from "./support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const merge = { "content-type": "application/merge-patch+json" };
let counter = 0;
const fresh = () => `o${++counter}`;
async function make(fields: object = {}): Promise<Json> {
  const { body } = await server.call(
    "POST",
    configMaps,
    configMap(fresh(), fields),
  );
  return body;
}
const at = (object: Json) => `${configMaps}/${object["metadata"].name}`;

describe("create", () => {
  test("sets the system fields and answers 201", async () => {
    const answer = await server.call("POST", configMaps, configMap("first"));
    expect(answer.status).toBe(201);
    expect(answer.body["metadata"]).toMatchObject({
      name: "first",
      namespace: "default",
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      resourceVersion: expect.stringMatching(/^\d+$/),
      creationTimestamp: expect.stringMatching(/Z$/),
    });
    const again = await server.call("POST", configMaps, configMap("first"));
    expect(again.status).toBe(409);
    expect(again.body["reason"]).toBe("AlreadyExists");
    expect(again.body["message"]).toBe('configmaps "first" already exists');
  });

  test("generateName", async () => {
    const answer = await server.call("POST", configMaps, {
      metadata: { generateName: "gen-" },
    });
    expect(answer.body["metadata"].name).toMatch(/^gen-[a-z0-9]{5}$/);
  });

  test.each<[string, string, object, number, RegExp]>([
    [
      "a bad name",
      configMaps,
      { metadata: { name: "Not_Good" } },
      422,
      /^ConfigMap "Not_Good" is invalid: metadata.name: Invalid value: "Not_Good"/,
    ],
    [
      "no name",
      configMaps,
      { metadata: {} },
      422,
      /name or generateName is required/,
    ],
    [
      "another namespace",
      configMaps,
      { metadata: { name: "x", namespace: "other" } },
      400,
      /^the namespace of the provided object does not match the namespace sent on the request$/,
    ],
    [
      "another kind",
      configMaps,
      { kind: "Secret", apiVersion: "v1", metadata: { name: "x" } },
      400,
      /cannot be handled as a ConfigMap/,
    ],
    [
      "another version",
      configMaps,
      { kind: "ConfigMap", apiVersion: "v2", metadata: { name: "x" } },
      400,
      /cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2"/,
    ],
    [
      "a version set",
      configMaps,
      { metadata: { name: "x", resourceVersion: "1" } },
      400,
      /^resourceVersion should not be set on objects to be created$/,
    ],
    [
      "a wrong type",
      configMaps,
      { metadata: { name: 1 } },
      400,
      /cannot unmarshal number/,
    ],
  ])("refuses %s", async (_name, path, body, status, message) => {
    const answer = await server.call("POST", path, body);
    expect(answer.status).toBe(status);
    expect(answer.body["message"]).toMatch(message);
  });

  test("fieldValidation: Strict refuses, Warn warns, Ignore is silent", async () => {
    const body = () => ({ ...configMap(fresh()), nothing: 1 });
    const strict = await server.call(
      "POST",
      `${configMaps}?fieldValidation=Strict`,
      body(),
    );
    expect(strict.status).toBe(400);
    expect(strict.body["message"]).toContain(
      'strict decoding error: unknown field "nothing"',
    );
    const warn = await server.call("POST", configMaps, body());
    expect(warn.status).toBe(201);
    expect(warn.headers.get("warning")).toBe(
      '299 - "unknown field \\"nothing\\""',
    );
    const ignore = await server.call(
      "POST",
      `${configMaps}?fieldValidation=Ignore`,
      body(),
    );
    expect(ignore.headers.get("warning")).toBeNull();
  });

  test("dry run stores nothing", async () => {
    const name = fresh();
    const answer = await server.call(
      "POST",
      `${configMaps}?dryRun=All`,
      configMap(name),
    );
    expect(answer.status).toBe(201);
    expect(answer.body["metadata"].uid).toBeTruthy();
    expect(answer.body["metadata"].resourceVersion).toBeUndefined();
    expect((await server.call("GET", `${configMaps}/${name}`)).status).toBe(
      404,
    );
    expect(
      (await server.call("POST", `${configMaps}?dryRun=Some`, configMap(name)))
        .status,
    ).toBe(422);
  });

  test("bodies beyond 3 MiB are a 413, broken ones a 400", async () => {
    const big = await server.call("POST", configMaps, "x".repeat(3_200_000));
    expect(big.status).toBe(413);
    expect(big.body["reason"]).toBe("RequestEntityTooLarge");
    expect((await server.call("POST", configMaps, "{")).status).toBe(400);
    expect((await server.call("POST", configMaps, "[]")).status).toBe(400);
    const odd = await server.call("POST", configMaps, "a", {
      "content-type": "text/html",
    });
    expect(odd.status).toBe(415);
  });
});

describe("update", () => {
  test("a stale version is a conflict; without one the newest is replaced", async () => {
    const object = await make({ data: { a: "1" } });
    const first = await server.call("PUT", at(object), {
      ...object,
      data: { a: "2" },
    });
    expect(first.status).toBe(200);
    const stale = await server.call("PUT", at(object), {
      ...object,
      data: { a: "3" },
    });
    expect(stale.status).toBe(409);
    expect(stale.body["message"]).toBe(
      `Operation cannot be fulfilled on configmaps "${object["metadata"].name}": the object has been modified; please apply your changes to the latest version and try again`,
    );
    const blind = await server.call("PUT", at(object), {
      metadata: { name: object["metadata"].name },
      data: { a: "4" },
    });
    expect(blind.status).toBe(200);
    expect(blind.body["metadata"].uid).toBe(object["metadata"].uid);
    expect(blind.body["metadata"].creationTimestamp).toBe(
      object["metadata"].creationTimestamp,
    );
  });

  test("what changes nothing keeps its version", async () => {
    const object = await make({ data: { a: "1" } });
    const again = await server.call("PUT", at(object), object);
    expect(again.body["metadata"].resourceVersion).toBe(
      object["metadata"].resourceVersion,
    );
    const patched = await server.call(
      "PATCH",
      at(object),
      { data: { a: "1" } },
      merge,
    );
    expect(patched.body["metadata"].resourceVersion).toBe(
      object["metadata"].resourceVersion,
    );
  });

  test("refuses another name, another uid, what does not exist", async () => {
    const object = await make();
    const renamed = await server.call("PUT", at(object), configMap("other"));
    expect(renamed.status).toBe(400);
    expect(renamed.body["message"]).toBe(
      `the name of the object (other) does not match the name on the URL (${object["metadata"].name})`,
    );
    const other = await server.call("PUT", at(object), {
      metadata: { name: object["metadata"].name, uid: "another" },
    });
    expect(other.status).toBe(409);
    expect(other.body["message"]).toContain("Precondition failed: UID");
    expect(
      (await server.call("PUT", `${configMaps}/none`, configMap("none")))
        .status,
    ).toBe(404);
  });

  test("fifty blind patches at once all arrive", async () => {
    const object = await make();
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        server.call(
          "PATCH",
          at(object),
          { data: { [`k${index}`]: "x" } },
          merge,
        ),
      ),
    );
    const { body } = await server.call("GET", at(object));
    expect(Object.keys(body["data"])).toHaveLength(50);
  });

  test("status and the rest change apart", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    const pod = await server.call("POST", pods, {
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    expect(pod.status).toBe(201);
    const status = await server.call("PUT", `${pods}/p/status`, {
      ...pod.body,
      spec: { containers: [{ name: "c", image: "other" }] },
      status: { phase: "Running" },
    });
    expect(status.body["status"].phase).toBe("Running");
    expect(status.body["spec"].containers[0].image).toBe("i");
    const main = await server.call(
      "PATCH",
      `${pods}/p`,
      { status: { phase: "Failed" }, metadata: { labels: { a: "b" } } },
      merge,
    );
    expect(main.body["status"].phase).toBe("Running");
    expect(main.body["metadata"].labels).toEqual({ a: "b" });
  });
});

describe("patch", () => {
  test("json, with a test that fails", async () => {
    const object = await make({ data: { a: "1" } });
    const json = { "content-type": "application/json-patch+json" };
    const done = await server.call(
      "PATCH",
      at(object),
      [
        { op: "test", path: "/data/a", value: "1" },
        { op: "add", path: "/data/b", value: "2" },
      ],
      json,
    );
    expect(done.body["data"]).toEqual({ a: "1", b: "2" });
    const failed = await server.call(
      "PATCH",
      at(object),
      [{ op: "test", path: "/data/a", value: "9" }],
      json,
    );
    expect(failed.status).toBe(422);
  });

  test("an unknown type is a 415", async () => {
    const object = await make();
    expect((await server.call("PATCH", at(object), {})).status).toBe(415);
  });

  test("force belongs to apply", async () => {
    const object = await make();
    expect(
      (await server.call("PATCH", `${at(object)}?force=true`, {}, merge))
        .status,
    ).toBe(422);
  });
});

describe("delete", () => {
  test("answers a Status with the uid", async () => {
    const object = await make();
    const answer = await server.call("DELETE", at(object));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: {
        name: object["metadata"].name,
        kind: "configmaps",
        uid: object["metadata"].uid,
      },
    });
  });

  test("finalizers hold, and let go", async () => {
    const object = await make();
    await server.call(
      "PATCH",
      at(object),
      { metadata: { finalizers: ["example.com/hold"] } },
      merge,
    );
    const marked = await server.call("DELETE", at(object));
    expect(marked.body["metadata"].deletionTimestamp).toBeTruthy();
    expect(marked.body["metadata"].deletionGracePeriodSeconds).toBe(0);
    const again = await server.call("DELETE", at(object));
    expect(again.body["metadata"].resourceVersion).toBe(
      marked.body["metadata"].resourceVersion,
    );
    const more = await server.call(
      "PATCH",
      at(object),
      { metadata: { finalizers: ["example.com/hold", "example.com/more"] } },
      merge,
    );
    expect(more.status).toBe(422);
    const freed = await server.call(
      "PATCH",
      at(object),
      { metadata: { finalizers: null } },
      merge,
    );
    expect(freed.status).toBe(200);
    expect((await server.call("GET", at(object))).status).toBe(404);
  });

  test.each<[string, object, string[]]>([
    ["Foreground", { propagationPolicy: "Foreground" }, ["foregroundDeletion"]],
    ["Orphan", { propagationPolicy: "Orphan" }, ["orphan"]],
    ["orphanDependents", { orphanDependents: true }, ["orphan"]],
  ])("%s adds its finalizer", async (_name, options, finalizers) => {
    const object = await make();
    const answer = await server.call("DELETE", at(object), options);
    expect(answer.body["metadata"].finalizers).toEqual(finalizers);
  });

  test("options in the query count as well", async () => {
    const object = await make();
    const answer = await server.call(
      "DELETE",
      `${at(object)}?propagationPolicy=Foreground`,
    );
    expect(answer.body["metadata"].finalizers).toEqual(["foregroundDeletion"]);
  });

  test.each<[string, object, number, RegExp]>([
    [
      "both policies",
      { propagationPolicy: "Orphan", orphanDependents: true },
      422,
      /cannot be both set/,
    ],
    [
      "an unknown policy",
      { propagationPolicy: "Sideways" },
      422,
      /Unsupported value: "Sideways"/,
    ],
    [
      "another uid",
      { preconditions: { uid: "x" } },
      409,
      /the UID in the precondition \(x\) does not match the UID in record/,
    ],
    [
      "another version",
      { preconditions: { resourceVersion: "1" } },
      409,
      /the ResourceVersion in the precondition \(1\) does not match/,
    ],
  ])("refuses %s", async (_name, options, status, message) => {
    const object = await make();
    const answer = await server.call("DELETE", at(object), options);
    expect(answer.status).toBe(status);
    expect(answer.body["message"]).toMatch(message);
    expect((await server.call("GET", at(object))).status).toBe(200);
  });

  test("pods have a grace period until they are deleted with none", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    await server.call("POST", pods, {
      metadata: { name: "graceful" },
      spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
    });
    const marked = await server.call("DELETE", `${pods}/graceful`);
    expect(marked.body["metadata"].deletionGracePeriodSeconds).toBe(30);
    const shorter = await server.call("DELETE", `${pods}/graceful`, {
      gracePeriodSeconds: 5,
    });
    expect(shorter.body["metadata"].deletionGracePeriodSeconds).toBe(5);
    const gone = await server.call("DELETE", `${pods}/graceful`, {
      gracePeriodSeconds: 0,
    });
    expect(gone.status).toBe(200);
    expect((await server.call("GET", `${pods}/graceful`)).status).toBe(404);
  });

  test("a dry run deletes nothing", async () => {
    const object = await make();
    await server.call("DELETE", `${at(object)}?dryRun=All`);
    await server.call("DELETE", at(object), { dryRun: ["All"] });
    expect((await server.call("GET", at(object))).status).toBe(200);
  });

  test("collections, by selector", async () => {
    for (const group of ["one", "one", "two"])
      await make({ metadata: { name: fresh(), labels: { group } } });
    const answer = await server.call(
      "DELETE",
      `${configMaps}?labelSelector=group%3Done`,
    );
    expect(answer.body["kind"]).toBe("ConfigMapList");
    expect(answer.body["items"]).toHaveLength(2);
    const left = await server.call("GET", `${configMaps}?labelSelector=group`);
    expect(left.body["items"]).toHaveLength(1);
  });

  test("namespaces stay Terminating until finalized", async () => {
    await server.call("POST", "/api/v1/namespaces", {
      metadata: { name: "doomed" },
    });
    const marked = await server.call("DELETE", "/api/v1/namespaces/doomed");
    expect(marked.body["status"].phase).toBe("Terminating");
    const freed = await server.call(
      "PUT",
      "/api/v1/namespaces/doomed/finalize",
      { ...marked.body, spec: { finalizers: [] } },
    );
    expect(freed.status).toBe(200);
    expect((await server.call("GET", "/api/v1/namespaces/doomed")).status).toBe(
      404,
    );
  });
});

describe("two versions of one kind", () => {
  const spec = {
    maxReplicas: 3,
    scaleTargetRef: { kind: "Deployment", name: "d", apiVersion: "apps/v1" },
  };
  test("HorizontalPodAutoscaler v1 and v2", async () => {
    const path = (version: string) =>
      `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
    const made = await server.call("POST", path("v1"), {
      metadata: { name: "h" },
      spec: { ...spec, targetCPUUtilizationPercentage: 50 },
    });
    expect(made.status).toBe(201);
    expect(made.body["spec"].targetCPUUtilizationPercentage).toBe(50);
    const v2 = await server.call("GET", `${path("v2")}/h`);
    expect(v2.body["apiVersion"]).toBe("autoscaling/v2");
    expect(v2.body["spec"].metrics).toEqual([
      {
        type: "Resource",
        resource: {
          name: "cpu",
          target: { type: "Utilization", averageUtilization: 50 },
        },
      },
    ]);
    const list = await server.call("GET", path("v1"));
    expect(list.body["items"][0].spec.targetCPUUtilizationPercentage).toBe(50);
  });

  test("Event of core and of events.k8s.io", async () => {
    await server.call("POST", "/api/v1/namespaces/default/events", {
      metadata: { name: "e" },
      involvedObject: { kind: "Pod", name: "p", namespace: "default" },
      message: "hello",
      type: "Normal",
      reason: "Test",
    });
    const event = await server.call(
      "GET",
      "/apis/events.k8s.io/v1/namespaces/default/events/e",
    );
    expect(event.body).toMatchObject({
      apiVersion: "events.k8s.io/v1",
      note: "hello",
      regarding: { name: "p" },
    });
  });
});

test("a scale is patched again when another write comes between", async () => {
  const path = "/apis/apps/v1/namespaces/default/deployments";
  const labels = { app: "busy" };
  await server.call("POST", path, {
    metadata: { name: "busy" },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: "c", image: "i" }] },
      },
    },
  });
  const patches = Array.from({ length: 20 }, (_, index) => [
    server.call(
      "PATCH",
      `${path}/busy`,
      { metadata: { labels: { [`l${index}`]: "x" } } },
      merge,
    ),
    server.call(
      "PATCH",
      `${path}/busy/scale`,
      { spec: { replicas: index } },
      merge,
    ),
  ]).flat();
  const answers = await Promise.all(patches);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  // Whoever names a version gets what it asked for.
  const stale = await server.call(
    "PATCH",
    `${path}/busy/scale`,
    { metadata: { resourceVersion: "1" }, spec: { replicas: 1 } },
    merge,
  );
  expect(stale.status).toBe(409);
});
