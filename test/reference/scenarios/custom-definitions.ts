// CustomResourceDefinitions: what they may say and what not, when they are made and when they change, and the rules of
// their schemas on objects. Each case has one problem, or those of one place: the reference visits fields in no order.
import { removeGroup } from "../remove-group.ts";
import { createEach, each, plain, updateEach, type Changes } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario, Server } from "../scenario.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const group = "defs.example.com";

const text = { type: "string" };
const integer = { type: "integer" };
const object = (properties: Json, rest: Json = {}): Json => ({
  type: "object",
  properties,
  ...rest,
});

const definition = (
  plural: string,
  kind: string,
  schema: Json,
  rest: Json = {},
): Json => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: "Namespaced",
    names: { plural, kind },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema },
        ...rest,
      },
    ],
  },
});

const base = definition(
  "things",
  "Thing",
  object({ spec: object({ a: text }) }),
);
const second = {
  name: "v2",
  served: true,
  storage: false,
  schema: { openAPIV3Schema: object({ spec: object({ b: text }) }) },
};

export const customDefinitions: Scenario = {
  name: "custom-definitions",
  async run(server) {
    await createEach(server, "spec", definitions, base, specs);
    await createEach(server, "schema", definitions, base, schemas);
    await createEach(server, "rule", definitions, base, ruleDefinitions);
    await changes(server);
    await rules(server);
    await removeGroup(server, "defs.example.com");
  },
};

const version = "spec.versions.0";
const specs: Changes[] = [
  ...each("metadata.generateName", ["things-", "things.defs.example.com"]),
  ...each("metadata.name", [
    "other.defs.example.com",
    "Things.defs",
    undefined,
  ]),
  ...each("spec.group", ["", "nodot", "Bad_.example.com"]),
  ...each("spec.scope", [undefined, "Both"]),
  ...each("spec.names.plural", ["", "Bad", "9a"]),
  ...each("spec.names.kind", ["", "9", "a b"]),
  ...each("spec.names.listKind", ["Thing", "L_"]),
  ...each("spec.names.singular", ["Bad"]),
  ...each("spec.names.shortNames", [["ok"], ["Bad", "x"]]),
  ...each("spec.names.categories", [["all"], ["A l l"]]),
  ...each("spec.versions", [[], undefined]),
  ...each(`${version}.name`, ["", "V1", "1"]),
  ...each(`${version}.storage`, [false]),
  ...each(`${version}.schema`, [undefined, {}]),
  { [`${version}.deprecationWarning`]: "x" },
  { [`${version}.deprecated`]: true, [`${version}.deprecationWarning`]: "" },
  {
    [`${version}.deprecated`]: true,
    [`${version}.deprecationWarning`]: "a\u0007b",
  },
  {
    [`${version}.deprecated`]: true,
    [`${version}.deprecationWarning`]: "x".repeat(257),
  },
  { "spec.versions.1": second },
  { "spec.versions.1": { ...second, name: "v1" } },
  { "spec.versions.1": { ...second, storage: true } },
  { "spec.versions.1": { ...second, schema: undefined } },
  {
    "spec.versions.1": {
      ...second,
      schema: { openAPIV3Schema: { type: "string" } },
    },
  },
  ...each(`${version}.subresources`, [
    { status: {} },
    { scale: {} },
    {
      scale: {
        specReplicasPath: "spec.replicas",
        statusReplicasPath: ".spec.replicas",
        labelSelectorPath: ".metadata.labels",
      },
    },
    {
      scale: {
        specReplicasPath: ".spec.replicas",
        statusReplicasPath: ".status.replicas",
        labelSelectorPath: ".status.selector",
      },
    },
  ]),
  ...each(`${version}.additionalPrinterColumns`, [
    [{ name: "A", type: "string", jsonPath: ".spec.a" }],
    [{ name: "", type: "", jsonPath: "" }],
    [{ name: "A", type: "text", format: "x", jsonPath: "spec.a" }],
  ]),
  ...each(`${version}.selectableFields`, [
    [{ jsonPath: ".spec.a" }],
    [{ jsonPath: "" }],
    [{ jsonPath: "spec.a" }],
    [{ jsonPath: ".spec" }],
    [{ jsonPath: ".spec.none" }],
    [{ jsonPath: ".spec['a']" }],
    [{ jsonPath: ".spec.a" }, { jsonPath: ".spec.a" }],
  ]),
  ...each("spec.preserveUnknownFields", [true, false]),
  ...each("spec.conversion", [
    { strategy: "None" },
    { strategy: "Other" },
    { strategy: "Webhook" },
    { strategy: "None", webhook: { conversionReviewVersions: ["v1"] } },
    {
      strategy: "Webhook",
      webhook: { conversionReviewVersions: ["v1"], clientConfig: {} },
    },
    {
      strategy: "Webhook",
      webhook: {
        conversionReviewVersions: ["v2", "v2", "Bad"],
        clientConfig: { url: "http://a/b?c#d" },
      },
    },
    {
      strategy: "Webhook",
      webhook: {
        conversionReviewVersions: ["v1"],
        clientConfig: {
          service: { name: "", namespace: "d", path: "x", port: 0 },
        },
      },
    },
    {
      strategy: "Webhook",
      webhook: {
        conversionReviewVersions: ["v1", "v1beta1"],
        clientConfig: { service: { name: "n", namespace: "d" } },
      },
    },
  ]),
  {
    "metadata.name": "things.a.k8s.io",
    "spec.group": "a.k8s.io",
  },
  ...["unapproved, testing", "https://a.b/c", "x"].map((approval) => ({
    "metadata.name": "things.a.k8s.io",
    "spec.group": "a.k8s.io",
    "metadata.annotations": { "api-approved.kubernetes.io": approval },
  })),
];

