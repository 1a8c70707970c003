// The sizes that one step of a rollout or a scaling gives to ReplicaSets, without a server.
import type { Deployment, ReplicaSet } from "../../../api/types/apps-v1.ts";
import {
  withCreationFailed,
  withNewSetNoted,
  withPauseNoted,
} from "../../../controllers/deployment/progress.ts";
import {
  isScalingEvent,
  rollingSteps,
  scaleSteps,
} from "../../../controllers/deployment/rollout.ts";
import type { SizeStep } from "../../../controllers/deployment/rollout.ts";

type Rolling = { maxSurge?: number | string; maxUnavailable?: number | string };

const deploymentOf = (replicas: number, rolling?: Rolling): Deployment => ({
  metadata: { name: "d", namespace: "ns" },
  spec: {
    replicas,
    progressDeadlineSeconds: 600,
    selector: {},
    template: {},
    strategy: rolling
      ? { type: "RollingUpdate", rollingUpdate: rolling }
      : { type: "Recreate" },
  },
});

/** `name replicas/available [desired/max]`; names in the order of their age, "new" is the new one. */
function setOf(text: string, index: number): ReplicaSet {
  const [name = "", sizes = "", annotated] = text.split(" ");
  const [replicas, available] = sizes.split("/").map(Number);
  const [desired, max] = annotated?.split("/") ?? [];
  return {
    metadata: {
      name,
      creationTimestamp: `2025-01-01T12:00:0${index}Z`,
      ...(desired && max
        ? {
            annotations: {
              "deployment.kubernetes.io/desired-replicas": desired,
              "deployment.kubernetes.io/max-replicas": max,
            },
          }
        : {}),
    },
    spec: { replicas: replicas!, selector: {} },
    status: { replicas: replicas!, availableReplicas: available! },
  };
}

const split = (texts: readonly string[]) => {
  const sets = texts.map(setOf);
  return {
    sets,
    newSet: sets.find(({ metadata }) => metadata.name === "new"),
    oldSets: sets.filter(({ metadata }) => metadata.name !== "new"),
  };
};
const shown = (steps: readonly SizeStep[]): string[] =>
  steps.map(({ set, replicas }) => `${set.metadata.name} ${replicas}`);

test.each<[string, number, Rolling, string[], string[]]>([
  [
    "the new one grows within the surge",
    4,
    { maxSurge: 1, maxUnavailable: 0 },
    ["a 4/4", "new 0/0"],
    ["new 1"],
  ],
  [
    "a surge in percent is rounded up",
    4,
    { maxSurge: "30%", maxUnavailable: 0 },
    ["a 4/4", "new 0/0"],
    ["new 2"],
  ],
  [
    "the old one shrinks by what is available beyond the least",
    4,
    { maxSurge: 1, maxUnavailable: 0 },
    ["a 4/4", "new 1/1"],
    ["a 3"],
  ],
  [
    "it waits for the new ones to become available",
    4,
    { maxSurge: 1, maxUnavailable: 0 },
    ["a 4/4", "new 1/0"],
    [],
  ],
  [
    "what may be unavailable goes at once",
    4,
    { maxSurge: 0, maxUnavailable: 2 },
    ["a 4/4", "new 0/0"],
    ["a 2"],
  ],
  [
    "pods that are not available go first, then those that are",
    4,
    { maxSurge: 0, maxUnavailable: 2 },
    ["a 2/2", "b 2/1", "new 0/0"],
    ["b 1", "a 1"],
  ],
  [
    "of one ReplicaSet in two steps",
    4,
    { maxSurge: 0, maxUnavailable: 3 },
    ["a 4/3", "new 0/0"],
    ["a 3", "a 1"],
  ],
  [
    "the older ones first",
    6,
    { maxSurge: 0, maxUnavailable: 4 },
    ["a 3/3", "b 3/3", "new 0/0"],
    ["a 0", "b 2"],
  ],
  [
    "one that is too large is cut before anything else",
    2,
    { maxSurge: 1, maxUnavailable: 1 },
    ["a 1/1", "new 4/4"],
    ["new 2"],
  ],
  [
    "at the end nothing changes",
    2,
    { maxSurge: 1, maxUnavailable: 0 },
    ["a 0/0", "new 2/2"],
    [],
  ],
  [
    "with no surge and none unavailable one may be, as it would never move",
    2,
    { maxSurge: 0, maxUnavailable: "10%" },
    ["a 2/2", "new 0/0"],
    ["a 1"],
  ],
])("rolling: %s", (_, replicas, rolling, texts, expected) => {
  const { newSet, oldSets } = split(texts);
  expect(
    shown(rollingSteps(deploymentOf(replicas, rolling), newSet!, oldSets)),
  ).toEqual(expected);
});

