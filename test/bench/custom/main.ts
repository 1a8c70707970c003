// Measures custom resources beside built-in kinds of their size, on the same server: every row is a pair, and its ratio is
// the custom resource's CPU of the server over the built-in kind's. Then how soon a new definition is served, and how soon
// it is published, with --definitions others present.
// `node tools/bench.mjs custom --kubeconfig F --pids PID`; DEFINITIONS=500 in the environment for the last two rows.
import { Connection, type Answer } from "../support/connection.ts";
import { benchOptions } from "../support/options.ts";
import {
  printRows,
  quantile,
  usageOf,
  type Row,
} from "../support/statistics.ts";
import { configMap, pod } from "../api/objects.ts";

const options = benchOptions(process.argv.slice(2));
const group = "bench.example.com";
const namespace = `bench-${process.pid}`;
const json = { Accept: "application/json" };
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const count = 1000;
const others = Number(process.env["DEFINITIONS"] ?? 0);

type Value = string | number | boolean | object | null;

/** A structural schema of all that a value has. */
function schemaOf(value: Value): object {
  if (Array.isArray(value))
    return { type: "array", items: schemaOf((value[0] ?? "") as Value) };
  if (typeof value === "object" && value !== null)
    return {
      type: "object",
      properties: Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [
          key,
          schemaOf(inner as Value),
        ]),
      ),
    };
  if (typeof value === "number") return { type: "integer" };
  return { type: typeof value };
}

interface Pair {
  readonly builtin: string;
  /** Plural of the custom resource. */
  readonly custom: string;
  readonly kind: string;
  readonly object: (name: string, index?: number) => string;
}

const pairs: readonly Pair[] = [
  { builtin: "pods", custom: "benchpods", kind: "BenchPod", object: pod },
  {
    builtin: "configmaps",
    custom: "benchmaps",
    kind: "BenchMap",
    object: (name) => configMap(name),
  },
];

function definitionOf(plural: string, kind: string, sample: object): string {
  const {
    metadata: _,
    kind: __,
    apiVersion: ___,
    ...fields
  } = sample as Record<string, unknown>;
  return JSON.stringify({
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
          subresources: { status: {} },
          schema: { openAPIV3Schema: schemaOf(fields) },
        },
      ],
    },
  });
}

const custom = (text: string, kind: string): string =>
  JSON.stringify({
    ...(JSON.parse(text) as object),
    apiVersion: `${group}/v1`,
    kind,
  });

type Run = (c: Connection, worker: number, turn: number) => Promise<Answer>;

function operations(
  base: string,
  object: (name: string) => string,
): Record<string, Run> {
  let serial = 0;
  const patch = (type: string) => ({ ...json, "Content-Type": type });
  const annotated = (turn: number) => ({
    metadata: { annotations: { turn: String(turn) } },
  });
  return {
    get: (c) => c.request("GET", `${base}/o-0`, undefined, json),
    list: (c) => c.request("GET", base, undefined, json),
    table: (c) =>
      c.request("GET", base, undefined, {
        Accept: "application/json;as=Table;g=meta.k8s.io;v=v1",
      }),
    create: (c) =>
      c.request("POST", base, object(`made-${process.pid}-${serial++}`), json),
    merge: (c, worker, turn) =>
      c.request(
        "PATCH",
        `${base}/o-${worker}`,
        JSON.stringify(annotated(turn)),
        patch("application/merge-patch+json"),
      ),
    apply: (c, worker, turn) => {
      const { apiVersion, kind } = JSON.parse(object("x")) as {
        apiVersion: string;
        kind: string;
      };
      const body = { apiVersion, kind, ...annotated(turn) };
      return c.request(
        "PATCH",
        `${base}/o-${worker}?fieldManager=bench&force=true`,
        JSON.stringify(body),
        patch("application/apply-patch+yaml"),
      );
    },
  };
}

/** CPU-seconds of the server per 1,000 requests. */
async function cost(run: Run, workers: number): Promise<number> {
  const connections = Array.from(
    { length: workers },
    () => new Connection(options.target),
  );
  let done = 0;
  const loop = async (untilMs: number): Promise<void> => {
    await Promise.all(
      connections.map(async (connection, worker) => {
        while (performance.now() < untilMs) {
          const { status } = await run(connection, worker, done++);
          if (status >= 300) throw new Error(`status ${status}`);
        }
      }),
    );
  };
  await loop(performance.now() + options.seconds * 200);
  done = 0;
  const before = usageOf(options.pids).cpuSeconds;
  await loop(performance.now() + options.seconds * 1000);
  const spent = usageOf(options.pids).cpuSeconds - before;
  for (const connection of connections) connection.close();
  return (spent / done) * 1000;
}

