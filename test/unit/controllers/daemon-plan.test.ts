// What a sync of a DaemonSet does about its pods, and its status, without a server.
import type { DaemonSet } from "../../../api/types/apps-v1.ts";
import type { Node, Pod, Taint } from "../../../api/types/core-v1.ts";
import {
  groupByNode,
  planDaemons,
} from "../../../controllers/daemonset/daemon-plan.ts";
import { daemonStatus } from "../../../controllers/daemonset/daemon-status.ts";

const nowMs = Date.parse("2025-01-01T12:00:00Z");
const ago = (seconds: number): string =>
  new Date(nowMs - seconds * 1000).toISOString();

type Strategy = DaemonSet["spec"]["updateStrategy"];
const setOf = (spec: Partial<DaemonSet["spec"]> = {}): DaemonSet => ({
  metadata: { name: "d", namespace: "ns", uid: "set", generation: 4 },
  spec: {
    selector: {},
    template: { spec: { containers: [], nodeSelector: { disk: "ssd" } } },
    ...spec,
  },
});

/** `name`, `name tainted`, `name stopping` (NoExecute), `name other` (not meant by the set). */
function nodeOf(text: string): Node {
  const [name = "", state] = text.split(" ");
  const taint = (effect: string): Taint[] => [{ key: "k", effect }];
  return {
    metadata: { name, labels: { disk: state === "other" ? "hdd" : "ssd" } },
    spec: {
      ...(state === "tainted" ? { taints: taint("NoSchedule") } : {}),
      ...(state === "stopping" ? { taints: taint("NoExecute") } : {}),
    },
  };
}

/** `node state [template [age in seconds]]`: ready, down, failed, succeeded, going, ended (and deleted), unbound (meant for the node, not on it yet). */
function podOf(text: string, index: number): Pod {
  const [node = "", state, template = "new", age = "100"] = text.split(" ");
  const isBound = state !== "unbound";
  return {
    metadata: {
      name: `${node}-${state}-${template}${index || ""}`,
      namespace: "ns",
      uid: `u${index}`,
      creationTimestamp: ago(Number(age)),
      labels: { "controller-revision-hash": template },
      ...(state === "going" || state === "ended"
        ? { deletionTimestamp: ago(1) }
        : {}),
    },
    spec: {
      containers: [],
      ...(isBound
        ? { nodeName: node }
        : {
            affinity: {
              nodeAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: {
                  nodeSelectorTerms: [
                    {
                      matchFields: [
                        {
                          key: "metadata.name",
                          operator: "In",
                          values: [node],
                        },
                      ],
                    },
                  ],
                },
              },
            },
          }),
    },
    status: {
      phase:
        state === "failed" || state === "ended"
          ? "Failed"
          : state === "succeeded"
            ? "Succeeded"
            : "Running",
      conditions: [
        {
          type: "Ready",
          status: state === "ready" || state === "going" ? "True" : "False",
          lastTransitionTime: ago(Number(age)),
        },
      ],
    },
  };
}

interface Given {
  readonly spec?: Partial<DaemonSet["spec"]>;
  readonly nodes: readonly string[];
  readonly pods?: readonly string[];
  readonly failureWaitMs?: number;
}

const stateOf = ({ spec, nodes, pods = [] }: Given) => ({
  set: setOf(spec),
  nodes: nodes.map(nodeOf),
  podsByNode: groupByNode(pods.map(podOf)),
  hash: "new",
  nowMs,
});

const rolling = (
  rollingUpdate: NonNullable<Strategy>["rollingUpdate"],
): Given["spec"] => ({
  updateStrategy: {
    type: "RollingUpdate",
    ...(rollingUpdate ? { rollingUpdate } : {}),
  },
});
const three = ["a", "b", "c"];
const oldOn = (...names: string[]): string[] =>
  names.map((name) => `${name} ready old`);

