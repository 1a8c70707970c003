// Which pods of a Job go, which are never counted, and how often an index has failed.
import type { Job, JobStatus } from "../../../api/types/batch-v1.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { planJob } from "../../../controllers/job/job-plan.ts";

const nowMs = Date.parse("2025-01-01T12:00:00Z");
const ago = (seconds: number): string =>
  new Date(nowMs - seconds * 1000).toISOString().replace(".000Z", "Z");
const failures = "batch.kubernetes.io/job-index-failure-count";
const finalizer = "batch.kubernetes.io/job-tracking";

function podOf(
  name: string,
  index: number,
  {
    phase = "Running",
    ready = false,
    since = 1000,
    failed,
    ...metadata
  }: Partial<Pod["metadata"]> & {
    phase?: string;
    ready?: boolean;
    since?: number;
    failed?: number;
  } = {},
): Pod {
  return {
    metadata: {
      ...{ name, uid: `u${name}`, namespace: "ns", finalizers: [finalizer] },
      creationTimestamp: ago(5000),
      annotations: {
        "batch.kubernetes.io/job-completion-index": String(index),
        ...(failed === undefined ? {} : { [failures]: String(failed) }),
      },
      ...metadata,
    },
    spec: { containers: [], nodeName: "n" },
    status: {
      phase,
      conditions: [
        {
          type: "Ready",
          status: ready ? "True" : "False",
          lastTransitionTime: ago(since),
        },
      ],
    },
  };
}

function plan(spec: Partial<Job["spec"]>, pods: Pod[], status?: JobStatus) {
  const job: Job = {
    metadata: { name: "j", namespace: "ns", uid: "job" },
    spec: { template: { spec: { containers: [] } }, parallelism: 3, ...spec },
    status: { startTime: ago(2000), ...status },
  };
  return planJob(job, pods, nowMs, true);
}
const names = (pods: readonly Pod[]): string[] =>
  pods.map(({ metadata }) => metadata.name);
const indexed = { completionMode: "Indexed", completions: 3 } as const;

test("an Indexed Job that became smaller ends the pods beyond it, and of twins the one that came less far", () => {
  const { remove, create } = plan(indexed, [
    podOf("a", 0, { ready: true }),
    podOf("twin", 0),
    podOf("b", 1),
    podOf("beyond", 3, { ready: true }),
  ]);
  expect(names(remove).sort()).toEqual(["beyond", "twin"]);
  expect(create).toEqual([]);
});

test("a pod beyond its completions does not count as failed", () => {
  const { status, release } = plan(indexed, [
    podOf("beyond", 3, { phase: "Failed" }),
  ]);
  expect(names(release)).toEqual(["beyond"]);
  expect(status.failed ?? 0).toBe(0);
});

test.each([
  ["suspended", { suspend: true }],
  ["of less parallelism", { parallelism: 0 }],
])("pods that a Job ends that is %s are never counted", (_, spec) => {
  const job = { completions: 3, backoffLimit: 0, ...spec };
  const { forget, remove, status } = plan(job, [podOf("a", 0)]);
  expect(names(remove)).toEqual(["a"]);
  expect(names(forget)).toEqual(["a"]);
  // As the next sync finds it.
  const gone = podOf("a", 0, { deletionTimestamp: ago(1), finalizers: [] });
  expect(plan(job, [gone], status).status.failed ?? 0).toBe(0);
});

test("a suspended Job keeps its start time, and is not failed by its deadline", () => {
  const { status, requeueAfterMs } = plan(
    { completions: 1, suspend: true, activeDeadlineSeconds: 1 },
    [],
  );
  expect(status.startTime).toBe(ago(2000));
  expect(requeueAfterMs).toBeUndefined();
});

test("a Job that ends is not called suspended first", () => {
  const { events, status } = plan({ completions: 0, suspend: true }, []);
  expect(events).toEqual([]);
  expect(status.conditions?.map(({ type }) => type)).toEqual([
    "SuccessCriteriaMet",
    "Complete",
  ]);
});

describe("with a limit for each index", () => {
  const spec = { ...indexed, backoffLimitPerIndex: 2, parallelism: 3 };

  test("a failed pod stays until the next one has its number", () => {
    const failed = podOf("a", 0, { phase: "Failed", failed: 1, since: 15 });
    const waiting = plan(spec, [failed, podOf("b", 1), podOf("c", 2)]);
    expect(waiting.create).toEqual([]);
    expect(waiting.release).toEqual([]);
    // The second failure of the index: 20 s, of which 15 are over.
    expect(waiting.requeueAfterMs).toBe(5000);
    const due = podOf("a", 0, { phase: "Failed", failed: 1, since: 25 });
    const { create, status } = plan(spec, [due, podOf("b", 1), podOf("c", 2)]);
    expect(create.map(({ metadata }) => metadata.annotations)).toEqual([
      {
        "batch.kubernetes.io/job-completion-index": "0",
        [failures]: "2",
      },
    ]);
    const next = podOf("a2", 0, { failed: 2 });
    const after = plan(spec, [due, next, podOf("b", 1), podOf("c", 2)], status);
    expect(names(after.release)).toEqual(["a"]);
    expect(after.status.failed).toBe(1);
  });

  test("the number decides, also when the earlier pods are gone", () => {
    const { status } = plan(spec, [
      podOf("a", 0, { phase: "Failed", failed: 2 }),
      podOf("b", 1),
      podOf("c", 2),
    ]);
    expect(status.failedIndexes).toBe("0");
  });

  test("other indexes do not wait", () => {
    const { create } = plan(spec, [
      podOf("a", 0, { phase: "Failed", failed: 0, since: 1 }),
    ]);
    expect(
      create.map(({ metadata }) => metadata.annotations?.[failures]),
    ).toEqual(["0", "0"]);
  });
});

test("a success starts the pauses after failures again", () => {
  const failed = (name: string, since: number): Pod =>
    podOf(name, 0, { phase: "Failed", since });
  const job = { completions: 5, backoffLimit: 6, parallelism: 1 };
  const history = [failed("a", 400), failed("b", 300), failed("c", 15)];
  expect(plan(job, history).create).toEqual([]);
  const success = podOf("ok", 0, { phase: "Succeeded", since: 200 });
  expect(plan(job, [...history, success]).create).toHaveLength(1);
});

test("what ends with a Job that has failed counts as failed at once, with one that succeeded not at all", () => {
  const running = podOf("run", 1);
  const failing = plan({ ...indexed, backoffLimit: 0 }, [
    podOf("a", 0, { phase: "Failed" }),
    running,
  ]);
  expect(failing.status.failed).toBe(2);
  expect(names(failing.release).sort()).toEqual(["a", "run"]);
  const succeeding = plan(
    { ...indexed, successPolicy: { rules: [{ succeededCount: 1 }] } },
    [podOf("a", 0, { phase: "Succeeded" }), running],
  );
  expect(succeeding.status.failed ?? 0).toBe(0);
  expect(names(succeeding.release).sort()).toEqual(["a", "run"]);
});
