// What a sync of a Job does, without a server: Job and pods in, writes out.
import type { Job, JobStatus } from "../../../api/types/batch-v1.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import { planJob } from "../../../controllers/job/job-plan.ts";

const nowMs = Date.parse("2025-01-01T12:00:00Z");
const ago = (seconds: number): string =>
  new Date(nowMs - seconds * 1000).toISOString().replace(".000Z", "Z");

interface Given {
  readonly spec?: Partial<Job["spec"]>;
  readonly status?: JobStatus;
  /** By name; see podOf. */
  readonly pods?: readonly string[];
  readonly mayManage?: boolean;
}

const jobOf = ({ spec = {}, status }: Given): Job => ({
  metadata: { name: "j", namespace: "ns", uid: "job" },
  spec: { template: { spec: { containers: [] } }, completions: 3, ...spec },
  ...(status ? { status } : {}),
});

/**
 * `<index or name> <state> [<seconds since its end>]`. States: run, ready, ok, fail, exit<code>, going (deleted, not
 * ended); a capital letter: without the finalizer, its end was counted before.
 */
function podOf(text: string): Pod {
  const [name = "", state = "", since = "1000"] = text.split(" ");
  const lower = state.toLowerCase();
  const code = /^exit(\d+)$/.exec(lower)?.[1];
  const phase =
    lower === "ok"
      ? "Succeeded"
      : lower === "fail" || code
        ? "Failed"
        : "Running";
  return {
    metadata: {
      name: `p${name}`,
      namespace: "ns",
      uid: `u${name}`,
      creationTimestamp: ago(5000),
      annotations: { "batch.kubernetes.io/job-completion-index": name },
      ...(lower === "going" ? { deletionTimestamp: ago(1) } : {}),
      ...(state === lower
        ? { finalizers: ["batch.kubernetes.io/job-tracking"] }
        : {}),
    },
    spec: { containers: [], nodeName: "n" },
    status: {
      phase,
      conditions: [
        { type: "Ready", status: lower === "ready" ? "True" : "False" },
      ],
      containerStatuses: [
        {
          name: "c",
          ready: false,
          restartCount: 0,
          image: "",
          imageID: "",
          ...(phase === "Running"
            ? {}
            : {
                state: {
                  terminated: {
                    exitCode: Number(code ?? (phase === "Failed" ? 1 : 0)),
                    finishedAt: ago(Number(since)),
                  },
                },
              }),
        },
      ],
    },
  };
}

const indexOf = (pod: Pod): string =>
  pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"] ?? "+";

/** The plan in short: only what is not empty. */
function planned(given: Given): object {
  const pods = (given.pods ?? []).map(podOf);
  const plan = planJob(jobOf(given), pods, nowMs, given.mayManage ?? true);
  const { succeeded, failed, completedIndexes, failedIndexes, conditions } =
    plan.status;
  const names = (list: readonly Pod[]): string =>
    list.map(({ metadata }) => metadata.name.slice(1)).join();
  const short: Record<string, unknown> = {
    create: plan.create.map(indexOf).join(""),
    remove: names(plan.remove),
    pending: [
      ...(plan.pending?.uncountedTerminatedPods?.succeeded ?? []),
      ...(plan.pending?.uncountedTerminatedPods?.failed ?? []),
    ].join(),
    release: names(plan.release),
    counts:
      succeeded || failed ? `${succeeded ?? 0}+${failed ?? 0}` : undefined,
    indexes:
      completedIndexes || failedIndexes
        ? `${completedIndexes ?? ""}/${failedIndexes ?? ""}`
        : undefined,
    conditions: (conditions ?? [])
      .map(({ type, status, reason }) => `${type}=${status}:${reason}`)
      .join(" "),
    events: [...plan.events, ...(plan.finished ? [plan.finished] : [])]
      .map(({ reason }) => reason)
      .join(),
    again: plan.requeueAfterMs,
  };
  return Object.fromEntries(
    Object.entries(short).filter(
      ([, value]) => value !== "" && value !== undefined,
    ),
  );
}

