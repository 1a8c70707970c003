// Bodies made to be expensive, confusing or both, through the whole server: a proper answer, nothing kept, nothing
// polluted, and little processor time for each.
import { gzipSync } from "node:zlib";
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
  server = await startTestServer();
});
afterAll(() => server.stop());
afterEach(async () => {
  // Whatever came, the next one is served.
  expect((await server.call("GET", "/readyz")).text).toBe("ok");
});

const pods = "/api/v1/namespaces/default/pods";
const reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
const type = (name: string): Record<string, string> => ({
  "content-type": `application/${name}`,
});
const yaml = type("yaml");
const protobuf = type("vnd.kubernetes.protobuf");
const merge = type("merge-patch+json");
const strategic = type("strategic-merge-patch+json");
const jsonPatch = type("json-patch+json");
const apply = type("apply-patch+yaml");

/** For client and server together. Most take a few; what is not linear takes many seconds at these lengths. */
const maxCpuMs = 1500;

/** The answer, and the processor time of this process (client and server) meanwhile. */
async function timed(
  ...request: Parameters<TestServer["call"]>
): Promise<Answer & { cpuMs: number }> {
  const started = process.cpuUsage();
  const answer = await server.call(...request);
  const { user, system } = process.cpuUsage(started);
  return { ...answer, cpuMs: (user + system) / 1000 };
}

const pod = (env: object): Json => ({
  metadata: { name: "p" },
  spec: { containers: [{ name: "c", image: "i", env: [env] }] },
});
const fieldPath = (path: string): Json =>
  pod({ name: "E", valueFrom: { fieldRef: { fieldPath: path } } });
