// What a request through the ingress costs, and whether the ingress and the API server wait for each other: both in one
// process, as in `orbit server`, the API on its main thread and the proxy on its own. Loads come from other processes.
// `node tools/bench.mjs ingress [--seconds 4] [--only RE]`, of the built program's worker.
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import { machineAddresses } from "../../../cli/parts/addresses.ts";
import {
  configMaps,
  endpointSlices,
  ingresses,
  services,
} from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { IngressController } from "../../../network/ingress/ingress-controller.ts";
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

interface LoadOrder {
  readonly url: string;
  /** PEM, of a client. */
  readonly certificate?: string;
  readonly key?: string;
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second of all connections; undefined: as many as are answered. */
  readonly rate?: number;
}

interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

async function load(order: LoadOrder): Promise<LoadResult> {
  const url = new URL(order.url);
  const times: number[] = [];
  let failed = 0;
  const end = performance.now() + order.seconds * 1000;
  const gapMs = order.rate ? (1000 * order.connections) / order.rate : 0;
  await Promise.all(
    Array.from({ length: order.connections }, async (_, n) => {
      const connection = new Connection({
        url,
        insecure: true,
        ...(order.certificate && order.key
          ? {
              cert: Buffer.from(order.certificate),
              key: Buffer.from(order.key),
            }
          : {}),
      });
      let due = performance.now() + (gapMs * n) / order.connections;
      while (performance.now() < end) {
        if (gapMs > 0) {
          await pause(Math.max(0, due - performance.now()));
          due += gapMs;
        }
        const start = performance.now();
        const { status } = await connection.request("GET", url.pathname);
        times.push(performance.now() - start);
        if (status !== 200) failed++;
      }
      connection.close();
    }),
  );
  times.sort((a, b) => a - b);
  return {
    requests: times.length,
    seconds: order.seconds,
    failed,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  };
}

async function backend(): Promise<void> {
  const server = http.createServer((request, response) => {
    request.resume();
    response.setHeader("content-type", "text/plain");
    response.end("hello world\n");
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  process.send!((server.address() as AddressInfo).port);
}

const children: ChildProcess[] = [];

function child(role: string): ChildProcess {
  const started = fork(process.argv[1]!, ["--role", role]);
  children.push(started);
  return started;
}

async function ask(order: LoadOrder): Promise<LoadResult> {
  const started = child("load");
  await once(started, "message");
  started.send(order);
  const [result] = (await once(started, "message")) as [LoadResult];
  started.kill();
  return result;
}

async function prepare(cluster: Cluster, port: number): Promise<void> {
  const { client } = cluster;
  await client.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web", namespace: "default" },
    spec: { ports: [{ name: "http", port: 80 }] },
  });
  await client.resource(endpointSlices).create({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: "web-1",
      namespace: "default",
      labels: { "kubernetes.io/service-name": "web" },
    },
    addressType: "IPv4",
    endpoints: [{ addresses: [machineAddresses()[0] ?? "127.0.0.1"] }],
    ports: [{ name: "http", port }],
  });
  for (let n = 0; n < 500; n++)
    await client.resource(configMaps).create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: `c-${n}`, namespace: "default" },
      data: { text: "x".repeat(500) },
    });
}

/** For a host, or for all below a path. */
async function ingress(
  cluster: Cluster,
  name: string,
  host?: string,
): Promise<void> {
  await cluster.client.resource(ingresses).create({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace: "default" },
    spec: {
      rules: [
        {
          ...(host === undefined ? {} : { host }),
          http: {
            paths: [
              {
                path: host === undefined ? "/a" : "/",
                pathType: "Prefix",
                backend: { service: { name: "web", port: { number: 80 } } },
              },
            ],
          },
        },
      ],
    },
  });
}

function ofKubeconfig({ kubeconfig }: Cluster, field: string): string {
  const found = new RegExp(`${field}"?: "?([\\w+/=]+)`).exec(kubeconfig);
  return Buffer.from(found?.[1] ?? "", "base64").toString();
}

async function reached(
  port: () => number,
  host: string,
  url = "/",
): Promise<number> {
  const start = performance.now();
  for (;;) {
    if (port() > 0) {
      const status = await new Promise<number>((resolve) => {
        const request = http.get(
          { host: "127.0.0.1", port: port(), path: url, headers: { host } },
          (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
          },
        );
        request.on("error", () => resolve(0));
      });
      if (status === 200) return performance.now() - start;
    }
    await pause(1);
  }
}

