// What the agent asks the runtime for when it starts beside pods that run: one list of everything, and of a pod again only
// when something happened to it since.
import pino from "pino";
import { RuntimePods } from "../../../agent/pods/runtime/runtime-pods.ts";
import {
  RuntimeError,
  type Runtime,
  type RuntimeEvent,
} from "../../../cri/runtime.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { containerOf, sandboxOf, testPod } from "./runtime-objects.ts";

function started(count: number, lastMessage = "") {
  const calls: string[] = [];
  const listeners = new Set<(event: RuntimeEvent) => void>();
  const pods = Array.from({ length: count }, (_, n) => {
    const pod = testPod();
    pod.metadata = { ...pod.metadata, name: `p${n}`, uid: `u${n}` };
    return {
      sandbox: sandboxOf(pod, { id: `s${n}` }),
      container: containerOf(pod, "app", { id: `c${n}`, sandboxId: `s${n}` }),
    };
  });
  const has = (
    labels: Record<string, string>,
    wanted: Record<string, string> = {},
  ): boolean =>
    Object.entries(wanted).every(([name, value]) => labels[name] === value);
  const runtime = {
    subscribe(listener: (event: RuntimeEvent) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    listPodSandboxes(labels?: Record<string, string>) {
      calls.push(`sandboxes ${labels ? "of a pod" : "of all"}`);
      return Promise.resolve(
        pods.map(({ sandbox }) => sandbox).filter((s) => has(s.labels, labels)),
      );
    },
    listContainers(filter?: { labels?: Record<string, string> }) {
      calls.push(`containers ${filter ? "of a pod" : "of all"}`);
      return Promise.resolve(
        pods
          .map(({ container }) => container)
          .filter((c) => has(c.labels, filter?.labels)),
      );
    },
    podSandboxStatus: (id: string) =>
      Promise.resolve(pods.find(({ sandbox }) => sandbox.id === id)!.sandbox),
    containerStatus(id: string) {
      calls.push(`container ${id}`);
      const found = pods.find(({ container }) => container.id === id);
      return found
        ? Promise.resolve(found.container)
        : Promise.reject(new RuntimeError("not-found", id));
    },
  } as unknown as Runtime;
  const onSandboxes = jest.fn();
  const onChange = jest.fn();
  const runtimePods = new RuntimePods({
    onSandboxes,
    runtime,
    clock: new FakeClock(),
    logger: pino({ level: "silent" }),
    lastMessage: () => Promise.resolve(lastMessage),
    onChange,
  });
  const refresh = (n: number) =>
    runtimePods.refresh(`u${n}`, { name: `p${n}`, namespace: "ns" });
  return {
    calls,
    pods,
    runtimePods,
    refresh,
    listeners,
    onSandboxes,
    onChange,
  };
}

test.each([
  ["", "", ""],
  ["no such file", "", "no such file"],
  ["", "of the container", "of the container"],
  ["no such file", "of the container", "no such file: of the container"],
])(
  "the message %j of the runtime and the container's %j are %j",
  async (ofRuntime, own, together) => {
    const { pods, runtimePods, refresh } = started(1, own);
    Object.assign(pods[0]!.container, { state: "exited", message: ofRuntime });
    await runtimePods.start();
    const { containers } = await refresh(0);
    expect(containers[0]!.message).toBe(together);
  },
);

test("pods that run since before are listed once for all", async () => {
  const { calls, runtimePods, refresh } = started(3);
  await runtimePods.start();
  for (let n = 0; n < 3; n++) {
    const pod = await refresh(n);
    expect(pod.sandboxes.map(({ id }) => id)).toEqual([`s${n}`]);
    expect(pod.containers.map(({ id }) => id)).toEqual([`c${n}`]);
  }
  expect(calls).toEqual([
    "sandboxes of all",
    "containers of all",
    ...["container c0", "container c1", "container c2"],
  ]);
});

test("one to which something happened after the list is asked for again", async () => {
  const { calls, pods, runtimePods, refresh, listeners } = started(2);
  await runtimePods.start();
  calls.length = 0;
  pods[1]!.container = {
    ...pods[1]!.container,
    state: "exited",
    exitCode: 3,
  };
  for (const listener of listeners) listener({ type: "exited", id: "c1" });
  expect((await refresh(1)).containers[0]).toMatchObject({
    state: "exited",
    exitCode: 3,
  });
  const lists = ["sandboxes of a pod", "containers of a pod"];
  expect(calls).toEqual([...lists, "container c1"]);
  expect((await refresh(0)).containers[0]).toMatchObject({ state: "running" });
  expect(calls.splice(0)).toHaveLength(4);
  // What was listed at the start serves once.
  runtimePods.markDirty("u0");
  await refresh(0);
  expect(calls).toEqual(lists);
});

test("of a pod in which one container changed, that one alone is asked for", async () => {
  const { calls, pods, runtimePods, refresh, listeners } = started(1);
  const [pod] = pods;
  await runtimePods.start();
  await refresh(0);
  calls.length = 0;
  pod!.container = { ...pod!.container, state: "exited", exitCode: 3 };
  for (const listener of listeners) listener({ type: "exited", id: "c0" });
  runtimePods.markDirty("u0", "c0");
  const found = await refresh(0);
  expect(found.containers[0]).toMatchObject({ state: "exited", exitCode: 3 });
  expect(found.sandboxes.map(({ id }) => id)).toEqual(["s0"]);
  expect(calls.splice(0)).toEqual(["container c0"]);
  await refresh(0);
  expect(calls).toEqual([]);
  // What else changed only the lists show.
  for (const id of ["c0", "s0"])
    for (const listener of listeners) listener({ type: "exited", id });
  await refresh(0);
  expect(calls.splice(0).sort()).toEqual([
    "containers of a pod",
    "sandboxes of a pod",
  ]);
  pods.length = 0;
  for (const listener of listeners) listener({ type: "deleted", id: "c0" });
  expect((await refresh(0)).containers).toEqual([]);
  expect(calls).toEqual(["container c0"]);
});

test("an exit that is announced before its cause is looked at again", async () => {
  const { pods, runtimePods, refresh, listeners, onChange } = started(1);
  const [pod] = pods;
  await runtimePods.start();
  await refresh(0);
  pod!.container = {
    ...pod!.container,
    state: "exited",
    exitCode: 137,
    reason: "Error",
  };
  for (const listener of listeners) listener({ type: "exited", id: "c0" });
  expect((await refresh(0)).containers[0]).toMatchObject({ reason: "Error" });
  onChange.mockClear();
  for (const listener of listeners) listener({ type: "oom", id: "c0" });
  expect(onChange.mock.calls).toEqual([["u0", { type: "oom", id: "c0" }]]);
  expect((await refresh(0)).containers[0]).toMatchObject({
    reason: "OOMKilled",
  });
});

test("a container whose status could not be read is asked for again", async () => {
  const { calls, pods, runtimePods, refresh, listeners } = started(1);
  const [pod] = pods;
  await runtimePods.start();
  await refresh(0);
  for (const listener of listeners) listener({ type: "exited", id: "c0" });
  const { container } = pod!;
  Object.defineProperty(pod, "container", {
    configurable: true,
    get: () => {
      throw new Error("busy");
    },
  });
  await expect(refresh(0)).rejects.toThrow("busy");
  Object.defineProperty(pod, "container", {
    value: { ...container, state: "exited", exitCode: 1 },
  });
  calls.length = 0;
  expect((await refresh(0)).containers[0]).toMatchObject({ state: "exited" });
  expect(calls).toEqual(["container c0"]);
});

test("the sandboxes of pods that come and go together are told of once", async () => {
  const { runtimePods, refresh, onSandboxes } = started(0);
  const turn = (): Promise<void> =>
    new Promise((resolve) => setImmediate(resolve));
  await runtimePods.start();
  expect(onSandboxes).toHaveBeenCalledTimes(1);
  const { runtimePods: others, onSandboxes: told } = started(100);
  await others.start();
  expect(told).toHaveBeenCalledTimes(1);
  for (let n = 0; n < 100; n++) others.forget(`u${n}`);
  expect(told).toHaveBeenCalledTimes(1);
  await turn();
  expect(told).toHaveBeenCalledTimes(2);
  expect(others.list()).toHaveLength(0);
  // Without a sandbox nothing has changed.
  await refresh(0);
  runtimePods.forget("u0");
  await turn();
  expect(onSandboxes).toHaveBeenCalledTimes(1);
  // Who has stopped listening is not told any more.
  const { runtimePods: stopped, onSandboxes: unheard } = started(1);
  await stopped.start();
  stopped.forget("u0");
  stopped.stop();
  await turn();
  expect(unheard).toHaveBeenCalledTimes(1);
});
