// What an answer of the cluster's DNS server costs, and whether it and the API server wait for each other: both in one process,
// as in `orbit server`, the API on its main thread and DNS on its own. Loads come from other processes.
// `node tools/bench.mjs dns [--seconds 4] [--only RE]`, of the built program's worker.
import { fork, type ChildProcess } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import * as packet from "dns-packet";
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import {
  configMaps,
  endpointSlices,
  services,
} from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { DnsThread } from "../../../network/dns/dns-thread.ts";
import { ZoneFeed } from "../../../network/dns/zone-feed.ts";
import { Connection } from "../support/connection.ts";
import { quantile } from "../support/statistics.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" },
    only: { type: "string", default: "." },
    role: { type: "string", default: "" },
    worker: { type: "string" },
  },
});

type Order =
  | {
      readonly kind: "dns";
      readonly port: number;
      readonly names: readonly string[];
      readonly seconds: number;
      /** Queries a second; undefined: as many as are answered, this many under way. */
      readonly rate?: number;
      readonly underWay?: number;
    }
  | {
      readonly kind: "api";
      readonly url: string;
      readonly certificate: string;
      readonly key: string;
      readonly connections: number;
      readonly seconds: number;
      readonly rate?: number;
    };

interface Result {
  readonly answered: number;
  readonly lost: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

function resultOf(times: number[], seconds: number, lost = 0): Result {
  times.sort((a, b) => a - b);
  return {
    answered: times.length,
    lost,
    seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  };
}

const query = (name: string): Buffer =>
  packet.encode({
    type: "query",
    id: 0,
    flags: packet.RECURSION_DESIRED,
    questions: [{ type: "A", name }],
  });

async function askDns(order: Order & { kind: "dns" }): Promise<Result> {
  const socket = createSocket({
    type: "udp4",
    recvBufferSize: 4 * 1024 * 1024,
    lookup: (host, _options, callback) => callback(null, host, 4),
  });
  // The look-up answers at once, and so does the socket.
  const listening = once(socket, "listening");
  socket.bind(0, "127.0.0.1");
  await listening;
  const packets = order.names.map(query);
  const sent = new Map<number, number>();
  const times: number[] = [];
  let next = 0;
  const send = (): void => {
    const id = next++ & 0xffff;
    const bytes = Buffer.from(packets[next % packets.length]!);
    bytes.writeUInt16BE(id, 0);
    sent.set(id, performance.now());
    socket.send(bytes, order.port, "127.0.0.1");
  };
  const end = performance.now() + order.seconds * 1000;
  socket.on("message", (answer) => {
    const id = answer.readUInt16BE(0);
    const at = sent.get(id);
    if (at === undefined) return;
    sent.delete(id);
    times.push(performance.now() - at);
    if (order.rate === undefined && performance.now() < end) send();
  });
  if (order.rate === undefined)
    for (let n = 0; n < (order.underWay ?? 64); n++) send();
  const begin = performance.now();
  let total = 0;
  while (performance.now() < end) {
    if (order.rate !== undefined) {
      const due = ((performance.now() - begin) / 1000) * order.rate;
      for (; total < due; total++) send();
    }
    await pause(order.rate === undefined ? 20 : 1);
  }
  await pause(200);
  const lost = sent.size;
  socket.close();
  return resultOf(times, order.seconds, lost);
}

async function askApi(order: Order & { kind: "api" }): Promise<Result> {
  const url = new URL(order.url);
  const times: number[] = [];
  const end = performance.now() + order.seconds * 1000;
  const gapMs = order.rate ? (1000 * order.connections) / order.rate : 0;
  await Promise.all(
    Array.from({ length: order.connections }, async (_, n) => {
      const connection = new Connection({
        url,
        insecure: true,
        cert: Buffer.from(order.certificate),
        key: Buffer.from(order.key),
      });
      let due = performance.now() + (gapMs * n) / order.connections;
      while (performance.now() < end) {
        await pause(Math.max(0, due - performance.now()));
        due += gapMs;
        const start = performance.now();
        await connection.request("GET", url.pathname);
        times.push(performance.now() - start);
      }
      connection.close();
    }),
  );
  return resultOf(times, order.seconds);
}

const children: ChildProcess[] = [];

async function ask(order: Order): Promise<Result> {
  const child = fork(process.argv[1]!, ["--role", "load"]);
  children.push(child);
  await once(child, "message");
  child.send(order);
  const [result] = (await once(child, "message")) as [Result];
  child.kill();
  return result;
}

async function createService(cluster: Cluster, name: string): Promise<void> {
  await cluster.client.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { ports: [{ name: "http", port: 80 }] },
  });
}

async function createEndpoints(cluster: Cluster, name: string): Promise<void> {
  await cluster.client.resource(endpointSlices).create({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name,
      namespace: "default",
      labels: { "kubernetes.io/service-name": name },
    },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.42.0.2"] }, { addresses: ["10.42.0.3"] }],
    ports: [{ name: "http", port: 8080 }],
  });
}

function ofKubeconfig({ kubeconfig }: Cluster, field: string): string {
  const found = new RegExp(`${field}"?: "?([\\w+/=]+)`).exec(kubeconfig);
  return Buffer.from(found?.[1] ?? "", "base64").toString();
}

const full = (name: string): string => `${name}.default.svc.cluster.local`;

/** How long after its creation began a Service has an address here. */
async function firstAnswer(
  cluster: Cluster,
  port: number,
  name: string,
): Promise<number> {
  const socket = createSocket("udp4");
  const found = new Promise<void>((resolve) =>
    socket.on("message", (bytes) => {
      if ((packet.decode(bytes).answers?.length ?? 0) > 0) resolve();
    }),
  );
  const created = createService(cluster, name).then(() => performance.now());
  const again = setInterval(
    () => socket.send(query(full(name)), port, "127.0.0.1"),
    1,
  );
  await found;
  const at = performance.now();
  clearInterval(again);
  socket.close();
  return Math.max(0, at - (await created));
}

