// Does anybody wait? Fills a server with 50,000 ConfigMaps of 1 KiB and 20,000 Pods of 4.5 KB, and measures what another
// client feels (GETs of a small object) beside everything that touches many objects, how long these take, how fast the
// filling was and what memory is left. `node tools/bench.mjs waits [--program F] [--scale 0.1] [--only RE] [--json F]`
// starts a server of its own; with --kubeconfig F --pids PID it measures another one that is empty.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { Connection } from "../support/connection.ts";
import { targetFromKubeconfig } from "../support/options.ts";
import {
  printRows,
  quantile,
  usageOf,
  type Row,
} from "../support/statistics.ts";
import { measureBodies } from "./bodies.ts";
import {
  runClientProcess,
  startClientProcess,
  type ClientProcess,
  type Reading,
  type ReadOrder,
} from "./client-process.ts";
import { Prober } from "./prober.ts";
import { startServer, type MeasuredServer } from "./server.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values: options } = parseArgs({
  options: {
    program: { type: "string", default: path.join(root, "bin/orbit") },
    kubeconfig: { type: "string" },
    pids: { type: "string", default: "" },
    scale: { type: "string", default: "1" },
    only: { type: "string", default: "." },
    json: { type: "string" },
  },
});

const scale = Number(options.scale);
const namespace = "waits";
const allPods = "/api/v1/pods";
const allConfigMaps = "/api/v1/configmaps";
const json = { Accept: "application/json" };
const as = (kind: string) => ({
  Accept: `application/json;as=${kind};g=meta.k8s.io;v=v1`,
});
const protobuf = { Accept: "application/vnd.kubernetes.protobuf" };
const streamed = (resource: string): string =>
  `${resource}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;

interface Scenario {
  readonly name: string;
  readonly times?: number;
  readonly order: Partial<ReadOrder> & { path: string };
}

const read = (
  name: string,
  url: string,
  headers: Readonly<Record<string, string>> = json,
  rest: Partial<ReadOrder> & { times?: number } = {},
): Scenario => {
  const { times, ...order } = rest;
  return {
    name,
    ...(times ? { times } : {}),
    order: { path: url, headers, ...order },
  };
};

/** The first time of each representation, then again; short ones so often that the p99 is not the longest of a few. */
const scenarios: readonly Scenario[] = [
  read("openapi v2", "/openapi/v2"),
  read("openapi v2 gzip", "/openapi/v2", {
    ...json,
    "Accept-Encoding": "gzip",
  }),
  read("openapi v2 protobuf", "/openapi/v2", {
    Accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
  }),
  read("openapi v3", "/openapi/v3"),
  read("openapi v3 apps", "/openapi/v3/apis/apps/v1"),
  read("pods json, first", allPods),
  read("pods json", allPods, json, { times: 5 }),
  read("pods protobuf, first", allPods, protobuf),
  read("pods protobuf", allPods, protobuf, { times: 5 }),
  read("pods table, first", allPods, as("Table")),
  read("pods table", allPods, as("Table"), { times: 5 }),
  read("pods gzip, first", allPods, { ...json, "Accept-Encoding": "gzip" }),
  read(
    "pods gzip",
    allPods,
    { ...json, "Accept-Encoding": "gzip" },
    { times: 5 },
  ),
  read("pods partial", allPods, as("PartialObjectMetadataList"), { times: 5 }),
  read("pods cbor", allPods, { Accept: "application/cbor" }, { times: 2 }),
  read("pods yaml", allPods, { Accept: "application/yaml" }, { times: 2 }),
  read("configmaps json", allConfigMaps, json, { times: 5 }),
  read("configmaps protobuf", allConfigMaps, protobuf, { times: 2 }),
  read("configmaps table", allConfigMaps, as("Table"), { times: 2 }),
  read("pods label selector", `${allPods}?labelSelector=app%3Dapp-1`, json, {
    times: 40,
  }),
  read(
    "pods field selector",
    `${allPods}?fieldSelector=spec.nodeName%3Dnode-1`,
    json,
    { times: 60 },
  ),
  read("pods in pages", `${allPods}?limit=500`, json, {
    paged: true,
    times: 2,
  }),
  read("pods watch-list", streamed(allPods), json, {
    until: "initial-events-end",
    times: 5,
  }),
  read("configmaps watch-list", streamed(allConfigMaps), json, {
    until: "initial-events-end",
    times: 3,
  }),
  read(
    "pods watch-list selected",
    `${streamed(allPods)}&labelSelector=app%3Dapp-1`,
    json,
    {
      until: "initial-events-end",
      times: 5,
    },
  ),
  read("8 clients, metrics", "/metrics", json, { clients: 8, forMs: 2000 }),
  read("8 clients, discovery", "/apis", json, { clients: 8, forMs: 2000 }),
  read("20 clients, pods json", allPods, json, { clients: 20, forMs: 5000 }),
  read("20 clients, configmaps json", allConfigMaps, json, {
    clients: 20,
    forMs: 5000,
  }),
  read(
    "20 clients, pods gzip",
    allPods,
    { ...json, "Accept-Encoding": "gzip" },
    {
      clients: 20,
      forMs: 5000,
    },
  ),
];

async function main(): Promise<void> {
  const wanted = new RegExp(options.only);
  const server: MeasuredServer | undefined = options.kubeconfig
    ? undefined
    : await startServer(
        path.resolve(options.program),
        path.join(root, "test/bench/waits/loop-probe.cjs"),
      );
  const kubeconfig = options.kubeconfig ?? server!.kubeconfig;
  const pids = server
    ? [server.pid]
    : options.pids.split(",").filter(Boolean).map(Number);
  const target = targetFromKubeconfig(kubeconfig);
  const clients = startClientProcess(["--kubeconfig", kubeconfig]);
  const prober = new Prober(
    target,
    `/api/v1/namespaces/${namespace}/configmaps/filled-000001`,
  );
  const rows: Row[] = [];
  try {
    const setup = new Connection(target);
    for (const name of [namespace, `${namespace}-gone`]) {
      await setup.request(
        "POST",
        "/api/v1/namespaces",
        JSON.stringify({ metadata: { name } }),
        json,
      );
      await setup.request(
        "POST",
        `/api/v1/namespaces/${name}/serviceaccounts`,
        JSON.stringify({ metadata: { name: "default" } }),
        json,
      );
    }
    setup.close();
    const fills: Row[] = [];
    for (const [resource, full] of [
      ["configmaps", 50_000],
      ["pods", 20_000],
    ] as const) {
      const count = Math.round(full * scale);
      const before = usageOf(pids).cpuSeconds;
      const seconds = await clients.fill({ resource, namespace, count });
      const after = usageOf(pids);
      fills.push({
        name: `fill ${resource}`,
        "per second": count / seconds,
        "cpu-s per 1000": ((after.cpuSeconds - before) / count) * 1000,
        MiB: after.residentMebibytes,
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
    fills.push({
      name: "filled",
      "per second": "",
      ...(await memory(server, pids)),
    });
    printRows(fills);
    await prober.warm();
    const measure = (
      name: string,
      work: () => Promise<readonly Reading[]>,
      show = true,
    ): Promise<void> =>
      measureOne(name, work, { prober, pids, server }).then((row) => {
        if (!show) return;
        rows.push(row);
        process.stderr.write(".");
      });
    await measure("warm-up", () => pause(1000), false);
    await measure("nothing else", () => pause(2000));
    for (const { name, times = 1, order } of scenarios) {
      if (!wanted.test(name)) continue;
      await measure(name, async () => {
        const readings: Reading[] = [];
        for (let turn = 0; turn < times; turn++)
          readings.push(
            ...(await clients.read({
              headers: json,
              clients: 1,
              forMs: 0,
              ...order,
            })),
          );
        return readings;
      });
    }
    await measureBodies(clients, namespace, wanted, measure);
    rows.push(...(await others(wanted, clients, measure, server)));
    process.stderr.write("\n");
    printRows(rows);
    const end = { name: "after all", ...(await memory(server, pids)) };
    printRows([end]);
    if (options.json)
      writeFileSync(
        options.json,
        JSON.stringify([...fills, ...rows, end], null, 1),
      );
  } finally {
    clients.close();
    prober.close();
    await server?.stop();
  }
}

type Measure = (
  name: string,
  work: () => Promise<readonly Reading[]>,
  show?: boolean,
) => Promise<void>;

/** What is no plain reading. */
async function others(
  wanted: RegExp,
  clients: ClientProcess,
  measure: Measure,
  server: MeasuredServer | undefined,
): Promise<Row[]> {
  const count = Math.max(200, Math.round(5000 * scale));
  const gone = `${namespace}-gone`;
  if (wanted.test("deletecollection")) {
    await clients.fill({ resource: "configmaps", namespace: gone, count });
    await measure("deletecollection", () =>
      clients.read({
        path: `/api/v1/namespaces/${gone}/configmaps`,
        method: "DELETE",
        headers: json,
        clients: 1,
        forMs: 0,
      }),
    );
  }
  if (server && wanted.test("snapshot"))
    await measure("snapshot", async () => {
      const startMs = performance.now();
      const file = path.join(server.dataDirectory, "bench.snapshot");
      await promisify(execFile)(path.resolve(options.program), [
        "store",
        "snapshot",
        "save",
        file,
        `--data-dir=${server.dataDirectory}`,
      ]);
      return [{ status: 200, bytes: 0, ms: performance.now() - startMs }];
    });
  return [];
}

async function measureOne(
  name: string,
  work: () => Promise<readonly Reading[]>,
  {
    prober,
    pids,
    server,
  }: {
    prober: Prober;
    pids: readonly number[];
    server: MeasuredServer | undefined;
  },
): Promise<Row> {
  await server?.report();
  const before = usageOf(pids).cpuSeconds;
  const { felt, result } = await prober.during(work);
  const after = usageOf(pids);
  const report = await server?.report();
  if (felt.failed > 0) throw new Error(`${felt.failed} probes failed`);
  const failed = result.filter(({ status }) => status !== 200);
  const first = result[0];
  return {
    name,
    "GET p50 ms": felt.p50Ms,
    p99: felt.p99Ms,
    max: felt.maxMs,
    probes: felt.samples,
    "took ms": first
      ? quantile(
          result.map(({ ms }) => ms),
          0.5,
        )
      : "",
    answers: first ? result.length : "",
    MB: first ? first.bytes / 1e6 : "",
    "cpu-s": after.cpuSeconds - before,
    MiB: after.residentMebibytes,
    "loop max ms": report?.loopMaxMs ?? "",
    "turn cpu ms": report?.turnCpuMaxMs ?? "",
    "gc max ms": report?.gcMaxMs ?? "",
    "gc ms": report?.gcTotalMs ?? "",
    // More than some of the time: the machine had other work, or the process's own threads were in the way.
    "no cpu ms": report?.runDelayMs ?? "",
    failures: failed.length > 0 ? `${failed.length}×${failed[0]!.status}` : "",
  };
}

async function memory(
  server: MeasuredServer | undefined,
  pids: readonly number[],
): Promise<Omit<Row, "name">> {
  const MiB = usageOf(pids).residentMebibytes;
  const report = await server?.report();
  if (!report) return { MiB };
  const mebibytes = (bytes: number): number => Math.round(bytes / 1048576);
  return {
    MiB,
    heapUsed: mebibytes(report.memory.heapUsed),
    heapTotal: mebibytes(report.memory.heapTotal),
    buffers: mebibytes(report.memory.arrayBuffers),
  };
}

async function pause(ms: number): Promise<readonly Reading[]> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  return [];
}

if (process.env["ORBIT_BENCH_CLIENT"]) {
  runClientProcess(targetFromKubeconfig(options.kubeconfig!));
} else {
  main().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
}
