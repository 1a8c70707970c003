// The writes that a StatefulSet's order allows now, and its status, without a server.
import type {
  ControllerRevision,
  StatefulSet,
} from "../../../api/types/apps-v1.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import {
  planStateful,
  statefulStatus,
} from "../../../controllers/statefulset/stateful-plan.ts";
import type { StatefulState } from "../../../controllers/statefulset/stateful-plan.ts";

const nowMs = Date.parse("2025-01-01T12:00:00Z");
const ago = (seconds: number): string =>
  new Date(nowMs - seconds * 1000).toISOString();
const revision = (name: string): ControllerRevision => ({
  metadata: { name },
  revision: 1,
});

/** `ordinal state [template]`: ready, down, pending, ok, failed, going, leaving (and ready). */
function podOf(text: string): Pod {
  const [ordinal, state, template = "new"] = text.split(" ");
  const phases: Record<string, string> = {
    ok: "Succeeded",
    failed: "Failed",
    pending: "Pending",
  };
  const phase = phases[state!] ?? "Running";
  return {
    metadata: {
      name: `s-${ordinal}`,
      namespace: "ns",
      labels: { "controller-revision-hash": template },
      ...(state === "going" || state === "leaving"
        ? { deletionTimestamp: ago(1) }
        : {}),
    },
    spec: { containers: [] },
    status: {
      phase,
      conditions: [
        {
          type: "Ready",
          status: state === "ready" || state === "leaving" ? "True" : "False",
          lastTransitionTime: ago(30),
        },
      ],
    },
  };
}

const stateOf = (
  spec: Partial<StatefulSet["spec"]>,
  pods: readonly string[],
): StatefulState => ({
  set: {
    metadata: { name: "s", namespace: "ns", generation: 2 },
    spec: {
      replicas: 3,
      selector: {},
      serviceName: "s",
      template: { spec: { containers: [] } },
      ...spec,
    },
  },
  owned: pods.map(podOf),
  current: revision("old"),
  update: revision("new"),
  nowMs,
});

/** `+1` a pod made of the new template, `+1 old` of the old one, `-1` deleted; claims that are checked and their owners are left out. */
const written = (state: StatefulState): string[] =>
  planStateful(state).flatMap((write) => {
    if (write.action === "claims" || write.action === "owners") return [];
    if (write.action === "delete")
      return [
        `-${write.pod.metadata.name.slice(2)}${write.event ? ` ${write.event.reason}` : ""}`,
      ];
    const { name } = write.revision.metadata;
    return [`+${write.ordinal}${name === "new" ? "" : ` ${name}`}`];
  });

const parallel = { podManagementPolicy: "Parallel" };
const partition = (value: number): Partial<StatefulSet["spec"]> => ({
  updateStrategy: {
    type: "RollingUpdate",
    rollingUpdate: { partition: value },
  },
});