const ofField = (schema: Json): Changes => ({
  [`${version}.schema.openAPIV3Schema.properties.spec.properties.f`]: schema,
});
const ofRoot = (key: string, value: Json): Changes => ({
  [`${version}.schema.openAPIV3Schema.${key}`]: value,
});

const keyed = (keys: readonly string[], items: Json): Json => ({
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
  items,
});
const set = (items: Json): Json => ({
  type: "array",
  "x-kubernetes-list-type": "set",
  items,
});
const embedded = (rest: Json): Json => ({
  type: "object",
  "x-kubernetes-embedded-resource": true,
  ...rest,
});
const keeps = { "x-kubernetes-preserve-unknown-fields": true };
const either = { "x-kubernetes-int-or-string": true };

const schemas: Changes[] = [
  ...[undefined, "array", "string"].map((type) => ofRoot("type", type)),
  ofRoot("additionalProperties", true),
  ofRoot("nullable", true),
  ofRoot("x-kubernetes-preserve-unknown-fields", true),
  ofRoot("x-kubernetes-embedded-resource", true),
  ofRoot("anyOf", [{ required: ["spec"] }]),
  ofRoot("oneOf", [{ properties: { other: { minLength: 1 } } }]),
  ofRoot("not", { properties: { metadata: { required: ["name"] } } }),
  ...[
    { type: "object" },
    { type: "string" },
    object({ name: text }),
    object({ name: text, generateName: text }),
    object({ labels: { type: "object" } }),
    { type: "object", description: "x" },
    object({ name: { ...text, default: "x" } }),
  ].map((metadata) => ofRoot("properties.metadata", metadata)),
  ofRoot("properties.kind", integer),
  ofRoot("properties.apiVersion", { ...text, default: "x" }),
  {
    ...ofRoot("anyOf", [{ required: ["spec"] }]),
    [`${version}.subresources`]: { status: {} },
  },
  ...[
    {},
    { type: "any" },
    { type: "null" },
    { type: "array" },
    { type: "array", items: {} },
    { type: "array", items: [text] },
    { type: "array", items: text, uniqueItems: true },
    object({ x: {} }),
    object({ x: text }, { additionalProperties: text }),
    object({ x: text }, { additionalProperties: true }),
    object({ x: text }, { additionalProperties: false }),
    { type: "object", additionalProperties: {} },
    { ...text, id: "x" },
    { ...text, $ref: "#/x" },
    { ...text, $schema: "x" },
    { ...text, definitions: { x: text } },
    { ...text, dependencies: { x: ["y"] } },
    { type: "object", patternProperties: { x: text } },
    { type: "array", items: text, additionalItems: true },
    { ...text, pattern: "(" },
    { ...text, pattern: "^(a|b)+$" },
    { ...text, anyOf: [{ pattern: "[" }] },
    { ...text, format: "unheard-of" },
    either,
    { ...either, type: "integer" },
    { ...either, anyOf: [integer, text] },
    { ...either, anyOf: [text, integer] },
    { ...either, allOf: [{ anyOf: [integer, text] }, { pattern: "x" }] },
    { ...either, allOf: [{ pattern: "x" }, { anyOf: [integer, text] }] },
    { ...either, ...keeps },
    keeps,
    { type: "object", ...keeps },
    { type: "object", "x-kubernetes-preserve-unknown-fields": false },
    embedded({}),
    embedded(keeps),
    { "x-kubernetes-embedded-resource": true, ...keeps },
    embedded({ type: "string", ...keeps }),
    embedded({ ...keeps, additionalProperties: true }),
    embedded({ properties: { kind: integer } }),
    embedded({ properties: { metadata: object({ labels: embedded(keeps) }) } }),
    object({ x: text }, { anyOf: [{ type: "object" }] }),
    object({ x: text }, { allOf: [{ description: "x", title: "y" }] }),
    object({ x: text }, { oneOf: [{ properties: { x: { default: "x" } } }] }),
    object({ x: text }, { not: { nullable: true } }),
    object({ x: text }, { anyOf: [{ additionalProperties: text }] }),
    object({ x: text }, { anyOf: [{ "x-kubernetes-map-type": "atomic" }] }),
    object({ x: text }, { anyOf: [{ properties: { y: { minLength: 1 } } }] }),
    { ...text, "x-kubernetes-list-type": "set" },
    { "x-kubernetes-list-type": "set", ...keeps },
    { type: "array", items: text, "x-kubernetes-list-type": "bag" },
    set(text),
    set(object({ x: text })),
    set({ ...object({ x: text }), "x-kubernetes-map-type": "atomic" }),
    set(set(text)),
    set({ ...text, nullable: true }),
    { type: "object", "x-kubernetes-map-type": "atomic" },
    { type: "object", "x-kubernetes-map-type": "loose" },
    { ...text, "x-kubernetes-map-type": "atomic" },
    { type: "array", items: text, "x-kubernetes-list-map-keys": ["x"] },
    { ...set(text), "x-kubernetes-list-map-keys": ["x"] },
    keyed([], object({ x: text })),
    keyed(["x"], text),
    keyed(["y"], object({ x: text }, { required: ["x"] })),
    keyed(["x"], object({ x: text })),
    keyed(["x"], object({ x: { ...text, default: "x" } })),
    keyed(
      ["x"],
      object({ x: { ...text, nullable: true } }, { required: ["x"] }),
    ),
    keyed(["x"], object({ x: set(text) }, { required: ["x"] })),
    keyed(["x", "x"], object({ x: text }, { required: ["x"] })),
    keyed(["x"], object({ x: text }, { required: ["x"], nullable: true })),
    { ...text, default: "x" },
    { ...text, default: 1 },
    { ...text, default: null },
    { ...text, nullable: true, default: null },
    { ...text, maxLength: 1, default: "long" },
    { ...text, enum: ["a"], default: "b" },
    object({ x: text }, { default: { x: "1" } }),
    object({ x: text }, { default: { y: "1" } }),
    object({ x: text }, { default: { x: 1 } }),
    object({ x: { ...text, default: 1 } }),
    { type: "array", items: text, default: ["a", 1] },
    { type: "object", additionalProperties: { ...text, default: "x" } },
    embedded({ ...keeps, default: { kind: "x" } }),
    embedded({ ...keeps, default: { kind: "X", apiVersion: "v1" } }),
    embedded({
      ...keeps,
      default: { kind: "X", apiVersion: "v1", metadata: { name: 1 } },
    }),
    embedded({
      properties: { metadata: object({ name: { ...text, default: "x" } }) },
    }),
    embedded({
      properties: { metadata: object({ name: { ...text, default: "a/b" } }) },
    }),
    embedded({ properties: { kind: { ...text, default: "9" } } }),
    { ...text, unknown: 1 },
  ].map(ofField),
];

