// What a Service costs a connection: throughput to a pod through its Service and straight, and the time to connect beside few
// and many Services, in both modes. Rules in a network namespace of their own; the pods are namespaces too.
// `node tools/bench.mjs services [--seconds 3] [--services 5000] [--only RE]`, as root.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { parseArgs } from "node:util";
import { iptablesCommand } from "../../../network/iptables/iptables-command.ts";
import { writeWhole } from "../../../network/iptables/own-chains.ts";
import { nftCommand } from "../../../network/nft/nft-command.ts";
import { IptablesRuleset } from "../../../network/proxy/iptables-ruleset.ts";
import type { TableOptions } from "../../../network/proxy/rule-table.ts";
import { Ruleset } from "../../../network/proxy/ruleset.ts";
import type { ProxyPort } from "../../../network/proxy/service-ports.ts";
import { quantile } from "../support/statistics.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    services: { type: "string", default: "5000" },
    only: { type: "string", default: "." },
  },
});

const prefix = `bench-${process.pid}`;
const node = `${prefix}-node`;
const wrapper = ["ip", "netns", "exec", node];
const pods = { a: "10.42.0.2", b: "10.42.0.3" };
const service = "10.43.0.1";
const port = 8080;

const ip = (...words: string[]): void =>
  void execFileSync("ip", words, { stdio: ["ignore", "ignore", "pipe"] });
const inside = (namespace: string, ...words: string[]): void =>
  ip("netns", "exec", namespace, ...words);

function makeNetwork(): void {
  ip("netns", "add", node);
  inside(node, "sysctl", "-qw", "net.ipv4.ip_forward=1");
  for (const [name, address] of Object.entries(pods)) {
    const pod = `${prefix}-${name}`;
    const link = `v-${name}`;
    ip("netns", "add", pod);
    ip(
      ...["link", "add", link, "netns", node, "type", "veth"],
      ...["peer", "name", "eth0", "netns", pod],
    );
    inside(node, "ip", "link", "set", link, "up");
    inside(node, "ip", "addr", "add", "169.254.1.1/32", "dev", link);
    inside(node, "ip", "route", "add", `${address}/32`, "dev", link);
    inside(pod, "ip", "link", "set", "lo", "up");
    inside(pod, "ip", "link", "set", "eth0", "up");
    inside(pod, "ip", "addr", "add", `${address}/32`, "dev", "eth0");
    inside(pod, "ip", "route", "add", "169.254.1.1", "dev", "eth0");
    inside(pod, "ip", "route", "add", "default", "via", "169.254.1.1");
  }
}

function removeNetwork(): void {
  for (const name of [node, ...Object.keys(pods).map((n) => `${prefix}-${n}`)])
    try {
      ip("netns", "del", name);
    } catch {
      // It was not made.
    }
}

