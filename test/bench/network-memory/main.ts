// What the service proxy and the DNS server take beside many Services, their informers included: the heap of this process (API
// server and parts in one, as in `orbit server`) and its resident memory, and that of a process with the part alone, as in
// `orbit agent`. Rules in a network namespace of their own. `node tools/bench.mjs network-memory [--services 5000] [--only RE]
// [--snapshot DIR]`, as root, of the built program's worker.
import { fork, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { setFlagsFromString, writeHeapSnapshot } from "node:v8";
import { runInNewContext } from "node:vm";
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import { loadKubeconfig } from "../../../client/kubeconfig.ts";
import { endpointSlices, services } from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { DnsThread } from "../../../network/dns/dns-thread.ts";
import { ZoneFeed } from "../../../network/dns/zone-feed.ts";
import { ServiceProxy } from "../../../network/proxy/proxy.ts";

const { values: options } = parseArgs({
  options: {
    services: { type: "string", default: "5000" },
    only: { type: "string", default: "." },
    role: { type: "string", default: "" },
    kubeconfig: { type: "string", default: "" },
    netns: { type: "string", default: "" },
    snapshot: { type: "string" },
  },
});
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const logger = pino({ level: "error" });
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

interface Part {
  start(): Promise<void>;
  stop(): Promise<void>;
}

function proxyPart(client: Client, netns: string): Part {
  const proxy = new ServiceProxy({
    client,
    nodeName: "node-1",
    tableName: "orbit-proxy",
    podRanges: ["10.42.0.0/16"],
    serviceRanges: ["10.43.0.0/16"],
    nodePortRanges: [],
    masqueradeAll: false,
    clock: systemClock,
    logger,
    wrapper: ["nsenter", `--net=/run/netns/${netns}`],
  });
  return {
    async start() {
      await proxy.start();
      while (!proxy.inStep) await pause(20);
    },
    stop: () => proxy.stop(),
  };
}

function dnsPart(client: Client): Part {
  const thread = new DnsThread({
    data: {
      domain: "cluster.local",
      listen: [{ address: "127.0.0.1", port: 0 }],
      allowed: ["127.0.0.0/8"],
      serviceAddresses: [],
    },
    onStarted: () => feed.resend(),
    clock: systemClock,
    logger,
    workerFile: path.join(
      fileURLToPath(new URL("..", import.meta.url)),
      "dist/dns-worker.js",
    ),
  });
  const feed = new ZoneFeed({
    client,
    post: (message) => thread.post(message),
    resolvers: () => [],
    onProblem: () => undefined,
  });
  return {
    async start() {
      await thread.start();
      await feed.start();
    },
    async stop() {
      feed.stop();
      await thread.stop();
    },
  };
}

interface Taken {
  heap: number;
  resident: number;
}

async function memory(): Promise<Taken> {
  for (let n = 0; n < 4; n++) {
    await pause(250);
    collect();
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, resident: rss };
}

const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** What the part adds to this process. */
async function taken(make: () => Part, name: string): Promise<Taken> {
  const before = await memory();
  const part = make();
  await part.start();
  const after = await memory();
  if (options.snapshot)
    writeHeapSnapshot(path.join(options.snapshot, `${name}.heapsnapshot`));
  await part.stop();
  return {
    heap: after.heap - before.heap,
    resident: after.resident - before.resident,
  };
}

const show = ({ heap, resident }: Taken): string =>
  `heap ${mib(heap).padStart(9)}, resident ${mib(resident).padStart(9)}`;
const say = (name: string, text: string): void =>
  console.log(`${name.padEnd(40)} ${text}`);

/** Made when they are measured: the first user of an informer pays for it. */
const parts: Record<string, (client: Client, netns: string) => Part> = {
  dns: dnsPart,
  proxy: proxyPart,
};

async function fill({ client }: Cluster, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const name = `service-${n}`;
    await client.resource(services).create({
      metadata: { name, namespace: "default", labels: { app: name } },
      spec: {
        selector: { app: name },
        ports: [{ name: "http", port: 80, targetPort: 8080 }],
      },
    });
    await client.resource(endpointSlices).create({
      metadata: {
        name: `${name}-abcde`,
        namespace: "default",
        labels: { "kubernetes.io/service-name": name },
      },
      addressType: "IPv4",
      endpoints: [0, 1].map((which) => ({
        addresses: [`10.42.${n >> 7}.${((n & 127) << 1) + which}`],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: `node-${which}`,
        targetRef: {
          kind: "Pod",
          namespace: "default",
          name: `${name}-6d4b75cb6d-${which}`,
        },
      })),
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    });
  }
}

/** A part alone in a process of its own. */
async function alone(
  name: string,
  kubeconfig: string,
  netns: string,
): Promise<string> {
  const child = fork(process.argv[1]!, [
    ...["--role", name, "--kubeconfig", kubeconfig, "--netns", netns],
    ...(options.snapshot ? ["--snapshot", options.snapshot] : []),
  ]);
  const [result] = (await once(child, "message")) as [Taken];
  await once(child, "exit");
  return show(result);
}

async function main(): Promise<void> {
  const netns = `orbit-memory-${process.pid}`;
  const directory = mkdtempSync(path.join(tmpdir(), "orbit-memory-"));
  execFileSync("ip", ["netns", "add", netns]);
  const cluster = await startCluster({
    controllers: false,
    scheduler: false,
    args: ["--service-cluster-ip-range=10.43.0.0/16"],
  });
  try {
    await fill(cluster, Number(options.services));
    const kubeconfig = path.join(directory, "kubeconfig");
    writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
    const only = new RegExp(options.only);
    for (const [name, make] of Object.entries(parts)) {
      if (only.test(`${name} in`))
        say(
          `${name}, in the server`,
          show(await taken(() => make(cluster.client, netns), name)),
        );
      if (only.test(`${name} alone`))
        say(`${name}, alone`, await alone(name, kubeconfig, netns));
    }
  } finally {
    await cluster.stop();
    execFileSync("ip", ["netns", "del", netns]);
    rmSync(directory, { recursive: true });
  }
}

if (options.role === "") await main();
else {
  const client = createClient(
    createHttpTransport({
      ...(await loadKubeconfig({ path: options.kubeconfig })),
      logger,
    }),
    { clock: systemClock, logger },
  );
  const result = await taken(
    () => parts[options.role]!(client, options.netns),
    `${options.role}-alone`,
  );
  await client.close();
  process.send!(result);
  process.disconnect();
}
