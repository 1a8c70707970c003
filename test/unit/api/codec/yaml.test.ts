import { cpuMsOf } from "../../../support/cpu-time.ts";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dump, YAML11_SCHEMA } from "js-yaml";
import {
  decodeYaml,
  encodeYaml,
  ManifestError,
  parseManifests,
  parseYamlBody,
} from "../../../../api/codec/yaml.ts";
import { parseYaml } from "../../../../api/codec/yaml-text.ts";
import { ApiError } from "../../../../api/errors.ts";
import { schemaFor } from "../../../../api/schema.ts";

const golden = join(__dirname, "../fixtures/golden");
const pod = schemaFor("", "v1", "Pod")!;
const valueOf = (text: string): unknown => parseYaml(text)[0]!.value;

const read = (name: string): string => readFileSync(join(golden, name), "utf8");
/** As the API writes YAML, by a stranger's emitter. */
const dumped = (json: unknown): string =>
  dump(json, {
    schema: YAML11_SCHEMA,
    sortKeys: true,
    seqNoIndent: true,
    lineWidth: -1,
    quoteStyle: "double",
  });
const kinds = readdirSync(golden)
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.slice(0, -".json".length));
/** Those whose YAML was published; that of the others is made from their JSON. */
const published = ["Pod", "Secret", "ConfigMap"]
  .map((kind) => `core.v1.${kind}`)
  .concat(
    "apps.v1.StatefulSet",
    "autoscaling.v2.HorizontalPodAutoscaler",
    "rbac.authorization.k8s.io.v1.ClusterRole",
  );

test.each(published)("the stranger writes %s as it was published", (name) => {
  expect(dumped(JSON.parse(read(`${name}.json`)))).toBe(read(`${name}.yaml`));
});

test.each(kinds)("golden %s", (name) => {
  const json: unknown = JSON.parse(read(`${name}.json`));
  const yaml = published.includes(name) ? read(`${name}.yaml`) : dumped(json);
  expect(valueOf(yaml)).toEqual(json);
  expect(encodeYaml(json).toString()).toBe(yaml);
});

test.each([
  ["yes", true],
  ["off", false],
  ["y", true],
  ["~", null],
  ["", null],
  ["014", 12],
  ["0o14", 12],
  ["08", 8],
  ["0x1F", 31],
  ["1_000", 1000],
  ["-1", -1],
  ["1e3", 1000],
  [".5", 0.5],
  ["2020-01-02", "2020-01-02"],
  ["1:20", "1:20"],
  ["'yes'", "yes"],
  ["!!str 1", "1"],
  ["!!int '3'", 3],
  ["tRue", "tRue"],
])("scalar %s", (text, value) => {
  expect(valueOf(`a: ${text}`)).toEqual({ a: value });
});

test("text survives a round trip", () => {
  const texts = [
    "",
    "yes",
    "1",
    "a: b",
    "a #b",
    "'x'",
    "a\nb",
    " a\nb",
    "a \nb",
    "\n",
    "a\tb\nc",
    "x ",
    "😀",
    "\x07",
    "---",
    "# no",
  ];
  texts.push(
    "word ".repeat(40).trim(),
    "1.5",
    "null",
    "-",
    "- a",
    "2020-01-02",
    "a\r\nb",
    "a\u2028b",
    "long\x01 ".repeat(30),
  );
  for (const text of texts) {
    const value = {
      key: text,
      [text || "empty"]: 1,
      list: [text, [text, { a: text }], [], {}],
    };
    expect(valueOf(encodeYaml(value).toString())).toEqual(value);
  }
});

test("bodies are decoded strictly, with lines of duplicate keys", () => {
  const { object, problems } = decodeYaml(
    Buffer.from(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  hostname: a\n  hostname: b\n  foo: 1\n  containers: []\n",
    ),
    pod,
  );
  expect(problems).toEqual([
    'yaml: unmarshal errors:\n  line 6: key "hostname" already set in map',
    'unknown field "spec.foo"',
  ]);
  expect(object).toMatchObject({
    metadata: { name: "a" },
    spec: { hostname: "b" },
  });
  expect(
    decodeYaml(Buffer.from('{"metadata":{"name":"a"}}'), pod).object,
  ).toMatchObject({ metadata: { name: "a" } });
  expect(
    decodeYaml(Buffer.from("{metadata: {name: a}}"), pod).object,
  ).toMatchObject({ metadata: { name: "a" } });
});

test("anchors, aliases and merge keys", () => {
  expect(valueOf("a: &x {b: 1, c: 2}\nd: *x\ne: {<<: *x, c: 3}\n")).toEqual({
    a: { b: 1, c: 2 },
    d: { b: 1, c: 2 },
    e: { b: 1, c: 3 },
  });
});