test.each<[string, Partial<StatefulSet["spec"]>, string[], string[]]>([
  ["makes the first", {}, [], ["+0"]],
  ["waits until it is available", {}, ["0 down"], []],
  ["then makes the next", {}, ["0 ready"], ["+1"]],
  ["fills a gap first", {}, ["0 ready", "2 ready"], ["+1"]],
  [
    "waits for one that is going, and does not make it twice",
    {},
    ["0 ready", "1 going", "2 ready"],
    [],
  ],
  ["has nothing to do", {}, ["0 ready", "1 ready", "2 ready"], []],
  ["makes all at once in parallel", parallel, ["1 down"], ["+0", "+2"]],
  ["starts from its first ordinal", { ordinals: { start: 5 } }, [], ["+5"]],
  [
    "removes what is below its first ordinal",
    { ordinals: { start: 1 }, replicas: 1 },
    ["0 ready", "1 ready"],
    ["-0"],
  ],
  [
    "replaces a failed pod",
    {},
    ["0 failed", "1 ready"],
    ["-0 RecreatingFailedPod"],
  ],
  ["and one that has ended", {}, ["0 ok"], ["-0 RecreatingTerminatedPod"]],
  [
    "one after the other, or all in parallel",
    parallel,
    ["0 failed", "1 ok", "2 ready"],
    ["-0 RecreatingFailedPod", "-1 RecreatingTerminatedPod"],
  ],
  [
    "scales down from the top, one at a time",
    { replicas: 1 },
    ["0 ready", "1 ready", "2 ready"],
    ["-2"],
  ],
  [
    "not before those that stay are available",
    { replicas: 1 },
    ["0 down", "1 ready"],
    [],
  ],
  [
    "or all at once in parallel",
    { ...parallel, replicas: 1 },
    ["0 down", "1 ready", "2 ready"],
    ["-2", "-1"],
  ],
  ["waits for minReadySeconds", { minReadySeconds: 60 }, ["0 ready"], []],
  [
    "rolls a template out from the top",
    {},
    ["0 ready old", "1 ready old", "2 ready old"],
    ["-2"],
  ],
  ["waits for each", {}, ["0 ready old", "1 ready old", "2 down"], []],
  ["then goes on below", {}, ["0 ready old", "1 ready old", "2 ready"], ["-1"]],
  [
    "stops at the partition",
    partition(2),
    ["0 ready old", "1 ready old", "2 ready"],
    [],
  ],
  [
    "below which a pod is made of the old template",
    partition(2),
    ["0 ready old", "2 ready"],
    ["+1 old"],
  ],
  ["and above of the new one", partition(1), ["0 ready old"], ["+1"]],
  [
    "rolls nothing out with OnDelete",
    { updateStrategy: { type: "OnDelete" } },
    ["0 ready old", "1 ready old", "2 ready old"],
    [],
  ],
  [
    "but makes what is missing of the new template",
    { updateStrategy: { type: "OnDelete" } },
    ["0 ready old"],
    ["+1"],
  ],
  [
    "rolls out in parallel one at a time as well",
    parallel,
    ["0 ready old", "1 ready old", "2 ready old"],
    ["-2"],
  ],
])("%s", (_, spec, pods, expected) =>
  expect(written(stateOf(spec, pods))).toEqual(expected),
);

const planned = (state: StatefulState): string[] =>
  planStateful(state).map((write) =>
    "ordinal" in write
      ? `${write.action} ${write.ordinal}`
      : `${write.action} ${write.pod.metadata.name.slice(2)}`,
  );

test("the claims of each pod that is there are made again, and get their owners", () =>
  expect(planned(stateOf({}, ["0 ready", "1 ready"]))).toEqual([
    ...["claims 0", "owners 0", "claims 1", "owners 1"],
    "create 2",
  ]));

test("so are those of a pod that may wait for them, and not of one that is down", () => {
  expect(planned(stateOf({}, ["0 pending"]))).toEqual(["claims 0", "owners 0"]);
  expect(planned(stateOf({}, ["0 down"]))).toEqual([]);
});

test("claims of pods that go get their owners before these are deleted", () =>
  expect(
    planned(
      stateOf({ replicas: 1, ...parallel }, ["0 ready", "1 ready", "2 ready"]),
    ),
  ).toEqual([
    ...["claims 0", "owners 0", "owners 2", "owners 1"],
    ...["delete 2", "delete 1"],
  ]));

test.each<[string, Partial<StatefulSet["spec"]>, string[], object]>([
  [
    "in the middle of a rollout",
    {},
    ["0 ready old", "1 going old", "2 ready"],
    {
      replicas: 3,
      readyReplicas: 2,
      availableReplicas: 2,
      currentReplicas: 1,
      updatedReplicas: 1,
      currentRevision: "old",
      updateRevision: "new",
    },
  ],
  [
    "at its end the new revision is the current one",
    {},
    ["0 ready", "1 ready", "2 ready"],
    { currentReplicas: 3, updatedReplicas: 3, currentRevision: "new" },
  ],
  [
    "not before all are ready",
    {},
    ["0 ready", "1 ready", "2 down"],
    { currentReplicas: 0, updatedReplicas: 3, currentRevision: "old" },
  ],
  [
    "ready is not yet available",
    { minReadySeconds: 60 },
    ["0 ready"],
    { readyReplicas: 1, availableReplicas: 0, observedGeneration: 2 },
  ],
  [
    "what is being deleted counts as long as it is ready",
    {},
    ["0 ready old", "1 leaving old"],
    { readyReplicas: 2, availableReplicas: 2, currentReplicas: 1 },
  ],
])("status: %s", (_, spec, pods, expected) =>
  expect(statefulStatus(stateOf(spec, pods))).toMatchObject(expected),
);
