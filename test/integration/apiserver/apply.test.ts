// Server-side apply as the reference documents it, over HTTP: several managers, conflicts, giving up, subresources,
// takeover from client-side apply, resets, and what is refused.
import { encode } from "cbor-x";
import {
  configMap,
  configMaps,
  startTestServer,
  type Answer,
  type Json,
  type TestServer,
} from "./support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    featureGates: { CBORServingAndStorage: true },
  });
});
afterAll(() => server.stop());

let count = 0;
const fresh = () => `o${++count}`;
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const applyType = { "content-type": "application/apply-patch+yaml" };
const mergeType = { "content-type": "application/merge-patch+json" };

const apply = (path: string, body: unknown, query: string): Promise<Answer> =>
  server.call("PATCH", `${path}?${query}`, body, applyType);
const applyMap = (
  name: string,
  data: object,
  query: string,
  meta: object = {},
) =>
  apply(
    `${configMaps}/${name}`,
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, ...meta },
      // Empty data is owned too.
      ...(Object.keys(data).length > 0 ? { data } : {}),
    },
    query,
  );
/** manager → [operation, fields, subresource]. */
const owners = (body: Json): Record<string, unknown> =>
  Object.fromEntries(
    (body.metadata.managedFields ?? []).map((entry: Json) => [
      entry.manager,
      [
        entry.operation,
        entry.fieldsV1,
        ...(entry.subresource ? [entry.subresource] : []),
      ],
    ]),
  );
const data = (...keys: string[]) => ({
  "f:data": Object.fromEntries(keys.map((key) => [`f:${key}`, {}])),
});

describe("several managers", () => {
  test("create is a 201, the next a 200; equal values are shared", async () => {
    const name = fresh();
    const made = await applyMap(name, { x: "1", y: "1" }, "fieldManager=m1");
    expect(made.status).toBe(201);
    const shared = await applyMap(name, { x: "1" }, "fieldManager=m2");
    expect(shared.status).toBe(200);
    expect(owners(shared.body)).toEqual({
      m1: ["Apply", data("x", "y")],
      m2: ["Apply", data("x")],
    });
    // Given up by one, kept by the other; given up by all, gone.
    const given = await applyMap(name, { y: "1" }, "fieldManager=m1");
    expect(given.body.data).toEqual({ x: "1", y: "1" });
    const gone = await applyMap(name, {}, "fieldManager=m2");
    expect(gone.body.data).toEqual({ y: "1" });
    expect(Object.keys(owners(gone.body))).toEqual(["m1"]);
  });

  test("conflicts: one, several, an updater's; force takes over", async () => {
    const name = fresh();
    await applyMap(name, { x: "1", y: "1" }, "fieldManager=m1");
    const two = await applyMap(name, { x: "2", y: "2" }, "fieldManager=m2");
    expect(two.status).toBe(409);
    expect(two.body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message:
        'Apply failed with 2 conflicts: conflicts with "m1":\n- .data.x\n- .data.y',
      reason: "Conflict",
      details: {
        causes: [
          {
            reason: "FieldManagerConflict",
            message: 'conflict with "m1"',
            field: ".data.x",
          },
          {
            reason: "FieldManagerConflict",
            message: 'conflict with "m1"',
            field: ".data.y",
          },
        ],
      },
      code: 409,
    });
    await server.call(
      "PATCH",
      `${configMaps}/${name}?fieldManager=editor`,
      { data: { z: "1" } },
      mergeType,
    );
    const one = await applyMap(name, { z: "2" }, "fieldManager=m2");
    expect(one.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "editor" using v1: .data.z',
    );
    const forced = await applyMap(
      name,
      { x: "2", z: "2" },
      "fieldManager=m2&force=true",
    );
    expect(forced.status).toBe(200);
    expect(owners(forced.body)).toEqual({
      m1: ["Apply", data("y")],
      m2: ["Apply", data("x", "z")],
    });
  });

  test("what changes nothing changes neither version nor time", async () => {
    const name = fresh();
    const first = await applyMap(name, { x: "1" }, "fieldManager=m1");
    const again = await applyMap(name, { x: "1" }, "fieldManager=m1");
    expect(again.body).toEqual(first.body);
  });

  test("a dry run answers and stores nothing", async () => {
    const name = fresh();
    expect(
      (await applyMap(name, { x: "1" }, "fieldManager=m&dryRun=All")).status,
    ).toBe(201);
    expect((await server.call("GET", `${configMaps}/${name}`)).status).toBe(
      404,
    );
  });
});