test.each<[string, Given, string[], string[]]>([
  ["a pod on every node", { nodes: three }, three, []],
  [
    "only where it is meant to run",
    { nodes: ["a", "b tainted", "c stopping", "d other"] },
    ["a"],
    [],
  ],
  [
    "a pod that is there already, also before it is bound",
    { nodes: ["a", "b"], pods: ["a ready", "b unbound"] },
    [],
    [],
  ],
  [
    "one that is going is waited for",
    { nodes: ["a"], pods: ["a going"] },
    [],
    [],
  ],
  [
    "those on a node it may not be on go, on a tainted one they may stay",
    {
      nodes: ["a tainted", "b stopping", "c other"],
      pods: ["a ready", "b ready", "c ready", "c going"],
    },
    [],
    ["b-ready-new1", "c-ready-new2"],
  ],
  [
    "of two on one node the older stays",
    { nodes: ["a"], pods: ["a ready new 10", "a ready new 90"] },
    [],
    ["a-ready-new"],
  ],
  [
    "during a surge two stay",
    {
      spec: rolling({ maxSurge: 1 }),
      nodes: ["a"],
      pods: ["a down new 10", "a ready old 90"],
    },
    [],
    [],
  ],
  [
    "but not where the old one is not ready",
    {
      spec: rolling({ maxSurge: 1 }),
      nodes: ["a"],
      pods: ["a down new 10", "a down old 90"],
    },
    [],
    ["a-down-old1"],
  ],
  [
    "nor where the new one is there twice",
    {
      spec: rolling({ maxSurge: 1 }),
      nodes: ["a"],
      pods: ["a down new 90", "a down new 10", "a ready old 95"],
    },
    [],
    ["a-down-new1"],
  ],
  [
    "of two the one that has a node stays, however old the other is",
    { nodes: ["a"], pods: ["a unbound new 90", "a ready new 10"] },
    [],
    ["a-unbound-new"],
  ],
  [
    "one that has succeeded goes",
    { nodes: ["a"], pods: ["a succeeded"] },
    [],
    ["a-succeeded-new"],
  ],
  [
    "one that has ended and is being deleted makes room at once",
    { nodes: ["a"], pods: ["a ended"] },
    ["a"],
    [],
  ],
  [
    "one that was never bound goes with its node",
    { nodes: ["a"], pods: ["a ready", "gone unbound", "gone ready"] },
    [],
    ["gone-unbound-new1"],
  ],
  [
    "a failed one is replaced",
    { nodes: ["a"], pods: ["a failed"] },
    [],
    ["a-failed-new"],
  ],
  [
    "a failed one is waited with while it backs off",
    { nodes: ["a"], pods: ["a failed"], failureWaitMs: 500 },
    [],
    [],
  ],
  [
    "a new template goes to one node at a time",
    { nodes: three, pods: oldOn("a", "b", "c") },
    [],
    ["a-ready-old"],
  ],
  [
    "and waits while one is down",
    { nodes: three, pods: ["a down", ...oldOn("b", "c")] },
    [],
    [],
  ],
  [
    "what serves nobody goes at once",
    { nodes: three, pods: ["a down old", "b down old", "c ready old"] },
    [],
    ["a-down-old", "b-down-old1"],
  ],
  [
    "to as many as may be unavailable, rounded up",
    {
      spec: rolling({ maxUnavailable: "50%" }),
      nodes: three,
      pods: oldOn("a", "b", "c"),
    },
    [],
    ["a-ready-old", "b-ready-old1"],
  ],
  [
    "not before every node has its pod",
    { nodes: three, pods: oldOn("a", "b") },
    ["c"],
    [],
  ],
  [
    "not with OnDelete",
    {
      spec: { updateStrategy: { type: "OnDelete" } },
      nodes: three,
      pods: oldOn("a", "b", "c"),
    },
    [],
    [],
  ],
  [
    "a surge makes the new one beside the old one",
    {
      spec: rolling({ maxSurge: 2 }),
      nodes: three,
      pods: oldOn("a", "b", "c"),
    },
    ["a", "b"],
    [],
  ],
  [
    "counts those that surge already",
    {
      spec: rolling({ maxSurge: 1 }),
      nodes: three,
      pods: [...oldOn("a", "b", "c"), "a down"],
    },
    [],
    [],
  ],
  [
    "and ends the old one when the new one is available",
    {
      spec: rolling({ maxSurge: 1 }),
      nodes: three,
      pods: [...oldOn("a", "b", "c"), "a ready"],
    },
    [],
    ["a-ready-old"],
  ],
  [
    "which takes its minimum of ready seconds",
    {
      spec: { ...rolling({ maxSurge: 1 }), minReadySeconds: 60 },
      nodes: ["a"],
      pods: ["a ready old 90", "a ready new 59"],
    },
    [],
    [],
  ],
])("%s", (_, given, create, remove) => {
  const plan = planDaemons(stateOf(given), () => given.failureWaitMs ?? 0);
  expect(plan.create).toEqual(create);
  expect(plan.remove.map(({ metadata }) => metadata.name)).toEqual(remove);
  expect(plan.waitMs).toBe(given.failureWaitMs);
});

test("the back-off of a node is asked for once, and only where a pod failed", () => {
  const asked: string[] = [];
  const given = { nodes: three, pods: ["a failed", "a failed", "b ready"] };
  const plan = planDaemons(stateOf(given), (node) => {
    asked.push(node);
    return 0;
  });
  expect(asked).toEqual(["a"]);
  expect(plan.events.map(({ reason }) => reason)).toEqual([
    "FailedDaemonPod",
    "FailedDaemonPod",
  ]);
});

test("no more than 250 pods are made at once", () => {
  const nodes = Array.from({ length: 300 }, (_, index) => `n${index}`);
  expect(planDaemons(stateOf({ nodes }), () => 0).create).toHaveLength(250);
});

test("its status counts the oldest pod of each node", () => {
  const status = daemonStatus(
    stateOf({
      spec: { minReadySeconds: 60 },
      nodes: ["a", "b", "c", "d", "e other"],
      pods: [
        "a ready new 90",
        "b ready old 90",
        "b ready new 10",
        "c ready new 10",
        "e ready",
      ],
    }),
  );
  expect(status).toEqual({
    desiredNumberScheduled: 4,
    currentNumberScheduled: 3,
    numberMisscheduled: 1,
    numberReady: 3,
    numberAvailable: 2,
    updatedNumberScheduled: 2,
    numberUnavailable: 2,
    observedGeneration: 4,
  });
});
