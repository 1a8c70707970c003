// Measures the operations of the resource API against any server: rate, latency and the server's CPU a thousand
// requests. `node tools/bench.mjs api --kubeconfig F --pids PID [--json out.json] [--peer peer.json]`
import { readFileSync, writeFileSync } from "node:fs";
import { Connection, type Answer, type Target } from "../support/connection.ts";
import { benchOptions } from "../support/options.ts";
import {
  printRows,
  quantile,
  usageOf,
  type Row,
} from "../support/statistics.ts";
import { configMap, pod } from "./objects.ts";
import { watchScenario } from "./watchers.ts";

const options = benchOptions(process.argv.slice(2));
const namespace = `bench-${process.pid}`;
const base = `/api/v1/namespaces/${namespace}`;
const json = { Accept: "application/json" };

type Operation = (
  connection: Connection,
  worker: number,
  turn: number,
) => Promise<Answer>;

interface Scenario {
  name: string;
  workers: number;
  run: Operation;
}

let serial = 0;
const patchHeaders = (type: string): Record<string, string> => ({
  ...json,
  "Content-Type": type,
});

const scenarios: Scenario[] = [
  {
    name: "get-configmap",
    workers: 32,
    run: (c) => c.request("GET", `${base}/configmaps/fixed`, undefined, json),
  },
  {
    name: "get-pod",
    workers: 32,
    run: (c) => c.request("GET", `${base}/pods/fixed-0`, undefined, json),
  },
  {
    name: "list-1000-pods",
    workers: 4,
    run: (c) => c.request("GET", `${base}/pods`, undefined, json),
  },
  {
    name: "list-1000-pods-cache",
    workers: 4,
    run: (c) =>
      c.request("GET", `${base}/pods?resourceVersion=0`, undefined, json),
  },
  {
    name: "list-1000-pods-gzip",
    workers: 4,
    run: (c) =>
      c.request("GET", `${base}/pods?resourceVersion=0`, undefined, {
        ...json,
        "Accept-Encoding": "gzip",
      }),
  },
  {
    name: "list-1000-pods-protobuf",
    workers: 4,
    run: (c) =>
      c.request("GET", `${base}/pods`, undefined, {
        Accept: "application/vnd.kubernetes.protobuf",
      }),
  },
  {
    name: "list-1000-pods-table",
    workers: 4,
    run: (c) =>
      c.request("GET", `${base}/pods`, undefined, {
        Accept: "application/json;as=Table;g=meta.k8s.io;v=v1",
      }),
  },
  {
    name: "list-500-pods",
    workers: 4,
    run: (c) => c.request("GET", `${base}/pods?limit=500`, undefined, json),
  },
  {
    name: "create-configmap",
    workers: 32,
    run: (c) =>
      c.request(
        "POST",
        `${base}/configmaps`,
        configMap(`made-${serial++}`),
        json,
      ),
  },
  {
    name: "create-pod",
    workers: 32,
    run: (c) =>
      c.request("POST", `${base}/pods`, pod(`made-${serial++}`), json),
  },
  {
    name: "merge-patch-configmap",
    workers: 16,
    run: (c, w, turn) =>
      c.request(
        "PATCH",
        `${base}/configmaps/own-${w}`,
        JSON.stringify({ data: { turn: String(turn) } }),
        patchHeaders("application/merge-patch+json"),
      ),
  },
  {
    name: "strategic-patch-pod",
    workers: 16,
    run: (c, w, turn) =>
      c.request(
        "PATCH",
        `${base}/pods/fixed-${w}`,
        JSON.stringify({ metadata: { annotations: { turn: String(turn) } } }),
        patchHeaders("application/strategic-merge-patch+json"),
      ),
  },
  {
    name: "apply-configmap",
    workers: 16,
    run: (c, w, turn) =>
      c.request(
        "PATCH",
        `${base}/configmaps/applied-${w}?fieldManager=bench&force=true`,
        JSON.stringify({
          apiVersion: "v1",
          kind: "ConfigMap",
          metadata: { name: `applied-${w}` },
          data: { turn: String(turn) },
        }),
        patchHeaders("application/apply-patch+yaml"),
      ),
  },
];

