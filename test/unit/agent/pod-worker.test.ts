// The transitions of a pod's worker over a fake runtime, and its states by themselves.
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import { VolumePending } from "../../../agent/volumes/volume-plugin.ts";
import { PodWorkers } from "../../../agent/pods/worker/pod-workers.ts";
import {
  cleaned,
  containersEnded,
  ended,
  gone,
  removed,
  syncing,
  tornDown,
} from "../../../agent/pods/worker/worker-state.ts";
import { configSourceAnnotation } from "../../../agent/pods/shape/labels.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { runtimePodOf } from "./runtime-objects.ts";
import { deleted, stagedPod, workerStage, type Stage } from "./worker-stage.ts";

const directories = useTempDirectories();

test("the phase only moves right, and what was asked for first stays", () => {
  const evicted = { failure: { reason: "Evicted", message: "m" } };
  const left = runtimePodOf([], []);
  let state = ended(syncing, evicted);
  expect(state).toEqual({
    phase: "terminating",
    end: evicted,
    removed: false,
  });
  state = ended(state, { graceSeconds: 1 });
  state = removed(state);
  state = ended(state, { graceSeconds: 5 });
  const asked = { ...evicted, graceSeconds: 1 };
  expect(state).toMatchObject({ end: asked, removed: true });
  state = containersEnded(state, left);
  expect(state).toMatchObject({ phase: "terminating", left });
  state = tornDown(state, false);
  expect(state).toEqual({
    phase: "terminated",
    end: asked,
    removed: true,
    left,
    clean: false,
  });
  expect(cleaned(state)).toMatchObject({ clean: true });
  // Nothing goes back.
  expect(ended(state, {})).toBe(state);
  expect(containersEnded(state, left)).toBe(state);
  expect(tornDown(state, true)).toBe(state);
  for (const step of [
    (each: typeof state) => ended(each, {}),
    removed,
    cleaned,
    (each: typeof state) => tornDown(each, true),
  ])
    expect(step(gone)).toBe(gone);
  expect(tornDown(syncing, true)).toBe(syncing);
  expect(cleaned(syncing)).toBe(syncing);
});

const stage = (
  options: Parameters<typeof workerStage>[1] = {},
): Promise<Stage> => workerStage(directories(), options);
const pod = stagedPod;

const staticPod = (...given: Parameters<typeof stagedPod>): Pod => {
  const made = pod(...given);
  made.metadata.annotations = { [configSourceAnnotation]: "file" };
  return made;
};

test.each([
  { error: VolumePending, events: 0, waits: [501, 501, 501] },
  { error: Error, events: 3, waits: [1000, 2000, 4000] },
])(
  "a volume that is waited for with $error.name is reported $events times",
  async ({ error, events, waits }) => {
    let mounts = 0;
    const reported: string[] = [];
    const on = await stage({
      fate(call) {
        if (call === "volumes.mount" && ++mounts <= 3)
          throw new error("not yet");
        return { kind: "works" };
      },
      events: (reason) => void reported.push(reason),
    });
    const after = jest.spyOn(on.clock, "after");
    on.workers.set(pod());
    await on.until("the app runs", () => on.running().length === 1);
    expect(reported.filter((each) => each === "FailedMount")).toHaveLength(
      events,
    );
    const delays = after.mock.calls.map(([delayMs]) => delayMs);
    expect(delays).toEqual(waits);
  },
);

test("a block volume that can't be had is an event of its own", async () => {
  const said: string[] = [];
  let mounts = 0;
  const on = await stage({
    fate(call) {
      if (call === "volumes.mount" && ++mounts === 1)
        throw new Error('MapVolume.SetUpDevice failed for volume "pv" : no');
      return { kind: "works" };
    },
    events: (reason) => void said.push(reason),
  });
  on.workers.set(pod());
  await on.until("the app runs", () => on.running().length === 1);
  expect(said).toContain("FailedMapVolume");
  expect(said).not.toContain("FailedMount");
});

