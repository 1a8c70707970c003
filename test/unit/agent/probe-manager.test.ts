// When the probes of a container run, and what their results are: thresholds, what waits for the startup probe, and the
// address that is asked.
import { createServer, type AddressInfo } from "node:net";
import pino from "pino";
import { ProbeManager } from "../../../agent/probes/probe-manager.ts";
import { PodEvents } from "../../../agent/events/pod-events.ts";
import type { Container, Pod, Probe } from "../../../api/types/core-v1.ts";
import { systemClock } from "../../../api/clock.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import {
  containerOf,
  runtimePodOf,
  sandboxOf,
  testPod,
} from "./runtime-objects.ts";

const asked: string[] = [];
/** Exit codes by command; an Error: the runtime has no answer. */
const answers: Record<string, number | Error> = {};
const said: string[] = [];
let changes = 0;
let clock: FakeClock;

beforeEach(() => {
  asked.length = 0;
  said.length = 0;
  changes = 0;
  clock = new FakeClock(2000);
});

function managerOf(
  options: Partial<ConstructorParameters<typeof ProbeManager>[0]> = {},
): ProbeManager {
  const runtime = {
    execSync: (_id: string, [command = ""]: string[]) => {
      asked.push(command);
      const answer = answers[command] ?? 0;
      return answer instanceof Error
        ? Promise.reject(answer)
        : Promise.resolve({
            exitCode: answer,
            stdout: Buffer.alloc(0),
            stderr: Buffer.alloc(0),
          });
    },
  } as unknown as Runtime;
  const sink = {
    event: (_: object, type: string, reason: string, message: string) =>
      void said.push(`${type} ${reason} ${message}`),
  };
  return new ProbeManager({
    runtime,
    clock,
    logger: pino({ level: "silent" }),
    events: new PodEvents(sink, () => ({ metadata: { name: "n" } })),
    nodeIPs: () => ["192.0.2.1"],
    previousStatus: () => undefined,
    onChange: () => void changes++,
    ...options,
  });
}

const exec = (command: string, probe: Partial<Probe> = {}): Probe => ({
  exec: { command: [command] },
  periodSeconds: 1,
  ...probe,
});
const withProbes = (probes: Partial<Container>): Pod =>
  testPod({ containers: [{ name: "app", image: "i", ...probes }] });

function watch(probes: ProbeManager, pod: Pod, ips = ["10.0.0.1"]): string {
  const status = containerOf(pod, "app");
  probes.update(pod, runtimePodOf([sandboxOf(pod, { ips })], [status]));
  return status.id;
}

test("results change at their thresholds, and start again from none", async () => {
  const readinessProbe = exec("r", {
    failureThreshold: 2,
    successThreshold: 2,
  });
  const pod = withProbes({ readinessProbe });
  const [container] = pod.spec.containers;
  const probes = managerOf();
  const id = watch(probes, pod);
  const ready = (): boolean => probes.ready(container!, id);
  expect(ready()).toBe(false);
  await clock.advanceAsync(0);
  expect([ready(), changes]).toEqual([false, 0]);
  await clock.advanceAsync(1000);
  expect([ready(), changes]).toEqual([true, 1]);
  answers["r"] = 1;
  await clock.advanceAsync(1000);
  expect([ready(), changes]).toEqual([true, 1]);
  answers["r"] = new Error("the runtime is away");
  await clock.advanceAsync(1000);
  answers["r"] = 1;
  await clock.advanceAsync(1000);
  // What the runtime could not say counts for nothing.
  expect([ready(), changes]).toEqual([false, 2]);
  expect(said.map((line) => line.slice(0, 45))).toEqual([
    "Warning Unhealthy Readiness probe failed: ",
    "Warning Unhealthy Readiness probe errored: th",
    "Warning Unhealthy Readiness probe failed: ",
  ]);
  delete answers["r"];
});

