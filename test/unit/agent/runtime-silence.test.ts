// A runtime that hangs instead of refusing: put up with for 30 s, as a busy one may be slow, and not longer.
import pino from "pino";
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { logSink } from "../../../agent/events/event-sinks.ts";
import { PodEvents } from "../../../agent/events/pod-events.ts";
import { NodeStartup } from "../../../agent/metrics/node-startup.ts";
import { networkProblem } from "../../../agent/node/runtime-health.ts";
import { NodeReporter } from "../../../agent/node/node-reporter.ts";
import { RuntimeError, type Runtime } from "../../../cri/runtime.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const logger = pino({ level: "silent" });
const well = { ready: true, reason: "", message: "" };

type Mode = "answers" | "hangs" | "refuses" | "without network";

/** `how` decides what the next calls do. */
function reporterOf(how: { mode: Mode }) {
  const clock = new FakeClock();
  let recoveries = 0;
  const answer = <T>(value: T): Promise<T> => {
    if (how.mode === "refuses")
      return Promise.reject(new RuntimeError("unavailable", "refused"));
    return how.mode === "hangs"
      ? new Promise(() => undefined)
      : Promise.resolve(value);
  };
  const runtime = {
    status: () =>
      answer({
        runtime: well,
        network:
          how.mode === "without network"
            ? { ready: false, reason: "NetworkPluginNotReady", message: "none" }
            : well,
      }),
    version: () =>
      answer({
        runtimeName: "c",
        runtimeVersion: "1",
        runtimeApiVersion: "v1",
      }),
    listImages: () => answer([]),
  } as unknown as Runtime;
  const reporter = new NodeReporter({
    startup: new NodeStartup(clock, { machineSeconds: 0, programSeconds: 0 }),
    client: undefined,
    runtime,
    config: resolveAgentConfig({ nodeName: "n", nodeIPs: ["127.0.0.1"] }),
    clock,
    logger,
    events: new PodEvents(logSink(logger, clock), () => ({
      ...{ apiVersion: "v1", kind: "Node", metadata: { name: "n" } },
    })),
  });
  reporter.onRuntimeRecovered(() => recoveries++);
  /** Seconds until the runtime is, or is no longer, ready. */
  const secondsUntil = async (well: boolean): Promise<number> => {
    for (let second = 0; second < 300; second++) {
      if ((reporter.runtimeState.state === "ready") === well) return second;
      await clock.advanceAsync(1000);
    }
    return Infinity;
  };
  return { clock, reporter, secondsUntil, recoveries: () => recoveries };
}

test("one that hangs is a problem after 30 s, and none soon after it answers again", async () => {
  const how: Parameters<typeof reporterOf>[0] = { mode: "answers" };
  const { reporter, secondsUntil, recoveries } = reporterOf(how);
  await reporter.start();
  await secondsUntil(true);
  how.mode = "hangs";
  const seconds = await secondsUntil(false);
  expect(seconds).toBeGreaterThan(20);
  expect(seconds).toBeLessThan(45);
  expect(reporter.runtimeState).toEqual({
    state: "down",
    reason: "the container runtime did not answer in 10 s",
  });
  how.mode = "answers";
  expect(await secondsUntil(true)).toBeLessThan(13);
  expect(recoveries()).toBe(1);
  await reporter.stop();
});

test("one that is slow for a moment is none", async () => {
  const how: Parameters<typeof reporterOf>[0] = { mode: "answers" };
  const { clock, reporter, secondsUntil } = reporterOf(how);
  await reporter.start();
  await secondsUntil(true);
  how.mode = "hangs";
  await clock.advanceAsync(18_000);
  how.mode = "answers";
  expect(await secondsUntil(false)).toBe(Infinity);
  await reporter.stop();
});

test("one that refuses is one at once", async () => {
  const how: Parameters<typeof reporterOf>[0] = { mode: "answers" };
  const { reporter, secondsUntil } = reporterOf(how);
  await reporter.start();
  await secondsUntil(true);
  how.mode = "refuses";
  expect(await secondsUntil(false)).toBeLessThan(12);
  await reporter.stop();
});

test("a network that is not ready is a problem of its own", async () => {
  const how: Parameters<typeof reporterOf>[0] = { mode: "without network" };
  const { clock, reporter, secondsUntil } = reporterOf(how);
  await reporter.start();
  await clock.advanceAsync(1000);
  expect(reporter.runtimeState.state).toBe("not-ready");
  expect(networkProblem(reporter.runtimeState)).toBe(
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:none",
  );
  how.mode = "refuses";
  await clock.advanceAsync(60_000);
  expect(reporter.runtimeState.state).toBe("down");
  expect(networkProblem(reporter.runtimeState)).toBeUndefined();
  how.mode = "answers";
  expect(await secondsUntil(true)).toBeLessThan(5);
  expect(networkProblem(reporter.runtimeState)).toBeUndefined();
  await reporter.stop();
});
