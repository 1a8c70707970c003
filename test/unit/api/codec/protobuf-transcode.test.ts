// Transcoding JSON bytes gives what encoding the parsed object gives, for every kind of the type table, whatever the values
// are; and it is the bytes that were transcoded, not a fallback, wherever an object has the form of its type.
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stringified } from "../../../../api/escaped-json.ts";
import {
  encodeProtobuf,
  listItem,
  transcodeProtobuf,
} from "../../../../api/codec/protobuf.ts";
import { ProtobufTranscoder } from "../../../../api/codec/transcode/protobuf-transcode.ts";
import { WireWriter } from "../../../../api/codec/wire-writer.ts";
import {
  messageNamed,
  messageNameOfKind,
  messageNames,
  versionOfPackage,
  type MessageField,
} from "../../../../api/type-table.ts";
import { fuzzParameters } from "./fuzz-parameters.ts";

interface Typed {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What the encoder makes of a parsed object, without the envelope, its tag and its length. */
function encodeMessage(object: object): Buffer {
  const item = listItem(encodeProtobuf(object));
  return item.subarray(item.findIndex((byte, at) => at > 0 && byte < 0x80) + 1);
}

const transcoder = new ProtobufTranscoder();

/** Undefined where the transcoder refuses. */
function transcode(object: Typed, text = stringified(object)) {
  const { apiVersion, kind } = object;
  const writer = WireWriter.create();
  const name = messageNameOfKind(apiVersion, kind)!;
  return transcoder.transcode(writer, name, Buffer.from(text))
    ? writer.finish()
    : undefined;
}

const golden = join(__dirname, "../fixtures/golden");
const goldenNames = readdirSync(golden)
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.replace(".json", ""));

test.each(goldenNames)("golden %s", (name) => {
  const object = JSON.parse(
    readFileSync(join(golden, `${name}.json`), "utf8"),
  ) as Typed;
  const json = Buffer.from(`${stringified(object)}\n`);
  const bytes = readFileSync(join(golden, `${name}.pb`));
  const made = transcodeProtobuf(json, object.apiVersion, object.kind);
  expect(made.toString("hex")).toBe(bytes.toString("hex"));
  expect(transcode(object)).toBeDefined();
});

const kinds: Typed[] = [...messageNames()]
  .map((name) => ({ name, message: messageNamed(name)! }))
  .filter(({ message }) => message.isKind && message.onWire)
  .map(({ name, message }) => ({
    apiVersion: versionOfPackage(name.slice(0, name.lastIndexOf("."))),
    kind: message.name,
  }))
  .filter(({ apiVersion, kind }) => messageNameOfKind(apiVersion, kind));

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary", maxLength: 80 }),
  fc.constantFrom("", "a", 'a"b', "\\", "ä€😀", "\ud800", "x".repeat(300)),
  fc.constant(`${"y".repeat(60)}"z\\`),
);
const time = fc.oneof(
  fc
    .date({
      min: new Date(0),
      max: new Date("2200-01-01"),
      noInvalidDate: true,
    })
    .map((date) => `${date.toISOString().slice(0, 19)}Z`),
  fc.constantFrom(
    "",
    "1969-12-31T23:59:59Z",
    "2024-02-29T12:00:00Z",
    "2023-02-30T12:00:00Z",
    "2024-01-01T24:00:00Z",
    "2024-01-01T00:00:00.5Z",
    "2024-01-01T00:00:00+02:00",
    "2024-13-01T00:00:00Z",
    "0000-00-00T00:00:00Z",
    "2o24-01-01T00:00:00Z",
  ),
);
const number = fc.oneof(
  fc.integer(),
  fc.constantFrom(0, -0, -1, 127, 128, 2 ** 31 - 1, -(2 ** 31), 999_999_999),
);
const json = fc.jsonValue({ maxDepth: 2 });

