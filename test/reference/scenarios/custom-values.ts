// Values of custom resources against their schemas: types, limits, formats, alternatives, defaults, and what an update
// accepts because it has not changed.
import { removeGroup } from "../remove-group.ts";
import { changed, createEach, each, plain, type Changes } from "../cases.ts";
import type { Json } from "../normalise.ts";
import type { Scenario, Server } from "../scenario.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const group = "values.example.com";
const text = { type: "string" };
const integer = { type: "integer" };
const number = { type: "number" };
const object = (properties: Json, rest: Json = {}): Json => ({
  type: "object",
  properties,
  ...rest,
});

/** By format: values, good and bad. */
const formats: Record<string, readonly string[]> = {
  bsonobjectid: [
    "507f1f77bcf86cd799439011",
    "507f",
    "507F1F77BCF86CD799439011",
  ],
  uri: [
    "http://a.b/c?d#e",
    "/path",
    "path",
    "mailto:x@y",
    "http://[::1]:80/",
    "http://[::1",
    "http://a b/",
    "http://a/b c",
    "http://h:x/",
    "http://h:1/%zz",
    "http://u:p@h/",
    "http://u p@h/",
    "*",
    "",
    ":x",
    "1http://x",
    "//host/path",
    "http:///x",
    "http://%41/",
    "http://h%20x/",
  ],
  email: [
    "a@b",
    "a@b.c",
    "Ann Doe <a@b.c>",
    '"q s"@b.c',
    '"Ann \\"D\\"" <a@b.c>',
    "a@[192.0.2.1]",
    "a@b (c)",
    "a",
    "a@",
    "@b",
    "a b@c",
    "a..b@c",
    ".a@b",
    "a@b,c@d",
    "<a@b>",
    "ä@b.c",
    "Ann. Doe <a@b.c>",
    " a@b ",
  ],
  hostname: [
    "example.com",
    "a",
    "a-b",
    "foo-bar",
    "-a",
    "a-",
    "a_b.com",
    "1.example.org",
    "a.1",
    "a.b-c.de",
    "ü.de",
    `${"a".repeat(64)}.com`,
    "a..b",
    "a.com.",
  ],
  ipv4: [
    "1.2.3.4",
    "01.002.3.4",
    "::ffff:1.2.3.4",
    "1.2.3",
    "::1",
    "1.2.3.256",
  ],
  ipv6: ["::1", "2001:db8::", "::ffff:1.2.3.4", "1.2.3.4", "::1%eth0", "g::"],
  cidr: [
    "10.0.0.0/8",
    "10.1.2.3/8",
    "010.0.0.0/8",
    "::/0",
    "10.0.0.0",
    "10.0.0.0/33",
    "10.0.0.0/08",
  ],
  mac: [
    "00:00:5e:00:53:01",
    "00-00-5e-00-53-01",
    "0000.5e00.5301",
    "02:00:5e:10:00:00:00:01",
    "00:00:5e:00:53",
    "00:00-5e:00:53:01",
  ],
  uuid: [
    "A987FBC9-4BED-3078-CF07-9141BA07C9F3",
    "a987fbc94bed3078cf079141ba07c9f3",
    "a987fbc9",
  ],
  uuid3: [
    "a987fbc9-4bed-3078-cf07-9141ba07c9f3",
    "57b73598-8764-4ad0-a76a-679bb6640eb1",
  ],
  uuid4: [
    "57b73598-8764-4ad0-a76a-679bb6640eb1",
    "57b73598-8764-4ad0-c76a-679bb6640eb1",
  ],
  uuid5: [
    "987fbc97-4bed-5078-9f07-9141ba07c9f3",
    "987fbc97-4bed-4078-9f07-9141ba07c9f3",
  ],
  isbn: ["0321751043", "978-0321751041", "0321751044", "080442957X"],
  isbn10: ["3836221195", "978-0321751041"],
  isbn13: ["9784873113685", "3836221195"],
  creditcard: ["4111-1111-1111-1111", "4111111111111112", "a4111111111111111"],
  ssn: ["111-11-1111", "123 45 6789", "111111111", "11-111-1111"],
  hexcolor: ["#fff", "FFFFFF", "#ff"],
  rgbcolor: [
    "rgb(0,31,255)",
    "rgb( 1 , 2 , 3 )",
    "rgb(1,2,256)",
    "rgb(01,2,3)",
  ],
  byte: ["dGVzdA==", "abcd", "abc", "", "a=bc", "ab=="],
  password: ["", "x"],
  date: ["2024-02-29", "2023-02-29", "2024-2-1", "0000-01-01"],
  duration: [
    "1h",
    "1.5s",
    "2 weeks",
    "10days",
    "0",
    "-1h",
    "x",
    "5",
    "3 fortnights",
    "1h2x",
    "1.5 days",
    "99999999999999999999s",
  ],
  "date-time": [
    "2014-12-15T19:30:20.000Z",
    "2014-12-15t19:30:20+02:00",
    "2014-12-15",
    "2014-12-15T25:30:20Z",
    "2014-12-15T19:30:20",
    "2014-12-32T19:30:20Z",
    "2014-12-15T19:30:20,5Z",
  ],
  unheard: ["x"],
  int32: ["x"],
};