test("without the runtime's network only pods of the host's network start", async () => {
  const said: string[] = [];
  let problem: string | undefined = "no plug-in";
  let mounts = 0;
  const on = await stage({
    fate(call) {
      if (call === "volumes.mount") mounts++;
      return { kind: "works" };
    },
    networkProblem: () => problem,
    events(reason, message) {
      if (reason === "NetworkNotReady") said.push(message);
    },
  });
  on.workers.set(pod());
  on.workers.set({
    ...pod({ hostNetwork: true }, "h"),
    metadata: { name: "h", namespace: "ns", uid: "h" },
  });
  await on.until("the host's runs", () => on.running().length === 1);
  await on.until("the other waits", () => said.length > 0);
  expect(new Set(said)).toEqual(new Set(["network is not ready: no plug-in"]));
  expect(on.node.sandboxes.size).toBe(1);
  problem = undefined;
  await on.until("both run", () => on.running().length === 2);
  said.length = mounts = 0;
  problem = "gone again";
  on.workers.wakeAll();
  // What runs goes on, and its volumes are kept up to date.
  await on.until("both were looked at", () => mounts > 1);
  expect(said).toEqual([]);
  expect(on.running()).toHaveLength(2);
});

test("a pod's ids of its user namespace are free once nothing of it runs, before it is reported to be over", async () => {
  const released: string[] = [];
  const on = await stage({
    users: {
      release(uid) {
        released.push(`${uid}, running: ${on.running().length}`);
        expect(on.finished).toEqual([]);
        return Promise.resolve();
      },
    },
  });
  on.workers.set(pod());
  await on.until("the app runs", () => on.running().length === 1);
  expect(released).toEqual([]);
  on.workers.set(deleted(pod()));
  await on.until("it is finished", () => on.finished.includes("u"));
  expect(released).toEqual(["u, running: 0"]);
});

const isReported = ({ statuses }: Stage, phase: string): boolean =>
  statuses.get("u")?.phase === phase;

test("what a pod that ends by itself had of the node is free before its phase says that it is over, not while it runs", async () => {
  const released: string[] = [];
  const on = await stage({
    onReleased: (uid) =>
      released.push(
        `running: ${on.running().length}, ${on.statuses.get(uid)?.phase}`,
      ),
  });
  const initContainers: Container[] = [
    { name: "side", image: "i", restartPolicy: "Always" },
  ];
  on.workers.set(pod({ restartPolicy: "Never", initContainers }));
  await on.until("both run", () => on.running().length === 2);
  await on.until("that is reported", () => isReported(on, "Running"));
  expect(released).toEqual([]);
  on.node.exit(on.node.running().find(({ name }) => name === "app")!.id, 0);
  await on.until("it is over", () => isReported(on, "Succeeded"));
  expect(released[0]).toBe("running: 0, Running");
  expect(released.filter((each) => !each.startsWith("running: 0"))).toEqual([]);
});

test("a pod without sidecars gives back what it had before the first report that it is over", async () => {
  const phases: (string | undefined)[] = [];
  const on = await stage({
    onReleased: (uid) => phases.push(on.statuses.get(uid)?.phase),
  });
  on.workers.set(pod({ restartPolicy: "Never" }));
  await on.until("the app runs", () => isReported(on, "Running"));
  on.node.exit(on.node.running()[0]!.id, 0);
  await on.until("it is over", () => isReported(on, "Succeeded"));
  expect(phases[0]).toBe("Running");
});

test("syncing → terminating → terminated → gone, by deletion", async () => {
  const on = await stage();
  on.workers.set(pod());
  const worker = on.workers.get("u")!;
  await on.until("the app runs", () => on.running().length === 1);
  expect(worker.phase).toBe("syncing");
  expect(on.host.left()).toEqual(["directory u", "cgroup u", "volumes u"]);
  on.workers.set(deleted(pod()));
  expect(worker.phase).toBe("terminating");
  await on.until("it is finished", () => on.finished.includes("u"));
  expect(worker.phase).toBe("terminated");
  // Nothing is in the runtime any more; its directory stays until the object is gone.
  expect(on.node.sandboxes.size + on.node.containers.size).toBe(0);
  expect(on.host.left()).toEqual(["directory u"]);
  expect(on.statuses.get("u")?.phase).toBe("Failed");
  on.workers.remove("u");
  await on.until("it is gone", () => !on.workers.has("u"));
  expect(worker.phase).toBe("gone");
  expect(on.host.left()).toEqual([]);
  expect(on.broken).toEqual([]);
});