/** A value of the field's own form. */
function valueOf(field: MessageField, depth: number): fc.Arbitrary<unknown> {
  switch (field.scalar) {
    case "string":
      return text;
    case "bool":
      return fc.boolean();
    case "int32":
      return number;
    case "int64":
      return fc.oneof(number, fc.maxSafeInteger());
    case "double":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "bytes":
      return fc
        .uint8Array()
        .map((each) => Buffer.from(each).toString("base64"));
    default:
      return messageOf(field.message!, depth);
  }
}

function messageOf(name: string, depth: number): fc.Arbitrary<unknown> {
  const message = messageNamed(name)!;
  switch (message.name) {
    case "Time":
    case "MicroTime":
      return time;
    case "Duration":
      return fc.constantFrom("0s", "1m30s", "");
    case "Quantity":
    case "QuantityValue":
      return fc.constantFrom("1", "100m", "12Gi", "");
    case "IntOrString":
      return fc.oneof(number, text);
    case "RawExtension":
    case "FieldsV1":
      return fc.dictionary(text, json, { maxKeys: 3 });
    case "JSON":
      return json;
    case "ExtraValue":
    case "Verbs":
      return fc.array(text, { maxLength: 3 });
    case "JSONSchemaPropsOrBool":
      return fc.oneof(fc.boolean(), propsOf(name, depth));
    case "JSONSchemaPropsOrArray":
      return fc.oneof(
        fc.array(propsOf(name, depth), { maxLength: 2 }),
        propsOf(name, depth),
      );
    case "JSONSchemaPropsOrStringArray":
      return fc.oneof(fc.array(text, { maxLength: 2 }), propsOf(name, depth));
  }
  return objectOf(name, depth);
}

function propsOf(name: string, depth: number): fc.Arbitrary<unknown> {
  return objectOf(
    `${name.slice(0, name.lastIndexOf("."))}.JSONSchemaProps`,
    depth,
  );
}

/** Some of the fields, in any order. */
function objectOf(name: string, depth: number): fc.Arbitrary<object> {
  if (depth === 0) return fc.constant({});
  const { fields } = messageNamed(name)!;
  const shown = fields.filter(({ number: each }) => each > 0);
  return fc
    .tuple(
      fc.shuffledSubarray(shown, { maxLength: Math.min(shown.length, 5) }),
      fc.infiniteStream(fc.nat(7)),
    )
    .chain(([chosen]) =>
      fc.tuple(...chosen.map((field) => membersOf(field, depth - 1))),
    )
    .map((members) => Object.assign({}, ...members) as object);
}

function membersOf(field: MessageField, depth: number): fc.Arbitrary<object> {
  if (field.inlined)
    return messageOf(field.message!, depth) as fc.Arbitrary<object>;
  const value = valueOf(field, depth);
  const shaped =
    field.label === "list"
      ? fc.array(value, { maxLength: 3 })
      : field.label === "map"
        ? fc.dictionary(text, value, { maxKeys: 4 })
        : value;
  return fc
    .option(shaped, { freq: 8 })
    .map((each) => ({ [field.jsonName]: each }));
}

const parameters = <T>(runs: number): fc.Parameters<T> =>
  fuzzParameters({ runs, seed: 20261122, share: 1 / 2 });

test("any object of any kind", () => {
  expect(kinds.length).toBeGreaterThan(80);
  let transcoded = 0;
  let all = 0;
  fc.assert(
    fc.property(
      fc
        .constantFrom(...kinds)
        .chain((type) =>
          objectOf(messageNameOfKind(type.apiVersion, type.kind)!, 5).map(
            (fields) => ({ ...fields, ...type }),
          ),
        ),
      (object) => {
        all++;
        const bytes = transcode(object);
        if (!bytes) return;
        transcoded++;
        const text = stringified(object);
        expect(bytes.toString("hex")).toBe(
          encodeMessage(JSON.parse(text) as object).toString("hex"),
        );
      },
    ),
    parameters(4_000),
  );
  // Large numbers and keys with escapes are left to the encoder of objects.
  expect(transcoded / all).toBeGreaterThan(0.5);
});