const ruled = (schema: Json, ...validations: readonly Json[]): Changes =>
  ofField({ ...schema, "x-kubernetes-validations": validations });
const limited = { ...text, maxLength: 10 };

const ruleDefinitions: Changes[] = [
  ruled(limited, { rule: "self != 'x'" }),
  ruled(limited, { rule: "" }),
  ruled(limited, { rule: "self" }),
  ruled(limited, { rule: "self.a == 1" }),
  ruled(limited, { rule: "self ==" }),
  ruled(limited, { rule: "nothing == 1" }),
  ruled(limited, { rule: "self == 'x'", message: " " }),
  ruled(limited, { rule: "self == 'x'", message: "a\nb" }),
  ruled(limited, { rule: "self == 'x'\n|| true" }),
  ruled(limited, { rule: "self == 'x'", messageExpression: " " }),
  ruled(limited, { rule: "self == 'x'", messageExpression: "1" }),
  ruled(limited, { rule: "self == 'x'", messageExpression: "self + 1" }),
  ruled(limited, { rule: "self == 'x'", reason: "Other" }),
  ruled(limited, { rule: "self == 'x'", reason: "FieldValueForbidden" }),
  ruled(limited, { rule: "self == 'x'", fieldPath: ".x" }),
  ruled(limited, { rule: "self == 'x'", optionalOldSelf: true }),
  ruled(limited, { rule: "self == oldSelf" }),
  ruled(limited, {
    rule: "oldSelf.hasValue() || self == 'x'",
    optionalOldSelf: true,
  }),
  ruled(object({ x: limited }), {
    rule: "self.x == 'x'",
    fieldPath: ".x",
  }),
  ruled(object({ x: limited }), { rule: "self.x == 'x'", fieldPath: "x" }),
  ruled(object({ x: limited }), { rule: "self.x == 'x'", fieldPath: ".y" }),
  ruled(object({ x: limited }), { rule: "self.x == 'x'", fieldPath: " " }),
  ruled(object({ x: keeps }), { rule: "self.x == 'x'" }),
  ruled(either, { rule: "self == 1 || self == 'a'" }),
  ruled({ type: "array", items: limited }, { rule: "self == oldSelf" }),
  ofField({
    type: "array",
    maxItems: 3,
    items: {
      ...limited,
      "x-kubernetes-validations": [{ rule: "self == oldSelf" }],
    },
  }),
  ruled({ type: "array", items: text }, { rule: "self.all(x, x == 'a')" }),
  ruled(
    { type: "array", items: text },
    { rule: "self.all(x, self.all(y, x == y))" },
  ),
  ofField({
    type: "array",
    items: {
      ...text,
      "x-kubernetes-validations": [{ rule: "self.contains('abc')" }],
    },
  }),
  ruled(
    { type: "array", items: text, maxItems: 100 },
    { rule: "self.all(x, x.matches('^a+$'))" },
  ),
  ruled(object({ x: text }, { anyOf: [{ required: ["x"] }] }), {
    rule: "has(self.x)",
  }),
  ofField({
    ...text,
    anyOf: [{ "x-kubernetes-validations": [{ rule: "true" }] }],
  }),
  ofField({
    ...limited,
    default: "x",
    "x-kubernetes-validations": [{ rule: "self != 'x'", message: "no x" }],
  }),
];