test("a pod that ends by itself keeps its containers until it is removed", async () => {
  const on = await stage();
  on.workers.set(pod({ restartPolicy: "Never" }));
  await on.until("the app runs", () => on.running().length === 1);
  on.node.exit(on.node.running()[0]!.id, 0);
  await on.until(
    "it is terminated",
    () => on.workers.get("u")!.phase === "terminated",
  );
  expect(on.statuses.get("u")?.phase).toBe("Succeeded");
  expect(on.node.containers.size).toBe(1);
  expect([...on.node.sandboxes.values()].map(({ ready }) => ready)).toEqual([
    false,
  ]);
  on.workers.remove("u");
  await on.until("it is gone", () => !on.workers.has("u"));
  expect(on.node.containers.size + on.node.sandboxes.size).toBe(0);
});

test.each(["Failed", "Succeeded"])(
  "a pod that others declare to be %s ends, and its containers say its phase then",
  async (phase) => {
    const on = await stage();
    on.workers.set(pod());
    await on.until("the app runs", () => on.running().length === 1);
    on.workers.set({ ...pod(), status: { phase: "Running" } });
    expect(on.workers.get("u")!.phase).toBe("syncing");
    on.workers.set({ ...pod(), status: { phase } });
    await on.until(
      "it is over",
      () => on.workers.get("u")!.phase === "terminated",
    );
    expect(on.running()).toEqual([]);
    expect(on.statuses.get("u")?.phase).toBe("Failed");
    // Its object stays.
    expect(on.workers.has("u")).toBe(true);
  },
);

test("what others say of a static pod's phase does not end it", async () => {
  const on = await stage();
  on.workers.set(staticPod());
  await on.until("the app runs", () => on.running().length === 1);
  on.workers.set({ ...staticPod(), status: { phase: "Failed" } });
  expect(on.workers.get("u")!.phase).toBe("syncing");
  expect(on.running()).toHaveLength(1);
});

test("a refused pod has failed, and nothing of it is made", async () => {
  const on = await stage({
    admit: () => ({ reason: "OutOfcpu", message: "no" }),
  });
  on.workers.set(pod());
  await on.until("it has failed", () => on.statuses.has("u"));
  expect(on.statuses.get("u")).toMatchObject({
    phase: "Failed",
    reason: "OutOfcpu",
    message: "no",
  });
  expect(on.node.sandboxes.size).toBe(0);
  expect(on.host.left()).toEqual([]);
});

test("a pod that the runtime can't end says so, and ends once it can", async () => {
  const events: string[] = [];
  const refused = new Map([
    ["stopContainer", 1],
    ["removePodSandbox", 1],
  ]);
  const on = await stage({
    fate(call) {
      const left = refused.get(call) ?? 0;
      refused.set(call, left - 1);
      return left > 0
        ? { kind: "fails", code: "unavailable" }
        : { kind: "works" };
    },
    events: (reason, message) => void events.push(`${reason}: ${message}`),
  });
  on.workers.set(pod());
  await on.until("the app runs", () => on.running().length === 1);
  on.workers.set(deleted(pod()));
  await on.until("it is finished", () => on.finished.includes("u"));
  const failures = events.filter((each) => each.startsWith("FailedKillPod"));
  const unanswered = "error killing pod: rpc error: code = Unavailable desc =";
  expect(failures).toEqual([
    `FailedKillPod: ${unanswered} stopContainer was not answered`,
    `FailedKillPod: ${unanswered} removePodSandbox was not answered`,
  ]);
});

