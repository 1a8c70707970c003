// A custom resource's way through its schema: unknown fields, nulls, defaults, embedded resources, lists with types.
import { finish } from "../../../../api/queueing/steps.ts";
import { decodeJson } from "../../../../api/codec/json.ts";
import type { FieldError } from "../../../../api/errors.ts";
import { CustomSchema } from "../../../../api/structural/custom-schema.ts";
import type { JSONSchemaProps } from "../../../../api/types/apiextensions-v1.ts";

const text = { type: "string" };
const object = (properties: Record<string, JSONSchemaProps>) => ({
  type: "object",
  properties,
});
const keep = { "x-kubernetes-preserve-unknown-fields": true };

function schemaOf(
  spec: JSONSchemaProps,
  check = (): FieldError[] => [],
): CustomSchema {
  return new CustomSchema(() => object({ spec }), {
    group: "stable.example.com",
    version: "v1",
    kind: "CronTab",
    checkMetadata: check,
  });
}

function read(schema: CustomSchema, spec: string, rest = "") {
  const json = `{"apiVersion":"stable.example.com/v1","kind":"CronTab",${rest}"spec":${spec}}`;
  const { object: made, problems } = decodeJson(
    Buffer.from(json),
    schema.objectSchema,
  );
  return { spec: made["spec"], problems, whole: made };
}

describe("unknown fields", () => {
  const table: [string, JSONSchemaProps, string, unknown, string[]][] = [
    [
      "are dropped, and reported in the order of their paths",
      object({ a: object({ b: text }) }),
      `{"z":1,"a":{"b":"x","d":{"e":1},"c":2}}`,
      { a: { b: "x" } },
      ["spec.a.c", "spec.a.d", "spec.z"],
    ],
    [
      "are dropped in the items of lists",
      object({ l: { type: "array", items: object({ b: text }) } }),
      `{"l":[{"b":"x"},{"c":1}]}`,
      { l: [{ b: "x" }, {}] },
      ["spec.l[1].c"],
    ],
    [
      "are kept where the schema says so, and dropped again below named fields",
      { ...object({ a: object({ b: text }) }), ...keep },
      `{"z":{"y":1},"a":{"b":"x","c":2}}`,
      { z: { y: 1 }, a: { b: "x" } },
      ["spec.a.c"],
    ],
    [
      "are kept in the items of a list that keeps them",
      object({ l: { type: "array", items: object({ b: text }), ...keep } }),
      `{"l":[{"c":1}]}`,
      { l: [{ c: 1 }] },
      [],
    ],
    [
      "are dropped inside the values of `additionalProperties: true`",
      { type: "object", additionalProperties: true },
      `{"k":{"inner":1},"s":1}`,
      { k: {}, s: 1 },
      ["spec.k.inner"],
    ],
    [
      "are dropped inside typed values of free keys",
      { type: "object", additionalProperties: object({ b: text }) },
      `{"k":{"b":"x","c":1}}`,
      { k: { b: "x" } },
      ["spec.k.c"],
    ],
    [
      "are dropped in what should be no object",
      object({ a: text }),
      `{"a":{"b":1}}`,
      { a: {} },
      ["spec.a.b"],
    ],
  ];
  test.each(table)("%s", (_, schema, given, wanted, unknown) => {
    const { spec, problems } = read(schemaOf(schema), given);
    expect(spec).toEqual(wanted);
    expect(problems).toEqual(unknown.map((path) => `unknown field "${path}"`));
  });

  test("at the root and in metadata come first and behind duplicates", () => {
    const { problems, whole } = read(
      schemaOf(object({ a: text })),
      `{"b":1,"a":"1","a":"2"}`,
      `"extra":1,"metadata":{"name":"n","labls":{}},`,
    );
    expect(problems).toEqual([
      `duplicate field "spec.a"`,
      `unknown field "metadata.labls"`,
      `unknown field "extra"`,
      `unknown field "spec.b"`,
    ]);
    expect(whole).toEqual({
      apiVersion: "stable.example.com/v1",
      kind: "CronTab",
      metadata: { name: "n" },
      spec: { a: "2" },
    });
  });

  test("of old definitions are kept everywhere", () => {
    const schema = new CustomSchema(() => object({}), {
      group: "g.io",
      version: "v1",
      kind: "K",
      preserveUnknownFields: true,
      checkMetadata: () => [],
    });
    const { spec, problems } = read(schema, `{"a":{"b":null}}`);
    expect(spec).toEqual({ a: { b: null } });
    expect(problems).toEqual([]);
  });

  test("named like parts of prototypes are data", () => {
    const { spec, problems } = read(
      schemaOf(object({ __proto__: text, a: text })),
      `{"__proto__":{"a":1},"constructor":1}`,
    );
    expect(Object.keys(spec as object)).toEqual([]);
    expect(problems).toEqual([
      `unknown field "spec.__proto__"`,
      `unknown field "spec.constructor"`,
    ]);
  });

  test("in great number are reported a hundred times at most", () => {
    const many = JSON.stringify(
      Object.fromEntries(
        Array.from({ length: 5000 }, (_, at) => [`f${at}`, 1]),
      ),
    );
    const { spec, problems } = read(schemaOf(object({})), many);
    expect(spec).toEqual({});
    expect(problems).toHaveLength(100);
  });
});