async function pairRows(setup: Connection, pair: Pair): Promise<Row[]> {
  const bases = {
    builtin: `/api/v1/namespaces/${namespace}/${pair.builtin}`,
    custom: `/apis/${group}/v1/namespaces/${namespace}/${pair.custom}`,
  };
  const customObject = (name: string, index?: number): string =>
    custom(pair.object(name, index), pair.kind);
  await make(
    setup,
    definitions,
    definitionOf(
      pair.custom,
      pair.kind,
      JSON.parse(pair.object("x")) as object,
    ),
  );
  await served(setup, bases.custom);
  for (let index = 0; index < count; index++) {
    await make(setup, bases.builtin, pair.object(`o-${index}`, index));
    await make(setup, bases.custom, customObject(`o-${index}`, index));
  }
  const rows: Row[] = [];
  const builtin = operations(bases.builtin, pair.object);
  const own = operations(bases.custom, customObject);
  for (const name of Object.keys(builtin)) {
    const label = `${name} ${pair.builtin}`;
    if (!options.only.test(label)) continue;
    const workers = name === "list" || name === "table" ? 2 : 16;
    const first = await cost(builtin[name]!, workers);
    const second = await cost(own[name]!, workers);
    rows.push({
      name: label,
      "built-in cpu-s": first,
      "custom cpu-s": second,
      ratio: second / first,
    });
  }
  return rows;
}

async function make(c: Connection, path: string, body: string): Promise<void> {
  const keep = { keepBody: true };
  const { status, body: text } = await c.request(
    "POST",
    path,
    body,
    json,
    keep,
  );
  if (status >= 300 && status !== 409)
    throw new Error(`POST ${path}: ${status} ${text}`);
}

async function served(c: Connection, path: string): Promise<void> {
  for (;;) {
    const { status } = await c.request("GET", path, undefined, json);
    if (status === 200) return;
  }
}

/** From the answer to a definition's creation until its objects are served, and until its documents name it. */
async function newDefinitions(c: Connection): Promise<Row[]> {
  const sample = JSON.parse(pod("x")) as object;
  const create = (plural: string): Promise<void> =>
    make(c, definitions, definitionOf(plural, `K${plural}`, sample));
  for (let index = 0; index < others; index++) await create(`others${index}`);
  const document = async (path: string): Promise<string> =>
    (await c.request("GET", path, undefined, json, { keepBody: true })).body;
  await document("/openapi/v2");
  await document("/openapi/v3");
  const servedMs: number[] = [];
  const v2Ms: number[] = [];
  const v3Ms: number[] = [];
  for (let index = 0; index < 10; index++) {
    const plural = `new${process.pid}x${index}`;
    await create(plural);
    const startMs = performance.now();
    await served(c, `/apis/${group}/v1/${plural}`);
    servedMs.push(performance.now() - startMs);
    await document("/openapi/v3");
    if (!(await document(`/openapi/v3/apis/${group}/v1`)).includes(plural))
      throw new Error("not published in version 3");
    v3Ms.push(performance.now() - startMs);
    const secondMs = performance.now();
    if (!(await document("/openapi/v2")).includes(plural))
      throw new Error("not published in version 2");
    v2Ms.push(performance.now() - secondMs);
  }
  const row = (name: string, values: readonly number[]): Row => ({
    name: `${name}, ${others} others`,
    "p50 ms": quantile(values, 0.5),
    "max ms": Math.max(...values),
  });
  return [
    row("new definition served", servedMs),
    row("published, v3", v3Ms),
    row("published, v2", v2Ms),
  ];
}

async function main(): Promise<void> {
  const setup = new Connection(options.target);
  await make(
    setup,
    "/api/v1/namespaces",
    JSON.stringify({ metadata: { name: namespace } }),
  );
  await make(
    setup,
    `/api/v1/namespaces/${namespace}/serviceaccounts`,
    JSON.stringify({ metadata: { name: "default" } }),
  );
  const rows: Row[] = [];
  for (const pair of pairs) rows.push(...(await pairRows(setup, pair)));
  if (options.only.test("definitions"))
    rows.push(...(await newDefinitions(setup)));
  printRows(rows);
  setup.close();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