const started: JobStatus = { startTime: ago(100) };
const indexed: Partial<Job["spec"]> = {
  completionMode: "Indexed",
  parallelism: 2,
};
const target = (type: string, reason: string): JobStatus => ({
  ...started,
  conditions: [{ type, status: "True", reason, message: "m" }],
});

test.each<[string, Given, object]>([
  ["makes the first pod", {}, { create: "+" }],
  [
    "makes as many as run in parallel, and no more than are wanted",
    { spec: { parallelism: 5 } },
    { create: "+++" },
  ],
  [
    "waits while earlier writes have not been seen",
    { mayManage: false, spec: { parallelism: 5 }, pods: ["a run"] },
    {},
  ],
  [
    "is content with what runs",
    { spec: { parallelism: 2 }, pods: ["a run", "b ready"] },
    {},
  ],
  [
    "ends those first that are not ready",
    { spec: { parallelism: 1 }, pods: ["a ready", "b run", "c run"] },
    { remove: "b,c" },
  ],
  [
    "counts a success in two steps, and goes on",
    { status: started, pods: ["a ok"] },
    { create: "+", pending: "ua", release: "a", counts: "1+0" },
  ],
  [
    "counts what a former run has noted already, once",
    {
      status: {
        ...started,
        succeeded: 1,
        uncountedTerminatedPods: { succeeded: ["ua"] },
      },
      pods: ["a ok"],
    },
    { create: "+", pending: "ua", release: "a", counts: "2+0" },
  ],
  [
    "does not count one without the finalizer again",
    { status: { ...started, succeeded: 1 }, pods: ["a OK"] },
    { create: "+", counts: "1+0" },
  ],
  [
    "is complete when the last has succeeded",
    { status: { ...started, succeeded: 2 }, pods: ["a ok"] },
    {
      pending: "ua",
      release: "a",
      counts: "3+0",
      conditions:
        "SuccessCriteriaMet=True:CompletionsReached Complete=True:CompletionsReached",
      events: "Completed",
    },
  ],
  [
    "waits for the last that runs before it is complete",
    { spec: { completions: 1 }, status: started, pods: ["a ok", "b run"] },
    {
      remove: "b",
      pending: "ua",
      release: "a,b",
      counts: "1+0",
      conditions: "SuccessCriteriaMet=True:CompletionsReached",
    },
  ],
  [
    "waits for the last that is going",
    {
      status: {
        ...target("SuccessCriteriaMet", "CompletionsReached"),
        succeeded: 3,
      },
      spec: { podReplacementPolicy: "Failed" },
      pods: ["a going"],
    },
    {
      release: "a",
      counts: "3+0",
      conditions: "SuccessCriteriaMet=True:CompletionsReached",
    },
  ],
  [
    "of a work queue lets the others finish after the first success",
    {
      spec: { completions: undefined, parallelism: 3 } as Partial<Job["spec"]>,
      status: started,
      pods: ["a ok", "b run"],
    },
    { pending: "ua", release: "a", counts: "1+0" },
  ],
  [
    "waits ten seconds after the first failure",
    { status: started, pods: ["a fail 4"] },
    { pending: "ua", release: "a", counts: "0+1", again: 6000 },
  ],
  [
    "and twenty after the second",
    { status: { ...started, failed: 1 }, pods: ["a fail 4"] },
    { pending: "ua", release: "a", counts: "0+2", again: 16_000 },
  ],
  [
    "replaces a failed one when its time has come",
    { status: started, pods: ["a fail 11"] },
    { create: "+", pending: "ua", release: "a", counts: "0+1" },
  ],
  [
    "fails at its back-off limit, and ends what runs",
    {
      spec: { backoffLimit: 1 },
      status: { ...started, failed: 1 },
      pods: ["a fail", "b run"],
    },
    {
      remove: "b",
      pending: "ua,ub",
      release: "a,b",
      counts: "0+3",
      conditions: "FailureTarget=True:BackoffLimitExceeded",
    },
  ],
  [
    "has failed when nothing runs any more",
    { status: { ...target("FailureTarget", "DeadlineExceeded"), failed: 1 } },
    {
      counts: "0+1",
      conditions:
        "FailureTarget=True:DeadlineExceeded Failed=True:DeadlineExceeded",
      events: "DeadlineExceeded",
    },
  ],
  [
    "a failure that was decided stays, whatever succeeds",
    {
      status: { ...target("FailureTarget", "x"), succeeded: 2 },
      pods: ["a ok", "b run"],
    },
    {
      remove: "b",
      pending: "ua,ub",
      release: "a,b",
      counts: "3+1",
      conditions: "FailureTarget=True:x",
    },
  ],
  [
    "a success that was decided stays, whatever fails",
    {
      spec: { backoffLimit: 0 },
      status: { ...target("SuccessCriteriaMet", "x"), succeeded: 3 },
      pods: ["a fail"],
    },
    {
      pending: "ua",
      release: "a",
      counts: "3+1",
      conditions: "SuccessCriteriaMet=True:x Complete=True:x",
      events: "Completed",
    },
  ],
  [
    "looks again at its deadline",
    {
      spec: { activeDeadlineSeconds: 130, completions: 1 },
      status: started,
      pods: ["a run"],
    },
    { again: 30_010 },
  ],
  [
    "fails at its deadline",
    {
      spec: { activeDeadlineSeconds: 100 },
      status: started,
      pods: ["a run"],
    },
    {
      remove: "a",
      pending: "ua",
      release: "a",
      counts: "0+1",
      conditions: "FailureTarget=True:DeadlineExceeded",
    },
  ],
  [
    "suspended ends its pods, and its clock",
    {
      spec: { suspend: true, activeDeadlineSeconds: 1 },
      status: started,
      pods: ["a run"],
    },
    {
      remove: "a",
      conditions: "Suspended=True:JobSuspended",
      events: "Suspended",
    },
  ],
  [
    "resumed makes pods, and its clock starts again",
    {
      spec: { activeDeadlineSeconds: 50 },
      status: { conditions: [{ type: "Suspended", status: "True" }] },
    },
    {
      create: "+",
      conditions: "Suspended=False:JobResumed",
      events: "Resumed",
      again: 50_010,
    },
  ],
  [
    "counts a deleted pod as failed",
    { status: started, pods: ["a going"] },
    // Its deletion, a second ago, is its end.
    { pending: "ua", release: "a", counts: "0+1", again: 9000 },
  ],
  [
    "keeps the place of a pod that is going where only ended ones are replaced",
    {
      spec: { podReplacementPolicy: "Failed", parallelism: 2 },
      status: started,
      pods: ["a going"],
    },
    { create: "+" },
  ],
  [
    "indexed: makes the lowest free indexes",
    {
      spec: { ...indexed, completions: 5 },
      status: { completedIndexes: "0,2" },
    },
    { create: "13", counts: "2+0", indexes: "0,2/" },
  ],
  [
    "indexed: an index succeeds once, and those out of range never",
    {
      spec: indexed,
      status: { ...started, completedIndexes: "1", succeeded: 1 },
      pods: ["1 ok", "9 ok", "0 run", "2 run"],
    },
    { pending: "", release: "1,9", counts: "1+0", indexes: "1/" },
  ],
  [
    "indexed: gives an index up at its own limit and goes on with the others",
    {
      spec: { ...indexed, backoffLimitPerIndex: 0 },
      status: started,
      pods: ["0 fail", "1 run"],
    },
    {
      create: "2",
      pending: "u0",
      release: "0",
      counts: "0+1",
      indexes: "/0",
    },
  ],
  [
    "indexed: has failed when every index is over and one failed",
    {
      spec: { ...indexed, backoffLimitPerIndex: 0 },
      status: { ...started, completedIndexes: "0,1", succeeded: 2 },
      pods: ["2 fail"],
    },
    {
      pending: "u2",
      release: "2",
      counts: "2+1",
      indexes: "0,1/2",
      conditions: "FailureTarget=True:FailedIndexes Failed=True:FailedIndexes",
      events: "FailedIndexes",
    },
  ],
  [
    "indexed: too many failed indexes end it at once",
    {
      spec: { ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 0 },
      status: started,
      pods: ["0 fail", "1 run"],
    },
    {
      remove: "1",
      pending: "u0,u1",
      release: "0,1",
      counts: "0+2",
      indexes: "/0",
      conditions: "FailureTarget=True:MaxFailedIndexesExceeded",
    },
  ],
  [
    "indexed: its success policy ends it early",
    {
      spec: { ...indexed, successPolicy: { rules: [{ succeededCount: 1 }] } },
      status: started,
      pods: ["0 ok", "1 run"],
    },
    {
      remove: "1",
      release: "0,1",
      counts: "1+0",
      indexes: "0/",
      conditions: "SuccessCriteriaMet=True:SuccessPolicy",
    },
  ],
  [
    "its failure policy can fail it, or ignore a failure",
    {
      spec: {
        podFailurePolicy: {
          rules: [
            {
              action: "Ignore",
              onExitCodes: { operator: "In", values: [7] },
            },
            {
              action: "FailJob",
              onExitCodes: { operator: "In", values: [3] },
            },
          ],
        },
      },
      status: started,
      pods: ["a exit7", "b exit3"],
    },
    {
      pending: "ub",
      release: "b,a",
      counts: "0+1",
      conditions:
        "FailureTarget=True:PodFailurePolicy Failed=True:PodFailurePolicy",
      events: "PodFailurePolicy",
    },
  ],
])("%s", (_, given, expected) => {
  const clean = Object.fromEntries(
    Object.entries(expected).filter(([, value]) => value !== ""),
  );
  expect(planned(given)).toEqual(clean);
});

