// The operations of a custom resource beside those of a built-in kind of its size, on the same server: every row is a pair,
// and its ratio is the custom resource's CPU of the server over the built-in kind's.
import { Connection, type Answer } from "../support/connection.ts";
import type { BenchOptions } from "../support/options.ts";
import { usageOf, type Row } from "../support/statistics.ts";
import { configMap, pod } from "../api/objects.ts";
import { definitionOf, definitions, json, make, served } from "./definition.ts";

const group = "bench.example.com";
/** Objects of each kind that lists find. */
const count = 1000;
const watchers = 50;

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

type Run = (c: Connection, worker: number, turn: number) => Promise<Answer>;

interface Operation {
  readonly run: Run;
  readonly workers?: number;
  /** Done before its turn is measured. */
  readonly prepare?: Run;
}

const patch = (type: string) => ({ ...json, "Content-Type": type });
const annotated = (turn: number) => ({
  metadata: { annotations: { turn: String(turn) } },
});

export function operations(
  base: string,
  object: (name: string) => string,
): Record<string, Operation> {
  let serial = 0;
  const { apiVersion, kind } = JSON.parse(object("x")) as {
    apiVersion: string;
    kind: string;
  };
  const last = new Map<number, string>();
  /** As clients do it: the object they know, with its resource version. */
  const put: Run = async (c, worker, turn) => {
    const path = `${base}/o-${worker}`;
    const keep = { keepBody: true };
    const known =
      last.get(worker) ??
      (await c.request("GET", path, undefined, json, keep)).body;
    const body = JSON.parse(known) as { metadata: { annotations?: object } };
    body.metadata.annotations = {
      ...body.metadata.annotations,
      turn: String(turn),
    };
    const answer = await c.request(
      "PUT",
      path,
      JSON.stringify(body),
      json,
      keep,
    );
    last.set(worker, answer.body);
    return answer;
  };
  const asTable = {
    Accept: "application/json;as=Table;g=meta.k8s.io;v=v1",
  };
  return {
    get: { run: (c) => c.request("GET", `${base}/o-0`, undefined, json) },
    list: { run: (c) => c.request("GET", base, undefined, json), workers: 2 },
    table: {
      run: (c) => c.request("GET", base, undefined, asTable),
      workers: 2,
    },
    put: { run: put },
    merge: {
      run: (c, worker, turn) =>
        c.request(
          "PATCH",
          `${base}/o-${worker}`,
          JSON.stringify(annotated(turn)),
          patch("application/merge-patch+json"),
        ),
    },
    json: {
      run: (c, worker, turn) =>
        c.request(
          "PATCH",
          `${base}/o-${worker}`,
          JSON.stringify([
            {
              op: "add",
              path: "/metadata/labels",
              value: { turn: String(turn) },
            },
          ]),
          patch("application/json-patch+json"),
        ),
    },
    apply: {
      run: (c, worker, turn) =>
        c.request(
          "PATCH",
          `${base}/o-${worker}?fieldManager=bench&force=true`,
          JSON.stringify({ apiVersion, kind, ...annotated(turn) }),
          patch("application/apply-patch+yaml"),
        ),
    },
    create: {
      run: (c) =>
        c.request(
          "POST",
          base,
          object(`made-${process.pid}-${serial++}`),
          json,
        ),
    },
    delete: {
      prepare: (c, _, turn) =>
        c.request("POST", base, object(`gone-${turn}`), json),
      run: (c, _, turn) =>
        c.request("DELETE", `${base}/gone-${turn}`, undefined, json),
    },
    watch: { run: put, workers: 4 },
  };
}

/** CPU-seconds of the server for 1,000 requests of a kind of objects. */
export class Costs {
  constructor(private readonly options: BenchOptions) {}