function serverOf(cluster: Cluster): { thread: DnsThread; feed: ZoneFeed } {
  const thread = new DnsThread({
    data: {
      domain: "cluster.local",
      listen: [{ address: "127.0.0.1", port: 0 }],
      allowed: ["127.0.0.0/8"],
      serviceAddresses: [],
    },
    onStarted: () => feed.resend(),
    clock: systemClock,
    logger: pino({ level: "error" }),
    workerFile:
      options.worker ??
      path.join(
        fileURLToPath(new URL("..", import.meta.url)),
        "dist/dns-worker.js",
      ),
  });
  const feed = new ZoneFeed({
    client: cluster.client,
    post: (message) => thread.post(message),
    resolvers: () => [],
    onProblem: () => undefined,
  });
  return { thread, feed };
}

async function main(): Promise<void> {
  const cluster = await startCluster({ controllers: false, scheduler: false });
  const { thread, feed } = serverOf(cluster);
  await thread.start();
  await feed.start();
  const port = thread.ports[0]!;
  const seconds = Number(options.seconds);
  const only = new RegExp(options.only);
  const say = (name: string, text: string): void =>
    console.log(`${name.padEnd(48)} ${text}`);
  const show = ({ answered, lost, seconds: taken, p50, p99 }: Result): string =>
    `${(answered / taken).toFixed(0)}/s p50 ${p50.toFixed(2)} ms p99 ${p99.toFixed(2)} ms${lost > 0 ? ` LOST ${lost}` : ""}`;
  const names = Array.from({ length: 100 }, (_, n) => `web-${n}`);
  for (const name of names) {
    await createService(cluster, name);
    await createEndpoints(cluster, name);
  }
  for (let n = 0; n < 500; n++)
    await cluster.client.resource(configMaps).create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `c-${n}`, namespace: "default" },
      data: { text: "x".repeat(500) },
    });
  await pause(200);
  const dns = (more: Partial<Order & { kind: "dns" }> = {}): Order => ({
    kind: "dns",
    port,
    names: names.map(full),
    seconds,
    ...more,
  });
  const api = (more: Partial<Order & { kind: "api" }> = {}): Order => ({
    kind: "api",
    url: `${cluster.url}/api/v1/namespaces/default/configmaps/c-1`,
    certificate: ofKubeconfig(cluster, "client-certificate-data"),
    key: ofKubeconfig(cluster, "client-key-data"),
    connections: 4,
    seconds,
    rate: 500,
    ...more,
  });
  await ask(dns({ seconds: 1 }));
  if (only.test("throughput")) {
    const before = process.cpuUsage();
    const result = await ask(dns());
    const { user, system } = process.cpuUsage(before);
    const perCore = result.answered / ((user + system) / 1e6);
    say(
      "64 queries under way",
      `${show(result)}; ${perCore.toFixed(0)}/s a core`,
    );
    say("5,000 queries a second", show(await ask(dns({ rate: 5000 }))));
  }
  if (only.test("first")) {
    const times: number[] = [];
    for (let n = 0; n < 100; n++)
      times.push(await firstAnswer(cluster, port, `late-${n}`));
    times.sort((a, b) => a - b);
    say(
      "a Service's creation to its first answer",
      `p50 ${quantile(times, 0.5).toFixed(1)} ms p99 ${quantile(times, 0.99).toFixed(1)} ms`,
    );
  }
  if (only.test("beside")) {
    say("API GET, 500/s, alone", show(await ask(api())));
    const [beside, flood] = await Promise.all([
      ask(api()),
      ask(dns({ rate: 10_000, seconds: seconds + 1 })),
    ]);
    say("API GET, 500/s, DNS at 10,000/s", show(beside));
    say("  DNS meanwhile", show(flood));
    say("DNS, 500/s, alone", show(await ask(dns({ rate: 500 }))));
    const [other, lists] = await Promise.all([
      ask(dns({ rate: 500 })),
      ask(
        api({
          url: `${cluster.url}/api/v1/namespaces/default/configmaps`,
          connections: 16,
          rate: 0,
          seconds: seconds + 1,
        }),
      ),
    ]);
    say("DNS, 500/s, API lists by 16 clients", show(other));
    say("  the lists meanwhile", show(lists));
  }
  if (only.test("many")) {
    for (let n = 0; n < 5000; n++) {
      await createService(cluster, `many-${n}`);
      await createEndpoints(cluster, `many-${n}`);
    }
    await pause(1000);
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    // Another server beside: what it adds is what DNS takes.
    const other = serverOf(cluster);
    await other.thread.start();
    await other.feed.start();
    await pause(1000);
    globalThis.gc?.();
    say(
      "a DNS server for 5,000 Services, its thread included",
      `${((process.memoryUsage().rss - before) / 1048576).toFixed(0)} MiB`,
    );
    other.feed.stop();
    await other.thread.stop();
    const result = await ask(
      dns({
        names: Array.from({ length: 5000 }, (_, n) => full(`many-${n}`)),
        rate: 5000,
      }),
    );
    say("5,000 queries a second, of 5,000 names", show(result));
  }
  feed.stop();
  await thread.stop();
  await cluster.stop();
  for (const each of children) each.kill();
}

if (options.role === "load") {
  process.on("message", (order: Order) => {
    void (order.kind === "dns" ? askDns(order) : askApi(order)).then((result) =>
      process.send!(result),
    );
  });
  process.send!("ready");
} else await main();