test("a plan that is carried out leaves nothing to do", () => {
  const job = jobOf({ status: started });
  const pods = ["a ok", "b ok", "c ok"].map(podOf);
  const plan = planJob(job, pods, nowMs, true);
  const released = pods.map((pod) => ({
    ...pod,
    metadata: { ...pod.metadata, finalizers: [] },
  }));
  // Cut off after each of the writes in turn.
  for (const [status, left] of [
    [job.status, pods],
    [plan.pending, pods],
    [plan.pending, released],
    [plan.status, released],
  ] as const) {
    const again = planJob({ ...job, status: status! }, left, nowMs, true);
    expect([again.status.succeeded, again.status.failed ?? 0]).toEqual([3, 0]);
  }
});

test("no more than 500 pods are made at once", () => {
  const spec = { completions: 9999, parallelism: 9999 };
  expect(planJob(jobOf({ spec }), [], nowMs, true).create).toHaveLength(500);
});

test("a Job that started before the clock was set back completes, not before its start", () => {
  const startTime = ago(-86_400);
  const status = {
    startTime,
    succeeded: 3,
    conditions: [
      { type: "SuccessCriteriaMet", status: "True", reason: "r", message: "m" },
    ],
  };
  const plan = planJob(jobOf({ status }), [], nowMs, true);
  expect(plan.status.completionTime).toBe(startTime);
  expect(plan.status.conditions?.map(({ type }) => type)).toContain("Complete");
});

test("failures from before the clock was set back hold up nothing, later ones do", () => {
  const again = (...pods: string[]): unknown =>
    planned({ status: started, pods });
  expect(again("a fail -86400")).toMatchObject({ create: "+" });
  expect(again("a fail -86400", "b fail 1")).toMatchObject({ again: 19_000 });
});
