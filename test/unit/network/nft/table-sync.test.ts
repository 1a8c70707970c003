// One transaction at a time: what is asked for while one runs is done after it.
import { pino } from "pino";
import { Ruleset } from "../../../../network/proxy/ruleset.ts";
import type { ProxyPort } from "../../../../network/proxy/service-ports.ts";
import { TableObjects } from "../../../../network/nft/table-objects.ts";
import { TableSync } from "../../../../network/nft/table-sync.ts";
import { FakeClock, settle } from "../../../support/fake-clock.ts";

test("the whole is written again when it is asked for while the whole is being written", async () => {
  const scripts: string[] = [];
  const running: (() => void)[] = [];
  const sync = new TableSync({
    what: "service rules",
    scripts: new Ruleset({
      family: 4,
      name: "orbit-proxy",
      podRanges: [],
      serviceRanges: [],
      nodePortRanges: [],
      masqueradeAll: false,
    }),
    run: (script) => {
      scripts.push(script);
      return new Promise((resolve) => running.push(resolve));
    },
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
    onBegin: () => undefined,
    onDone: () => undefined,
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  sync.request(true);
  await turn();
  await turn();
  expect(scripts).toHaveLength(1);
  // The kernel has it, somebody deletes it, and only then its writer ends.
  sync.request(true);
  running.shift()!();
  await turn();
  expect(scripts).toHaveLength(2);
  expect(scripts[1]).toBe(scripts[0]);
  expect(sync.inStep).toBe(false);
  running.shift()!();
  await turn();
  expect(sync.inStep).toBe(true);
  await sync.stop();
});

test("a transaction that fails leaves the old rules, and the whole is tried again", async () => {
  const clock = new FakeClock();
  const scripts: string[] = [];
  const failed: boolean[] = [];
  let fails = false;
  const objects = new TableObjects("ip t", "");
  const sync = new TableSync({
    what: "rules",
    scripts: objects,
    run: (script) => {
      scripts.push(script);
      return fails
        ? Promise.reject(new Error("nft: out of memory"))
        : Promise.resolve();
    },
    clock,
    logger: pino({ level: "silent" }),
    onBegin: () => undefined,
    onDone: (_, each) => failed.push(each),
  });
  sync.request(true);
  expect(await sync.settled()).toBe(true);
  fails = true;
  objects.set("a", {
    chains: new Map([["c", ["accept"]]]),
    elements: [],
    sets: new Map(),
  });
  sync.request();
  expect(await sync.settled()).toBe(false);
  expect(scripts).toHaveLength(2);
  expect(failed).toEqual([false, true]);
  fails = false;
  await clock.advanceAsync(1000);
  expect(await sync.settled()).toBe(true);
  expect(scripts[2]).toMatch(/^table ip t\ndelete table ip t\n/);
  expect(scripts[2]).toContain("add rule ip t c accept");
  await sync.stop();
});

test("2,000 endpoints that flap while a transaction runs are one transaction after it", async () => {
  const rules = new Ruleset({
    family: 4,
    name: "orbit-proxy",
    podRanges: [],
    serviceRanges: [],
    nodePortRanges: [],
    masqueradeAll: false,
  });
  const scripts: string[] = [];
  const running: (() => void)[] = [];
  const sync = new TableSync({
    what: "service rules",
    scripts: rules,
    run: (script) => {
      scripts.push(script);
      return new Promise((resolve) => running.push(resolve));
    },
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
    onBegin: () => undefined,
    onDone: () => undefined,
  });
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const port = (up: number): ProxyPort => ({
    name: "shop/web",
    id: "0123456789abcdef",
    family: 4,
    protocol: "tcp",
    port: 80,
    clusterIp: "10.43.0.1",
    externalIps: [],
    loadBalancerIps: [],
    internalLocal: false,
    externalLocal: false,
    cluster: Array.from({ length: up }, (_, n) => ({
      address: `10.42.${n >> 8}.${n & 255}`,
      port: 8080,
    })),
    local: [],
  });
  rules.setPort("web", port(2000));
  sync.request(true);
  await turn();
  await turn();
  for (let n = 0; n < 50; n++) {
    rules.setPort("web", port(n % 2 === 0 ? 0 : 2000));
    rules.setPort("web", port(1000));
    sync.request();
    await turn();
  }
  expect(scripts).toHaveLength(1);
  running.shift()!();
  await turn();
  await turn();
  expect(scripts).toHaveLength(2);
  expect(scripts[1]).toContain("numgen random mod 1000 map");
  running.shift()!();
  await turn();
  expect(sync.inStep).toBe(true);
  expect(scripts).toHaveLength(2);
  await sync.stop();
});

test("how long the kernel has lacked rules: from the first request, again from each success, until all is there", async () => {
  const clock = new FakeClock();
  let script = "x";
  let fails = true;
  const running: (() => void)[] = [];
  const sync = new TableSync({
    what: "rules",
    scripts: {
      table: "ip t",
      wholeScript: () => script,
      changeScript: () => script,
    },
    run: () =>
      fails
        ? Promise.reject(new Error("busy"))
        : new Promise((resolve) => running.push(resolve)),
    clock,
    logger: pino({ level: "silent" }),
    onBegin: () => undefined,
    onDone: () => undefined,
  });
  expect(sync.behindMs).toBe(0);
  sync.request();
  clock.advance(30);
  await sync.settled();
  expect(sync.behindMs).toBe(30);
  fails = false;
  // The next try, and what was asked for while it ran.
  await clock.advanceAsync(100);
  expect(sync.behindMs).toBe(130);
  sync.request();
  running.shift()!();
  await settle();
  expect(sync.behindMs).toBe(0);
  clock.advance(7);
  expect(sync.behindMs).toBe(7);
  running.shift()!();
  await sync.settled();
  clock.advance(7);
  expect(sync.behindMs).toBe(0);
  // A request that has nothing to write.
  script = "";
  sync.request();
  await sync.settled();
  clock.advance(7);
  expect(sync.behindMs).toBe(0);
  await sync.stop();
});
