// A node with pod workers over a fake runtime, for tests of what becomes of pods there.
import type { Pod, PodStatus } from "../../../api/types/core-v1.ts";
import type { PodMetrics } from "../../../agent/metrics/pod-metrics.ts";
import { PodWorkers } from "../../../agent/pods/worker/pod-workers.ts";
import { turns, type Fate } from "../../robustness/mount.ts";
import {
  fakeContext,
  type FakeContextOptions,
} from "../../robustness/pods/fake-context.ts";
import { FakeHost, hostParts } from "../../robustness/pods/fake-host.ts";
import {
  actionsOf,
  fakeRuntime,
  FakeNode,
} from "../../robustness/pods/fake-node.ts";
import { Random } from "../../robustness/random.ts";
import { FakeClock } from "../../support/fake-clock.ts";

export interface Stage {
  node: FakeNode;
  host: FakeHost;
  workers: PodWorkers;
  /** Workers of the next agent, which are not open yet: `workers` must have been stopped. */
  nextWorkers(): PodWorkers;
  /** Reads what the runtime has. */
  relist(): Promise<void>;
  clock: FakeClock;
  statuses: Map<string, PodStatus>;
  finished: string[];
  broken: string[];
  /** Lets time pass until the condition holds. */
  until(what: string, condition: () => boolean): Promise<void>;
  running(): string[];
}

export async function workerStage(
  directory: string,
  options: {
    fate?: (call: string) => Fate;
    admit?: FakeContextOptions["admit"];
    resize?: FakeContextOptions["resize"];
    events?: FakeContextOptions["events"];
    networkProblem?: FakeContextOptions["networkProblem"];
    lastMessage?: string;
    users?: FakeContextOptions["users"];
    onReleased?: FakeContextOptions["onReleased"];
    metrics?: PodMetrics;
    /** What the API server has goes nowhere. */
    withoutApi?: boolean;
  } = {},
): Promise<Stage> {
  const clock = new FakeClock(Date.UTC(2025, 0, 1));
  const broken: string[] = [];
  const node = new FakeNode(
    () => clock.now(),
    (what) => void broken.push(what),
  );
  const host = new FakeHost();
  const statuses = new Map<string, PodStatus>();
  const finished: string[] = [];
  const never = (): boolean => false;
  const act = actionsOf({
    random: new Random(1),
    fate: options.fate ?? (() => ({ kind: "works" })),
    ended: never,
    end: () => undefined,
  });
  const made = fakeContext({
    runtime: fakeRuntime(node, act, never),
    clock,
    directory,
    host: hostParts(host, act, directory),
    statuses,
    ended: () => options.withoutApi ?? false,
    onChange: (uid) => workers.wake(uid),
    onFinished: ({ metadata }) => finished.push(metadata.uid!),
    ...(options.admit ? { admit: options.admit } : {}),
    ...(options.resize ? { resize: options.resize } : {}),
    ...(options.events ? { events: options.events } : {}),
    ...(options.networkProblem
      ? { networkProblem: options.networkProblem }
      : {}),
    ...(options.users ? { users: options.users } : {}),
    ...(options.onReleased ? { onReleased: options.onReleased } : {}),
    ...(options.lastMessage ? { lastMessage: options.lastMessage } : {}),
  });
  const { metrics } = options;
  const context = metrics ? { ...made, metrics } : made;
  let workers = new PodWorkers(context);
  await context.runtimePods.start();
  workers.open();
  return {
    node,
    host,
    workers,
    nextWorkers: () => (workers = new PodWorkers(context)),
    relist: () => context.runtimePods.relist(),
    clock,
    statuses,
    finished,
    broken,
    async until(what, condition) {
      const untilMs = performance.now() + 60_000;
      while (!condition()) {
        if (performance.now() > untilMs) throw new Error(`never: ${what}`);
        await turns(10);
        if (condition()) return;
        clock.advance(Math.min(clock.nextDelayMs ?? 100, 1000));
      }
    },
    running: () => node.running().map(({ name }) => name),
  };
}

export function stagedPod(spec: Partial<Pod["spec"]> = {}, uid = "u"): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace: "ns", uid },
    spec: {
      containers: [{ name: "app", image: "i" }],
      terminationGracePeriodSeconds: 1,
      ...spec,
    },
  };
}

export const deleted = (of: Pod): Pod => ({
  ...of,
  metadata: {
    ...of.metadata,
    deletionTimestamp: "2025-01-01T00:00:00Z",
  },
});
