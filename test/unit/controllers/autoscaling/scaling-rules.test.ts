// Windows, rates and ranges between what metrics ask for and what is done.
import {
  decide,
  emptyHistory,
  recordInitial,
  recordScale,
  type Decision,
  type ScaleHistory,
} from "../../../../controllers/autoscaling/scaling-rules.ts";
import type {
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
} from "../../../../api/types/autoscaling-v2.ts";

const spec = (
  behavior?: HorizontalPodAutoscalerBehavior,
  maxReplicas = 100,
): HorizontalPodAutoscalerSpec => ({
  maxReplicas,
  scaleTargetRef: { kind: "Deployment", name: "d" },
  ...(behavior ? { behavior } : {}),
});

/** One autoscaler over time: each step at its second, the number that is there and the number wanted. */
class Course {
  readonly history: ScaleHistory = emptyHistory();
  constructor(
    private readonly what: HorizontalPodAutoscalerSpec,
    private readonly minReplicas = 1,
  ) {}

  step(second: number, currentReplicas: number, wanted: number): Decision {
    const wish = {
      spec: this.what,
      currentReplicas,
      desiredReplicas: wanted,
      minReplicas: this.minReplicas,
      nowMs: second * 1000,
      downscaleStabilizationMs: 300_000,
    };
    recordInitial(this.history, currentReplicas, wish.nowMs);
    const decision = decide(this.history, wish);
    if (decision.replicas !== currentReplicas)
      recordScale(this.history, wish, decision.replicas);
    return decision;
  }
}

const brief = ({ replicas, able, limit }: Decision): unknown[] => [
  replicas,
  able.reason,
  limit.limited ? limit.reason : "",
];

describe("without a behavior", () => {
  test("up at once, at most double, but four at least", () => {
    const course = new Course(spec());
    expect(brief(course.step(0, 1, 50))).toEqual([
      4,
      "ReadyForNewScale",
      "ScaleUpLimit",
    ]);
    expect(brief(course.step(15, 4, 50))).toEqual([
      8,
      "ReadyForNewScale",
      "ScaleUpLimit",
    ]);
    // What was recommended a moment ago still holds.
    expect(brief(course.step(30, 8, 12))).toEqual([
      16,
      "ScaleDownStabilized",
      "ScaleUpLimit",
    ]);
  });

  test("down when no recommendation of the window is higher", () => {
    const course = new Course(spec());
    expect(brief(course.step(0, 10, 3))).toEqual([
      10,
      "ScaleDownStabilized",
      "",
    ]);
    expect(brief(course.step(290, 10, 5))).toEqual([
      10,
      "ScaleDownStabilized",
      "",
    ]);
    expect(brief(course.step(301, 10, 3))).toEqual([
      5,
      "ScaleDownStabilized",
      "",
    ]);
    expect(brief(course.step(700, 5, 3))).toEqual([3, "ReadyForNewScale", ""]);
  });

  test("within the range", () => {
    const course = new Course(spec(undefined, 6), 3);
    expect(brief(course.step(0, 5, 7))).toEqual([
      6,
      "ReadyForNewScale",
      "TooManyReplicas",
    ]);
    expect(brief(course.step(1000, 5, 1))).toEqual([
      3,
      "ReadyForNewScale",
      "TooFewReplicas",
    ]);
  });

  test("the history holds what the window needs", () => {
    const course = new Course(spec());
    for (let second = 0; second < 10_000; second += 15)
      course.step(second, 5, 5);
    expect(course.history.recommendations!.length).toBeLessThanOrEqual(22);
    expect([course.history.ups, course.history.downs]).toEqual([[], []]);
  });
});