const template = (container: object) => ({
  selector: { matchLabels: { a: "b" } },
  template: {
    metadata: { labels: { a: "b" } },
    spec: { containers: [{ name: "c", ...container }] },
  },
});
const applyDeployment = (name: string, spec: object, query: string) =>
  apply(
    `${deployments}/${name}`,
    { apiVersion: "apps/v1", kind: "Deployment", metadata: { name }, spec },
    query,
  );

describe("lists and subresources", () => {
  test("items by keys: paths in conflicts, items of two managers side by side", async () => {
    const name = fresh();
    await applyDeployment(
      name,
      template({ image: "i", ports: [{ containerPort: 80 }] }),
      "fieldManager=m1",
    );
    const conflict = await applyDeployment(
      name,
      template({ image: "j" }),
      "fieldManager=m2",
    );
    expect(conflict.body.details.causes[0].field).toBe(
      '.spec.template.spec.containers[name="c"].image',
    );
    const sidecar = await apply(
      `${deployments}/${name}`,
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name },
        spec: {
          template: { spec: { containers: [{ name: "side", image: "s" }] } },
        },
      },
      "fieldManager=injector",
    );
    expect(
      sidecar.body.spec.template.spec.containers.map((one: Json) => one.name),
    ).toEqual(["c", "side"]);
    const kept = await applyDeployment(
      name,
      template({ image: "i2" }),
      "fieldManager=m1",
    );
    expect(kept.body.spec.template.spec.containers).toMatchObject([
      { name: "c", image: "i2" },
      { name: "side", image: "s" },
    ]);
    expect(kept.body.spec.template.spec.containers[0].ports).toBeUndefined();
  });

  test("a Scale's apply owns the replicas", async () => {
    const name = fresh();
    const scale = (replicas: number) => ({
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name, namespace: "default" },
      spec: { replicas },
    });
    await applyDeployment(name, template({ image: "i" }), "fieldManager=m1");
    const scaled = await apply(
      `${deployments}/${name}/scale`,
      scale(5),
      "fieldManager=scaler",
    );
    expect(scaled.body).toMatchObject({
      kind: "Scale",
      spec: { replicas: 1 + 4 },
    });
    const { body } = await server.call("GET", `${deployments}/${name}`);
    expect(owners(body)).toMatchObject({
      scaler: ["Apply", { "f:spec": { "f:replicas": {} } }, "scale"],
    });
    const conflict = await applyDeployment(
      name,
      { ...template({ image: "i" }), replicas: 3 },
      "fieldManager=m1",
    );
    expect(conflict.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "scaler" with subresource "scale": .spec.replicas',
    );
    const back = await apply(
      `${deployments}/${name}/scale`,
      scale(2),
      "fieldManager=other",
    );
    expect(back.status).toBe(409);
    await server.call(
      "PUT",
      `${deployments}/${name}/scale?fieldManager=putter`,
      scale(6),
    );
    const after = await server.call("GET", `${deployments}/${name}`);
    expect(owners(after.body)).toMatchObject({
      putter: ["Update", { "f:spec": { "f:replicas": {} } }, "scale"],
    });
    expect(owners(after.body)["scaler"]).toBeUndefined();
    expect(
      (await apply(`${deployments}/${name}/scale`, scale(2), "")).status,
    ).toBe(422);
  });

  test("a status' apply owns status only", async () => {
    const name = fresh();
    const made = await applyDeployment(
      name,
      template({ image: "i" }),
      "fieldManager=m1",
    );
    expect(made.body.message).toBeUndefined();
    const { body } = await apply(
      `${deployments}/${name}/status`,
      {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name },
        spec: { replicas: 9 },
        status: { conditions: [{ type: "Available", status: "True" }] },
      },
      "fieldManager=reporter",
    );
    expect(body.spec.replicas).toBe(1);
    expect(owners(body)["reporter"]).toEqual([
      "Apply",
      {
        "f:status": {
          "f:conditions": {
            'k:{"type":"Available"}': { ".": {}, "f:status": {}, "f:type": {} },
          },
        },
      },
      "status",
    ]);
  });

  test("finalizers are a set, owner references a map by uid", async () => {
    const name = fresh();
    await applyMap(name, {}, "fieldManager=m1", {
      finalizers: ["a.example/x"],
    });
    const both = await applyMap(name, {}, "fieldManager=m2", {
      finalizers: ["b.example/y"],
    });
    expect(both.body.metadata.finalizers).toEqual([
      "a.example/x",
      "b.example/y",
    ]);
    const left = await applyMap(name, {}, "fieldManager=m1");
    expect(left.body.metadata.finalizers).toEqual(["b.example/y"]);
    await applyMap(name, {}, "fieldManager=m2");
  });
});