/** A program of Node in a pod; what it prints. */
async function run(pod: string, program: string): Promise<string> {
  const child = spawn(
    "ip",
    ["netns", "exec", `${prefix}-${pod}`, process.execPath, "-e", program],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(child, "exit");
  return text;
}

/** Sends all the time to who says so, and closes the connections of the others. */
const server = `
const chunk = Buffer.alloc(1 << 20);
require("node:net").createServer((socket) => {
  socket.on("error", () => {});
  socket.once("data", () => {
    const fill = () => { while (socket.writable && socket.write(chunk)); };
    socket.on("drain", fill);
    fill();
  });
}).listen(${port}, "0.0.0.0", () => console.log("ready"));`;

/** Bytes a second. */
const throughput = async (host: string, to: number): Promise<number> =>
  Number(
    await run(
      "a",
      `let bytes = 0;
const socket = require("node:net").connect({ host: "${host}", port: ${to}, onread: {
  buffer: Buffer.alloc(1 << 20), callback: (n) => { bytes += n; return true; } } });
socket.write("go");
setTimeout(() => { bytes = 0; const at = performance.now();
  setTimeout(() => { console.log(bytes / (performance.now() - at) * 1000); process.exit(); }, ${Number(options.seconds) * 1000});
}, 500);`,
    ),
  );

/** Milliseconds of 2,000 connections, one after the other. */
const connections = async (host: string, to: number): Promise<number[]> =>
  JSON.parse(
    await run(
      "a",
      `const net = require("node:net"); const times = [];
const next = () => { const at = performance.now();
  const socket = net.connect(${to}, "${host}", () => { times.push(performance.now() - at); socket.resetAndDestroy();
    if (times.length < 2000) setImmediate(next); else console.log(JSON.stringify(times)); });
  socket.on("error", (error) => { console.error(error); process.exit(1); }); };
next();`,
    ),
  ) as number[];

const tableOptions: TableOptions = {
  family: 4,
  name: "orbit-proxy",
  podRanges: ["10.42.0.0/16"],
  serviceRanges: [],
  nodePortRanges: [],
  masqueradeAll: false,
};

function proxyPort(n: number): ProxyPort {
  const clusterIp = `10.43.${n >> 8}.${n & 255}`;
  const endpoint = (address: string) => ({ address, port });
  return {
    name: `bench/s-${n}`,
    id: n.toString(16).padStart(16, "0"),
    family: 4,
    protocol: "tcp",
    port: 80,
    clusterIp,
    externalIps: [],
    loadBalancerIps: [],
    internalLocal: false,
    externalLocal: false,
    cluster:
      clusterIp === service
        ? [endpoint(pods.b)]
        : [endpoint("10.42.9.1"), endpoint("10.42.9.2")],
    local: [],
  };
}

/** The measured Service comes last, which is where a list is slowest. */
function write(mode: "nftables" | "iptables", count: number): Promise<void> {
  const rules =
    mode === "nftables"
      ? new Ruleset(tableOptions)
      : new IptablesRuleset(tableOptions);
  for (let n = count; n >= 1; n--) {
    const each = proxyPort(n);
    rules.setPort(each.id, each);
  }
  const script = rules.wholeScript();
  if (rules instanceof Ruleset) return nftCommand({ wrapper })(script);
  const command = iptablesCommand({ family: 4, wrapper });
  return writeWhole(command, rules, script.slice(script.indexOf("*")));
}

const say = (name: string, text: string): void =>
  console.log(`${name.padEnd(44)} ${text}`);
const rate = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(2)} GiB/s`;

function showTimes(name: string, times: number[]): void {
  times.sort((a, b) => a - b);
  say(
    name,
    `p50 ${(quantile(times, 0.5) * 1000).toFixed(0)} µs p99 ${(quantile(times, 0.99) * 1000).toFixed(0)} µs`,
  );
}

async function main(): Promise<void> {
  const only = new RegExp(options.only);
  makeNetwork();
  const serving = spawn(
    "ip",
    ["netns", "exec", `${prefix}-b`, process.execPath, "-e", server],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  await once(serving.stdout, "data");
  try {
    await connections(pods.b, port);
    showTimes("connect, pod to pod", await connections(pods.b, port));
    for (const mode of ["nftables", "iptables"] as const) {
      if (!only.test(mode)) continue;
      for (const count of [10, Number(options.services)]) {
        await write(mode, count);
        showTimes(
          `connect, ${mode}, ${count} Services`,
          await connections(service, 80),
        );
      }
      const pairs: [number, number][] = [];
      for (let n = 0; n < 3; n++)
        pairs.push([
          await throughput(pods.b, port),
          await throughput(service, 80),
        ]);
      const best = (at: 0 | 1): number =>
        Math.max(...pairs.map((pair) => pair[at]));
      say(
        `throughput, ${mode}, ${options.services} Services`,
        `pod to pod ${rate(best(0))}, through the Service ${rate(best(1))}: ${((100 * best(1)) / best(0)).toFixed(0)} %`,
      );
      if (mode === "nftables")
        await nftCommand({ wrapper })("delete table ip orbit-proxy\n");
    }
  } finally {
    serving.kill();
    removeNetwork();
  }
}

await main();
