// How the containers of a pod end: preStop handlers at once, sidecars in their turn, what is left of the grace, and what the
// handlers themselves do.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import pino from "pino";
import { PodEvents } from "../../../agent/events/pod-events.ts";
import {
  PodEnding,
  type EndingContext,
} from "../../../agent/pods/end/container-end.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import { createHookRunner } from "../../../agent/pods/end/lifecycle-hooks.ts";
import type {
  Container,
  LifecycleHandler,
  Pod,
} from "../../../api/types/core-v1.ts";
import { turns } from "../../robustness/mount.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import {
  containerOf,
  runtimePodOf,
  sandboxOf,
  testPod,
} from "./runtime-objects.ts";

const sleeping = (seconds: number): Partial<Container> => ({
  lifecycle: { preStop: { sleep: { seconds } } },
});

interface Ended {
  readonly clock: FakeClock;
  /** `<second>: <what>`, in order. */
  readonly log: string[];
  readonly ending: PodEnding;
  readonly done: Promise<void>;
  at(seconds: number): Promise<void>;
}

/** `lasts`: seconds that containers take to end at their signal; not named: none. */
async function endOf(
  pod: Pod,
  graceSeconds: number,
  lasts: Record<string, number> = {},
): Promise<Ended> {
  const clock = new FakeClock(0);
  const log: string[] = [];
  const note = (what: string): void =>
    void log.push(`${Math.round(clock.monotonic() / 1000)}: ${what}`);
  const events = new PodEvents(
    {
      event: (_object, type, reason) =>
        type === "Warning" ? note(reason) : undefined,
    },
    () => pod as never,
  );
  const runtime = {
    stopContainer: (id: string, seconds: number) => {
      const name = id.split("-")[0]!;
      note(`stop ${name} in ${seconds}`);
      return new Promise<void>((resolve) => {
        const end = (): void => {
          note(`${name} ended`);
          resolve();
        };
        const lastsSeconds = Math.min(lasts[name] ?? 0, seconds);
        if (lastsSeconds === 0) end();
        else clock.after(lastsSeconds * 1000, end);
      });
    },
  };
  const context: EndingContext = {
    runtime,
    runtimePods: { markDirty: () => undefined },
    clock,
    hooks: createHookRunner(
      { execSync: () => Promise.reject(new Error("no exec")) },
      clock,
      events,
    ),
    events,
    nodeIPs: () => [],
    logger: pino({ level: "silent" }),
  };
  const all = [...(pod.spec.initContainers ?? []), ...pod.spec.containers];
  const ending = new PodEnding(context, pod, graceSeconds);
  const done = ending.run(
    runtimePodOf(
      [sandboxOf(pod)],
      all.map(({ name }) => containerOf(pod, name)),
    ),
  );
  await turns(20);
  return {
    clock,
    log,
    ending,
    done,
    async at(seconds) {
      while (clock.monotonic() < seconds * 1000) {
        clock.advance(Math.min(500, seconds * 1000 - clock.monotonic()));
        await turns(20);
      }
    },
  };
}

const sidecar = (name: string, extra: Partial<Container> = {}): Container => ({
  name,
  image: "i",
  restartPolicy: "Always",
  ...extra,
});

test("sidecars end after the containers, the last one first; their preStop runs before their turn", async () => {
  const pod = testPod({
    initContainers: [sidecar("first", sleeping(1)), sidecar("second")],
    containers: [
      { name: "app", image: "i", ...sleeping(2) },
      { name: "other", image: "i" },
    ],
  });
  const { log, at, done } = await endOf(pod, 30, { app: 5 });
  await at(10);
  await done;
  expect(log).toEqual([
    "0: stop other in 30",
    "0: other ended",
    "2: stop app in 28",
    "7: app ended",
    "7: stop second in 23",
    "7: second ended",
    "7: stop first in 23",
    "7: first ended",
  ]);
});

test("when the grace is over every container still gets two seconds, sidecars at the same time", async () => {
  const pod = testPod({
    initContainers: [sidecar("first"), sidecar("second")],
    containers: [{ name: "app", image: "i", ...sleeping(60) }],
  });
  const { log, at, done } = await endOf(pod, 4, { app: 60, first: 1 });
  await at(8);
  await done;
  expect(log.filter((line) => line.includes("stop")).sort()).toEqual([
    "4: stop app in 2",
    "4: stop first in 2",
    "4: stop second in 2",
  ]);
  expect(log).toContain("6: app ended");
  expect(log).toContain("5: first ended");
});