test("a rollout ends, with the surge and the unavailable within bounds at each step", () => {
  for (const rolling of [
    { maxSurge: 1, maxUnavailable: 0 },
    { maxSurge: 0, maxUnavailable: 1 },
    { maxSurge: "25%", maxUnavailable: "25%" },
    { maxSurge: 10, maxUnavailable: 10 },
  ]) {
    const deployment = deploymentOf(10, rolling);
    let texts = ["a 7/7", "b 3/2", "new 0/0"];
    for (let round = 0; ; round++) {
      const { sets, newSet, oldSets } = split(texts);
      const sizes = new Map(sets.map((set) => [set, set.spec.replicas!]));
      for (const { set, replicas } of rollingSteps(
        deployment,
        newSet!,
        oldSets,
      ))
        sizes.set(set, replicas);
      const total = [...sizes.values()].reduce((sum, size) => sum + size);
      expect(total).toBeLessThanOrEqual(
        10 + (rolling.maxSurge === "25%" ? 3 : Number(rolling.maxSurge)),
      );
      // All that is there becomes available before the next step.
      const next = sets.map(
        (set) => `${set.metadata.name} ${sizes.get(set)}/${sizes.get(set)}`,
      );
      if (next.join() === texts.join()) break;
      texts = next;
      expect(round).toBeLessThan(50);
    }
    expect(texts).toEqual(["a 0/0", "b 0/0", "new 10/10"]);
  }
});

test.each<[string, number, Rolling | undefined, string[], string[]]>([
  ["the only active one", 5, undefined, ["a 3/3", "new 0/0"], ["a 5"]],
  ["the new one when none is active", 5, {}, ["a 0/0", "new 0/0"], ["new 5"]],
  ["the latest old one without a new one", 5, {}, ["a 0/0", "b 0/0"], ["b 5"]],
  ["nothing of the right size", 3, {}, ["a 3/3"], []],
  [
    "an old one goes when the new one has all",
    3,
    {},
    ["a 2/2", "new 3/3 3/4"],
    ["a 0"],
  ],
  [
    "in the middle of a rollout all in proportion",
    20,
    { maxSurge: 0 },
    ["a 4/4 10/10", "new 6/6 10/10"],
    ["new 12", "a 8"],
  ],
  [
    "and down again",
    5,
    { maxSurge: 0 },
    ["a 4/4 10/10", "new 6/6 10/10"],
    ["new 3", "a 2"],
  ],
  ["Recreate waits", 20, undefined, ["a 4/4 10/10", "new 6/6 10/10"], []],
])("scaling: %s", (_, replicas, rolling, texts, expected) => {
  const { newSet, oldSets } = split(texts);
  expect(
    shown(scaleSteps(deploymentOf(replicas, rolling), newSet, oldSets)),
  ).toEqual(expected);
});

test.each<[string, number, string[], boolean]>([
  ["another size", 5, ["a 3/3 3/4"], true],
  ["the same size", 3, ["a 3/3 3/4"], false],
  ["one that is not active does not count", 5, ["a 0/0 3/4"], false],
  ["one that never was sized neither", 5, ["a 3/3"], false],
])("%s is a scaling event: %j", (_, replicas, texts, expected) =>
  expect(isScalingEvent(deploymentOf(replicas), texts.map(setOf))).toBe(
    expected,
  ),
);

describe("what is noted of progress", () => {
  const nowMs = Date.parse("2025-01-01T12:00:00Z");
  const withReason = (reason?: string, paused = false): Deployment => {
    const deployment = deploymentOf(1, {});
    return {
      ...deployment,
      spec: { ...deployment.spec, paused },
      status: {
        replicas: 1,
        ...(reason
          ? { conditions: [{ type: "Progressing", status: "True", reason }] }
          : {}),
      },
    };
  };
  const reasonOf = (status: Deployment["status"]): string | undefined =>
    status?.conditions?.[0]?.reason;

  test.each<[string | undefined, boolean, string | undefined]>([
    [undefined, true, "DeploymentPaused"],
    ["ReplicaSetUpdated", true, "DeploymentPaused"],
    ["DeploymentPaused", true, "same"],
    ["DeploymentPaused", false, "DeploymentResumed"],
    ["ReplicaSetUpdated", false, "same"],
    ["ProgressDeadlineExceeded", true, "same"],
  ])("%s, paused: %j → %s", (reason, paused, expected) => {
    const deployment = withReason(reason, paused);
    const status = withPauseNoted(deployment, nowMs);
    expect(status === deployment.status ? "same" : reasonOf(status)).toBe(
      expected,
    );
  });

  test("a ReplicaSet that was made, found, or could not be made", () => {
    const newSet = setOf("new 1/1", 0);
    const known = withReason("ReplicaSetUpdated");
    const fresh = withReason();
    expect([
      reasonOf(withNewSetNoted(known, newSet, true, nowMs)),
      reasonOf(withNewSetNoted(fresh, newSet, false, nowMs)),
      reasonOf(withCreationFailed(known, "no", nowMs)),
    ]).toEqual([
      "NewReplicaSetCreated",
      "FoundNewReplicaSet",
      "FailedCreateReplicaSet",
    ]);
    expect(withNewSetNoted(known, newSet, false, nowMs)).toBe(known.status);
  });

  test("nothing without a progress deadline", () => {
    const { progressDeadlineSeconds: _, ...spec } = withReason("x", true).spec;
    const deployment = { ...withReason("x"), spec };
    expect([
      withPauseNoted(deployment, nowMs),
      withNewSetNoted(deployment, setOf("new 1/1", 0), true, nowMs),
      withCreationFailed(deployment, "no", nowMs),
    ]).toEqual([deployment.status, deployment.status, deployment.status]);
  });
});