test.each([
  [
    "billion laughs",
    "a: &a [x,x,x,x,x,x,x,x,x]\n" +
      "bcdefghijk".replace(/./g, (c) => {
        const before = String.fromCharCode(c.charCodeAt(0) - 1);
        return `${c}: &${c} [${Array(9).fill(`*${before}`).join(",")}]\n`;
      }),
  ],
  ["self reference", "a: &a [*a]"],
  ["deep", "[".repeat(100_000)],
  ["bad indentation", "a: b: c"],
  ["infinite", "a: .inf"],
  ["a list", "- a"],
  ["map as key", "{a: 1}: b"],
])("hostile or bad: %s", (_name, text) => {
  const cpuMs = cpuMsOf(() =>
    expect(() => decodeYaml(Buffer.from(text), pod)).toThrow(ApiError),
  );
  expect(cpuMs).toBeLessThan(2000);
});

describe("aliases count by the bytes they add", () => {
  const long = (bytes: number, times: number): string =>
    `a: &x ${"v".repeat(bytes)}\nb: [${Array(times).fill("*x").join()}]\n`;

  test.each([
    ["a value of 0.9 MB, 60,000 times", long(900_000, 60_000)],
    ["a value of 4 KB, 20,000 times", long(4000, 20_000)],
    ["a value of 1 MB, four times", long(1_000_000, 4)],
    [
      "characters of three bytes",
      `a: &x ${"中".repeat(350_000)}\nb: [*x,*x,*x]\n`,
    ],
    [
      "values within values",
      `a: &a ${"v".repeat(10_000)}\n${[..."bcd"].map((name, at) => `${name}: &${name} {${Array.from({ length: 9 }, (_, key) => `k${key}: *${"abc"[at]}`).join()}}\n`).join("")}`,
    ],
    [
      "a long key",
      `a: &a {${"k".repeat(500_000)}: 1}\nb: [*a,*a,*a,*a,*a,*a,*a]\n`,
    ],
    [
      "merged maps",
      `a: &a {k: ${"v".repeat(1_000_000)}}\nb: [{<<: *a},{<<: *a},{<<: *a},{<<: *a}]\n`,
    ],
  ])("%s: refused", (_what, text) => {
    let refused: unknown;
    const cpuMs = cpuMsOf(() => {
      try {
        parseYamlBody(Buffer.from(text));
      } catch (error) {
        refused = error;
      }
    });
    expect((refused as Error).message).toMatch(/excessive aliasing/);
    expect(cpuMs).toBeLessThan(400);
  });

  test("up to 3 MiB are copied", () => {
    const { value } = parseYamlBody(Buffer.from(long(100_000, 31)));
    expect((value as { b: string[] }).b).toHaveLength(31);
    expect(() => parseYamlBody(Buffer.from(long(100_000, 32)))).toThrow(
      /excessive aliasing/,
    );
  });
});

test("prototype keys are data", () => {
  const value = valueOf("__proto__: {polluted: true}\n") as object;
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect((value as { polluted?: boolean }).polluted).toBeUndefined();
});

describe("manifests", () => {
  test("documents, lists and positions", () => {
    const text =
      "# top\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: c\n    image: x\n---\n\n---\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n";
    const found = parseManifests(text, "a.yaml");
    expect(found.map(({ object, line }) => [object["kind"], line])).toEqual([
      ["Pod", 3],
      ["Secret", 17],
    ]);
    expect(found[0]!.lineOf("spec.containers[0].image")).toBe(10);
    expect(found[0]!.lineOf("spec.containers[0].resources.limits")).toBe(9);
    expect(found[1]!.lineOf("kind")).toBe(18);
    expect(
      parseManifests('{\n\t"apiVersion": "v1",\n\t"kind": "Pod"}', "a.json"),
    ).toHaveLength(1);
  });
  test.each([
    ["kind: Pod", "m.yaml:1: apiVersion: is required and must be a string"],
    [
      "apiVersion: v1\nkind: Pod\nspec:\n  a: 1\n  a: 2",
      "m.yaml:5: spec.a: key is given twice",
    ],
    [
      "apiVersion: v1\nkind: [",
      "m.yaml:2: unexpected end of the stream within a flow collection",
    ],
    ["- a", "m.yaml:1: an API object is expected"],
  ])("bad: %j", (text, message) => {
    expect(() => parseManifests(text, "m.yaml")).toThrow(
      new ManifestError("m.yaml", 1, "", "").constructor as never,
    );
    expect(() => parseManifests(text, "m.yaml")).toThrow(message);
  });
});
