// A runtime that fails: calls answered with errors before and after they had their effect, answers that come after the agent
// gave up waiting, broken connections, while pods come and go. Looked at past the agent: never two ready sandboxes for a pod,
// never two running containers of one name, and in the end nothing is left. The agent's clock runs ten times as fast, so
// that its retries do.
import * as fs from "node:fs";
import * as path from "node:path";
import type { Agent } from "../../../agent/agent.ts";
import { systemClock, type Clock } from "../../../api/clock.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { Runtime } from "../../../cri/runtime.ts";
import { Random } from "../../robustness/random.ts";
import { eventually, patience } from "../../support/eventually.ts";
import { startDockerFaultProxy } from "../../support/docker-fault-proxy.ts";
import {
  startFaultProxy,
  unavailable,
  unknown,
  type Fault,
  type FaultProxy,
} from "../../support/fault-proxy.ts";
import {
  leftOfPods,
  watchPods,
  type PodWatch,
} from "../../support/pod-invariants.ts";
import {
  runtimeKinds,
  type RuntimeKind,
} from "../../support/private-runtime.ts";
import {
  busyboxPod,
  podOf,
  startNode,
  type NodeFixture,
} from "./node-fixture.ts";

const speed = 10;
const fastClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now() * speed,
  after: (delayMs, callback) => systemClock.after(delayMs / speed, callback),
};
/** Names of calls: those that every pod needs, those that are answered late, and never. */
const callsOf: Record<
  RuntimeKind,
  Record<"ofPod" | "late" | "silent", readonly string[]>
> = {
  containerd: {
    ofPod: [
      "RunPodSandbox",
      "PodSandboxStatus",
      "CreateContainer",
      "StartContainer",
      "StopContainer",
      "RemoveContainer",
      "RemovePodSandbox",
    ],
    late: ["RunPodSandbox", "CreateContainer", "StartContainer"],
    silent: ["ListContainers", "StopContainer"],
  },
  docker: {
    ofPod: [
      "POST /containers/create",
      "POST /containers/{id}/start",
      "GET /containers/{id}/json",
      "POST /containers/{id}/stop",
      "DELETE /containers/{id}",
    ],
    late: ["POST /containers/create", "POST /containers/{id}/start"],
    silent: ["GET /containers/json", "POST /containers/{id}/stop"],
  },
};
const kind = runtimeKinds[0]!;
const calls = callsOf[kind];
const startProxy = kind === "docker" ? startDockerFaultProxy : startFaultProxy;
/** Calls that nothing is done to must keep it: on a slower machine they take longer. */
const requestTimeoutMs = 1000 * patience;
const untilTerm = "trap 'exit 0' TERM; sleep 1000 & wait";

let node: NodeFixture;
let proxy: FaultProxy;
let runtime: Runtime;
let agent: Agent;
let watch: PodWatch;

beforeAll(async () => {
  node = await startNode();
  proxy = await startProxy(node.endpoint, node.directory);
  runtime = node.newRuntime({
    endpoint: proxy.endpoint,
    requestTimeoutMs,
  });
  await runtime.start();
  agent = node.agent({ runtime, clock: fastClock });
  await agent.start();
  watch = watchPods(node.runtime);
});
afterAll(async () => {
  await watch?.stop();
  proxy.faults = () => ({ kind: "none" });
  await agent?.stop();
  await runtime?.stop();
  await proxy?.close();
  await node?.close();
});

/** An init container, a sidecar and a container that writes where it was started how often. */
const pod = (name: string): Pod =>
  busyboxPod(name, untilTerm, {
    initContainers: [
      {
        name: "first",
        image: "busybox",
        imagePullPolicy: "IfNotPresent",
        command: ["true"],
      },
      {
        name: "beside",
        image: "busybox",
        imagePullPolicy: "IfNotPresent",
        restartPolicy: "Always",
        command: ["sh", "-c", untilTerm],
      },
    ],
    volumes: [{ name: "scratch", emptyDir: { medium: "Memory" } }],
  });

const isReady = (name: string): boolean =>
  podOf(agent, `${name}-test-node`)?.status?.conditions?.some(
    ({ type, status }) => type === "Ready" && status === "True",
  ) ?? false;

async function comeAndGo(names: readonly string[]): Promise<void> {
  for (const name of names) await node.writePod(`${name}.json`, pod(name));
  await eventually(() => names.every(isReady), {
    timeoutMs: 60_000,
    what: "the pods to be ready",
  });
  for (const name of names)
    fs.rmSync(path.join(node.manifests, `${name}.json`));
  await eventually(() => agent.pods().length === 0, {
    timeoutMs: 60_000,
    what: "the pods to go",
  });
}

async function nothingIsLeft(): Promise<void> {
  proxy.faults = () => ({ kind: "none" });
  await eventually(
    async () => {
      const found = await leftOfPods(
        node.runtime,
        path.join(node.directory, "agent"),
        node.cgroupRoot,
      );
      if (found.length > 0) throw new Error(found.join("\n"));
      return true;
    },
    { timeoutMs: 30_000, what: "everything to be gone" },
  );
  expect([...watch.broken]).toEqual([]);
}

const faulty =
  (random: Random, share: number, make: () => Fault) => (): Fault =>
    random.chance(share) ? make() : { kind: "none" };

test("every ninth call or so fails, with or without effect", async () => {
  const random = new Random(7);
  proxy.faults = faulty(random, 0.11, () => ({
    kind: "error",
    code: random.chance(0.5) ? unavailable : unknown,
    done: random.chance(0.5),
  }));
  await comeAndGo(["a", "b", "c"]);
  await nothingIsLeft();
});

test("the N-th call after a start fails, for each of the calls a pod needs", async () => {
  for (const [n, method] of calls.ofPod.entries()) {
    const before = proxy.calls.get(method) ?? 0;
    const done = method.length % 2 === 0;
    proxy.faults = (called) =>
      called === method && proxy.calls.get(method) === before + 1
        ? { kind: "error", code: unknown, done }
        : { kind: "none" };
    await comeAndGo([`pod${n}`]);
    expect([...proxy.calls.keys()]).toContain(method);
  }
  await nothingIsLeft();
});

test("answers that come when nobody waits any more, or never", async () => {
  const fate: Record<string, Fault> = {
    ...Object.fromEntries(
      calls.late.map(
        (name) =>
          [name, { kind: "late", delayMs: 3 * requestTimeoutMs }] as const,
      ),
    ),
    ...Object.fromEntries(
      calls.silent.map((name) => [name, { kind: "silent" }] as const),
    ),
  };
  const spoiled = new Set<string>();
  proxy.faults = (method) => {
    const fault = fate[method];
    if (!fault || spoiled.has(method)) return { kind: "none" };
    spoiled.add(method);
    return fault;
  };
  await comeAndGo(["late"]);
  expect([...spoiled].sort()).toEqual(Object.keys(fate).sort());
  await nothingIsLeft();
});

test("connections that break in the middle", async () => {
  const random = new Random(3);
  proxy.faults = faulty(random, 0.05, () => ({
    kind: "cut",
    done: random.chance(0.5),
  }));
  const cuts = setInterval(() => proxy.cut(), 1.5 * requestTimeoutMs);
  try {
    await comeAndGo(["cut", "cut-too"]);
  } finally {
    clearInterval(cuts);
  }
  await nothingIsLeft();
});
