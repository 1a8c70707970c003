// Victims and their order, budgets, nominations, and what is said where no room can be made: as the reference decides.
import type { Pod } from "../../../api/types/core-v1.ts";
import type { PodDisruptionBudget } from "../../../api/types/policy-v1.ts";
import { ClusterState } from "../../../scheduler/cluster-state.ts";
import { Placer } from "../../../scheduler/placement.ts";
import { PodViews } from "../../../scheduler/pod-view.ts";
import {
  bestCandidate,
  findCandidates,
} from "../../../scheduler/preemption.ts";
import { createNodeResourcesFitFilter } from "../../../scheduler/filters/node-filters.ts";
import { interPodAffinity } from "../../../scheduler/filters/inter-pod-affinity.ts";
import { RoomMaker } from "../../../scheduler/room-maker.ts";
import { testNode, testPod } from "../../support/control-plane.ts";

const filters = [createNodeResourcesFitFilter({}), interPodAffinity];
const views = new PodViews();

function pod(
  name: string,
  cpu: string,
  priority: number,
  {
    labels = { app: "x" },
    startTime,
    ...metadata
  }: Partial<Pod["metadata"]> & { startTime?: string } = {},
): Pod {
  const made = testPod(name, {
    priority,
    containers: [{ name: "c", image: "x", resources: { requests: { cpu } } }],
  });
  return {
    ...made,
    metadata: { ...made.metadata, uid: name, labels, ...metadata },
    status: startTime === undefined ? {} : { startTime },
  };
}

/** Nodes of 4 CPUs by name, each with its pods. */
function cluster(content: Record<string, Pod[]>): ClusterState {
  const state = new ClusterState(() => ({}), views);
  for (const [name, there] of Object.entries(content)) {
    state.setNode(testNode(name));
    for (const one of there)
      state.setPod({ ...one, spec: { ...one.spec, nodeName: name } });
  }
  return state;
}

const placer = new Placer({
  filters,
  scores: [],
  percentageOfNodesToScore: 100,
});

function preempt(
  incoming: Pod,
  state: ClusterState,
  budgets: readonly PodDisruptionBudget[] = [],
) {
  const view = views.of(incoming);
  const { rejections } = placer.search(view, state);
  const found = findCandidates(view, state, {
    ...{ filters, rejections, budgets },
    args: {},
  });
  return "message" in found
    ? found
    : {
        victims: Object.fromEntries(
          found.candidates.map(({ node, victims }) => [
            node.name,
            victims.map(({ pod: victim }) => victim.metadata.name),
          ]),
        ),
        violations: found.candidates.map((one) => one.budgetViolations),
        chosen: bestCandidate(found.candidates).node.name,
      };
}

const budget = (
  selector: object | undefined,
  disruptionsAllowed: number,
): PodDisruptionBudget =>
  ({
    metadata: { name: "b", namespace: "default" },
    spec: { ...(selector ? { selector } : {}) },
    status: { disruptionsAllowed },
  }) as PodDisruptionBudget;

test("where ending pods does not help, what is in the way then is said", () => {
  const state = cluster({
    n1: [pod("big", "3", 100), pod("low", "1", 1)],
    n2: [pod("other", "3", 100)],
  });
  expect(preempt(pod("in", "3", 10), state)).toEqual({
    message:
      "0/2 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod.",
    hopeless: true,
  });
});

test("a pod that has not started is the first to go", () => {
  const state = cluster({
    n1: [
      pod("young", "2", 1, { creationTimestamp: "2020-01-01T00:00:00Z" }),
      pod("old", "2", 1, { startTime: "2024-01-01T00:00:00Z" }),
    ],
  });
  expect(preempt(pod("in", "2", 10), state)).toMatchObject({
    victims: { n1: ["young"] },
  });
});

test("a budget is spent on the more important pods", () => {
  const state = cluster({ n1: [pod("a", "2", 1), pod("b", "2", 5)] });
  // One disruption is allowed: it is counted for b, so that ending a breaks the budget, and a is put back first.
  expect(
    preempt(pod("in", "2", 10), state, [
      budget({ matchLabels: { app: "x" } }, 1),
    ]),
  ).toMatchObject({ victims: { n1: ["b"] }, violations: [0] });
});

test("a budget for everything or nothing protects no pod", () => {
  const state = cluster({ n1: [pod("a", "4", 1)] });
  for (const selector of [{}, undefined])
    expect(
      preempt(pod("in", "2", 10), state, [budget(selector, 0)]),
    ).toMatchObject({ violations: [0] });
});

describe("a pod with a nomination", () => {
  const nominated = (target: string): Pod => {
    const made = pod("in", "2", 10);
    return { ...made, status: { nominatedNodeName: target } };
  };
  const ending = (reason: string): Pod => ({
    ...pod("a", "4", 1, { deletionTimestamp: "2024-01-01T00:00:00Z" }),
    status: {
      conditions: [{ type: "DisruptionTarget", status: "True", reason }],
    },
  });

  test("waits for its victims", () => {
    const state = cluster({ n1: [ending("PreemptionByScheduler")] });
    expect(preempt(nominated("n1"), state)).toEqual({
      message: "not eligible due to a terminating pod on the nominated node.",
    });
  });

  test("does not wait for pods that end for another reason", () => {
    const state = cluster({ n1: [ending("EvictionByEvictionAPI")] });
    expect(preempt(nominated("n1"), state)).toMatchObject({ chosen: "n1" });
  });

  const rooms = (state: ClusterState): RoomMaker =>
    new RoomMaker({ state, views, client: undefined!, metrics: undefined });

  test("gives it up when nothing can help", () => {
    const state = cluster({ n1: [pod("a", "4", 100)] });
    const incoming = nominated("n1");
    state.nominate(incoming, "n1");
    const [n1] = state.nodes();
    const other = views.of(pod("other", "1", 1));
    expect(state.reserved(n1!, other)).not.toBe(n1);
    const room = { message: "", hopeless: true } as const;
    expect(rooms(state).settle(incoming, room)).toEqual({
      forgetNomination: true,
    });
    expect(state.reserved(n1!, other)).toBe(n1);
  });

  test("loses it to a more important one on the same node", () => {
    const state = cluster({ n1: [pod("a", "4", 1)] });
    const incoming = nominated("n1");
    state.nominate(incoming, "n1");
    const better = pod("better", "4", 50);
    const [node] = state.nodes();
    const candidate = { node: node!, victims: [], budgetViolations: 0 };
    expect(
      rooms(state).settle(better, { candidates: [candidate] }),
    ).toMatchObject({ displaced: [incoming] });
  });

  test("keeps others away by its own anti-affinity", () => {
    const state = cluster({ n1: [], n2: [] });
    const made = pod("first", "1", 10);
    const first: Pod = {
      ...made,
      spec: {
        ...made.spec,
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              {
                topologyKey: "kubernetes.io/hostname",
                labelSelector: { matchLabels: { app: "x" } },
              },
            ],
          },
        },
      },
    };
    state.nominate(first, "n1");
    const { feasible, rejections } = new Placer({
      filters,
      scores: [{ name: "none", weight: 1, score: () => undefined }],
      percentageOfNodesToScore: 100,
    }).search(views.of(pod("in", "1", 5)), state);
    expect(feasible.map(({ name }) => name)).toEqual(["n2"]);
    expect([...rejections.values()][0]?.reasons).toEqual([
      "node(s) didn't satisfy existing pods anti-affinity rules",
    ]);
  });
});