describe("with a behavior", () => {
  test("its defaults: up by the greater of 4 pods and 100 % in 15 s", () => {
    const course = new Course(spec({}));
    expect(brief(course.step(0, 2, 50))).toEqual([
      6,
      "ReadyForNewScale",
      "ScaleUpLimit",
    ]);
    // The period is not over.
    expect(brief(course.step(10, 6, 50))).toEqual([
      6,
      "ReadyForNewScale",
      "ScaleUpLimit",
    ]);
    expect(brief(course.step(15, 6, 50))).toEqual([
      12,
      "ReadyForNewScale",
      "ScaleUpLimit",
    ]);
  });

  test("down by the option's window and all at once", () => {
    const course = new Course(spec({ scaleDown: {} }));
    expect(brief(course.step(0, 10, 1))).toEqual([
      10,
      "ScaleDownStabilized",
      "",
    ]);
    expect(brief(course.step(301, 10, 2))).toEqual([2, "ReadyForNewScale", ""]);
  });

  test("policies of a period, the greatest or the smallest of them", () => {
    const policies = [
      { type: "Pods", value: 1, periodSeconds: 60 },
      { type: "Percent", value: 50, periodSeconds: 60 },
    ];
    const down = (selectPolicy: string) =>
      new Course(
        spec({
          scaleDown: { policies, selectPolicy, stabilizationWindowSeconds: 0 },
        }),
      );
    const most = down("Max");
    expect(brief(most.step(0, 10, 1))).toEqual([
      5,
      "ReadyForNewScale",
      "ScaleDownLimit",
    ]);
    expect(brief(most.step(30, 5, 1))).toEqual([
      5,
      "ReadyForNewScale",
      "ScaleDownLimit",
    ]);
    expect(brief(most.step(61, 5, 1))).toEqual([
      2,
      "ReadyForNewScale",
      "ScaleDownLimit",
    ]);
    const least = down("Min");
    expect(brief(least.step(0, 10, 1))).toEqual([
      9,
      "ReadyForNewScale",
      "ScaleDownLimit",
    ]);
    const off = down("Disabled");
    expect(brief(off.step(0, 10, 1))).toEqual([
      10,
      "ReadyForNewScale",
      "ScaleDownLimit",
    ]);
    const up = new Course(spec({ scaleUp: { policies, selectPolicy: "Min" } }));
    expect(up.step(0, 10, 50).replicas).toBe(11);
    const upMost = new Course(spec({ scaleUp: { policies } }));
    expect(upMost.step(0, 10, 50).replicas).toBe(15);
    const never = new Course(spec({ scaleUp: { selectPolicy: "Disabled" } }));
    expect(brief(never.step(0, 10, 50))).toEqual([
      10,
      "ReadyForNewScale",
      "ScaleUpLimit",
    ]);
  });

  test("what went up in the period counts against what goes down", () => {
    const policies = [{ type: "Pods", value: 4, periodSeconds: 60 }];
    const course = new Course(
      spec({
        scaleUp: { policies },
        scaleDown: { policies, stabilizationWindowSeconds: 0 },
      }),
    );
    expect(course.step(0, 10, 50).replicas).toBe(14);
    // 14 now and 10 at the period's begin: down to 6.
    expect(course.step(30, 14, 1).replicas).toBe(6);
  });

  test("a window for going up", () => {
    const course = new Course(
      spec({ scaleUp: { stabilizationWindowSeconds: 60 } }),
    );
    expect(brief(course.step(0, 2, 8))).toEqual([2, "ScaleUpStabilized", ""]);
    expect(brief(course.step(30, 2, 5))).toEqual([2, "ScaleUpStabilized", ""]);
    expect(brief(course.step(61, 2, 9))).toEqual([5, "ScaleUpStabilized", ""]);
  });

  test("the range wins", () => {
    const course = new Course(
      spec({ scaleDown: { stabilizationWindowSeconds: 0 } }, 12),
      4,
    );
    expect(brief(course.step(0, 10, 50))).toEqual([
      12,
      "ReadyForNewScale",
      "TooManyReplicas",
    ]);
    expect(brief(course.step(100, 10, 1))).toEqual([
      4,
      "ReadyForNewScale",
      "TooFewReplicas",
    ]);
  });
});

test("a change counts for a longer period of the other direction until a newer one takes its place", () => {
  const pods = (value: number, periodSeconds: number) => ({
    policies: [{ type: "Pods", value, periodSeconds }],
    stabilizationWindowSeconds: 0,
  });
  const course = new Course(
    spec({ scaleUp: pods(10, 15), scaleDown: pods(1, 300) }),
  );
  // The first two are too old when the third comes, which takes the place of the last of them.
  const ups = [0, 10, 60].map(
    (second, index) => course.step(second, 10 + index, 11 + index).replicas,
  );
  expect(ups).toEqual([11, 12, 13]);
  // 13 now, 11 before the two that are left: one less may be at the end of the period.
  expect(brief(course.step(70, 13, 1))).toEqual([
    10,
    "ReadyForNewScale",
    "ScaleDownLimit",
  ]);
});