/** Asks until the definition is served. The answers are not compared. */
async function established({ call }: Server, name: string): Promise<void> {
  const end = Date.now() + 20_000;
  while (Date.now() < end) {
    const { body } = await call("until", "GET", `${definitions}/${name}`, {
      silent: true,
    });
    const conditions = (body?.status?.conditions ?? []) as Json[];
    if (
      conditions.some(
        (one) => one.type === "Established" && one.status === "True",
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${name} is not established`);
}

async function served({ call }: Server, path: string): Promise<void> {
  const end = Date.now() + 20_000;
  while (Date.now() < end) {
    const { status } = await call("until", "GET", path, { silent: true });
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${path} is not served`);
}

async function changes(server: Server): Promise<void> {
  const { call } = server;
  const name = `changes.${group}`;
  const made = definition(
    "changes",
    "Change",
    object({ spec: object({ a: text }) }),
  );
  await call("", "POST", definitions, { body: made, silent: true });
  await established(server, name);
  await updateEach(server, "changed", definitions, made, [
    {},
    ...each("spec.scope", ["Cluster"]),
    ...each("spec.group", ["other.example.com"]),
    ...each("spec.names.kind", ["Other"]),
    ...each("spec.names.plural", ["others"]),
    ...each("spec.names.singular", ["one"]),
    ...each(`${version}.name`, ["v2"]),
    ...each(`${version}.schema`, [undefined]),
    ...each(`${version}.schema.openAPIV3Schema`, [
      { type: "object", ...keeps },
      { type: "string" },
    ]),
    { "spec.versions.1": second },
    { "spec.versions.1": { ...second, storage: true } },
    {
      [`${version}.storage`]: false,
      "spec.versions.1": { ...second, storage: true },
    },
    ...each("spec.preserveUnknownFields", [true]),
  ]);
  await updateEach(
    server,
    "changed",
    definitions,
    made,
    [
      ...each("status.storedVersions", [[], ["v1", "v0"], ["v1"]]),
      ...each("status.acceptedNames.plural", ["Bad"]),
    ],
    "status",
  );
}

async function rules(server: Server): Promise<void> {
  const { call, namespace } = server;
  const rule = (text: string, rest: Json = {}): Json => ({
    rule: text,
    ...rest,
  });
  const made = definition(
    "ruleds",
    "Ruled",
    object({
      spec: object(
        {
          min: integer,
          max: integer,
          fixed: {
            ...limited,
            "x-kubernetes-validations": [
              rule("self == oldSelf", { message: "fixed is fixed" }),
            ],
          },
          grows: {
            ...integer,
            "x-kubernetes-validations": [
              rule("!oldSelf.hasValue() || self >= oldSelf.value()", {
                optionalOldSelf: true,
                reason: "FieldValueForbidden",
              }),
            ],
          },
          odd: {
            ...integer,
            "x-kubernetes-validations": [rule("self % 2 == 1")],
          },
          divides: {
            ...integer,
            "x-kubernetes-validations": [rule("10 / self > 1")],
          },
          parts: {
            ...keyed(
              ["k"],
              object(
                {
                  k: limited,
                  v: {
                    ...integer,
                    "x-kubernetes-validations": [rule("self < 5")],
                  },
                },
                { required: ["k"] },
              ),
            ),
            maxItems: 5,
          },
          free: {
            type: "object",
            maxProperties: 5,
            additionalProperties: {
              ...integer,
              "x-kubernetes-validations": [
                rule("self > 0", { reason: "FieldValueRequired" }),
              ],
            },
          },
          amount: {
            ...either,
            "x-kubernetes-validations": [
              rule("type(self) == int ? self < 100 : self.endsWith('%')"),
            ],
          },
        },
        {
          required: ["min"],
          "x-kubernetes-validations": [
            rule("!has(self.max) || self.min <= self.max", {
              messageExpression:
                "'max is below min of ' + (has(self.fixed) ? self.fixed : 'none')",
              fieldPath: ".max",
            }),
          ],
        },
      ),
    }),
  );
  made.spec.versions[0].schema.openAPIV3Schema["x-kubernetes-validations"] = [
    rule("self.metadata.name != 'forbidden'", { message: "no such name" }),
  ];
  await call("rules", "POST", definitions, { ...plain, body: made });
  await established(server, `ruleds.${group}`);
  const collection = `/apis/${group}/v1/namespaces/${namespace}/ruleds`;
  await served(server, collection);
  const ruledObject = (spec: Json, name = "one"): Json => ({
    apiVersion: `${group}/v1`,
    kind: "Ruled",
    metadata: { name },
    spec,
  });
  await createEach(server, "ruled", collection, ruledObject({ min: 1 }), [
    { "metadata.name": "forbidden" },
    { "spec.max": 0 },
    { "spec.max": 2, "spec.fixed": "a", "spec.grows": 1 },
    { "spec.odd": 2 },
    { "spec.divides": 0 },
    { "spec.divides": 20 },
    { "spec.parts": [{ k: "a", v: 5 }] },
    { "spec.free": { a: 0 } },
    { "spec.amount": "5" },
    { "spec.amount": 500 },
    { "spec.min": undefined, "spec.odd": 2 },
    { "spec.min": "x", "spec.odd": 2 },
  ]);
  const full = ruledObject(
    {
      min: 1,
      max: 2,
      fixed: "a",
      grows: 2,
      odd: 1,
      parts: [{ k: "a", v: 1 }],
      free: { a: 1 },
    },
    "two",
  );
  await updateEach(server, "ruled", collection, full, [
    { "spec.fixed": "b" },
    { "spec.grows": 1 },
    { "spec.grows": 3 },
    { "spec.odd": 2 },
    { "spec.max": 0 },
    { "spec.parts": [{ k: "a", v: 9 }] },
  ]);
}