const fields: Json = {
  t: { ...text, minLength: 2, maxLength: 4, pattern: "^[a-z😀]+$" },
  i: { ...integer, minimum: 1, maximum: 10, multipleOf: 2 },
  cut: { ...number, minimum: 0.5, maximum: 2.5, exclusiveMaximum: true },
  step: { ...number, multipleOf: 0.1 },
  half: { ...number, multipleOf: 0.5 },
  e: { ...text, enum: ["a", "b"] },
  ei: { ...integer, enum: [1, 2] },
  eo: object({ a: text }, { enum: [{ a: "x" }] }),
  en: { ...text, enum: ["a"], nullable: true },
  b: { type: "boolean" },
  l: { type: "array", items: text, minItems: 1, maxItems: 2 },
  m: {
    type: "object",
    additionalProperties: integer,
    minProperties: 1,
    maxProperties: 2,
  },
  r: object({ a: text, b: text }, { required: ["a", "b"] }),
  any: object(
    { a: text, b: { ...text } },
    {
      anyOf: [
        { required: ["a"] },
        { required: ["b"], properties: { b: { pattern: "^x" } } },
      ],
    },
  ),
  one: object(
    { a: text, b: text, c: text },
    { oneOf: [{ required: ["a"] }, { required: ["b"] }, { required: ["c"] }] },
  ),
  all: object(
    { a: text, b: text },
    { allOf: [{ required: ["a"] }, { properties: { b: { minLength: 2 } } }] },
  ),
  not: object({ a: text }, { not: { required: ["a"] } }),
  ios: { "x-kubernetes-int-or-string": true, pattern: "^[0-9]+%$" },
  fe: { ...text, format: "email" },
  set: { type: "array", items: integer, "x-kubernetes-list-type": "set" },
  map: {
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k", "p"],
    items: object(
      { k: text, p: { ...text, default: "TCP" }, v: { ...text, maxLength: 2 } },
      { required: ["k"] },
    ),
  },
  emb: {
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
  },
  d: object({ x: { ...text, default: "X" } }, { default: {} }),
};

const values: Changes[] = [
  ...each("spec.t", [
    "ab",
    "a",
    "abcde",
    "AB",
    1,
    null,
    "😀😀😀😀",
    true,
    [],
    {},
  ]),
  ...each("spec.i", [2, 0, 12, 3, 2.5, "2", 1e20, null]),
  ...each("spec.cut", [0, 0.25, 1, 2.25, 2.5, 3]),
  ...each("spec.step", [0.3, 0.25, 1, "x"]),
  ...each("spec.half", [1, 1.5, 1.25]),
  ...each("spec.e", ["a", "c", 1]),
  ...each("spec.ei", [1, 3, 1.5]),
  ...each("spec.eo", [{ a: "x" }, { a: "y" }]),
  ...each("spec.en", ["a", null]),
  ...each("spec.b", [true, "true", 0]),
  ...each("spec.l", [["a"], [], ["a", "b", "c"], [1], {}, "a", [null]]),
  ...each("spec.m", [{ a: 1 }, {}, { a: 1, b: 2, c: 3 }, { a: "x" }, []]),
  ...each("spec.r", [{ a: "1", b: "1" }, { a: "1" }, { b: null }]),
  ...each("spec.any", [{ a: "1" }, { b: "x" }, { b: "y" }, {}]),
  ...each("spec.one", [{ a: "1" }, { a: "1", b: "1" }, {}]),
  ...each("spec.all", [{ a: "1", b: "22" }, { b: "22" }, { b: "2" }]),
  ...each("spec.not", [{}, { a: "1" }]),
  ...each("spec.ios", [5, "5%", "5", 1.5, true, null]),
  ...each("spec.fe", [1, true, [], {}]),
  ...each("spec.set", [
    [1, 2],
    [1, 2, 1, 1],
  ]),
  ...each("spec.map", [
    [{ k: "a" }, { k: "a", p: "UDP" }],
    [{ k: "a" }, { k: "a", p: "TCP" }],
    [{ k: "a" }, 1],
    [{}],
  ]),
  ...each("spec.emb", [
    { apiVersion: "v1", kind: "Pod", metadata: { name: "x", nope: 1 } },
    { kind: "Pod" },
    { apiVersion: "a/b/c", kind: "Pod" },
    { apiVersion: "v1", kind: "a b" },
    { apiVersion: "v1", kind: 1 },
    { apiVersion: "v1", kind: "Pod", metadata: { name: "A/b" } },
    { apiVersion: "v1", kind: "Pod", metadata: { labels: { a: 1 } } },
    { apiVersion: "v1", kind: "Pod", metadata: { labels: { "a b": "1" } } },
  ]),
  ...each("spec.d", [{}, null, { x: null }, { x: "" }]),
  ...Object.entries(formats).flatMap(([format, all]) =>
    each(`spec.f_${format}`, all),
  ),
];

