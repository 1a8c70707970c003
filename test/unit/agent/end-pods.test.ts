// The order in which a halting machine's pods end, on a runtime that is slow to tear them down, too.
import pino from "pino";
import { endPods } from "../../../agent/pods/end/end-pods.ts";
import type { ShutdownPeriod } from "../../../agent/config/shutdown-period.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import { turns } from "../../robustness/mount.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { containerOf, sandboxOf, testPod } from "./runtime-objects.ts";

const critical = 2_000_000_000;

/** Pods by their priority; `stopSeconds`: how long the runtime takes to stop any container or sandbox. */
async function endAll(
  priorities: Record<string, number>,
  stopSeconds: number,
  periods?: readonly ShutdownPeriod[],
): Promise<string[]> {
  const clock = new FakeClock(0);
  const log: string[] = [];
  const pods = Object.entries(priorities).map(([name, priority]) => {
    const pod = testPod({ priority });
    pod.metadata = { ...pod.metadata, name, uid: name };
    const id = `${name}-sandbox`;
    return {
      sandbox: sandboxOf(pod, { id }),
      container: containerOf(pod, "app", { id: name, sandboxId: id }),
    };
  });
  const stopping = (what: string): Promise<void> => {
    log.push(`${clock.monotonic() / 1000}: ${what}`);
    return new Promise((resolve) => clock.after(stopSeconds * 1000, resolve));
  };
  const runtime = {
    subscribe: () => () => undefined,
    listPodSandboxes: () => Promise.resolve(pods.map(({ sandbox }) => sandbox)),
    listContainers: () =>
      Promise.resolve(pods.map(({ container }) => container)),
    podSandboxStatus: (id: string) =>
      Promise.resolve(pods.find(({ sandbox }) => sandbox.id === id)!.sandbox),
    containerStatus: (id: string) =>
      Promise.resolve(
        pods.find(({ container }) => container.id === id)!.container,
      ),
    stopContainer: (id: string, seconds: number) =>
      stopping(`${id} in ${seconds}`),
    stopPodSandbox: (id: string) => stopping(id),
  } as unknown as Runtime;
  let ended = false;
  const done = endPods({
    ...{ runtime, clock, logger: pino({ level: "silent" }), remove: false },
    ...(periods ? { periods } : {}),
  }).then(() => (ended = true));
  for (await turns(20); !ended; await turns(20)) clock.advance(500);
  await done;
  return log;
}

test("ordinary pods that end in time are followed by critical ones at once", async () => {
  const periods = [
    { priority: 0, graceSeconds: 5 },
    { priority: critical, graceSeconds: 2 },
  ];
  expect(await endAll({ web: 0, dns: critical }, 0.5, periods)).toEqual([
    "0: web in 5",
    "0.5: web-sandbox",
    "1: dns in 2",
    "1.5: dns-sandbox",
  ]);
});

test("a runtime that is slower than a period takes no time from critical pods", async () => {
  const periods = [
    { priority: 0, graceSeconds: 5 },
    { priority: critical, graceSeconds: 2 },
  ];
  expect(await endAll({ web: 0, dns: critical }, 20, periods)).toEqual([
    "0: web in 5",
    "5: dns in 2",
    "20: web-sandbox",
    "25: dns-sandbox",
  ]);
});

test("pods end by all periods, those of negative priority first", async () => {
  const periods = [
    { priority: 1000, graceSeconds: 3 },
    { priority: -100, graceSeconds: 1 },
    { priority: 0, graceSeconds: 2 },
  ];
  expect(
    await endAll({ high: 1000, low: -100, lower: -200, zero: 0 }, 60, periods),
  ).toEqual([
    "0: low in 2",
    "0: lower in 2",
    "1: zero in 2",
    "3: high in 3",
    "60: low-sandbox",
    "60: lower-sandbox",
    "61: zero-sandbox",
    "63: high-sandbox",
  ]);
});

test("without periods each pod has its own grace, and critical ones wait for all others", async () => {
  expect(await endAll({ web: 0, dns: critical }, 40)).toEqual([
    "0: web in 30",
    "40: web-sandbox",
    "80: dns in 30",
    "120: dns-sandbox",
  ]);
});