test("a grace that becomes shorter ends handlers and turns", async () => {
  const pod = testPod({
    initContainers: [sidecar("first")],
    containers: [{ name: "app", image: "i", ...sleeping(20) }],
  });
  const { log, at, done, ending } = await endOf(pod, 30);
  await at(2);
  ending.shorten(1);
  await at(6);
  await done;
  expect(log).toContain("3: stop app in 2");
  expect(log.some((line) => line.startsWith("3: stop first"))).toBe(true);
});

test("a preStop that fails is a Warning and does not keep the container", async () => {
  const pod = testPod({
    containers: [
      {
        name: "app",
        image: "i",
        lifecycle: { preStop: { exec: { command: ["no"] } } },
      },
    ],
  });
  const { log, at, done } = await endOf(pod, 30);
  await at(1);
  await done;
  expect(log).toEqual([
    "0: FailedPreStopHook",
    "0: stop app in 30",
    "0: app ended",
  ]);
});

describe("handlers", () => {
  const asked: string[] = [];
  let server: Server;
  let port: number;
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(
        `${request.url} ${request.headers["user-agent"]} ${request.headers.authorization ?? "-"}`,
      );
      response.writeHead(500).end("no");
    });
    await new Promise<void>((resolve) =>
      server.listen(0, "127.0.0.1", () => resolve()),
    );
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.close();
  });

  const reported: string[] = [];
  const pod = testPod();
  /** Of the last handler that was run. */
  let counted: () => string;
  const run = (
    handler: LifecycleHandler,
    exitCode = 0,
    signal = new AbortController().signal,
  ): Promise<string> => {
    const runner = createHookRunner(
      {
        execSync: () =>
          Promise.resolve({
            exitCode,
            stdout: Buffer.from("out"),
            stderr: Buffer.from("err"),
          }),
      },
      new FakeClock(0),
      { pod: (_pod, _type, reason) => void reported.push(reason) },
    );
    counted = () => metricsText(runner.families());
    return runner
      .run(pod, pod.spec.containers[0]!, "c", handler, "127.0.0.1", signal)
      .then(
        () => "succeeded",
        (error: Error) => error.message,
      );
  };

  test("a command fails by its exit code", async () => {
    const exec = { command: ["sh", "-c", "exit 3"] };
    expect(await run({ exec })).toBe("succeeded");
    expect(await run({ exec }, 3)).toBe(
      `Exec lifecycle hook ([sh -c exit 3]) for Container "app" in Pod "p_ns(u)" failed - error: command 'sh -c exit 3' exited with 3: err, message: "outerr"`,
    );
  });

  test("any answer to a GET is good, HTTPS may be answered by HTTP, without the credentials", async () => {
    const httpGet = {
      path: "/hook",
      port,
      httpHeaders: [{ name: "Authorization", value: "secret" }],
    };
    expect(await run({ httpGet })).toBe("succeeded");
    expect(asked.pop()).toBe("/hook kube-lifecycle/1.32 secret");
    expect(await run({ httpGet: { ...httpGet, scheme: "HTTPS" } })).toBe(
      "succeeded",
    );
    expect(asked.pop()).toBe("/hook kube-lifecycle/1.32 -");
    expect(reported).toEqual(["LifecycleHTTPFallback"]);
    expect(counted()).toMatch(/http_fallbacks_total 1\n/);
    const nobody = { path: "/x", port: 1 };
    expect(await run({ httpGet: nobody })).toBe(
      'HTTP lifecycle hook (/x) for Container "app" in Pod "p_ns(u)" failed - error: Get "http://127.0.0.1:1/x": dial tcp 127.0.0.1:1: connect: connection refused',
    );
  });

  test("a sleep that the signal ends is counted", async () => {
    const ended = AbortSignal.abort();
    expect(await run({ sleep: { seconds: 60 } }, 0, ended)).toBe("succeeded");
    expect(counted()).toMatch(/sleep_action_terminated_early_total 1\n/);
  });

  test("a handler for TCP can't be run", async () => {
    expect(await run({ tcpSocket: { port } })).toBe(
      "Cannot run handler: invalid handler",
    );
  });
});