test("numbers of exact notation become plain, wherever they are", () => {
  const { spec } = read(
    schemaOf({ ...object({ a: { type: "number" } }), ...keep }),
    `{"a":3.0,"b":[1e3,{"c":4.0}],"d":12345678901234567890}`,
  );
  expect(spec).toEqual({
    a: 3,
    b: [1000, { c: 4 }],
    d: Number("12345678901234567890"),
  });
  expect(JSON.stringify(spec)).toBe(
    `{"a":3,"b":[1000,{"c":4}],"d":12345678901234567000}`,
  );
});

test.each([`{"a":1e400}`, `{"b":[{"c":-1e400}]}`, `{"a":1${"0".repeat(400)}}`])(
  "a number beyond all doubles is refused: %s",
  (spec) => {
    const schema = schemaOf({ ...object({ a: { type: "number" } }), ...keep });
    expect(() => read(schema, spec)).toThrow(
      /^CronTab in version "v1" cannot be handled as a CronTab: json: cannot unmarshal number -?1[e0-9]+ into Go value of type float64$/,
    );
  },
);

describe("null", () => {
  test.each<[string, JSONSchemaProps, string, unknown]>([
    ["goes where it may not be", text, `{"a":null}`, {}],
    [
      "stays where it may",
      { ...text, nullable: true },
      `{"a":null}`,
      { a: null },
    ],
    [
      "becomes the default",
      { ...text, default: "d" },
      `{"a":null}`,
      { a: "d" },
    ],
    [
      "stays, as it may, in spite of a default",
      { ...text, nullable: true, default: "d" },
      `{"a":null}`,
      { a: null },
    ],
    [
      "stays in a list, where validation refuses it",
      { type: "array", items: text },
      `{"a":[null]}`,
      { a: [null] },
    ],
    [
      "goes from free keys",
      { type: "object", additionalProperties: text },
      `{"a":{"k":null}}`,
      { a: {} },
    ],
  ])("%s", (_, schema, given, wanted) => {
    const custom = schemaOf(object({ a: schema }));
    const { whole } = read(custom, given);
    custom.setDefaults(whole);
    expect(whole["spec"]).toEqual(wanted);
  });
});

describe("defaults", () => {
  const withDefault = { ...text, default: "A" };
  test.each<[string, JSONSchemaProps, unknown, unknown]>([
    [
      "are set in the items of lists",
      { type: "array", items: object({ a: withDefault, b: text }) },
      [{ a: "1" }, { b: "1" }, {}],
      [{ a: "1" }, { a: "A", b: "1" }, { a: "A" }],
    ],
    [
      "are set in the values of free keys",
      { type: "object", additionalProperties: object({ a: withDefault }) },
      { x: {}, y: { a: "" } },
      { x: { a: "A" }, y: { a: "" } },
    ],
    [
      "are completed by those inside them",
      object({ o: { ...object({ a: withDefault }), default: {} } }),
      {},
      { o: { a: "A" } },
    ],
    [
      "are not set inside what is missing",
      object({ o: object({ a: withDefault }) }),
      {},
      {},
    ],
    ["leave other types alone", object({ a: withDefault }), "text", "text"],
    [
      "of items replace null",
      { type: "array", items: withDefault },
      ["x", null],
      ["x", "A"],
    ],
  ])("%s", (_, schema, given, wanted) => {
    const custom = schemaOf(schema);
    const whole = { spec: structuredClone(given) };
    custom.setDefaults(whole);
    expect(whole.spec).toEqual(wanted);
    custom.setDefaults(whole);
    expect(whole.spec).toEqual(wanted);
  });

  test("are copies of their own", () => {
    const custom = schemaOf(
      object({ o: { ...object({ a: text }), default: { a: "x" } } }),
    );
    const [one, two] = [{ spec: {} }, { spec: {} }];
    custom.setDefaults(one);
    (one.spec as { o: { a: string } }).o.a = "changed";
    custom.setDefaults(two);
    expect(two).toEqual({ spec: { o: { a: "x" } } });
  });
});