test("less grace counts, also when the runtime is asked again", async () => {
  const failure = { reason: "Evicted", message: "m" };
  const on: Stage = await stage({
    events(reason) {
      // Between two tries.
      if (reason === "FailedKillPod")
        on.workers.end("u", { graceSeconds: 5, failure });
    },
  });
  const stop = on.node.stop.bind(on.node);
  on.node.stop = () => {
    on.node.stop = stop;
    throw new Error("the runtime is busy");
  };
  const slow = pod({ terminationGracePeriodSeconds: 60 });
  on.workers.set(slow);
  await on.until("the app runs", () => on.running().length === 1);
  on.workers.set(deleted(slow));
  await on.until("it is finished", () => on.finished.includes("u"));
  expect(on.node.graces).toEqual([5]);
});

test("a pod whose cgroup can't be made says why, and starts once it can", async () => {
  const events: string[] = [];
  let refused = true;
  const on = await stage({
    fate: (call) =>
      refused && call === "cgroups.createPod"
        ? { kind: "fails", code: "unavailable" }
        : { kind: "works" },
    events: (reason, message) => void events.push(`${reason}: ${message}`),
  });
  on.workers.set(pod());
  await on.until("it is tried again", () => events.length > 1);
  expect(new Set(events)).toEqual(
    new Set([
      "FailedCreatePodContainer: unable to ensure pod container exists: cgroups.createPod was not answered",
    ]),
  );
  expect(on.node.sandboxes.size + on.node.containers.size).toBe(0);
  refused = false;
  await on.until("the app runs", () => on.running().length === 1);
  refused = true;
  on.workers.set(deleted(pod()));
  await on.until("it is finished", () => on.finished.includes("u"));
  on.workers.remove("u");
  await on.until("it is gone", () => !on.workers.has("u"));
  expect(on.host.left()).toEqual([]);
});

test("a pod whose cgroup can't be made leaves nothing when it is deleted", async () => {
  const on = await stage({
    fate: (call) =>
      call === "cgroups.createPod"
        ? { kind: "fails", code: "unavailable" }
        : { kind: "works" },
  });
  on.workers.set(pod());
  await on.until("its volumes are there", () => on.host.volumes.size === 1);
  on.workers.set(deleted(pod()));
  await on.until("it is finished", () => on.finished.includes("u"));
  on.workers.remove("u");
  await on.until("it is gone", () => !on.workers.has("u"));
  expect(on.host.left()).toEqual([]);
  expect(on.broken).toEqual([]);
});

test("hundreds of pods that come at once are admitted in order, in several turns of the event loop", async () => {
  const byTurn = [0];
  const asked: string[] = [];
  const on = await stage({
    admit: ({ metadata }) => {
      asked.push(metadata.uid!);
      byTurn[byTurn.length - 1]!++;
      for (const sinceMs = performance.now(); performance.now() < sinceMs + 1;);
      return { reason: "OutOfcpu", message: "no" };
    },
  });
  const counting = setInterval(() => byTurn.push(0), 0);
  const uids = Array.from({ length: 200 }, (_unused, index) => `u${index}`);
  for (const uid of uids) on.workers.set(pod({}, uid));
  await on.until("all were refused", () => on.statuses.size === uids.length);
  clearInterval(counting);
  expect(asked).toEqual(uids);
  expect(Math.max(...byTurn)).toBeLessThan(50);
});

test.each([
  ["that is deleted keeps its place while it ends", false, "v beside u,v"],
  ["whose object is gone has given its place away", true, "v beside v"],
])("a pod %s", async (_, gone, expected) => {
  const beside: string[] = [];
  const on = await stage({
    admit: ({ metadata: { uid } }, others) => {
      const uids = others.map(({ metadata }) => metadata.uid);
      beside.push(`${uid} beside ${uids.join()}`);
      return undefined;
    },
  });
  on.workers.set(pod());
  await on.until("the app runs", () => on.running().length === 1);
  on.workers.set(deleted(pod()));
  if (gone) on.workers.remove("u");
  expect(on.workers.get("u")!.phase).toBe("terminating");
  on.workers.set(pod({}, "v"));
  await on.until("it is asked for", () => beside.length === 2);
  expect(beside).toEqual(["u beside u", expected]);
});

