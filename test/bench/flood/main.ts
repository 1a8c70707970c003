// Does one tenant's flood reach another? A tenant (a service account) asks for one small object every few milliseconds,
// alone and while another one keeps a thousand requests open, and asks again at once whatever it is answered. The aim is
// a p99 of at most twice the one alone.
// `node tools/bench.mjs flood [--program F] [--seconds 4] [--only RE]` starts a server of its own;
// with `--kubeconfig F --pid N` it asks one that runs, a stock API server, say (of whose loop nothing is reported).
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Connection, type Target } from "../support/connection.ts";
import { targetFromKubeconfig } from "../support/options.ts";
import {
  printRows,
  quantile,
  usageOf,
  type Row,
} from "../support/statistics.ts";
import {
  runClientProcess,
  startClientProcess,
  type ReadOrder,
} from "../waits/client-process.ts";
import { Prober, type Felt } from "../waits/prober.ts";
import {
  startServer,
  type LoopReport,
  type MeasuredServer,
} from "../waits/server.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const { values: options } = parseArgs({
  options: {
    program: { type: "string", default: path.join(root, "bin/orbit") },
    kubeconfig: { type: "string" },
    pid: { type: "string" },
    seconds: { type: "string", default: "4" },
    only: { type: "string", default: "." },
  },
});

const json = { Accept: "application/json" };
const namespace = "flood";
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
const objects = 500;
/** A thousand handshakes are not what is measured. */
const openingMs = (connections: number): number =>
  2000 + Math.min(connections, 1000) * 5;
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

const get = { path: `${configMaps}/filled-000001` };
const list = { path: configMaps };
/** Dry runs of deleting all of them. */
const write = { path: `${configMaps}?dryRun=All`, method: "DELETE" };

type Flood = Pick<ReadOrder, "path" | "clients" | "streams" | "method">;

const floods: readonly (Flood & { readonly name: string })[] = [
  { name: "GETs, 1,000 connections", ...get, clients: 1000 },
  { name: "GETs, 1 x 1,000 streams", ...get, clients: 1, streams: 1000 },
  { name: "GETs, 20 x 50 streams", ...get, clients: 20, streams: 50 },
  { name: "lists, 1,000 connections", ...list, clients: 1000 },
  { name: "lists, 1 x 1,000 streams", ...list, clients: 1, streams: 1000 },
  { name: "lists, 20 x 50 streams", ...list, clients: 20, streams: 50 },
  { name: "writes, 1,000 connections", ...write, clients: 1000 },
  { name: "writes, 20 x 50 streams", ...write, clients: 20, streams: 50 },
];

async function main(): Promise<void> {
  const server = await measured();
  const admin = targetFromKubeconfig(server.kubeconfig);
  const rows: Row[] = [];
  const setup = new Connection(admin);
  try {
    await prepare(setup);
    const quiet: Target = {
      ...withoutCertificate(admin),
      token: await tokenOf(setup, "quiet"),
    };
    process.env["ORBIT_BENCH_TOKEN"] = await tokenOf(setup, "loud");
    const loud = startClientProcess(["--kubeconfig", server.kubeconfig]);
    const filling = startFilling(server.kubeconfig);
    await filling.fill({ resource: "configmaps", namespace, count: objects });
    filling.close();
    const prober = new Prober(quiet, `${configMaps}/filled-000002`);
    await prober.warm();
    const forMs = Number(options.seconds) * 1000;
    let aloneMs: number | undefined;
    const measure = async (name: string, order?: Flood): Promise<void> => {
      const aheadMs = order ? openingMs(order.clients) : 0;
      const flooding = order
        ? loud.read({
            headers: json,
            forMs: forMs + aheadMs,
            ...order,
          })
        : Promise.resolve([]);
      await pause(aheadMs);
      await server.report();
      const before = usageOf([server.pid]).cpuSeconds;
      const { felt } = await prober.during(() => pause(forMs));
      const after = usageOf([server.pid]).cpuSeconds;
      const report = await server.report();
      const result = await flooding;
      const took = result.map(({ ms }) => ms);
      const refused = result.filter(({ status }) => status === 429).length;
      rows.push({
        name,
        "GET p50 ms": felt.p50Ms,
        p99: felt.p99Ms,
        "to alone": felt.p99Ms / (aloneMs ??= felt.p99Ms),
        max: felt.maxMs,
        ...(report && sharesOf(felt, report)),
        probes: felt.samples,
        failed: felt.failed,
        "flood answers/s": (result.length / (forMs + aheadMs)) * 1000,
        "of these 429": refused,
        "flood p50 ms": quantile(took, 0.5),
        ...(report && {
          "turn CPU ms": report.turnCpuMaxMs,
          "wait p99": report.turnWaitP99Ms,
          "gc max ms": report.gcMaxMs,
          "gc ms": report.gcTotalMs,
          gcs: report.gcCount,
          "no cpu ms": report.runDelayMs,
        }),
        "cpu s": after - before,
      });
    };
    await measure("warm-up");
    rows.pop();
    aloneMs = undefined;
    await measure("nothing else");
    for (const { name, ...order } of floods)
      if (new RegExp(options.only).test(name)) await measure(name, order);
    printRows(rows);
    loud.close();
    prober.close();
  } finally {
    setup.close();
    await server.stop();
  }
}