async function measure(target: Target, scenario: Scenario): Promise<Row> {
  const connections = Array.from(
    { length: scenario.workers },
    () => new Connection(target),
  );
  const latenciesMs: number[] = [];
  const failures = new Map<number, number>();
  let turn = 0;
  const loop = async (untilMs: number, record: boolean): Promise<void> => {
    await Promise.all(
      connections.map(async (connection, worker) => {
        while (performance.now() < untilMs) {
          const startMs = performance.now();
          const answer = await scenario.run(connection, worker, turn++);
          if (record) latenciesMs.push(performance.now() - startMs);
          if (answer.status >= 300)
            failures.set(answer.status, (failures.get(answer.status) ?? 0) + 1);
        }
      }),
    );
  };
  await loop(performance.now() + Math.min(1000, options.seconds * 200), false);
  const before = usageOf(options.pids);
  const startMs = performance.now();
  await loop(startMs + options.seconds * 1000, true);
  const seconds = (performance.now() - startMs) / 1000;
  const after = usageOf(options.pids);
  for (const connection of connections) connection.close();
  return {
    name: scenario.name,
    "per second": latenciesMs.length / seconds,
    "p50 ms": quantile(latenciesMs, 0.5),
    "p99 ms": quantile(latenciesMs, 0.99),
    "cpu-s per 1000": options.pids.length
      ? ((after.cpuSeconds - before.cpuSeconds) / latenciesMs.length) * 1000
      : Number.NaN,
    MiB: after.residentMebibytes,
    failures: [...failures]
      .map(([status, count]) => `${count}×${status}`)
      .join(" "),
  };
}

/** Deletes what the create scenarios made, measured as one deletecollection. */
async function deleteAll(
  connection: Connection,
  resource: string,
): Promise<Row> {
  const listed = await connection.request(
    "GET",
    `${base}/${resource}?limit=1`,
    undefined,
    json,
    { keepBody: true },
  );
  const list = JSON.parse(listed.body) as {
    items: unknown[];
    metadata: { remainingItemCount?: number };
  };
  const count = list.items.length + (list.metadata.remainingItemCount ?? 0);
  const startMs = performance.now();
  await connection.request("DELETE", `${base}/${resource}`, undefined, json);
  const seconds = (performance.now() - startMs) / 1000;
  return {
    name: `deletecollection-${resource}`,
    "per second": count / seconds,
    "p50 ms": seconds * 1000,
  };
}

async function main(): Promise<void> {
  const setup = new Connection(options.target);
  const make = async (path: string, body: string): Promise<void> => {
    const { status, body: text } = await setup.request(
      "POST",
      path,
      body,
      json,
      { keepBody: true },
    );
    if (status >= 300 && status !== 409)
      throw new Error(`POST ${path}: ${status} ${text}`);
  };
  await make(
    "/api/v1/namespaces",
    JSON.stringify({ metadata: { name: namespace } }),
  );
  await make(
    `${base}/serviceaccounts`,
    JSON.stringify({ metadata: { name: "default" } }),
  );
  await make(`${base}/configmaps`, configMap("fixed"));
  for (let i = 0; i < 16; i++)
    await make(`${base}/configmaps`, configMap(`own-${i}`));
  for (let i = 0; i < 1000; i++)
    await make(`${base}/pods`, pod(`fixed-${i}`, i));

  const rows: Row[] = [];
  for (const scenario of scenarios) {
    if (options.only.test(scenario.name))
      rows.push(await measure(options.target, scenario));
  }
  if (options.only.test("watch"))
    rows.push(...(await watchScenario(options, base)));
  if (options.only.test("deletecollection")) {
    rows.push(
      await deleteAll(setup, "pods"),
      await deleteAll(setup, "configmaps"),
    );
  }
  await setup.request(
    "DELETE",
    `/api/v1/namespaces/${namespace}`,
    undefined,
    json,
  );
  setup.close();

  if (options.peerFile) {
    const peer = JSON.parse(readFileSync(options.peerFile, "utf8")) as Row[];
    for (const row of rows) {
      const other = peer.find((candidate) => candidate.name === row.name);
      if (!other) continue;
      row["rate ratio"] =
        Number(row["per second"]) / Number(other["per second"]);
      row["cpu ratio"] =
        Number(row["cpu-s per 1000"]) / Number(other["cpu-s per 1000"]);
    }
  }
  printRows(rows);
  if (options.jsonFile)
    writeFileSync(options.jsonFile, JSON.stringify(rows, null, 1));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