test("an evicted pod says why, also when it is deleted meanwhile", async () => {
  const on = await stage();
  on.workers.set(pod());
  await on.until("the app runs", () => on.running().length === 1);
  const failure = { reason: "Evicted", message: "m", disruption: true };
  on.workers.end("u", { graceSeconds: 1, failure });
  on.workers.end("u", {
    failure: { reason: "Other", message: "too late" },
  });
  on.workers.set(deleted(pod()));
  await on.until("it is finished", () => on.finished.includes("u"));
  const status = on.statuses.get("u")!;
  expect(status).toMatchObject({ phase: "Failed", reason: "Evicted" });
  expect(status.conditions?.map(({ type }) => type)).toContain(
    "DisruptionTarget",
  );
});

test("after activeDeadlineSeconds the pod is ended", async () => {
  const on = await stage();
  on.workers.set(pod({ activeDeadlineSeconds: 60 }));
  await on.until("the app runs", () => on.running().length === 1);
  await on.until(
    "it has failed",
    () => on.statuses.get("u")?.phase === "Failed",
  );
  expect(on.statuses.get("u")?.reason).toBe("DeadlineExceeded");
  expect(on.running()).toEqual([]);
  expect(on.clock.monotonic()).toBeGreaterThanOrEqual(60_000);
});

test("deleted while it starts: nothing runs afterwards", async () => {
  const containers: Container[] = ["a", "b", "c"].map((name) => ({
    name,
    image: "i",
  }));
  let made = 0;
  const on = await stage({
    fate: (call) => {
      if (call === "createContainer" && ++made === 2) {
        on.workers.set(deleted(pod({ containers })));
        on.workers.remove("u");
      }
      return { kind: "works" };
    },
  });
  on.workers.set(pod({ containers }));
  await on.until("it is gone", () => made > 0 && !on.workers.has("u"));
  expect(on.node.runsOf("u/a").started).toBe(1);
  expect(on.node.containers.size + on.node.sandboxes.size).toBe(0);
  expect(on.node.runsOf("u/c").started).toBe(0);
  expect(on.broken).toEqual([]);
});

test("wanted again while it ends: a new worker follows", async () => {
  const on = await stage({ withoutApi: true });
  on.workers.set(pod());
  await on.until("the app runs", () => on.running().length === 1);
  const first = on.workers.get("u");
  on.workers.remove("u");
  on.workers.set(pod());
  await on.until("it runs again", () => {
    const now = on.workers.get("u");
    return now !== first && on.running().length === 1;
  });
  expect(on.node.runsOf("u/app").started).toBe(2);
  expect(on.broken).toEqual([]);
});

test("a static pod that is wanted again while it ends starts, though its mirror says that it is over", async () => {
  const on = await stage();
  const made = (): Pod => staticPod();
  on.workers.set(made());
  await on.until("the app runs", () => on.running().length === 1);
  on.workers.remove("u");
  on.workers.set(made());
  const phases = new Set<string | undefined>();
  await on.until("it runs again", () => {
    phases.add(on.statuses.get("u")?.phase);
    return (
      on.running().length === 1 &&
      on.statuses.get("u")?.containerStatuses?.[0]?.restartCount === 1
    );
  });
  expect([...phases]).toContain("Failed");
  await on.until("that is reported", () => {
    return on.statuses.get("u")?.phase === "Running";
  });
  expect(on.statuses.get("u")).not.toHaveProperty("reason");
  expect(on.broken).toEqual([]);
});

test("a static pod waits for the end of the one whose place it takes", async () => {
  const on = await stage();
  const version = (uid: string): Pod => staticPod({}, uid);
  on.workers.set(version("old"));
  await on.until("the old one runs", () => on.running().length === 1);
  on.workers.remove("old");
  on.workers.set(version("new"));
  await on.until("the new one runs", () => {
    const uids = [...on.node.sandboxes.values()].map(
      ({ metadata }) => metadata.uid,
    );
    if (uids.includes("new")) expect(uids).not.toContain("old");
    return on.node.runsOf("new/app").started === 1;
  });
});

