// Definitions in the shapes of well-known projects, written by ourselves with the same constructs: each is accepted, served
// and described, takes a good object and refuses a bad one.
import { crd, definitions, versionOf } from "../../../support/definitions.ts";
import { eventually } from "../../../support/eventually.ts";
import { startTestServer, type TestServer } from "../support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const text = { type: "string" };
const object = (properties: object, more: object = {}): object => ({
  type: "object",
  properties,
  ...more,
});
const list = (items: object, more: object = {}): object => ({
  type: "array",
  items,
  ...more,
});
const conditions = list(
  object(
    {
      type: text,
      status: { type: "string", enum: ["True", "False", "Unknown"] },
      reason: {
        type: "string",
        pattern: "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
      },
      lastTransitionTime: { type: "string", format: "date-time" },
    },
    { required: ["type", "status"] },
  ),
  { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"] },
);
const anything = {
  type: "object",
  "x-kubernetes-preserve-unknown-fields": true,
};
const status = { subresources: { status: {} } };

interface Shape {
  readonly spec: object;
  readonly good: object;
  readonly bad: unknown;
  /** In the text of the refusal. */
  readonly refusal: string;
  readonly version?: object;
}

const shapes: Record<string, Shape> = {
  "a route with matches and weights": {
    spec: object({
      hostnames: list(
        { type: "string", minLength: 1, maxLength: 253 },
        { maxItems: 16 },
      ),
      rules: list(
        object({
          matches: list(
            object({
              path: object({
                type: {
                  type: "string",
                  enum: ["Exact", "PathPrefix"],
                  default: "PathPrefix",
                },
                value: { type: "string", default: "/" },
              }),
            }),
          ),
          backendRefs: list(
            object(
              {
                name: text,
                weight: {
                  type: "integer",
                  format: "int32",
                  minimum: 0,
                  maximum: 1_000_000,
                  default: 1,
                },
              },
              { required: ["name"] },
            ),
          ),
        }),
        {
          default: [
            { matches: [{ path: { type: "PathPrefix", value: "/" } }] },
          ],
          maxItems: 16,
        },
      ),
    }),
    good: { rules: [{ backendRefs: [{ name: "a" }] }] },
    bad: { rules: [{ backendRefs: [{ name: "a", weight: -1 }] }] },
    refusal: "spec.rules[0].backendRefs[0].weight",
    version: status,
  },
  "a certificate": {
    spec: object(
      {
        secretName: text,
        duration: text,
        issuerRef: object({ name: text, kind: text }, { required: ["name"] }),
        privateKey: object({
          algorithm: { type: "string", enum: ["RSA", "ECDSA"] },
          size: { type: "integer" },
        }),
        usages: list({ type: "string", enum: ["signing", "server auth"] }),
      },
      { required: ["issuerRef", "secretName"] },
    ),
    good: { secretName: "s", issuerRef: { name: "i" } },
    bad: { secretName: "s" },
    refusal: "spec.issuerRef: Required value",
    version: status,
  },
  "a monitor with quantities and durations": {
    spec: object({
      interval: {
        type: "string",
        pattern:
          "^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$",
      },
      memory: {
        anyOf: [{ type: "integer" }, { type: "string" }],
        "x-kubernetes-int-or-string": true,
        pattern: "^[0-9]+(Ki|Mi|Gi)?$",
      },
      endpoints: list(
        object({
          port: text,
          targetPort: {
            anyOf: [{ type: "integer" }, { type: "string" }],
            "x-kubernetes-int-or-string": true,
          },
        }),
      ),
      selector: object(
        { matchLabels: { type: "object", additionalProperties: text } },
        { "x-kubernetes-map-type": "atomic" },
      ),
    }),
    good: { interval: "30s", memory: "1Gi", endpoints: [{ targetPort: 80 }] },
    bad: { interval: "soon" },
    refusal: "spec.interval",
  },
  "an application with a free source": {
    spec: object({
      source: anything,
      syncPolicy: object({ automated: object({ prune: { type: "boolean" } }) }),
    }),
    good: { source: { helm: { values: [1, { a: null }] } } },
    bad: { syncPolicy: { automated: { prune: "yes" } } },
    refusal: "spec.syncPolicy.automated.prune",
  },
  "a repository with one of two references": {
    spec: object(
      {
        url: { type: "string", pattern: "^(http|https|ssh)://.*$" },
        timeout: { type: "string", default: "60s" },
        ref: object(
          { branch: text, tag: text },
          { oneOf: [{ required: ["branch"] }, { required: ["tag"] }] },
        ),
      },
      { required: ["url"] },
    ),
    good: { url: "https://a", ref: { branch: "main" } },
    bad: { url: "https://a", ref: { branch: "main", tag: "x" } },
    refusal: "spec.ref",
    version: status,
  },
  "a scaled object": {
    spec: object({
      scaleTargetRef: object({ name: text }, { required: ["name"] }),
      replicas: { type: "integer", format: "int32" },
      triggers: list(
        object(
          {
            type: text,
            metadata: { type: "object", additionalProperties: text },
          },
          { required: ["type", "metadata"] },
        ),
      ),
    }),
    good: {
      scaleTargetRef: { name: "d" },
      replicas: 2,
      triggers: [{ type: "cron", metadata: { a: "b" } }],
    },
    bad: { triggers: [{ type: "cron", metadata: { a: 1 } }] },
    refusal: "spec.triggers[0].metadata.a",
    version: {
      subresources: {
        status: {},
        scale: {
          specReplicasPath: ".spec.replicas",
          statusReplicasPath: ".status.replicas",
        },
      },
    },
  },
  "a rule of traffic": {
    spec: object({
      http: list(
        object({
          route: list(object({ weight: { type: "integer", format: "int32" } })),
          fault: {
            type: "object",
            oneOf: [
              {
                not: {
                  anyOf: [{ required: ["delay"] }, { required: ["abort"] }],
                },
              },
              { required: ["delay"] },
              { required: ["abort"] },
            ],
            properties: { delay: text, abort: text },
          },
        }),
      ),
    }),
    good: { http: [{ route: [{ weight: 5 }], fault: { delay: "1s" } }] },
    bad: { http: [{ fault: { delay: "1s", abort: "x" } }] },
    refusal: "spec.http[0].fault",
  },
  "a composition with embedded resources": {
    spec: object({
      resources: list(
        object({
          name: text,
          base: {
            type: "object",
            "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
          },
        }),
      ),
    }),
    good: {
      resources: [
        { base: { apiVersion: "v1", kind: "ConfigMap", data: { a: "b" } } },
      ],
    },
    bad: { resources: [{ base: { data: {} } }] },
    refusal: "spec.resources[0].base",
  },
  "a task of steps": {
    spec: anything,
    good: { steps: [{ name: "a", script: "x" }] },
    bad: "none",
    refusal: "spec",
    version: {
      ...status,
      additionalPrinterColumns: [
        {
          name: "Succeeded",
          type: "string",
          jsonPath: '.status.conditions[?(@.type=="Succeeded")].status',
        },
      ],
    },
  },
  "a policy of nested anyOf": {
    spec: object({
      rules: list(
        object({
          match: object(
            { any: list(anything), all: list(anything) },
            { not: { required: ["any", "all"] } },
          ),
          validate: object({
            message: text,
            pattern: { "x-kubernetes-preserve-unknown-fields": true },
          }),
        }),
      ),
    }),
    good: { rules: [{ match: { any: [{}] }, validate: { pattern: [1] } }] },
    bad: { rules: [{ match: { any: [], all: [] } }] },
    refusal: "spec.rules[0].match",
    version: status,
  },
};

test.each(Object.entries(shapes))("%s", async (label, shape) => {
  const index = Object.keys(shapes).indexOf(label);
  const [plural, kind] = [`shapes${index}`, `Shape${index}`];
  const group = `s${index}.example.com`;
  const schema = object({
    spec: shape.spec,
    status: object({ conditions, replicas: { type: "integer" } }),
  });
  const made = await server.call(
    "POST",
    definitions,
    crd({
      group,
      plural,
      kind,
      versions: [versionOf("v1", { schema, ...shape.version })],
    }),
  );
  expect([made.status, made.body.message]).toEqual([201, undefined]);
  const path = `/apis/${group}/v1/namespaces/default/${plural}`;
  await eventually(async () => (await server.call("GET", path)).status === 200);
  const objectOf = (spec: unknown): object => ({
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name: "one" },
    spec,
  });
  const good = await server.call(
    "POST",
    `${path}?fieldValidation=Strict`,
    objectOf(shape.good),
  );
  expect([good.status, good.body.message]).toEqual([201, undefined]);
  expect(good.body.spec).toMatchObject(shape.good);
  const bad = await server.call(
    "POST",
    `${path}?dryRun=All`,
    objectOf(shape.bad),
  );
  expect([bad.status, bad.body.message]).toEqual([
    422,
    expect.stringContaining(shape.refusal),
  ]);
  const { body } = await server.call("GET", `/openapi/v3/apis/${group}/v1`);
  const [described] = Object.keys(body.components.schemas).filter((name) =>
    name.endsWith(`.${kind}`),
  );
  expect(body.components.schemas[described!].properties).toHaveProperty("spec");
});