export const customValues: Scenario = {
  name: "custom-values",
  async run(server) {
    const collection = await define(server);
    const base: Json = {
      apiVersion: `${group}/v1`,
      kind: "Value",
      metadata: { name: "one" },
      spec: {},
    };
    await createEach(server, "value", collection, base, values);
    await ratcheting(server);
    await removeGroup(server, group);
  },
};

/** What was right when it was written, and is wrong by the schema of today, may stay as long as it does not change. */
async function ratcheting({ call, namespace }: Server): Promise<void> {
  const short = { ...text, maxLength: 2 };
  const ruled = {
    ...integer,
    "x-kubernetes-validations": [{ rule: "self > 5", message: "too small" }],
  };
  const definitionOf = (parts: Json): Json => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `ratchets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "ratchets", kind: "Ratchet" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: object({ spec: object(parts) }) },
        },
      ],
    },
  });
  const keyed = (items: Json): Json => ({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["k"],
    items: object(items, { required: ["k"] }),
  });
  const list = (rest: Json): Json => ({ type: "array", items: text, ...rest });
  const any = { type: "object", additionalProperties: text };
  const before = {
    a: text,
    b: text,
    n: integer,
    o: object({ x: text, y: text }),
    keyed: keyed({ k: text, v: text }),
    plain: list({}),
    set: list({}),
    free: any,
  };
  const now = {
    a: short,
    b: short,
    n: ruled,
    o: object({ x: text, y: text }, { required: ["z"] }),
    keyed: keyed({ k: text, v: short }),
    plain: { ...list({}), items: short },
    set: list({ "x-kubernetes-list-type": "set" }),
    free: { ...any, additionalProperties: short },
  };
  const path = `${definitions}/ratchets.${group}`;
  await call("", "POST", definitions, {
    body: definitionOf(before),
    silent: true,
  });
  const collection = `/apis/${group}/v1/namespaces/${namespace}/ratchets`;
  await until(
    async () =>
      (await call("until", "GET", collection, { silent: true })).status,
    200,
  );
  const ratchet = {
    apiVersion: `${group}/v1`,
    kind: "Ratchet",
    metadata: { name: "one" },
    spec: {
      a: "long",
      n: 1,
      o: { x: "1" },
      keyed: [
        { k: "1", v: "long" },
        { k: "2", v: "long" },
      ],
      plain: ["long"],
      set: ["a", "a"],
      free: { x: "long" },
    },
  };
  await call("", "POST", collection, { body: ratchet, silent: true });
  const { body: live } = await call("", "GET", path, { silent: true });
  const { versions } = definitionOf(now).spec;
  await call("", "PUT", path, {
    body: { ...live, spec: { ...live.spec, versions } },
    silent: true,
  });
  const wrong = {
    body: { ...ratchet, metadata: { name: "two" } },
    silent: true,
  };
  await until(
    async () =>
      (await call("until", "POST", `${collection}?dryRun=All`, wrong)).status,
    422,
  );
  const { body: sent } = await call("", "GET", `${collection}/one`, {
    silent: true,
  });
  delete sent.metadata.managedFields;
  for (const [label, changes] of Object.entries(ratchets))
    await call(`ratchet ${label}`, "PUT", `${collection}/one?dryRun=All`, {
      ...plain,
      body: changed(sent, changes),
      keep: (body: Json) =>
        body?.kind === "Status" ? plain.keep!(body) : "accepted",
    });
}

const ratchets: Record<string, Changes> = {
  nothing: {},
  metadata: { "metadata.labels": { a: "b" } },
  "another field": { "spec.b": "x" },
  "another field, wrong": { "spec.b": "long" },
  "the field": { "spec.a": "longer" },
  "the field to good": { "spec.a": "x" },
  "a number with a rule": { "spec.n": 2 },
  "a field beside what is required": { "spec.o.y": "1" },
  "an item": { "spec.keyed.0.v": "longer" },
  "the order of items": {
    "spec.keyed": [
      { k: "2", v: "long" },
      { k: "1", v: "long" },
    ],
  },
  "an item's key": { "spec.keyed.0.k": "3" },
  "one item more": { "spec.keyed.2": { k: "3", v: "x" } },
  "a plain list": { "spec.plain.1": "x" },
  "a set": { "spec.set.2": "a" },
  "a free key": { "spec.free.y": "x" },
  "a free key, wrong": { "spec.free.y": "long" },
};

async function until(
  ask: () => Promise<number>,
  wanted: number,
): Promise<void> {
  const end = Date.now() + 20_000;
  while (Date.now() < end) {
    if ((await ask()) === wanted) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no ${wanted}`);
}

async function define({ call, namespace }: Server): Promise<string> {
  const withFormats = Object.fromEntries(
    Object.keys(formats).map((format) => [`f_${format}`, { ...text, format }]),
  );
  const body = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `values.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "values", kind: "Value" },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: object({
              spec: object({ ...fields, ...withFormats }),
            }),
          },
        },
      ],
    },
  };
  await call("", "POST", definitions, { body, silent: true });
  const collection = `/apis/${group}/v1/namespaces/${namespace}/values`;
  await until(
    async () =>
      (await call("until", "GET", collection, { silent: true })).status,
    200,
  );
  return collection;
}