async function main(): Promise<void> {
  const serving = child("backend");
  const [backendPort] = (await once(serving, "message")) as [number];
  const cluster = await startCluster({
    controllers: false,
    scheduler: false,
  });
  await prepare(cluster, backendPort);
  const controller = new IngressController({
    client: cluster.client,
    nodeName: "here",
    address: "127.0.0.1",
    httpPort: 0,
    trustedProxies: [],
    graceMs: 500,
    clock: systemClock,
    logger: pino({ level: "error" }),
    workerFile:
      options.worker ??
      path.join(
        fileURLToPath(new URL("..", import.meta.url)),
        "dist/ingress-worker.js",
      ),
  });
  await controller.start();
  const port = (): number => controller.ports.http;
  const seconds = Number(options.seconds);
  const only = new RegExp(options.only);
  const say = (name: string, text: string): void =>
    console.log(`${name.padEnd(44)} ${text}`);
  await ingress(cluster, "web");
  say(
    "first Ingress to first answer",
    `${(await reached(port, "web.test", "/a")).toFixed(0)} ms`,
  );
  const proxied = (more: Partial<LoadOrder> = {}): LoadOrder => ({
    url: `http://127.0.0.1:${port()}/a/b`,
    connections: 32,
    seconds,
    ...more,
  });
  const api = (more: Partial<LoadOrder> = {}): LoadOrder => ({
    url: `${cluster.url}/api/v1/namespaces/default/configmaps/c-1`,
    connections: 4,
    seconds,
    certificate: ofKubeconfig(cluster, "client-certificate-data"),
    key: ofKubeconfig(cluster, "client-key-data"),
    ...more,
  });
  const list = api({
    url: `${cluster.url}/api/v1/namespaces/default/configmaps`,
    connections: 16,
    seconds: seconds + 1,
  });
  const show = ({
    requests,
    seconds: taken,
    failed,
    p50,
    p99,
  }: LoadResult): string =>
    `${(requests / taken).toFixed(0)}/s p50 ${p50.toFixed(2)} ms p99 ${p99.toFixed(2)} ms${failed > 0 ? ` FAILED ${failed}` : ""}`;
  await ask(proxied({ seconds: 1 }));
  if (only.test("throughput")) {
    const before = process.cpuUsage();
    const result = await ask(proxied());
    const { user, system } = process.cpuUsage(before);
    const perCore = result.requests / ((user + system) / 1e6);
    say(
      "ingress, 32 connections",
      `${show(result)}; ${perCore.toFixed(0)}/s a core`,
    );
  }
  if (only.test("beside")) {
    const slow = { rate: 500, connections: 8 };
    say("API GET, 500/s, alone", show(await ask(api(slow))));
    const [beside, flood] = await Promise.all([
      ask(api(slow)),
      ask(proxied({ rate: 4000, seconds: seconds + 1 })),
    ]);
    say("API GET, 500/s, ingress at 4,000/s", show(beside));
    say("  the ingress meanwhile", show(flood));
    say("ingress, 500/s, alone", show(await ask(proxied(slow))));
    const [other, lists] = await Promise.all([ask(proxied(slow)), ask(list)]);
    say("ingress, 500/s, API lists by 16 clients", show(other));
    say("  the lists meanwhile", show(lists));
  }
  if (only.test("many")) {
    const rssBefore = process.memoryUsage().rss;
    for (let n = 0; n < 5000; n++)
      await ingress(cluster, `many-${n}`, `many-${n}.test`);
    await reached(port, "many-4999.test");
    await pause(1000);
    say(
      "5,000 Ingresses",
      `${((process.memoryUsage().rss - rssBefore) / 1048576).toFixed(0)} MiB more, their objects included`,
    );
    const times: number[] = [];
    for (let n = 0; n < 50; n++) {
      await ingress(cluster, `late-${n}`, `late-${n}.test`);
      times.push(await reached(port, `late-${n}.test`));
    }
    times.sort((a, b) => a - b);
    say(
      "a new Ingress among 5,000 to its answer",
      `p50 ${quantile(times, 0.5).toFixed(1)} ms p99 ${quantile(times, 0.99).toFixed(1)} ms`,
    );
    const before = process.cpuUsage();
    const result = await ask(proxied());
    const { user, system } = process.cpuUsage(before);
    const perCore = result.requests / ((user + system) / 1e6);
    say(
      "ingress among 5,000, 32 connections",
      `${show(result)}; ${perCore.toFixed(0)}/s a core`,
    );
  }
  await controller.stop();
  await cluster.stop();
  for (const each of children) each.kill();
}

if (options.role === "backend") await backend();
else if (options.role === "load") {
  process.on("message", (order: LoadOrder) => {
    void load(order).then((result) => process.send!(result));
  });
  process.send!("ready");
} else await main();