describe("embedded resources", () => {
  const embedded = {
    type: "object",
    "x-kubernetes-embedded-resource": true,
    ...keep,
  };

  test("keep their envelope, and lose what metadata does not have", () => {
    const { spec, problems } = read(
      schemaOf(
        object({
          e: {
            ...object({ spec: object({ a: text }) }),
            ...embedded,
            "x-kubernetes-preserve-unknown-fields": false,
          },
        }),
      ),
      `{"e":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"n","nam":1,"labels":{"a":"b"}},"spec":{"b":1},"x":1}}`,
    );
    expect(spec).toEqual({
      e: {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "n", labels: { a: "b" } },
        spec: {},
      },
    });
    expect(problems).toEqual([
      `unknown field "spec.e.spec.b"`,
      `unknown field "spec.e.x"`,
      `unknown field "spec.e.metadata.nam"`,
    ]);
  });

  test.each([
    [
      `{"e":{"apiVersion":1,"kind":"Pod"}}`,
      "spec.e.apiVersion: Invalid value: 1: must be a string",
    ],
    [
      `{"e":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":1}}}}`,
      'spec.e.metadata: Invalid value: map[string]interface {}{"labels":map[string]interface {}{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    ],
  ])("of wrong types can't be read: %s", (given, why) => {
    expect(() => read(schemaOf(object({ e: embedded })), given)).toThrow(
      `CronTab in version "v1" cannot be handled as a CronTab: ${why}`,
    );
  });

  test("are validated", () => {
    const custom = schemaOf(object({ e: embedded }), () => [
      { type: "FieldValueInvalid", field: "metadata.name", detail: "wrong" },
    ]);
    const problemsOf = (e: object) =>
      finish(custom.validate({ spec: { e } })).map(
        ({ field, detail }) => `${field}: ${detail}`,
      );
    expect(problemsOf({})).toEqual([
      "spec.e.apiVersion: Required value: must not be empty",
      "spec.e.kind: Required value: must not be empty",
    ]);
    expect(
      problemsOf({ apiVersion: "a/b/c", kind: "no kind", metadata: {} }),
    ).toEqual([
      'spec.e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
      expect.stringMatching(
        /^spec\.e\.kind: Invalid value: "no kind": may have mixed case, but should otherwise match: a DNS-1035 label/,
      ),
      "spec.e.metadata.name: wrong",
    ]);
  });
});

describe("lists that are sets or maps", () => {
  const set = { type: "array", items: text, "x-kubernetes-list-type": "set" };
  const map = (keys: string[]) => ({
    type: "array",
    items: object({ a: text, b: text, inner: set }),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": keys,
  });
  const problemsOf = (schema: JSONSchemaProps, l: unknown, was?: unknown) =>
    finish(
      schemaOf(object({ l: schema })).validate(
        { spec: { l } },
        was === undefined ? undefined : { spec: { l: was } },
      ),
    )
      .filter(({ type }) => type === "FieldValueDuplicate")
      .map(({ field, detail }) => `${field}: ${detail}`);

  test.each<[JSONSchemaProps, unknown, string[]]>([
    [set, ["a", "b", "a", "a"], ['spec.l[2]: Duplicate value: "a"']],
    [{ ...set, items: { type: "integer" } }, [1, "1"], []],
    [
      { ...set, items: object({ a: text, b: text }) },
      [
        { a: "1", b: "2" },
        { b: "2", a: "1" },
      ],
      ['spec.l[1]: Duplicate value: map[string]interface {}{"a":"1", "b":"2"}'],
    ],
    [
      map(["a"]),
      [{ a: "1" }, { a: "1" }, {}, {}],
      [
        'spec.l[1]: Duplicate value: map[string]interface {}{"a":"1"}',
        "spec.l[3]: Duplicate value: map[string]interface {}{}",
      ],
    ],
    [
      map(["a", "b"]),
      [
        { a: "1", b: "1" },
        { a: "1", b: "2" },
      ],
      [],
    ],
    [
      map(["a"]),
      [{ a: "1", inner: ["x", "x"] }],
      ['spec.l[0].inner[1]: Duplicate value: "x"'],
    ],
  ])("%#", (schema, list, wanted) => {
    expect(problemsOf(schema, list)).toEqual(wanted);
    expect(problemsOf(schema, list, [])).toEqual(wanted);
    expect(problemsOf(schema, list, list)).toEqual([]);
  });

  test("of great length take linear time", () => {
    const list = Array.from({ length: 100_000 }, (_, at) => `v${at}`);
    const began = process.cpuUsage();
    expect(problemsOf(set, [...list, "v7"])).toHaveLength(1);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(1000);
  });
});
