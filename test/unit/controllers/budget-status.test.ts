// The status of a PodDisruptionBudget, without a server.
import type { Pod } from "../../../api/types/core-v1.ts";
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetStatus,
} from "../../../api/types/policy-v1.ts";
import { planBudget } from "../../../controllers/disruption/budget-status.ts";
import { scaleBehind } from "../../../controllers/disruption/expected-pods.ts";

const nowMs = Date.parse("2025-01-01T12:00:00Z");
const ago = (seconds: number): string =>
  new Date(nowMs - seconds * 1000).toISOString();

/** `name state`: ready, down, going. */
function podOf(text: string): Pod {
  const [name = "", state] = text.split(" ");
  return {
    metadata: {
      name,
      ...(state === "going" ? { deletionTimestamp: ago(1) } : {}),
    },
    spec: { containers: [] },
    status: {
      phase: "Running",
      conditions: [
        { type: "Ready", status: state === "down" ? "False" : "True" },
      ],
    },
  };
}
const budgetOf = (
  spec: PodDisruptionBudget["spec"],
  status?: Partial<PodDisruptionBudgetStatus>,
): PodDisruptionBudget => ({
  metadata: { name: "b", generation: 3 },
  spec,
  ...(status ? { status: status as PodDisruptionBudgetStatus } : {}),
});
const three = ["a ready", "b ready", "c ready"];

test.each<
  [
    string,
    NonNullable<PodDisruptionBudget["spec"]>,
    string[],
    number,
    [healthy: number, desired: number, expected: number, allowed: number],
  ]
>([
  ["a number that stays", { minAvailable: 2 }, three, 9, [3, 2, 3, 1]],
  ["all of them", { minAvailable: 3 }, three, 9, [3, 3, 3, 0]],
  [
    "what is down or going is not healthy",
    { minAvailable: 1 },
    ["a ready", "b down", "c going"],
    9,
    [1, 1, 3, 0],
  ],
  [
    "a share of what is wanted, rounded up",
    { minAvailable: "50%" },
    three,
    5,
    [3, 3, 5, 0],
  ],
  [
    "a number that may be missing of what is wanted",
    { maxUnavailable: 1 },
    three,
    3,
    [3, 2, 3, 1],
  ],
  [
    "a share that may be missing, rounded up",
    { maxUnavailable: "30%" },
    three,
    3,
    [3, 2, 3, 1],
  ],
  [
    "more may be missing than there are",
    { maxUnavailable: 9 },
    three,
    3,
    [3, 0, 3, 3],
  ],
  ["nothing said", {}, three, 9, [3, 0, 0, 0]],
  ["no pods", { minAvailable: 0 }, [], 0, [0, 0, 0, 0]],
])("%s", (_, spec, pods, scale, expected) => {
  const { status, waitMs } = planBudget(
    budgetOf(spec),
    pods.map(podOf),
    () => ({ replicas: scale, unmanaged: [] }),
    nowMs,
  );
  expect([
    status.currentHealthy,
    status.desiredHealthy,
    status.expectedPods,
    status.disruptionsAllowed,
  ]).toEqual(expected);
  expect(status.conditions).toMatchObject([
    expected[3] > 0
      ? { status: "True", reason: "SufficientPods" }
      : { status: "False", reason: "InsufficientPods" },
  ]);
  expect([status.observedGeneration, waitMs]).toEqual([3, undefined]);
});

test("a disrupted pod counts until it ends, or for two minutes", () => {
  const budget = budgetOf(
    { minAvailable: 1 },
    {
      disruptedPods: { a: ago(90), b: ago(121), c: ago(5), gone: ago(5) },
    },
  );
  const { status, waitMs } = planBudget(
    budget,
    ["a ready", "b ready", "c going"].map(podOf),
    () => ({ replicas: 0, unmanaged: [] }),
    nowMs,
  );
  expect(status.disruptedPods).toEqual({ a: ago(90) });
  expect([status.currentHealthy, waitMs]).toEqual([1, 30_000]);
});

test("pods without a controller are left out, and an event says so", () => {
  const owned = (name: string, kind: string): Pod => {
    const made = podOf(`${name} ready`);
    const owner = { apiVersion: "apps/v1", kind, name: "r", uid: "ur" };
    const ownerReferences = [{ ...owner, controller: true }];
    return { ...made, metadata: { ...made.metadata, ownerReferences } };
  };
  const set = { metadata: { name: "r", uid: "ur" }, spec: { replicas: 4 } };
  const selector = {
    matchLabels: { b: "2", a: "1" },
    matchExpressions: [{ key: "k", operator: "In", values: ["x", "y"] }],
  };
  const plan = (pods: Pod[]) =>
    planBudget(
      budgetOf({ maxUnavailable: 1, selector }),
      pods,
      (list) =>
        scaleBehind(list, ({ kind }) => (kind === "Other" ? undefined : set)),
      nowMs,
    );
  const { status, events } = plan([
    owned("a", "ReplicaSet"),
    podOf("bare ready"),
  ]);
  expect(status).toMatchObject({ expectedPods: 4, desiredHealthy: 3 });
  expect(events).toMatchObject([
    {
      reason: "UnmanagedPods",
      message: expect.stringContaining(
        "(selector: &LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[x y],},},}) were found to be unmanaged.",
      ) as string,
    },
  ]);
  const other = plan([owned("a", "Other")]);
  expect(other.status.conditions).toMatchObject([{ reason: "SyncFailed" }]);
  expect(other.events).toMatchObject([
    {
      reason: "CalculateExpectedPodCountFailed",
      message:
        'Failed to calculate the number of expected pods: found no controllers for pod "a"',
    },
  ]);
});

test("the condition names the generation that it holds for", () => {
  const budget = budgetOf(
    { minAvailable: 1 },
    {
      conditions: [
        {
          ...{ type: "DisruptionAllowed", status: "True", message: "" },
          ...{ reason: "SufficientPods", observedGeneration: 1 },
          lastTransitionTime: ago(60),
        },
      ],
    },
  );
  const { status } = planBudget(
    budget,
    three.map(podOf),
    () => ({ replicas: 3, unmanaged: [] }),
    nowMs,
  );
  expect(status.conditions).toMatchObject([
    { observedGeneration: 3, lastTransitionTime: ago(60) },
  ]);
});

test("nothing is allowed where the pods can't be counted", () => {
  const budget = budgetOf({ maxUnavailable: 1 }, { currentHealthy: 7 });
  const { status } = planBudget(
    budget,
    three.map(podOf),
    () => {
      throw new Error("no scale");
    },
    nowMs,
  );
  expect(status).toMatchObject({
    currentHealthy: 7,
    disruptionsAllowed: 0,
    conditions: [
      { status: "False", reason: "SyncFailed", message: "no scale" },
    ],
  });
});