/** What stock servers answer for objects of such shapes. */
test("apply takes what an object without named fields holds", async () => {
  const group = "free.example.com";
  const path = (plural: string): string =>
    `/apis/${group}/v1/namespaces/default/${plural}`;
  const serve = async (plural: string, kind: string, schema: object) => {
    await server.call(
      "POST",
      definitions,
      crd({ group, plural, kind, schema, version: status }),
    );
    await eventually(
      async () => (await server.call("GET", path(plural))).status === 200,
    );
  };
  const apply = (plural: string, kind: string, spec: object) =>
    server.call(
      "PATCH",
      `${path(plural)}/a?fieldManager=m`,
      { apiVersion: `${group}/v1`, kind, metadata: { name: "a" }, spec },
      { "content-type": "application/apply-patch+yaml" },
    );
  // Nothing is said of the items: they are taken, and what is unknown is dropped.
  await serve(
    "lists",
    "List1",
    object({
      spec: object({
        resources: list({ type: "object" }),
        named: object({ a: text }),
      }),
      status: { type: "object", additionalProperties: text },
    }),
  );
  const lists = await apply("lists", "List1", {
    resources: [{ apiVersion: "v1", metadata: { name: "x" } }],
  });
  expect([lists.status, lists.body.spec]).toEqual([201, { resources: [{}] }]);
  const undeclared = await apply("lists", "List1", { named: { b: "x" } });
  expect([undeclared.status, undeclared.body.message]).toEqual([
    400,
    expect.stringContaining(".spec.named.b: field not declared in schema"),
  ]);
  // A free key of the status has a dot before its name.
  const bad = await server.call(
    "PATCH",
    `${path("lists")}/a/status`,
    { status: { conditions: [] } },
    { "content-type": "application/merge-patch+json" },
  );
  expect([bad.status, bad.body.details.causes]).toEqual([
    422,
    [
      {
        reason: "FieldValueTypeInvalid",
        message:
          'Invalid value: "array": .conditions in body must be of type string: "array"',
        field: "status.conditions",
      },
    ],
  ]);
  // The root keeps all: its own fields are keys, and owned themselves.
  await serve("anythings", "Anything", anything);
  const kept = await apply("anythings", "Anything", { steps: [1] });
  expect(kept.body.metadata.managedFields[0].fieldsV1).toEqual({
    "f:spec": { ".": {}, "f:steps": {} },
  });
});