test("kubectl takes over from client-side apply", async () => {
  const name = fresh();
  const last = "kubectl.kubernetes.io/last-applied-configuration";
  const config = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace: "default" },
    data: { a: "1", b: "1" },
  };
  await server.call(
    "POST",
    `${configMaps}?fieldManager=kubectl-client-side-apply`,
    {
      ...config,
      metadata: {
        name,
        annotations: { [last]: `${JSON.stringify(config)}\n` },
      },
    },
  );
  const other = await applyMap(name, { a: "2" }, "fieldManager=someone");
  expect(other.status).toBe(409);
  const taken = await applyMap(name, { a: "2" }, "fieldManager=kubectl");
  expect(taken.status).toBe(200);
  expect(owners(taken.body)["kubectl"]).toEqual(["Apply", data("a")]);
  expect(JSON.parse(taken.body.metadata.annotations[last]).data).toEqual({
    a: "2",
  });
});

test("[{}] resets ownership, whatever the write", async () => {
  const name = fresh();
  await applyMap(name, { x: "1" }, "fieldManager=m1");
  const reset = await server.call(
    "PATCH",
    `${configMaps}/${name}`,
    { metadata: { managedFields: [{}] } },
    mergeType,
  );
  expect(reset.body.metadata.managedFields).toBeUndefined();
  const next = await applyMap(name, { y: "1" }, "fieldManager=m1");
  expect(owners(next.body)).toEqual({
    "before-first-apply": ["Update", { "f:data": { ".": {}, "f:x": {} } }],
    m1: ["Apply", data("y")],
  });
});

test("every kind of write leaves its entry", async () => {
  const name = fresh();
  await server.call(
    "POST",
    `${configMaps}?fieldManager=creator`,
    configMap(name, { data: { a: "1" } }),
  );
  const { body } = await server.call("GET", `${configMaps}/${name}`);
  await server.call("PUT", `${configMaps}/${name}?fieldManager=putter`, {
    ...body,
    data: { a: "1", b: "1" },
  });
  const patch = (key: string, type: string, document: unknown) =>
    server.call(
      "PATCH",
      `${configMaps}/${name}?fieldManager=${key}`,
      document,
      { "content-type": type },
    );
  await patch("json", "application/json-patch+json", [
    { op: "add", path: "/data/c", value: "1" },
  ]);
  await patch("merge", "application/merge-patch+json", { data: { d: "1" } });
  await patch("strategic", "application/strategic-merge-patch+json", {
    data: { e: "1" },
  });
  const last = await applyMap(name, { f: "1" }, "fieldManager=applier");
  expect(owners(last.body)).toEqual({
    creator: ["Update", { "f:data": { ".": {}, "f:a": {} } }],
    putter: ["Update", data("b")],
    json: ["Update", data("c")],
    merge: ["Update", data("d")],
    strategic: ["Update", data("e")],
    applier: ["Apply", data("f")],
  });
});

test("CBOR, when its gate is on", async () => {
  const name = fresh();
  const answer = await server.call(
    "PATCH",
    `${configMaps}/${name}?fieldManager=m`,
    encode({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name },
      data: { a: "1" },
    }),
    { "content-type": "application/apply-patch+cbor" },
  );
  expect(answer.status).toBe(201);
  expect(owners(answer.body)).toEqual({ m: ["Apply", data("a")] });
});