const aliased = (bytes: number, times: number): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aliased}\ndata:\n  a: &x ${"v".repeat(bytes)}\n${Array.from({ length: times }, (_, at) => `  k${at}: *x\n`).join("")}`;
const many = (text: string, bytes = 1_000_000): string =>
  text.repeat(Math.ceil(bytes / text.length));
const url = (text: string): Json => ({
  metadata: { name: "w" },
  webhooks: [
    {
      name: "a.b.c",
      clientConfig: { url: text },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    },
  ],
});

test.each<[string, string, string, unknown, Record<string, string>, number[]]>([
  [
    "a content type of blanks",
    "POST",
    reviews,
    "{}",
    { "content-type": `a${" ".repeat(60_000)},` },
    [400, 415],
  ],
  [
    "a content type of parameters",
    "POST",
    configMaps,
    "{}",
    { "content-type": `application/json${";a=b".repeat(15_000)}!` },
    [400, 415],
  ],
  [
    "an Accept header of clauses",
    "GET",
    configMaps,
    undefined,
    { accept: `${"a/b;q=0.1,".repeat(6_000)}*/*` },
    [200, 406],
  ],
  [
    "a fieldPath of subscripts",
    "POST",
    pods,
    fieldPath(many("['", 200_000)),
    {},
    [422],
  ],
  [
    "a fieldPath of brackets",
    "POST",
    pods,
    fieldPath(`metadata.labels${many("['']", 200_000)}`),
    {},
    [422],
  ],
  [
    "a webhook's URL of slashes",
    "POST",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    url(`https://${many("/", 100_000)}#\n`),
    {},
    [422],
  ],
  [
    "a webhook's URL of letters",
    "POST",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    url(`https:${many("a", 100_000)}#\n`),
    {},
    [422],
  ],
  [
    "an image name of dashes",
    "POST",
    pods,
    {
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: many("a-", 200_000) }] },
    },
    {},
    [201, 422],
  ],
  [
    "an alias of 0.9 MB, 60,000 times",
    "POST",
    configMaps,
    aliased(900_000, 60_000),
    yaml,
    [400],
  ],
  [
    "an alias of 4 KB, 20,000 times",
    "POST",
    configMaps,
    aliased(4_000, 20_000),
    yaml,
    [400],
  ],
  [
    "the same to apply",
    "PATCH",
    `${configMaps}/aliased?fieldManager=m`,
    aliased(4_000, 20_000),
    apply,
    [400],
  ],
  [
    "a number of a million digits",
    "POST",
    configMaps,
    `{"metadata":{"name":"n","generation":${"9".repeat(1_000_000)}}}`,
    {},
    [400],
  ],
  [
    "an exponent of a million digits",
    "POST",
    configMaps,
    `{"metadata":{"name":"n","generation":1e${"9".repeat(1_000_000)}}}`,
    {},
    [400],
  ],
  [
    "a YAML number of a million digits",
    "POST",
    configMaps,
    `metadata: {name: n, generation: ${"9".repeat(1_000_000)}}`,
    yaml,
    [400],
  ],
  [
    "a quantity of a million digits",
    "POST",
    pods,
    {
      metadata: { name: "q" },
      spec: {
        containers: [
          {
            name: "c",
            image: "i",
            resources: { limits: { cpu: "9".repeat(1_000_000) } },
          },
        ],
      },
    },
    {},
    [400],
  ],
  [
    "brackets in a label selector",
    "GET",
    `${configMaps}?labelSelector=${"(".repeat(50_000)}`,
    undefined,
    {},
    [400],
  ],
  [
    "commas in a label selector",
    "GET",
    `${configMaps}?labelSelector=${",".repeat(50_000)}`,
    undefined,
    {},
    [200, 400],
  ],
  [
    "values in a label selector",
    "GET",
    `${configMaps}?labelSelector=${encodeURIComponent(`a in (${many("b,", 20_000)}c)`)}`,
    undefined,
    {},
    [200],
  ],
  [
    "requirements in a field selector",
    "GET",
    `${configMaps}?fieldSelector=${encodeURIComponent(many("metadata.name!=a,", 50_000))}`,
    undefined,
    {},
    [200, 400],
  ],
  [
    "escapes in a field selector",
    "GET",
    `${configMaps}?fieldSelector=metadata.name=${"%5C".repeat(20_000)}`,
    undefined,
    {},
    [200, 400],
  ],
  [
    "parameters in a query",
    "GET",
    `${configMaps}?${many("a=b&", 60_000)}`,
    undefined,
    {},
    [414],
  ],
  [
    "a path without end",
    "GET",
    `/api/v1${"/x".repeat(40_000)}`,
    undefined,
    {},
    [414],
  ],
  [
    "a path of escapes",
    "GET",
    `/${"%ff".repeat(20_000)}`,
    undefined,
    {},
    [404],
  ],
  [
    "semicolons in a query",
    "GET",
    `${configMaps}?${many(";%", 60_000)}`,
    undefined,
    {},
    [200],
  ],
  [
    "a duration of digits",
    "GET",
    `${configMaps}?timeout=${"1".repeat(60_000)}`,
    undefined,
    {},
    [400],
  ],
  [
    "a duration of units",
    "GET",
    `${configMaps}?timeout=${"1s".repeat(30_000)}`,
    undefined,
    {},
    [200],
  ],
  [
    "a continue token of zeros",
    "GET",
    `${configMaps}?continue=${"A".repeat(60_000)}`,
    undefined,
    {},
    [400],
  ],
  ["braces", "POST", configMaps, "{".repeat(1_000_000), {}, [400]],
  ["quotes", "POST", configMaps, '"'.repeat(1_000_000), {}, [400]],
  [
    "duplicate keys",
    "POST",
    `${configMaps}?fieldValidation=Strict`,
    `{"data":{${many('"a":"b",', 500_000)}"c":"d"}}`,
    {},
    [400],
  ],
  ["YAML brackets", "POST", configMaps, "[".repeat(1_000_000), yaml, [400]],
  ["YAML dashes", "POST", configMaps, "- ".repeat(500_000), yaml, [400]],
  [
    "YAML question marks",
    "POST",
    configMaps,
    "? ".repeat(500_000),
    yaml,
    [400],
  ],
  ["YAML anchors", "POST", configMaps, many("&a ", 500_000), yaml, [400]],
  ["YAML tags", "POST", configMaps, many("!a ", 500_000), yaml, [400]],
  [
    "YAML indentation",
    "POST",
    configMaps,
    Array.from({ length: 1000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n"),
    yaml,
    [400],
  ],
  [
    "a strategic patch of directives",
    "PATCH",
    `${pods}/p`,
    {
      spec: { containers: Array(20_000).fill({ $patch: "delete", name: "x" }) },
    },
    strategic,
    [200, 400, 404, 422],
  ],
])("%s costs little", async (_what, method, path, body, headers, codes) => {
  const answer = await timed(method, path, body, headers);
  expect(codes).toContain(answer.status);
  expect(answer.cpuMs).toBeLessThan(maxCpuMs);
});

describe("JSON patches", () => {
  const at = `${configMaps}/patched`;
  beforeAll(async () => {
    const data = { a: "x".repeat(10_000) };
    await server.call("POST", configMaps, { ...configMap("patched"), data });
  });

  test("copies that double end before they fill the memory", async () => {
    const copies = Array.from({ length: 40 }, (_, step) => ({
      op: "copy",
      from: step === 0 ? "/data" : `/x${step - 1}`,
      path: `/x${step}`,
    })).flatMap((copy, step) => [
      copy,
      { op: "copy", from: "/data", path: `/x${step}/d` },
      { op: "copy", from: `/x${step}`, path: `/x${step}/e` },
    ]);
    const answer = await timed("PATCH", at, copies, jsonPatch);
    expect([400, 413, 422]).toContain(answer.status);
    expect(answer.cpuMs).toBeLessThan(maxCpuMs);
  });

  test("ten thousand copies of a long value", async () => {
    const copies = Array.from({ length: 10_000 }, (_, step) => ({
      op: "copy",
      from: "/data/a",
      path: `/data/b${step}`,
    }));
    const answer = await timed("PATCH", at, copies, jsonPatch);
    expect([400, 413, 422]).toContain(answer.status);
    expect(answer.cpuMs).toBeLessThan(maxCpuMs);
  });

  test.each([
    "/__proto__/polluted",
    "/constructor/prototype/polluted",
    "/metadata/__proto__/polluted",
    "/data/__proto__/polluted",
    "/data/constructor/prototype/polluted",
    "/metadata/labels/__proto__",
    "/__proto__",
    "/toString",
  ])("%s pollutes nothing", async (path) => {
    for (const op of ["add", "replace", "copy", "move", "test", "remove"]) {
      const answer = await server.call(
        "PATCH",
        at,
        [{ op, path, from: "/data", value: "polluted" }],
        jsonPatch,
      );
      expect(answer.status).toBeLessThan(500);
    }
    expect(({} as Json).polluted).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(String({})).toBe("[object Object]");
  });
});

describe("names of JavaScript's own", () => {
  const names = [
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "__defineGetter__",
    "valueOf",
  ];

  test.each(names)(
    "%s is nothing special in a path or a query",
    async (name) => {
      for (const path of [
        `/${name}`,
        `/api/${name}`,
        `/api/v1/${name}`,
        `/apis/${name}`,
        `/apis/${name}/v1`,
        `/apis/apps/${name}/deployments`,
        `/api/v1/namespaces/${name}/configmaps/x`,
        `${configMaps}/${name}`,
        `${configMaps}/x/${name}`,
        `/openapi/v3/${name}`,
        `/openapi/v3/apis/${name}/v1`,
        `/healthz/${name}`,
        `/metrics/${name}`,
        `/debug/pprof/${name}`,
        `${configMaps}?fieldSelector=${name}%3Dx`,
      ]) {
        const answer = await server.call("GET", path);
        expect([path, answer.status]).toEqual([
          path,
          path.includes("fieldSelector") ? 400 : 404,
        ]);
      }
      for (const query of [
        `labelSelector=${name}`,
        `labelSelector=${name}%3Dx`,
        `${name}=x`,
        `limit=1&continue=&${name}[a]=b`,
      ])
        expect(
          (await server.call("GET", `${configMaps}?${query}`)).status,
        ).toBeLessThan(500);
    },
  );

  test.each(names)(
    "%s is data or refused wherever a body may say it",
    async (name) => {
      const object = `{"${name}":{"polluted":"yes"}}`;
      const bodies: [string, string, string, Record<string, string>][] = [
        [
          "POST",
          configMaps,
          `{"metadata":{"generateName":"n-"},"data":{"${name}":"v"},"${name}":{"polluted":1}}`,
          {},
        ],
        [
          "POST",
          configMaps,
          `metadata: {generateName: n-, labels: {${name}: v}}\n${name}: {polluted: 1}`,
          yaml,
        ],
        [
          "POST",
          pods,
          `{"metadata":{"generateName":"n-","annotations":{"${name}":"v"}},"spec":{"nodeSelector":{"${name}":"v"},"containers":[{"name":"c","image":"i","resources":{"limits":{"${name}":"1"}}}]}}`,
          {},
        ],
        [
          "PATCH",
          `${configMaps}/names`,
          `{"data":{"${name}":"v"},"${name}":{"polluted":1},"metadata":${object}}`,
          merge,
        ],
        [
          "PATCH",
          `${configMaps}/names`,
          `{"data":{"${name}":"v","$patch":"merge"},"${name}":{"polluted":1}}`,
          strategic,
        ],
        [
          "PATCH",
          `${configMaps}/names?fieldManager=m&force=true`,
          `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"names"},"data":{"${name}":"v"}}`,
          apply,
        ],
        [
          "PATCH",
          `${configMaps}/names?fieldManager=${name}&force=true`,
          `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"names","managedFields":[{"manager":"${name}","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:${name}":{"f:x":{}}}}]}}`,
          apply,
        ],
        [
          "PUT",
          `${configMaps}/names`,
          `{"metadata":{"name":"names","managedFields":[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:${name}":{"f:polluted":{}}}}]},"data":{"${name}":"v"}}`,
          {},
        ],
      ];
      await server.call("POST", configMaps, configMap("names"));
      for (const [method, path, body, headers] of bodies) {
        const answer = await server.call(method, path, body, headers);
        expect([body, answer.status >= 500 && answer.text]).toEqual([
          body,
          false,
        ]);
      }
      expect((await server.call("GET", configMaps)).status).toBe(200);
      expect(({} as Json).polluted).toBeUndefined();
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
  );
});

test("a strategic patch of many elements costs no more than their number", async () => {
  const named = (count: number, image: string): Json =>
    Array.from({ length: count }, (_, at) => ({ name: `c${at}`, image }));
  const made = await server.call("POST", pods, {
    metadata: { name: "many" },
    spec: { containers: named(300, "i") },
  });
  expect(made.status).toBe(201);
  for (const spec of [
    { containers: named(10_000, "j") },
    {
      "$setElementOrder/containers": named(30_000, "").map(
        ({ name }: Json) => ({ name }),
      ),
      containers: named(10_000, "j"),
    },
    {
      containers: named(10_000, "").map(({ name }: Json) => ({
        name,
        $patch: "delete",
      })),
    },
    {
      containers: named(5_000, "").map(({ name }: Json) => ({
        name: { name },
      })),
    },
  ]) {
    const answer = await timed("PATCH", `${pods}/many`, { spec }, strategic);
    expect([400, 422]).toContain(answer.status);
    expect(answer.cpuMs).toBeLessThan(2 * maxCpuMs);
  }
  const finalizers = Array.from({ length: 30_000 }, (_, at) => `a.b/c${at}`);
  const removed = await timed(
    "PATCH",
    `${pods}/many?dryRun=All`,
    {
      metadata: {
        "$deleteFromPrimitiveList/finalizers": finalizers,
        "$setElementOrder/finalizers": finalizers.map((one) => `${one}x`),
        finalizers: finalizers.map((one) => `${one}x`),
      },
    },
    strategic,
  );
  expect(removed.status).toBeLessThan(500);
  expect(removed.cpuMs).toBeLessThan(2 * maxCpuMs);
});

describe("protobuf", () => {
  const envelope = encodeProtobuf({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "mutant", labels: { a: "b" }, annotations: { c: "d" } },
    spec: {
      containers: [
        {
          name: "c",
          image: "i",
          env: [{ name: "A", value: "b" }],
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: "1", memory: "1Gi" } },
        },
      ],
    },
  });

  test("bytes changed, cut and repeated are refused or taken, never worse", async () => {
    // Numbers of a fixed seed (mulberry32).
    let seed = 0x5eed;
    const random = (below: number): number => {
      seed = (seed + 0x6d2b79f5) | 0;
      let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
    };
    const counts: Record<string, number> = {};
    for (let round = 0; round < 600; round++) {
      let bytes = Buffer.from(envelope);
      for (let change = random(4); change >= 0; change--) {
        const at = 4 + random(bytes.length - 4);
        const how = random(4);
        if (how === 0) bytes[at] = random(256);
        else if (how === 1) bytes = bytes.subarray(0, Math.max(at, 5));
        else if (how === 2) bytes = Buffer.concat([bytes, bytes.subarray(at)]);
        else
          bytes = Buffer.concat([
            bytes.subarray(0, at),
            Buffer.from([random(256)]),
            bytes.subarray(at),
          ]);
      }
      const { status, text } = await server.call(
        "POST",
        `${pods}?dryRun=All`,
        bytes,
        protobuf,
      );
      if (status >= 500) throw new Error(`${bytes.toString("hex")}: ${text}`);
      counts[status] = (counts[status] ?? 0) + 1;
    }
    expect(counts[201]).toBeGreaterThan(5);
    expect(counts[400]).toBeGreaterThan(100);
  });

  test.each<[string, Buffer]>([
    ["a length beyond the end", Buffer.from("6b38730012ffffffff7f", "hex")],
    [
      "a length of 2^64 - 1",
      Buffer.from("6b38730012ffffffffffffffffff01", "hex"),
    ],
    [
      "a varint without end",
      Buffer.concat([
        Buffer.from("6b387300", "hex"),
        Buffer.alloc(100_000, 0xff),
      ]),
    ],
    [
      "groups in groups",
      Buffer.concat([
        Buffer.from("6b387300", "hex"),
        Buffer.alloc(100_000, 0x0b),
      ]),
    ],
    ["messages in messages", nested(100_000)],
    [
      "a million empty messages",
      Buffer.concat([
        Buffer.from("6b3873000a0f0a02763112094c6973744f66784d", "hex").subarray(
          0,
          4,
        ),
        Buffer.from("0a090a0276311203506f64", "hex"),
        Buffer.from("12", "hex"),
        lengthOf(2_000_000),
        Buffer.alloc(2_000_000, Buffer.from([0x12, 0])),
      ]),
    ],
  ])("%s is refused at little cost", async (_what, bytes) => {
    const answer = await timed("POST", pods, bytes, protobuf);
    expect([400, 422]).toContain(answer.status);
    expect(answer.cpuMs).toBeLessThan(maxCpuMs);
  });
});

/** A varint. */
function lengthOf(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 127) | 128);
  }
}

