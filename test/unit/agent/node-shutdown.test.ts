// The machine's shutdown: which pods end together, in what order and with what grace, what holds the machine up and for
// how long, a shutdown that is cancelled, and a source that fails.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import type { ShutdownPeriod } from "../../../agent/config/shutdown-period.ts";
import { logSink } from "../../../agent/events/event-sinks.ts";
import { PodEvents } from "../../../agent/events/pod-events.ts";
import { podGroups } from "../../../agent/pods/shape/shutdown-groups.ts";
import type { EndRequest } from "../../../agent/pods/worker/worker-state.ts";
import { shutdownOf } from "../../../agent/shutdown/logind.ts";
import { NodeShutdown } from "../../../agent/shutdown/node-shutdown.ts";
import type { ShutdownSource } from "../../../agent/shutdown/shutdown-source.ts";
import { ShutdownTimes } from "../../../agent/shutdown/shutdown-times.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const temp = useTempDirectories();
const logger = pino({ level: "silent" });

function pod(name: string, priority?: number, grace?: number): Pod {
  return {
    metadata: { name, uid: name },
    spec: {
      containers: [],
      ...(priority === undefined ? {} : { priority }),
      ...(grace === undefined ? {} : { terminationGracePeriodSeconds: grace }),
    },
  } as unknown as Pod;
}

const names = (pods: readonly Pod[]): string[] =>
  pods.map(({ metadata }) => metadata.name!);

test("a pod belongs to the highest period that its priority reaches", () => {
  const periods = [
    { priority: 1000, graceSeconds: 20 },
    { priority: 0, graceSeconds: 10 },
    { priority: 100_000, graceSeconds: 30 },
  ];
  const pods = [
    pod("none"),
    pod("negative", -5),
    pod("zero", 0),
    pod("below", 999),
    pod("at", 1000),
    pod("above", 99_999),
    pod("top", 2_000_001_000),
  ];
  expect(
    podGroups(periods, pods, ({ spec }) => spec.priority ?? 0).map((group) => [
      group.graceSeconds,
      ...names(group.pods),
    ]),
  ).toEqual([
    [10, "none", "negative", "zero", "below"],
    [20, "at", "above"],
    [30, "top"],
  ]);
});

const halves: ShutdownPeriod[] = [
  { priority: 0, graceSeconds: 20 },
  { priority: 2_000_000_000, graceSeconds: 10 },
];

/** A machine that can be shut down, and pods that end when told to. */
function machine(periods: readonly ShutdownPeriod[] = halves) {
  const clock = new FakeClock();
  const directory = temp();
  const pods = new Map<string, Pod>();
  const ended: [string, EndRequest][] = [];
  const states: boolean[] = [];
  const calls: string[] = [];
  const events: string[] = [];
  let listener: ((active: boolean) => void) | undefined;
  let lost: (() => void) | undefined;
  const held = { locks: 0, maximumMs: 60_000, raises: true, fails: 0 };
  const source: ShutdownSource = {
    async maximumDelayMs() {
      if (held.fails-- > 0) throw new Error("no bus");
      return held.maximumMs;
    },
    async raiseMaximumDelay(delayMs) {
      calls.push(`raise ${delayMs}`);
      if (held.raises) held.maximumMs = delayMs;
    },
    async lock() {
      held.locks++;
      return { release: () => held.locks-- };
    },
    async watch(onChange, onEnd) {
      calls.push("watch");
      listener = onChange;
      lost = onEnd;
      return { stop: () => (listener = undefined) };
    },
  };
  const times = new ShutdownTimes(path.join(directory, "state"));
  const shutdown = new NodeShutdown({
    periods,
    source,
    pods: () => [...pods.values()],
    endPod: (uid, request) => ended.push([uid, request]),
    onChange: (active) => states.push(active),
    times,
    events: new PodEvents(
      {
        ...logSink(logger, clock),
        event: (_object, _type, reason, message) =>
          events.push(`${reason}: ${message}`),
      },
      () => ({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } }),
    ),
    clock,
    logger,
  });
  return {
    clock,
    shutdown,
    pods,
    ended,
    states,
    calls,
    events,
    held,
    directory,
    times,
    shutDown: (active: boolean) => listener!(active),
    loseSource: () => lost!(),
    add(...added: Pod[]) {
      for (const each of added) pods.set(each.metadata.uid!, each);
    },
    endedPods: () =>
      ended.map(([uid, { graceSeconds }]) => [uid, graceSeconds]),
  };
}

test("without a period nothing is held up", async () => {
  const { shutdown, calls, clock, held } = machine([]);
  shutdown.start();
  await clock.advanceAsync(1000);
  expect(calls).toEqual([]);
  expect(held.locks).toBe(0);
  shutdown.stop();
});

