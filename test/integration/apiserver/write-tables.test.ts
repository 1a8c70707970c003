// The tables of writes: fieldValidation in every mode, encoding and patch format; dry runs of every write; delete options
// in body and query and in every encoding; states of deletion; strategic merge directives; errors by status.
import { encodeProtobuf } from "../../../api/codec/protobuf.ts";
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
const fresh = () => `w${++count}`;
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const make = async (fields: object = {}): Promise<string> => {
  const name = fresh();
  const answer = await server.call("POST", configMaps, configMap(name, fields));
  expect(answer.status).toBe(201);
  return name;
};
const at = (name: string) => `${configMaps}/${name}`;
const exists = async (path: string) =>
  (await server.call("GET", path)).status === 200;
const patch = (path: string, type: string, body: unknown): Promise<Answer> =>
  server.call("PATCH", path, body, { "content-type": `application/${type}` });
const deployment = (name: string, more: object = {}) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: {
      metadata: { labels: { a: "b" } },
      spec: { containers: [{ name: "c", image: "i" }] },
    },
    ...more,
  },
});

describe("fieldValidation", () => {
  const typo = 'unknown field "spec.foo"';
  const twice = 'duplicate field "spec.paused"';
  const json = (name: string) =>
    JSON.stringify(deployment(name, { foo: 1, paused: true })).replace(
      '"paused":true',
      '"paused":true,"paused":true',
    );
  const yaml = (name: string) =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}}\nspec:\n  foo: 1\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec: {containers: [{name: c, image: i}]}\n`;
  type Send = (name: string, query: string) => Promise<Answer>;
  const writes: [string, Send, string[], number][] = [
    [
      "POST of JSON",
      (name, query) =>
        server.call("POST", `${deployments}?${query}`, json(name)),
      [typo, twice],
      400,
    ],
    [
      "POST of YAML",
      (name, query) =>
        server.call("POST", `${deployments}?${query}`, yaml(name), {
          "content-type": "application/yaml",
        }),
      [typo],
      400,
    ],
    [
      "PUT",
      async (name, query) => {
        await server.call("POST", deployments, deployment(name));
        return server.call(
          "PUT",
          `${deployments}/${name}?${query}`,
          deployment(name, { foo: 1 }),
        );
      },
      [typo],
      400,
    ],
    [
      "merge patch",
      async (name, query) => {
        await server.call("POST", deployments, deployment(name));
        return patch(`${deployments}/${name}?${query}`, "merge-patch+json", {
          spec: { foo: 1 },
        });
      },
      [typo],
      422,
    ],
    [
      "merge patch with a field twice",
      async (name, query) => {
        await server.call("POST", deployments, deployment(name));
        return patch(
          `${deployments}/${name}?${query}`,
          "merge-patch+json",
          '{"spec":{"paused":true,"paused":true}}',
        );
      },
      [twice],
      422,
    ],
    [
      "strategic merge patch",
      async (name, query) => {
        await server.call("POST", deployments, deployment(name));
        return patch(
          `${deployments}/${name}?${query}`,
          "strategic-merge-patch+json",
          { spec: { foo: 1 } },
        );
      },
      [typo],
      422,
    ],
    [
      "JSON patch",
      async (name, query) => {
        await server.call("POST", deployments, deployment(name));
        return patch(`${deployments}/${name}?${query}`, "json-patch+json", [
          { op: "add", path: "/spec/foo", value: 1 },
        ]);
      },
      [typo],
      422,
    ],
  ];
  test.each(writes)("%s", async (...[, send, problems, code]) => {
    const warnings = (answer: Answer) =>
      (answer.headers.get("warning") ?? "")
        .split(/, (?=299 )/)
        .filter(Boolean)
        .sort();
    for (const query of ["", "fieldValidation=Warn"]) {
      const warned = await send(fresh(), query);
      expect(warned.status).toBeLessThan(300);
      expect(warnings(warned)).toEqual(
        problems.map((text) => `299 - ${JSON.stringify(text)}`).sort(),
      );
    }
    const ignored = await send(fresh(), "fieldValidation=Ignore");
    expect([ignored.status < 300, warnings(ignored)]).toEqual([true, []]);
    const refused = await send(fresh(), "fieldValidation=Strict");
    expect([refused.status, refused.body.message]).toEqual([
      code,
      expect.stringContaining("strict decoding error"),
    ]);
    for (const problem of problems)
      expect(refused.body.message.replaceAll("\\", "")).toContain(problem);
  });
});

describe("dry run", () => {
  test("POST, PUT, PATCH of every type, DELETE, deletecollection change nothing", async () => {
    const name = await make({
      metadata: { name: "", labels: { dry: "run" } },
    }).catch(() => "");
    const kept = name || (await make({ data: { a: "1" } }));
    const before = (await server.call("GET", at(kept))).text;
    const results: [string, Answer][] = [
      [
        "PUT",
        await server.call(
          "PUT",
          `${at(kept)}?dryRun=All`,
          configMap(kept, { data: { b: "2" } }),
        ),
      ],
      [
        "json",
        await patch(`${at(kept)}?dryRun=All`, "json-patch+json", [
          { op: "add", path: "/data", value: { b: "2" } },
        ]),
      ],
      [
        "merge",
        await patch(`${at(kept)}?dryRun=All`, "merge-patch+json", {
          data: { b: "2" },
        }),
      ],
      [
        "strategic",
        await patch(`${at(kept)}?dryRun=All`, "strategic-merge-patch+json", {
          data: { b: "2" },
        }),
      ],
      [
        "apply",
        await patch(
          `${at(kept)}?dryRun=All&fieldManager=m`,
          "apply-patch+yaml",
          {
            ...configMap(kept, { data: { b: "2" } }),
          },
        ),
      ],
    ];
    for (const [what, answer] of results)
      expect([what, answer.status, answer.body.data?.b]).toEqual([
        what,
        200,
        "2",
      ]);
    expect((await server.call("DELETE", `${at(kept)}?dryRun=All`)).status).toBe(
      200,
    );
    expect(
      (await server.call("DELETE", `${configMaps}?dryRun=All`)).status,
    ).toBe(200);
    expect((await server.call("GET", at(kept))).text).toBe(before);
    const absent = fresh();
    const made = await server.call(
      "POST",
      `${configMaps}?dryRun=All`,
      configMap(absent),
    );
    expect([made.status, made.body.metadata.resourceVersion]).toEqual([
      201,
      undefined,
    ]);
    expect(made.body.metadata.uid).toBeTruthy();
    expect(await exists(at(absent))).toBe(false);
    // As real as a real one: the same refusals.
    expect(
      (await server.call("POST", `${configMaps}?dryRun=All`, configMap(kept)))
        .status,
    ).toBe(409);
    expect(
      (await server.call("POST", `${configMaps}?dryRun=All`, configMap("Bad")))
        .status,
    ).toBe(422);
  });
  test("a bare dryRun is none, another value a 422", async () => {
    const name = fresh();
    await server.call("POST", `${configMaps}?dryRun&pretty`, configMap(name));
    expect(await exists(at(name))).toBe(true);
    const refused = await server.call("DELETE", `${at(name)}?dryRun=Some`);
    expect([refused.status, refused.body.details.kind]).toEqual([
      422,
      "DeleteOptions",
    ]);
    const inBody = await server.call("DELETE", at(name), { dryRun: ["Some"] });
    expect([inBody.status, inBody.body.details.kind]).toEqual([
      422,
      "DeleteOptions",
    ]);
    expect(await exists(at(name))).toBe(true);
  });
});

describe("delete options", () => {
  const options = {
    kind: "DeleteOptions",
    apiVersion: "v1",
    propagationPolicy: "Foreground",
  };
  const marked = (answer: Answer) => [
    answer.status,
    answer.body.metadata?.finalizers,
  ];
  const want = [200, ["foregroundDeletion"]];
  test.each<[string, (name: string) => Promise<Answer>]>([
    [
      "query",
      (name) =>
        server.call("DELETE", `${at(name)}?propagationPolicy=Foreground`),
    ],
    ["JSON", (name) => server.call("DELETE", at(name), options)],
    [
      "JSON without kind",
      (name) =>
        server.call("DELETE", at(name), { propagationPolicy: "Foreground" }),
    ],
    [
      "YAML",
      (name) =>
        server.call("DELETE", at(name), "propagationPolicy: Foreground\n", {
          "content-type": "application/yaml",
        }),
    ],
    [
      "protobuf",
      (name) =>
        server.call("DELETE", at(name), encodeProtobuf(options as never), {
          "content-type": "application/vnd.kubernetes.protobuf",
        }),
    ],
    [
      "protobuf, the other dialect",
      (name) =>
        server.call("DELETE", at(name), encodeProtobuf(options as never), {
          "content-type": "application/vnd.orbit.protobuf",
        }),
    ],
  ])("in %s", async (...[, send]) => {
    const name = await make();
    expect(marked(await send(name))).toEqual(want);
    await patch(at(name), "merge-patch+json", {
      metadata: { finalizers: null },
    });
    expect(await exists(at(name))).toBe(false);
  });

  test.each<[string, object, number, RegExp]>([
    [
      "uid",
      { preconditions: { uid: "other" } },
      409,
      /the UID in the precondition \(other\) does not match the UID in record \([0-9a-f-]{36}\)/,
    ],
    [
      "version",
      { preconditions: { resourceVersion: "1" } },
      409,
      /the ResourceVersion in the precondition \(1\) does not match the ResourceVersion in record \(\d+\)/,
    ],
    [
      "both ways to say it",
      { propagationPolicy: "Orphan", orphanDependents: true },
      422,
      /orphanDependents and deletionPropagation cannot be both set/,
    ],
    [
      "an unknown policy",
      { propagationPolicy: "Sideways" },
      422,
      /propagationPolicy: (Unsupported|Invalid) value/,
    ],
    ["a grace period that is no number", { gracePeriodSeconds: "x" }, 400, /./],
  ])("%s is refused", async (...[, body, code, message]) => {
    const name = await make();
    const answer = await server.call("DELETE", at(name), body);
    expect([answer.status, answer.body.message]).toEqual([
      code,
      expect.stringMatching(message),
    ]);
    expect(await exists(at(name))).toBe(true);
  });

  test("deletecollection: selectors, and nothing of others", async () => {
    for (const [name, group] of [
      ["dc1", "x"],
      ["dc2", "x"],
      ["dc3", "y"],
    ] as const)
      await server.call(
        "POST",
        configMaps,
        configMap(name, { metadata: { name, labels: { dc: group } } }),
      );
    const gone = await server.call(
      "DELETE",
      `${configMaps}?labelSelector=dc&fieldSelector=metadata.name!%3Ddc1`,
    );
    expect(gone.body.items.map((item: Json) => item.metadata.name)).toEqual([
      "dc2",
      "dc3",
    ]);
    expect(await exists(at("dc1"))).toBe(true);
    expect(
      (await server.call("DELETE", `${configMaps}?labelSelector=dc`)).status,
    ).toBe(200);
    expect(await exists(at("dc1"))).toBe(false);
  });
});

test("two phases: marked with finalizers, kept from new ones, gone with the last", async () => {
  const name = fresh();
  await server.call(
    "POST",
    configMaps,
    configMap(name, {
      metadata: { name, finalizers: ["a.example/x", "b.example/y"] },
    }),
  );
  const marked = await server.call("DELETE", at(name));
  expect(marked.body.metadata).toMatchObject({
    deletionTimestamp: expect.any(String) as string,
    deletionGracePeriodSeconds: 0,
  });
  const again = await server.call("DELETE", at(name));
  expect([again.status, again.body.metadata.deletionTimestamp]).toEqual([
    200,
    marked.body.metadata.deletionTimestamp,
  ]);
  const more = await patch(at(name), "merge-patch+json", {
    metadata: { finalizers: ["a.example/x", "c.example/z"] },
  });
  expect(more.body.message).toMatch(
    /metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string\{"c.example\/z"\}$/,
  );
  const remade = await server.call("POST", configMaps, configMap(name));
  expect([remade.status, remade.body.message]).toEqual([
    409,
    `object is being deleted: configmaps "${name}" already exists`,
  ]);
  const fewer = await patch(at(name), "strategic-merge-patch+json", {
    metadata: { "$deleteFromPrimitiveList/finalizers": ["a.example/x"] },
  });
  expect(fewer.body.metadata.finalizers).toEqual(["b.example/y"]);
  await patch(at(name), "json-patch+json", [
    { op: "remove", path: "/metadata/finalizers" },
  ]);
  expect(await exists(at(name))).toBe(false);
});

describe("strategic merge directives", () => {
  const container = (name: string, more: object = {}) => ({
    name,
    image: "i",
    ...more,
  });
  const pod = (...containers: object[]) => ({
    spec: { template: { spec: { containers } } },
  });
  const names = (body: Json) =>
    body.spec.template.spec.containers.map((one: Json) => one.name);
  test.each<[string, object, (body: Json) => unknown, unknown]>([
    [
      "items merge by name",
      pod(container("d")),
      (body) => names(body).sort(),
      ["c", "d"],
    ],
    [
      "$patch: delete of an item",
      pod(container("d"), { $patch: "delete", name: "c" }),
      names,
      ["d"],
    ],
    [
      "$patch: replace of a list",
      pod({ $patch: "replace" }, container("z")),
      names,
      ["z"],
    ],
    [
      "$setElementOrder",
      {
        spec: {
          template: {
            spec: {
              "$setElementOrder/containers": [{ name: "d" }, { name: "c" }],
              containers: [container("d")],
            },
          },
        },
      },
      names,
      ["d", "c"],
    ],
    [
      "$retainKeys",
      { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
      (body) => body.spec.strategy,
      { type: "Recreate" },
    ],
    [
      "$patch: replace of a map",
      {
        spec: {
          template: {
            metadata: { annotations: { $patch: "replace", only: "this" } },
          },
        },
      },
      (body) => body.spec.template.metadata.annotations,
      { only: "this" },
    ],
    [
      "null removes",
      { spec: { template: { metadata: { annotations: null } } } },
      (body) => body.spec.template.metadata.annotations,
      undefined,
    ],
  ])("%s", async (...[, document, look, want]) => {
    const name = fresh();
    const body = deployment(name);
    (body.spec.template.metadata as Json).annotations = { a: "1" };
    await server.call("POST", deployments, body);
    const answer = await patch(
      `${deployments}/${name}`,
      "strategic-merge-patch+json",
      document,
    );
    expect(answer.status).toBe(200);
    expect(look(answer.body)).toEqual(want);
  });
});

test.each<[number, string, string, string, unknown, Record<string, string>]>([
  [400, "BadRequest", "POST", configMaps, "{", {}],
  [
    400,
    "BadRequest",
    "POST",
    configMaps,
    { kind: "Secret", apiVersion: "v1", metadata: { name: "a" } },
    {},
  ],
  [404, "NotFound", "GET", `${configMaps}/none`, undefined, {}],
  [404, "NotFound", "PUT", `${configMaps}/none`, configMap("none"), {}],
  [405, "MethodNotAllowed", "PATCH", configMaps, {}, {}],
  [406, "NotAcceptable", "GET", configMaps, undefined, { accept: "image/png" }],
  [
    409,
    "AlreadyExists",
    "POST",
    "/api/v1/namespaces",
    { metadata: { name: "default" } },
    {},
  ],
  [413, "RequestEntityTooLarge", "POST", configMaps, " ".repeat(3_200_000), {}],
  [
    415,
    "UnsupportedMediaType",
    "POST",
    configMaps,
    "x",
    { "content-type": "text/plain" },
  ],
  [
    415,
    "UnsupportedMediaType",
    "PATCH",
    `${configMaps}/none`,
    "x",
    { "content-type": "application/json" },
  ],
  [422, "Invalid", "POST", configMaps, configMap("UPPER"), {}],
])("%i %s: %s %s", async (...[code, reason, method, path, body, headers]) => {
  const answer = await server.call(method, path, body, headers);
  expect([
    answer.status,
    answer.body.kind,
    answer.body.reason,
    answer.body.code,
  ]).toEqual([code, "Status", reason, code]);
});