function nested(depth: number): Buffer {
  const heads: Buffer[] = [];
  for (let length = 0, at = 0; at < depth; at++) {
    const head = Buffer.concat([Buffer.from([0x12]), lengthOf(length)]);
    length += head.length;
    heads.push(head);
  }
  return Buffer.concat([Buffer.from("6b387300", "hex"), ...heads.reverse()]);
}

test("a packed body is not unpacked", async () => {
  const packed = gzipSync(Buffer.alloc(50_000_000, " "));
  const answer = await timed("POST", configMaps, packed, {
    "content-encoding": "gzip",
  });
  expect([400, 415]).toContain(answer.status);
  expect(answer.cpuMs).toBeLessThan(maxCpuMs);
});

test("the type of every field of an object may be wrong", async () => {
  const good = pod({ name: "E", value: "v" });
  const wrong = [
    null,
    true,
    0,
    -1,
    1e300,
    "",
    "x",
    [],
    {},
    [[]],
    [null],
    { a: [] },
  ];
  const places: string[][] = [];
  const walk = (value: Json, path: string[]): void => {
    places.push(path);
    if (typeof value === "object" && value !== null)
      for (const key of Object.keys(value)) walk(value[key], [...path, key]);
  };
  walk(good, []);
  for (const path of places)
    for (const value of wrong) {
      const body = structuredClone({ root: good });
      let holder: Json = body;
      for (const key of ["root", ...path].slice(0, -1)) holder = holder[key];
      holder[["root", ...path].at(-1)!] = value;
      const text = JSON.stringify(body.root);
      const answer = await server.call("POST", `${pods}?dryRun=All`, text);
      if (answer.status >= 500) throw new Error(`${text}: ${answer.text}`);
    }
});