test("liveness and readiness wait for startup, each for its own delay", async () => {
  const pod = withProbes({
    startupProbe: exec("s", { failureThreshold: 5 }),
    livenessProbe: exec("l"),
    readinessProbe: exec("r", { initialDelaySeconds: 30 }),
  });
  answers["s"] = 1;
  const probes = managerOf();
  const id = watch(probes, pod);
  await clock.advanceAsync(2500);
  expect(asked).toEqual(["s", "s", "s"]);
  expect(probes.started(pod.spec.containers[0]!, id)).toBe(false);
  delete answers["s"];
  await clock.advanceAsync(1000);
  expect(asked.slice(3)).toEqual(["s", "l"]);
  expect(probes.started(pod.spec.containers[0]!, id)).toBe(true);
  asked.length = 0;
  // Thirty seconds from the container's start.
  await clock.advanceAsync(26_400);
  expect(asked).not.toContain("r");
  await clock.advanceAsync(200);
  expect(asked).toContain("r");
  expect(asked).not.toContain("s");
});

test("a failed liveness probe asks no more, and a restart begins again", async () => {
  const pod = withProbes({ livenessProbe: exec("l", { failureThreshold: 1 }) });
  answers["l"] = 1;
  const probes = managerOf();
  const id = watch(probes, pod);
  await clock.advanceAsync(5000);
  expect([asked.length, probes.liveness(id), changes]).toEqual([
    1,
    "failure",
    1,
  ]);
  delete answers["l"];
  const next = containerOf(pod, "app", { restartCount: 1 });
  probes.update(pod, runtimePodOf([sandboxOf(pod)], [next]));
  await clock.advanceAsync(0);
  expect([probes.liveness(id), probes.liveness(next.id)]).toEqual([
    undefined,
    "success",
  ]);
  probes.remove("u");
  expect(clock.pending).toBe(0);
});

test("what an earlier agent saw holds until a probe says otherwise", async () => {
  const pod = withProbes({
    readinessProbe: exec("r", { failureThreshold: 1 }),
  });
  const [container] = pod.spec.containers;
  answers["r"] = 1;
  const probes = managerOf({
    random: () => 0,
    previousStatus: () => ({
      containerStatuses: [
        {
          ...{ name: "app", image: "i", imageID: "", restartCount: 0 },
          ...{ ready: true, containerID: "containerd://app-0" },
        },
      ],
    }),
  });
  const id = watch(probes, pod);
  expect(probes.ready(container!, id)).toBe(true);
  await clock.advanceAsync(0);
  expect(probes.ready(container!, id)).toBe(false);
  delete answers["r"];
});

test("the address is the pod's: of the node's first family", async () => {
  const server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const pod = withProbes({ readinessProbe: { tcpSocket: { port } } });
  const probes = managerOf({ clock: systemClock });
  const id = watch(probes, pod, ["::1", "127.0.0.1"]);
  await eventually(() => probes.ready(pod.spec.containers[0]!, id));
  probes.stop();
  server.close();
});

test("after a restart of the agent the probes of all containers do not begin at once", async () => {
  const parts = [0.25, 0.75];
  const pods = ["a", "b"].map((name) =>
    testPod({
      containers: [
        {
          name: "app",
          image: "i",
          livenessProbe: exec(name, { periodSeconds: 10 }),
        },
      ],
    }),
  );
  const statuses = pods.map((pod, index) => ({
    ...containerOf(pod, "app"),
    id: `id${index}`,
  }));
  const probes = managerOf({
    random: () => parts.shift() ?? 0,
    previousStatus: () => ({
      containerStatuses: statuses.map(({ id }) => ({
        name: "app",
        containerID: `containerd://${id}`,
        image: "i",
        imageID: "",
        ready: true,
        restartCount: 0,
      })),
    }),
  });
  for (const [index, pod] of pods.entries()) {
    pod.metadata.uid = `u${index}`;
    probes.update(pod, runtimePodOf([sandboxOf(pod)], [statuses[index]!]));
  }
  await clock.advanceAsync(2499);
  expect(asked).toEqual([]);
  await clock.advanceAsync(1);
  expect(asked).toEqual(["a"]);
  await clock.advanceAsync(5000);
  expect(asked).toEqual(["a", "b"]);
  await clock.advanceAsync(5000);
  expect(asked).toEqual(["a", "b", "a"]);
  // A container that this agent starts is not waited with.
  const [pod] = pods;
  probes.update(
    pod!,
    runtimePodOf([sandboxOf(pod!)], [{ ...statuses[0]!, id: "new" }]),
  );
  await clock.advanceAsync(0);
  expect(asked).toHaveLength(4);
  probes.stop();
});
