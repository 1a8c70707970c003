// Network policies beside many of them: `node tools/bench.mjs policies [--policies=1000] [--pods=2000] [--changes=100]`.
// An API server in this process, the rules in a network namespace of its own. Pods are in 20 namespaces, 110 of them on this
// node; each policy selects the pods of one app of its namespace and lets in those of two others and of another namespace.
// `ip netns exec` would mount file systems for each transaction: nsenter does not.
// Prints how long the first writing took, and from the call of the API to the kernel how long changes took: of a policy, of
// a pod that gets its address, of a pod's labels; and the longest time that the event loop was held meanwhile.
import { execFileSync } from "node:child_process";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { NetworkPolicy } from "../../../api/types/networking-v1.ts";
import {
  namespaces,
  networkPolicies,
  pods,
} from "../../../client/resources.ts";
import { startCluster } from "../../../index.ts";
import { NetworkPolicies } from "../../../network/policy/network-policies.ts";

const spaces = 20;
const apps = 20;
const localPods = 110;

function option(name: string, fallback: number): number {
  const given = process.argv.find((each) => each.startsWith(`--${name}=`));
  return given ? Number(given.split("=")[1]) : fallback;
}

const counts = {
  policies: option("policies", 1000),
  pods: option("pods", 2000),
  changes: option("changes", 100),
};

function podOf(n: number): Pod {
  return {
    metadata: {
      name: `pod-${n}`,
      namespace: `ns-${n % spaces}`,
      labels: { app: `app-${Math.floor(n / spaces) % apps}` },
    },
    spec: {
      nodeName: n < localPods ? "node-1" : "node-2",
      containers: [{ name: "main", image: "none" }],
    },
  } as Pod;
}

function withAddress(pod: Pod, n: number): Pod {
  const ip = `10.42.${n >> 8}.${n & 255}`;
  return {
    ...pod,
    status: { phase: "Running", podIP: ip, podIPs: [{ ip }] },
  } as Pod;
}

function policyOf(n: number, port = 80): NetworkPolicy {
  const app = (m: number): object => ({
    matchLabels: { app: `app-${m % apps}` },
  });
  return {
    metadata: { name: `policy-${n}`, namespace: `ns-${n % spaces}` },
    spec: {
      podSelector: app(Math.floor(n / spaces)),
      ingress: [
        {
          from: [
            { podSelector: app(n + 1) },
            { podSelector: app(n + 2) },
            {
              namespaceSelector: {
                matchLabels: {
                  "kubernetes.io/metadata.name": `ns-${(n + 1) % spaces}`,
                },
              },
              podSelector: app(n),
            },
            { ipBlock: { cidr: `198.51.${n & 255}.0/24` } },
          ],
          ports: [{ port }, { port: 8000 + (n % 50) }],
        },
      ],
    },
  } as NetworkPolicy;
}

function line(name: string, times: number[]): string {
  const sorted = times.sort((a, b) => a - b);
  const at = (part: number): string =>
    sorted[
      Math.min(sorted.length - 1, Math.floor(sorted.length * part))
    ]!.toFixed(1);
  return `${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`;
}

async function main(): Promise<void> {
  const netns = `orbit-bench-${process.pid}`;
  execFileSync("ip", ["netns", "add", netns]);
  const cluster = await startCluster({
    controllers: false,
    scheduler: false,
    args: ["--disable-admission-plugins=ServiceAccount"],
  });
  const { client } = cluster;
  const policies = new NetworkPolicies({
    client,
    nodeName: "node-1",
    tableName: "orbit-policy",
    podRanges: ["10.42.0.0/16"],
    wrapper: ["nsenter", `--net=/run/netns/${netns}`],
    clock: systemClock,
    logger: pino({ level: "warn" }),
  });
  const inStep = async (): Promise<void> => {
    do await new Promise((resolve) => setImmediate(resolve));
    while (!policies.inStep);
  };
  try {
    for (let n = 0; n < spaces; n++)
      await client
        .resource(namespaces)
        .create({ metadata: { name: `ns-${n}` }, spec: {} });
    for (let n = 0; n < counts.pods; n++) {
      const made = await client.resource(pods).create(podOf(n));
      await client.resource(pods).updateStatus(withAddress(made, n));
    }
    for (let n = 0; n < counts.policies; n++)
      await client.resource(networkPolicies).create(policyOf(n));
    const before = process.memoryUsage();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const started = performance.now();
    await policies.start();
    await inStep();
    console.log(
      `${counts.policies} policies, ${counts.pods} pods, ${localPods} here: first written after ${(performance.now() - started).toFixed(0)} ms, the loop held for ${(delay.max / 1e6).toFixed(1)} ms at most`,
    );
    globalThis.gc?.();
    console.log(
      `heap ${((process.memoryUsage().heapUsed - before.heapUsed) / 2 ** 20).toFixed(1)} MiB more`,
    );
    delay.reset();
    const timed = async (change: () => Promise<unknown>): Promise<number> => {
      const began = performance.now();
      await change();
      await inStep();
      return performance.now() - began;
    };
    const all = { policy: [], address: [], labels: [] } as Record<
      "policy" | "address" | "labels",
      number[]
    >;
    for (let n = 0; n < counts.changes; n++) {
      all.policy.push(
        await timed(() =>
          client.resource(networkPolicies).update(policyOf(n, 81)),
        ),
      );
      const made = await client.resource(pods).create(podOf(counts.pods + n));
      await inStep();
      all.address.push(
        await timed(() =>
          client
            .resource(pods)
            .updateStatus(withAddress(made, counts.pods + n)),
        ),
      );
      const labelled = podOf(localPods + n);
      all.labels.push(
        await timed(() =>
          client
            .resource(pods)
            .patch(labelled.metadata.name!, labelled.metadata.namespace, {
              type: "merge",
              body: { metadata: { labels: { app: `app-${(n + 7) % apps}` } } },
            }),
        ),
      );
    }
    for (const [name, times] of Object.entries(all))
      console.log(line(name, times));
    console.log(`the loop held for ${(delay.max / 1e6).toFixed(1)} ms at most`);
    console.log(
      metricsText(policies.metrics.families())
        .split("\n")
        .filter((each) => /^orbit.*(total|count|sum)/.test(each))
        .join("\n"),
    );
  } finally {
    await policies.stop();
    await cluster.stop();
    execFileSync("ip", ["netns", "del", netns]);
  }
}

await main();
