// One pod's whole life on a node, with the agent killed at each of its actions in turn: each call of the runtime, each
// directory, cgroup and volume, before and after its effect, and at each crash point. A new agent takes over what it finds.
// Whenever it happened: one ready sandbox, no container twice, nothing ended that is wanted, and nothing left in the end.
import { withoutClaims } from "../../../agent/resources/claims/pod-claims.ts";
import pino from "pino";
import { Housekeeping } from "../../../agent/housekeeping.ts";
import { PodWorkers } from "../../../agent/pods/worker/pod-workers.ts";
import type { Pod, PodStatus } from "../../../api/types/core-v1.ts";
import {
  ignoreCrashPoints,
  watchCrashPoints,
  type CrashPlan,
} from "../../robustness/crash-points.ts";
import { turns, type Fate } from "../../robustness/mount.ts";
import { fakeContext } from "../../robustness/pods/fake-context.ts";
import { FakeHost, hostParts } from "../../robustness/pods/fake-host.ts";
import {
  actionsOf,
  fakeRuntime,
  FakeNode,
} from "../../robustness/pods/fake-node.ts";
import { podCrashPoints } from "../../robustness/pods/pod-round.ts";
import { Random } from "../../robustness/random.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const directories = useTempDirectories();
const uid = "u";

type Kill = { action: number; effect: "none" | "whole" } | CrashPlan;

const resources = { limits: { cpu: "1", memory: "64Mi" } };

/** Guaranteed: nothing that the runtime keeps of it says so. */
const pod: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", namespace: "ns", uid },
  spec: {
    terminationGracePeriodSeconds: 1,
    initContainers: [
      { name: "init", image: "i", resources },
      { name: "sidecar", image: "i", restartPolicy: "Always", resources },
    ],
    containers: [{ name: "app", image: "i", resources }],
  },
};

/** What goes on whatever becomes of an agent: the machine and the API server, and how far the story is. */
class World {
  readonly broken: string[] = [];
  readonly host = new FakeHost();
  readonly statuses = new Map<string, PodStatus>();
  readonly node: FakeNode;
  /** As the API server has it; undefined when it was removed. */
  pod: Pod | undefined = pod;
  stage: "starting" | "crashed" | "deleting" = "starting";
  clock = new FakeClock(Date.UTC(2025, 0, 1));

  constructor() {
    this.node = new FakeNode(
      () => this.clock.now(),
      (what) => void this.broken.push(what),
    );
    this.node.wanted.add(uid);
  }

  /** What the containers and the users do: init ends, the app crashes once and is started again, the pod is deleted. */
  goOn(workers: PodWorkers): void {
    if (!this.pod) return;
    const running = this.node.running();
    for (const { id, name } of running)
      if (name === "init") this.node.exit(id, 0);
    const app = running.find(({ name }) => name === "app");
    if (!app) return;
    if (this.stage === "starting") {
      this.stage = "crashed";
      this.node.exit(app.id, 1);
    } else if (this.stage === "crashed") {
      this.stage = "deleting";
      this.node.wanted.delete(uid);
      const deletionTimestamp = new Date(this.clock.now()).toISOString();
      this.pod = { ...pod, metadata: { ...pod.metadata, deletionTimestamp } };
      workers.set(this.pod);
    }
  }

  get left(): string[] {
    return [
      ...(this.pod ? ["the object"] : []),
      ...[...this.node.sandboxes.keys(), ...this.node.containers.keys()],
      ...this.host.left(),
    ];
  }
}