/** Whose the time is: until the server has parsed a probe, until it has answered, and until the prober has the answer. */
function sharesOf({ times }: Felt, { seen }: LoopReport) {
  const shares: [number, number, number][] = [];
  for (const [number, { sentMs, answeredMs }] of times) {
    const { parsedMs, writtenMs } = seen[number] ?? {};
    if (parsedMs === undefined || writtenMs === undefined) continue;
    shares.push([
      parsedMs - sentMs,
      writtenMs - parsedMs,
      answeredMs - writtenMs,
    ]);
  }
  const p99 = (of: (share: [number, number, number]) => number): number =>
    quantile(shares.map(of), 0.99);
  return {
    "until written p99": p99(([unread, served]) => unread + served),
    "read p99": p99(([unread]) => unread),
    "served p99": p99(([, served]) => served),
    "back p99": p99(([, , back]) => back),
  };
}

type Server = Pick<MeasuredServer, "kubeconfig" | "pid" | "stop"> & {
  report(): Promise<LoopReport | undefined>;
};

function measured(): Promise<Server> {
  const { kubeconfig, pid } = options;
  if (!kubeconfig || !pid)
    return startServer(
      path.resolve(options.program),
      path.join(root, "test/bench/waits/loop-probe.cjs"),
    );
  return Promise.resolve({
    kubeconfig,
    pid: Number(pid),
    report: () => Promise.resolve(undefined),
    stop: () => Promise.resolve(),
  });
}

/** Without the tenant's token: it is the administrator's. */
function startFilling(kubeconfig: string) {
  const token = process.env["ORBIT_BENCH_TOKEN"];
  delete process.env["ORBIT_BENCH_TOKEN"];
  const clients = startClientProcess(["--kubeconfig", kubeconfig]);
  process.env["ORBIT_BENCH_TOKEN"] = token;
  return clients;
}

async function prepare(setup: Connection): Promise<void> {
  const make = async (at: string, object: object): Promise<void> => {
    const { status, body } = await setup.request(
      "POST",
      at,
      JSON.stringify(object),
      json,
      { keepBody: true },
    );
    if (status !== 201) throw new Error(`${at}: ${status} ${body}`);
  };
  await make("/api/v1/namespaces", { metadata: { name: namespace } });
  for (const name of ["default", "quiet", "loud"])
    await make(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
      metadata: { name },
    });
  await make("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: namespace },
    roleRef: {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      name: "cluster-admin",
    },
    subjects: ["quiet", "loud"].map((name) => ({
      kind: "ServiceAccount",
      name,
      namespace,
    })),
  });
}

async function tokenOf(setup: Connection, account: string): Promise<string> {
  const { body } = await setup.request(
    "POST",
    `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    JSON.stringify({ spec: {} }),
    json,
    { keepBody: true },
  );
  return (JSON.parse(body) as { status: { token: string } }).status.token;
}

/** A client with a token of its own. */
function withoutCertificate({ url, ca, insecure }: Target): Target {
  return { url, insecure, ...(ca ? { ca } : {}) };
}

if (process.env["ORBIT_BENCH_CLIENT"]) {
  const admin = targetFromKubeconfig(options.kubeconfig!);
  const token = process.env["ORBIT_BENCH_TOKEN"];
  runClientProcess(token ? { ...withoutCertificate(admin), token } : admin);
} else await main();