describe("refused", () => {
  const map = (fields: object) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    ...fields,
  });
  test.each<[string, string, unknown, string, number, string]>([
    [
      "no manager",
      "a",
      map({ metadata: { name: "a" } }),
      "",
      422,
      "fieldManager: Required value: is required for apply patch",
    ],
    [
      "another kind",
      "a",
      { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } },
      "fieldManager=m",
      400,
      "invalid object type: /v1, Kind=Secret",
    ],
    [
      "another version",
      "a",
      { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "a" } },
      "fieldManager=m",
      400,
      "invalid object type: /v2, Kind=ConfigMap",
    ],
    [
      "no kind",
      "a",
      { metadata: { name: "a" } },
      "fieldManager=m",
      400,
      "invalid object type",
    ],
    [
      "another name",
      "a",
      map({ metadata: { name: "b" } }),
      "fieldManager=m",
      400,
      "does not match the name on the URL (a)",
    ],
    [
      "another namespace",
      "a",
      map({ metadata: { name: "a", namespace: "other" } }),
      "fieldManager=m",
      400,
      "the namespace of the provided object does not match the namespace sent on the request",
    ],
    [
      "generateName without a name",
      "g",
      map({ metadata: { generateName: "g-" } }),
      "fieldManager=m",
      400,
      "name must be provided",
    ],
    [
      "a uid of what is not there",
      "none",
      map({ metadata: { name: "none", uid: "u" } }),
      "fieldManager=m",
      409,
      "uid mismatch",
    ],
    [
      "a stale version",
      "a",
      map({ metadata: { name: "a", resourceVersion: "1" }, data: { q: "1" } }),
      "fieldManager=m",
      409,
      "the object has been modified",
    ],
    [
      "managedFields",
      "a",
      map({ metadata: { name: "a", managedFields: [{ manager: "x" }] } }),
      "fieldManager=m",
      400,
      "metadata.managedFields must be nil",
    ],
    ["no YAML", "a", "a: [", "fieldManager=m", 400, "error"],
    [
      "an unknown field",
      "a",
      map({ metadata: { name: "a" }, nothing: 1 }),
      "fieldManager=m",
      400,
      "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .nothing: field not declared in schema",
    ],
    [
      "a set's item twice",
      "f",
      map({ metadata: { name: "f", finalizers: ["a.b/c", "a.b/c"] } }),
      "fieldManager=m",
      400,
      'failed to create typed patch object (/f; /v1, Kind=ConfigMap): .metadata.finalizers: duplicate entries for key [="a.b/c"]',
    ],
    [
      "a long manager",
      "a",
      map({ metadata: { name: "a" } }),
      `fieldManager=${"m".repeat(129)}`,
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
    ],
    [
      "an unprintable manager",
      "a",
      map({ metadata: { name: "a" } }),
      "fieldManager=m%07",
      422,
      "invalid character U+0007 (at position 1)",
    ],
    [
      "another dry run",
      "a",
      map({ metadata: { name: "a" } }),
      "fieldManager=m&dryRun=Some",
      422,
      'dryRun: Unsupported value: []string{"Some"}: supported values: "All"',
    ],
  ])("%s", async (...[, name, body, query, status, message]) => {
    if (name === "a") await server.call("POST", configMaps, configMap("a"));
    const answer = await apply(`${configMaps}/${name}`, body, query);
    expect([answer.status, answer.body.message]).toEqual([
      status,
      expect.stringContaining(message),
    ]);
  });

  test("items with the same keys, or without them", async () => {
    const containers = (...list: object[]) =>
      apply(
        `${deployments}/d`,
        {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "d" },
          spec: { template: { spec: { containers: list } } },
        },
        "fieldManager=m",
      );
    const head =
      "failed to create typed patch object (/d; apps/v1, Kind=Deployment): .spec.template.spec.containers";
    expect((await containers({ name: "c" }, { name: "c" })).body.message).toBe(
      `${head}: duplicate entries for key [name="c"]`,
    );
  });
});

test("metadata that is null is none: the name is missing, or the live one's", async () => {
  const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
  for (const [path, apiVersion, kind] of [
    [revisions, "apps/v1", "ControllerRevision"],
    [configMaps, "v1", "ConfigMap"],
    [deployments, "apps/v1", "Deployment"],
  ] as const) {
    const body = { apiVersion, kind, metadata: null };
    const { status, body: answer } = await apply(
      `${path}/absent`,
      body,
      "fieldManager=m",
    );
    expect([kind, status, answer.message]).toEqual([
      kind,
      400,
      expect.stringMatching(/name must be provided/),
    ]);
  }
  const name = fresh();
  await applyMap(name, { a: "1" }, "fieldManager=m");
  const again = await apply(
    `${configMaps}/${name}`,
    { apiVersion: "v1", kind: "ConfigMap", metadata: null, data: { a: "2" } },
    "fieldManager=m",
  );
  expect([again.status, again.body.data]).toEqual([200, { a: "2" }]);
});