/** Resolves to how many actions the agent did, or to "killed". */
async function live(
  world: World,
  directory: string,
  kill?: Kill,
): Promise<number | "killed"> {
  const clock = (world.clock = new FakeClock(world.clock.now()));
  let actions = 0;
  let isEnded = false;
  const ended = (): boolean => isEnded;
  const end = (): void => void (isEnded = true);
  const fate = (): Fate => {
    const action = actions++;
    return kill && "action" in kill && action === kill.action
      ? { kind: "ends", effect: kill.effect }
      : { kind: "works" };
  };
  watchCrashPoints(kill && "name" in kill ? kill : undefined, ended, end);
  const act = actionsOf({ random: new Random(1), fate, ended, end });
  const host = hostParts(world.host, act, directory);
  const context = fakeContext({
    runtime: fakeRuntime(world.node, act, ended),
    clock,
    directory,
    host,
    statuses: world.statuses,
    ended,
    onChange: (changed) => workers.wake(changed),
    onFinished(last) {
      world.pod = undefined;
      setImmediate(() => ended() || workers.remove(uid, last));
    },
  });
  const workers = new PodWorkers(context);
  const housekeeping = new Housekeeping({
    images: {
      collect: () => Promise.resolve(),
      observe: () => Promise.resolve(),
    } as never,
    containers: { collect: () => Promise.resolve() },
    cgroups: host.cgroups,
    hostFiles: host.files,
    volumes: host.volumes,
    resources: { releaseOthers: () => undefined },
    claims: withoutClaims,
    events: { node: () => undefined },
    isKnown: (each) =>
      workers.has(each) || context.runtimePods.uids().includes(each),
    clock,
    logger: pino({ level: "silent" }),
  });
  let isOpen = false;
  void context.runtimePods.start().then(() => {
    workers.open();
    if (world.pod) workers.set(world.pod);
    workers.endOrphans(() => true);
    isOpen = true;
  });
  const untilMs = performance.now() + 20_000;
  for (;;) {
    await turns(15);
    if (isEnded) return "killed";
    if (isOpen) {
      world.goOn(workers);
      if (!world.pod) housekeeping.sweep();
    }
    if (world.left.length === 0 && !workers.has(uid)) break;
    if (performance.now() > untilMs) {
      world.broken.push(`it does not end: ${world.left.join()}`);
      break;
    }
    clock.advance(Math.min(clock.nextDelayMs ?? 1000, 20_000));
  }
  end();
  return actions;
}

/** undefined: the life was over before the agent got that far. */
async function lifeWith(kill: Kill): Promise<string[] | undefined> {
  const world = new World();
  const directory = directories();
  try {
    if ((await live(world, directory, kill)) !== "killed") return undefined;
    await live(world, directory);
  } finally {
    ignoreCrashPoints();
  }
  const { started } = world.node.runsOf(`${uid}/app`);
  if (started !== 2) world.broken.push(`the app was started ${started} times`);
  return world.broken;
}

test("killed at any of its actions, with or without the effect", async () => {
  const all: string[] = [];
  let actions = 0;
  for (let isOver = false; !isOver; actions++)
    for (const effect of ["none", "whole"] as const) {
      const broken = await lifeWith({ action: actions, effect });
      if (broken === undefined) isOver = true;
      for (const what of broken ?? [])
        all.push(`action ${actions}, effect ${effect}: ${what}`);
    }
  expect(all).toEqual([]);
  expect(actions).toBeGreaterThan(40);
});

test("killed at any of its actions, and its object is gone when the next agent comes", async () => {
  const all: string[] = [];
  for (let action = 0; ; action++) {
    const world = new World();
    const directory = directories();
    try {
      const kill = { action, effect: "whole" } as const;
      if ((await live(world, directory, kill)) !== "killed") break;
      world.pod = undefined;
      world.node.wanted.delete(uid);
      await live(world, directory);
    } finally {
      ignoreCrashPoints();
    }
    for (const what of world.broken) all.push(`action ${action}: ${what}`);
  }
  expect(all).toEqual([]);
});

test("nobody is killed: the life ends as it should", async () => {
  const world = new World();
  await live(world, directories());
  ignoreCrashPoints();
  expect(world.broken).toEqual([]);
  expect(world.left).toEqual([]);
});

test.each(podCrashPoints)("killed at %s", async (name) => {
  expect(await lifeWith({ name, visit: 1 })).toEqual([]);
});

test("an agent that forgets what runs is noticed", async () => {
  const world = new World();
  const runtime = world.node;
  const config = { metadata: { uid }, labels: {}, annotations: {} } as never;
  runtime.runSandbox(config);
  runtime.runSandbox(config);
  expect(world.broken).toEqual([expect.stringContaining("beside")]);
});
