// Random and mutated input for every codec: they answer with a value or an ApiError 400, never with anything else, and
// what was decoded survives another round.
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  decodeCbor,
  encodeCbor,
  parseCbor,
} from "../../../../api/codec/cbor.ts";
import { decodeJson } from "../../../../api/codec/json.ts";
import {
  decodeProtobuf,
  encodeProtobuf,
} from "../../../../api/codec/protobuf.ts";
import {
  decodeYaml,
  encodeYaml,
  ManifestError,
  parseManifests,
} from "../../../../api/codec/yaml.ts";
import { parseYaml } from "../../../../api/codec/yaml-text.ts";
import { applyDefaults } from "../../../../api/defaults.ts";
import { ApiError } from "../../../../api/errors.ts";
import { schemaFor } from "../../../../api/schema.ts";
import { fuzzParameters } from "./fuzz-parameters.ts";

const parameters = <T>(runs: number): fc.Parameters<T> =>
  fuzzParameters({ runs, seed: 20240601, share: 1 / 6 });

const golden = join(__dirname, "../fixtures/golden");
const files = readdirSync(golden);
const read = (ending: string): Buffer[] =>
  files
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(golden, name)));
const pod = schemaFor("", "v1", "Pod")!;
const crd = schemaFor(
  "apiextensions.k8s.io",
  "v1",
  "CustomResourceDefinition",
)!;

function refusedOr<T>(
  decode: () => T,
  ...more: (new (...args: never[]) => Error)[]
): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof ApiError && error.code === 400) return undefined;
    if (more.some((type) => error instanceof type)) return undefined;
    throw error;
  }
}

/** A real object's bytes with a few of them changed, cut or repeated. */
const mutated = (corpus: Buffer[]): fc.Arbitrary<Buffer> =>
  fc
    .tuple(
      fc.constantFrom(...corpus),
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.nat(255),
          fc.constantFrom("set", "cut", "insert"),
        ),
        { minLength: 1, maxLength: 6 },
      ),
    )
    .map(([bytes, changes]) => {
      let result = Buffer.from(bytes);
      for (const [where, value, how] of changes) {
        const at = where % (result.length + 1);
        if (how === "cut")
          result = Buffer.concat([
            result.subarray(0, at),
            result.subarray(at + (value % 16)),
          ]);
        else if (how === "insert")
          result = Buffer.concat([
            result.subarray(0, at),
            Buffer.from([value]),
            result.subarray(at),
          ]);
        else if (at < result.length) result[at] = value;
      }
      return result;
    });

const jsonTree = fc
  .jsonValue({ maxDepth: 5 })
  .filter((value) => !JSON.stringify(value).includes("-0"));

test("protobuf", () => {
  const corpus = read(".pb");
  fc.assert(
    fc.property(mutated(corpus), (bytes) => {
      const object = refusedOr(() => decodeProtobuf(bytes));
      if (object)
        expect(decodeProtobuf(encodeProtobuf(object))).toEqual(object);
    }),
    parameters(3_000),
  );
});

test("JSON", () => {
  const corpus = read(".json");
  fc.assert(
    fc.property(mutated(corpus), (bytes) => {
      const decoded = refusedOr(() => decodeJson(bytes, pod));
      if (!decoded) return;
      const again = decodeJson(
        Buffer.from(JSON.stringify(decoded.object)),
        pod,
      );
      expect(again).toEqual({ object: decoded.object, problems: [] });
      applyDefaults(decoded.object, { group: "", version: "v1", kind: "Pod" });
    }),
    parameters(3_000),
  );
});

test("JSON of random shape against recursive schemas", () => {
  const field = fc.constantFrom(
    ...[
      ...crd.fields.keys(),
      "spec",
      "versions",
      "schema",
      "openAPIV3Schema",
      "properties",
      "items",
    ],
  );
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 8 },
      fc.jsonValue({ maxDepth: 1 }),
      fc.dictionary(field, tie("tree"), { maxKeys: 3 }),
      fc.array(tie("tree"), { maxLength: 2 }),
    ),
  }));
  fc.assert(
    fc.property(tree, (value) => {
      const decoded = refusedOr(() =>
        decodeJson(Buffer.from(JSON.stringify(value)), crd),
      );
      if (decoded)
        expect(
          decodeJson(Buffer.from(JSON.stringify(decoded.object)), crd).object,
        ).toEqual(decoded.object);
    }),
    parameters(3_000),
  );
});

test("YAML text", () => {
  const corpus = read(".json").map((bytes) =>
    encodeYaml(JSON.parse(bytes.toString())).subarray(0, 2000),
  );
  fc.assert(
    fc.property(mutated(corpus), (bytes) => {
      refusedOr(() => decodeYaml(bytes, pod));
      refusedOr(
        () => parseManifests(bytes.toString(), "fuzz.yaml"),
        ManifestError,
      );
    }),
    parameters(3_000),
  );
});

test("YAML and CBOR carry what JSON can", () => {
  fc.assert(
    fc.property(jsonTree, (value) => {
      const plain = JSON.parse(JSON.stringify(value)) as unknown;
      expect(parseYaml(encodeYaml({ plain }).toString())[0]!.value).toEqual({
        plain,
      });
      expect(parseCbor(encodeCbor(plain)).value).toEqual(plain);
    }),
    parameters(3_000),
  );
});

test("CBOR", () => {
  const corpus = read(".json").map((bytes) =>
    encodeCbor(JSON.parse(bytes.toString())),
  );
  fc.assert(
    fc.property(
      fc.oneof(mutated(corpus), fc.uint8Array({ maxLength: 40 })),
      (bytes) => {
        refusedOr(() => decodeCbor(bytes, pod));
      },
    ),
    parameters(3_000),
  );
});
