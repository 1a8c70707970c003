// How soon the kernel has a change of a Service: `node tools/bench.mjs service-changes [--services=100,5000] [--changes=200]`.
// An API server in this process, the rules in a network namespace of its own, each Service with two endpoints. Prints how
// long the first writing took, and from the call of the API to the kernel how long changes took: of endpoints, and of a
// Service that comes with its endpoints.
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import type { EndpointSlice } from "../../../api/types/discovery-v1.ts";
import {
  endpointSlices,
  namespaces,
  services,
} from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { ServiceProxy } from "../../../network/proxy/proxy.ts";
import { quantile } from "../support/statistics.ts";

const { values: options } = parseArgs({
  options: {
    services: { type: "string", default: "100,5000" },
    changes: { type: "string", default: "200" },
  },
});

function sliceOf(n: number, last: number): EndpointSlice {
  const address = (part: number) => `10.42.${(2 * n + part) >> 8}.${last}`;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `s-${n}`,
      namespace: "bench",
      labels: { "kubernetes.io/service-name": `s-${n}` },
    },
    addressType: "IPv4",
    endpoints: [0, 1].map((part) => ({
      addresses: [address(part)],
      nodeName: "node-1",
    })),
    ports: [{ name: "", protocol: "TCP", port: 8080 }],
  };
}

async function create({ client }: Cluster, n: number): Promise<void> {
  await client.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: `s-${n}`, namespace: "bench" },
    spec: { ports: [{ protocol: "TCP", port: 80, targetPort: 8080 }] },
  });
  await client.resource(endpointSlices).create(sliceOf(n, 1));
}

function show(name: string, times: number[]): void {
  times.sort((a, b) => a - b);
  const at = (part: number): string => quantile(times, part).toFixed(1);
  console.log(
    `${name.padEnd(44)} p50 ${at(0.5)} ms p99 ${at(0.99)} ms of ${times.length}`,
  );
}

async function measure(count: number): Promise<void> {
  const netns = `orbit-bench-${process.pid}`;
  execFileSync("ip", ["netns", "add", netns]);
  const cluster = await startCluster({ controllers: false, scheduler: false });
  const proxy = new ServiceProxy({
    client: cluster.client,
    nodeName: "node-1",
    tableName: "orbit-bench",
    podRanges: ["10.42.0.0/16"],
    serviceRanges: ["10.43.0.0/16"],
    nodePortRanges: [],
    masqueradeAll: false,
    // `ip netns exec` would mount file systems for each transaction.
    wrapper: ["nsenter", `--net=/run/netns/${netns}`],
    clock: systemClock,
    logger: pino({ level: "warn" }),
  });
  const inStep = async (): Promise<void> => {
    do await new Promise((resolve) => setImmediate(resolve));
    while (!proxy.inStep);
  };
  const timed = async (change: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await change();
    await inStep();
    const tookMs = performance.now() - began;
    // One change is not to wait for what the kernel frees of the one before.
    await new Promise((resolve) => setTimeout(resolve, 40));
    return tookMs;
  };
  try {
    await cluster.client.resource(namespaces).create({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "bench" },
      spec: {},
    });
    for (let n = 0; n < count; n++) await create(cluster, n);
    const first = await timed(async () => {
      await proxy.start();
      await proxy.settled();
    });
    console.log(
      `${count} Services: first written after ${first.toFixed(0)} ms`,
    );
    const slices = cluster.client.resource(endpointSlices);
    const endpoints: number[] = [];
    const made: number[] = [];
    for (let n = 0; n < Number(options.changes); n++) {
      endpoints.push(
        await timed(() => slices.update(sliceOf(n % count, 2 + (n % 250)))),
      );
      made.push(await timed(() => create(cluster, count + n)));
    }
    show(`endpoints change beside ${count} Services`, endpoints);
    show(`a Service comes beside ${count}`, made);
  } finally {
    await proxy.stop();
    await cluster.stop();
    execFileSync("ip", ["netns", "del", netns]);
  }
}

for (const count of options.services.split(",")) await measure(Number(count));