  async of(operation: Operation): Promise<number> {
    const { workers = 16, prepare, run } = operation;
    const connections = this.#connections(workers);
    let cost: number;
    if (prepare) {
      const turns = this.options.seconds * 500;
      await this.#run(connections, prepare, turns);
      const { cpuSeconds } = this.#usage();
      await this.#run(connections, run, turns);
      cost = (this.#usage().cpuSeconds - cpuSeconds) / turns;
    } else {
      await this.#during(connections, run, this.options.seconds / 5);
      const { cpuSeconds } = this.#usage();
      const done = await this.#during(connections, run, this.options.seconds);
      cost = (this.#usage().cpuSeconds - cpuSeconds) / done;
    }
    for (const connection of connections) connection.close();
    return cost * 1000;
  }

  /** For 1,000 events of watches, with their part of the writes. */
  async ofWatch(operation: Operation, base: string): Promise<number> {
    const open = this.#connections(watchers);
    for (const connection of open)
      connection
        .request("GET", `${base}?watch=true`, undefined, json)
        .catch(() => undefined);
    const cost = await this.of(operation);
    for (const connection of open) connection.close();
    return cost / watchers;
  }

  #connections(number: number): Connection[] {
    return Array.from(
      { length: number },
      () => new Connection(this.options.target),
    );
  }

  #usage() {
    return usageOf(this.options.pids);
  }

  async #run(
    connections: readonly Connection[],
    run: Run,
    turns: number,
  ): Promise<void> {
    let next = 0;
    await Promise.all(
      connections.map(async (connection, worker) => {
        while (next < turns)
          refuseFailed(await run(connection, worker, next++));
      }),
    );
  }

  async #during(
    connections: readonly Connection[],
    run: Run,
    seconds: number,
  ): Promise<number> {
    let done = 0;
    const untilMs = performance.now() + seconds * 1000;
    await Promise.all(
      connections.map(async (connection, worker) => {
        while (performance.now() < untilMs)
          refuseFailed(await run(connection, worker, done++));
      }),
    );
    return done;
  }
}

function refuseFailed({ status }: Answer): void {
  if (status >= 300) throw new Error(`status ${status}`);
}

export async function pairRows(
  setup: Connection,
  options: BenchOptions,
  namespace: string,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const pair of pairs) {
    const names = Object.keys(operations("", pair.object)).filter((name) =>
      options.only.test(`${name} ${pair.builtin}`),
    );
    if (names.length > 0)
      rows.push(...(await rowsOf(setup, options, namespace, pair, names)));
  }
  return rows;
}

async function rowsOf(
  setup: Connection,
  options: BenchOptions,
  namespace: string,
  pair: Pair,
  names: readonly string[],
): Promise<Row[]> {
  const bases = {
    builtin: `/api/v1/namespaces/${namespace}/${pair.builtin}`,
    custom: `/apis/${group}/v1/namespaces/${namespace}/${pair.custom}`,
  };
  const customObject = (name: string, index?: number): string =>
    JSON.stringify({
      ...(JSON.parse(pair.object(name, index)) as object),
      apiVersion: `${group}/v1`,
      kind: pair.kind,
    });
  const sample = JSON.parse(pair.object("x")) as object;
  await make(
    setup,
    definitions,
    definitionOf(group, pair.custom, pair.kind, sample),
  );
  await served(setup, bases.custom);
  for (let index = 0; index < count; index++) {
    await make(setup, bases.builtin, pair.object(`o-${index}`, index));
    await make(setup, bases.custom, customObject(`o-${index}`, index));
  }
  const costs = new Costs(options);
  const cost = (
    name: string,
    base: string,
    object: (name: string) => string,
  ): Promise<number> => {
    const operation = operations(base, object)[name]!;
    return name === "watch"
      ? costs.ofWatch(operation, base)
      : costs.of(operation);
  };
  const rows: Row[] = [];
  for (const name of names) {
    const builtin = await cost(name, bases.builtin, pair.object);
    const custom = await cost(name, bases.custom, customObject);
    rows.push({
      name: `${name} ${pair.builtin}`,
      "built-in cpu-s": builtin,
      "custom cpu-s": custom,
      ratio: custom / builtin,
    });
  }
  return rows;
}