test("of two static pods of one name the second waits until the first is over", async () => {
  const on = await stage();
  const named = (uid: string): Pod =>
    staticPod({ restartPolicy: "Never" }, uid);
  on.workers.set(named("first"));
  on.workers.set(named("second"));
  await on.until("the first runs", () => on.running().length === 1);
  expect(on.node.runsOf("second/app").started).toBe(0);
  on.node.exit(on.node.running()[0]!.id, 0);
  await on.until("the second runs", () => on.running().length === 1);
  expect(on.node.runsOf("first/app").started).toBe(1);
  expect(on.node.runsOf("second/app").started).toBe(1);
});

test("a static pod that is never restarted runs on when it is wanted again", async () => {
  const on = await stage();
  const made = (): Pod => staticPod({ restartPolicy: "Never" });
  on.workers.set(made());
  await on.until("the app runs", () => on.running().length === 1);
  on.workers.remove("u");
  on.workers.set(made());
  await on.until("it is reported", () => {
    const { phase, containerStatuses } = on.statuses.get("u") ?? {};
    return phase === "Running" && containerStatuses?.[0]?.restartCount === 1;
  });
  expect(on.running()).toEqual(["app"]);
  expect(on.node.graces).toHaveLength(1);
});

test("a pod that ends keeps its grace when its object goes", async () => {
  const on = await stage();
  on.workers.set(pod({ terminationGracePeriodSeconds: 2 }));
  await on.until("the app runs", () => on.running().length === 1);
  on.workers.end("u", { graceSeconds: 20 });
  on.workers.remove("u");
  await on.until("it has ended", () => on.running().length === 0);
  expect(on.node.graces).toEqual([20]);
});

test("what is left of a pod that is over has its grace when its object goes", async () => {
  let stops = 0;
  const on = await stage({
    fate(call) {
      if (call === "stopContainer" && ++stops === 1) throw new Error("busy");
      return { kind: "works" };
    },
  });
  const initContainers = [
    { name: "sidecar", image: "i", restartPolicy: "Always" as const },
  ];
  on.workers.set(
    staticPod({
      ...{ restartPolicy: "Never", initContainers },
      terminationGracePeriodSeconds: 7,
    }),
  );
  await on.until("both run", () => on.running().length === 2);
  on.node.exit(on.node.running().find(({ name }) => name === "app")!.id, 0);
  await on.until("the sidecar is stopped in vain", () => stops === 1);
  on.workers.remove("u");
  await on.until("it has ended", () => on.running().length === 0);
  for (const grace of on.node.graces) expect(grace).toBeLessThanOrEqual(7);
  expect(stops).toBeGreaterThan(1);
});

test("pods of before open() wait, and those removed meanwhile never start", async () => {
  const on = await stage();
  const closed = new PodWorkers({} as never);
  closed.set(pod());
  closed.set(pod({}, "v"));
  closed.remove("v");
  expect([closed.has("u"), closed.has("v")]).toEqual([true, false]);
  expect(closed.list()).toEqual([]);
  expect(on.workers.isOpen).toBe(true);
});

test("calls that fail are tried again: one sandbox, one container, and all of it goes", async () => {
  let calls = 0;
  const on = await stage({
    fate: () =>
      ++calls % 11 === 0
        ? { kind: "fails", code: "unavailable" }
        : { kind: "works" },
  }).catch(() => undefined);
  if (!on) throw new Error("the first list failed");
  on.workers.set(pod());
  await on.until("the app runs", () => on.running().length === 1);
  on.workers.set(deleted(pod()));
  on.workers.remove("u");
  await on.until("it is gone", () => !on.workers.has("u"));
  expect(on.node.containers.size + on.node.sandboxes.size).toBe(0);
  expect(on.host.left()).toEqual([]);
  expect(on.broken).toEqual([]);
});

test("a container that ended before it was looked at keeps its last message", async () => {
  const on = await stage({ lastMessage: "the end" });
  const start = on.node.startContainer.bind(on.node);
  on.node.startContainer = (id) => {
    start(id);
    on.node.exit(id, 3);
  };
  on.workers.set(pod({ restartPolicy: "Never" }));
  await on.until(
    "it has failed",
    () => on.statuses.get("u")?.phase === "Failed",
  );
  expect(
    on.statuses.get("u")?.containerStatuses?.[0]?.state?.terminated,
  ).toMatchObject({ exitCode: 3, message: "the end" });
});