test("values of forms that their types don't have", () => {
  const corpus = goldenNames.map((name) =>
    readFileSync(join(golden, `${name}.json`), "utf8"),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...corpus),
      fc.array(fc.tuple(fc.nat(), json), { minLength: 1, maxLength: 4 }),
      (golden, changes) => {
        const object = JSON.parse(golden) as Typed;
        for (const [where, value] of changes) replace(object, where, value);
        const text = stringified(object);
        // The encoder throws on some of them.
        const bytes = attempt(() => transcode(object, text));
        const expected = attempt(() =>
          encodeMessage(JSON.parse(text) as object),
        );
        if (bytes)
          expect(bytes.toString("hex")).toBe(expected?.toString("hex"));
      },
    ),
    parameters(2_000),
  );
});

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** Puts `value` in the place of one of the values below an object's members. */
function replace(object: Typed, where: number, value: unknown): void {
  const places: [Record<string, unknown>, string][] = [];
  const visit = (each: unknown): void => {
    if (typeof each !== "object" || each === null) return;
    for (const key of Object.keys(each)) {
      if (each === object && (key === "kind" || key === "apiVersion")) continue;
      places.push([each as Record<string, unknown>, key]);
      visit((each as Record<string, unknown>)[key]);
    }
  };
  visit(object);
  if (places.length === 0) return;
  const [holder, key] = places[where % places.length]!;
  holder[key] = value;
}

const secret = (data: string) =>
  `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a"},"data":${data}}`;

test.each([
  ["white space", secret("{ }")],
  ["a key twice", secret('{"a":"YQ==","a":"Yg=="}')],
  ["cut off", secret('{"a":"YQ==')],
  ["a trailing comma", secret('{"a":"YQ==",}')],
  ["a wrong bracket", secret('{"a":"YQ=="]')],
  ["text behind it", `${secret("{}")}{}`],
  ["nothing", ""],
  ["deeper than 512", secret("[".repeat(600) + "]".repeat(600))],
  ["a list for a map", secret("[]")],
  [
    "a number with a point for an integer",
    '{"kind":"Pod","apiVersion":"v1","spec":{"priority":1.5}}',
  ],
])("refuses %s", (_name, json) => {
  const type = json.includes("Pod") ? "Pod" : "Secret";
  expect(transcode({ apiVersion: "v1", kind: type }, json)).toBeUndefined();
});

test("every beginning of a text is refused", () => {
  const text = secret('{"a":"YQ==","b\\n":"","c":null}');
  for (let end = 0; end < text.length; end++)
    expect(
      transcode({ apiVersion: "v1", kind: "Secret" }, text.slice(0, end)),
    ).toBeUndefined();
});

test("what can't be transcoded is encoded from the parsed object", () => {
  const object = {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name: "a", labels: { 'a"b': "1" } },
    spec: { containers: [], priority: 2 ** 31 - 1 },
  };
  const json = Buffer.from(stringified(object));
  expect(transcode(object)).toBeUndefined();
  expect(
    transcodeProtobuf(json, "v1", "Pod").equals(encodeProtobuf(object)),
  ).toBe(true);
});

test("documents of managed fields that are known and those that are not", () => {
  for (let round = 0; round < 12; round++) {
    const object = {
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: {
        name: "a",
        managedFields: [0, 1, 2].map((each) => ({
          manager: "m",
          fieldsV1: { [`f:${(round * each) % 7}"}`]: { "f:a": {} } },
        })),
      },
      data: { fieldsV1: "{}" },
    };
    expect(transcode(object)?.equals(encodeMessage(object))).toBe(true);
  }
});

test("lengths on both sides of what one more byte is needed for", () => {
  for (const length of [0, 39, 41, 47, 48, 49, 126, 127, 128, 16_382, 16_384]) {
    const object = {
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { name: "a".repeat(length) },
      data: { [`k${"b".repeat(length)}`]: "c".repeat(length), a: '"' },
    };
    expect(transcode(object)?.equals(encodeMessage(object))).toBe(true);
  }
});