test("ordinary pods end first, critical ones when they are gone; then the machine goes on", async () => {
  const m = machine();
  m.add(pod("web", 0, 30), pod("quick", 0, 5), pod("dns", 2_000_000_000, 30));
  m.shutdown.start();
  await m.clock.advanceAsync(0);
  expect(m.held.locks).toBe(1);
  m.shutDown(true);
  await m.clock.advanceAsync(1000);
  expect(m.states).toEqual([true]);
  expect(m.endedPods()).toEqual([
    ["web", 20],
    ["quick", 5],
  ]);
  expect(m.ended[0]![1].failure).toEqual({
    reason: "Terminated",
    message: "Pod was terminated in response to imminent node shutdown.",
    disruption: true,
  });
  m.pods.delete("web");
  await m.clock.advanceAsync(1000);
  expect(m.ended).toHaveLength(2);
  m.pods.delete("quick");
  await m.clock.advanceAsync(200);
  expect(m.endedPods()[2]).toEqual(["dns", 10]);
  expect(m.held.locks).toBe(1);
  m.pods.delete("dns");
  await m.clock.advanceAsync(200);
  expect(m.held.locks).toBe(0);
  expect(m.events).toEqual([
    "Shutdown: Shutdown manager detected shutdown event",
  ]);
  m.shutdown.stop();
});

test("a pod that does not end holds the machine up for its group's period only", async () => {
  const m = machine();
  m.add(pod("stubborn"), pod("dns", 2_000_000_000));
  m.shutdown.start();
  await m.clock.advanceAsync(0);
  m.shutDown(true);
  await m.clock.advanceAsync(19_800);
  expect(m.ended).toHaveLength(1);
  await m.clock.advanceAsync(400);
  expect(m.endedPods()[1]).toEqual(["dns", 10]);
  await m.clock.advanceAsync(10_200);
  expect(m.held.locks).toBe(0);
  m.shutdown.stop();
});

test("a shutdown that is cancelled gives the node back and takes the lock again", async () => {
  const m = machine();
  m.add(pod("web"), pod("dns", 2_000_000_000));
  m.shutdown.start();
  await m.clock.advanceAsync(0);
  m.shutDown(true);
  await m.clock.advanceAsync(500);
  m.shutDown(false);
  await m.clock.advanceAsync(30_000);
  expect(m.states).toEqual([true, false]);
  expect(m.endedPods()).toEqual([["web", 20]]);
  expect(m.held.locks).toBe(1);
  expect(m.events[1]).toBe(
    "Shutdown: Shutdown manager detected shutdown cancellation",
  );
  m.shutdown.stop();
  expect(m.held.locks).toBe(0);
});

test("logind's delay is raised where it is too short", async () => {
  const m = machine();
  m.held.maximumMs = 5000;
  m.shutdown.start();
  await m.clock.advanceAsync(0);
  expect(m.calls).toEqual(["raise 30000", "watch"]);
  m.shutdown.stop();
});

test("nothing is promised while the delay stays too short, the bus is away or the watch ends; it is tried again", async () => {
  const m = machine();
  Object.assign(m.held, { maximumMs: 5000, raises: false, fails: 2 });
  m.shutdown.start();
  await m.clock.advanceAsync(4000);
  expect(m.held.locks).toBe(0);
  expect(m.calls[0]).toBe("raise 30000");
  m.held.raises = true;
  await m.clock.advanceAsync(30_000);
  expect(m.held.locks).toBe(1);
  m.loseSource();
  expect(m.held.locks).toBe(0);
  await m.clock.advanceAsync(30_000);
  expect(m.held.locks).toBe(1);
  expect(m.calls.filter((call) => call === "watch")).toHaveLength(2);
  m.shutdown.stop();
  expect(m.held.locks).toBe(0);
});

test("metrics say when the last shutdown began and ended, also after the boot", async () => {
  const m = machine();
  m.shutdown.start();
  await m.clock.advanceAsync(0);
  m.shutDown(true);
  await m.clock.advanceAsync(0);
  m.shutdown.stop();
  const file = path.join(m.directory, "state");
  const text = metricsText(new ShutdownTimes(file).families());
  expect(text).toContain(
    `kubelet_graceful_shutdown_start_time_seconds ${Date.UTC(2025, 0, 1) / 1000}`,
  );
  expect(text).toContain(
    `kubelet_graceful_shutdown_end_time_seconds ${Date.UTC(2025, 0, 1) / 1000}`,
  );
  fs.writeFileSync(file, "{");
  expect(metricsText(new ShutdownTimes(file).families())).toContain(
    "kubelet_graceful_shutdown_start_time_seconds 0",
  );
});

test.each([
  [
    '{"type":"signal","member":"PrepareForShutdown","payload":{"type":"b","data":[true]}}',
    true,
  ],
  ['{"member":"PrepareForShutdown","payload":{"data":[false]}}', false],
  ['{"member":"PrepareForSleep","payload":{"data":[true]}}', undefined],
  ['{"member":"PrepareForShutdown","payload":{"data":[1]}}', undefined],
  ['{"member":"PrepareForShutdown"}', undefined],
  ["", undefined],
  ["null", undefined],
])("%s is %s", (line, active) => {
  expect(shutdownOf(line)).toBe(active);
});
