// What is said about nodes that a pod's own terms leave out, and on what affinity leans.
import type { Pod } from "../../../api/types/core-v1.ts";
import { ClusterState } from "../../../scheduler/cluster-state.ts";
import { interPodAffinity } from "../../../scheduler/filters/inter-pod-affinity.ts";
import {
  createNodeAffinityFilter,
  nodeUnschedulable,
} from "../../../scheduler/filters/node-filters.ts";
import { Placer, unavailableMessage } from "../../../scheduler/placement.ts";
import { PodViews } from "../../../scheduler/pod-view.ts";
import { testNode, testPod } from "../../support/control-plane.ts";

const views = new PodViews();
const placer = new Placer({
  filters: [nodeUnschedulable, createNodeAffinityFilter({}), interPodAffinity],
  scores: [],
  percentageOfNodesToScore: 100,
});

function clusterOf(nodes: readonly string[], pods: readonly Pod[] = []) {
  const state = new ClusterState(() => ({}), views);
  for (const name of nodes)
    state.setNode({
      ...testNode(name),
      spec: { unschedulable: name === "n1" },
    });
  for (const pod of pods) state.setPod(pod);
  return state;
}

function result(pod: Pod, state: ClusterState): string {
  const { feasible, rejections } = placer.search(views.of(pod), state);
  return (
    feasible.map(({ name }) => name).join() ||
    unavailableMessage(state.nodes().length, rejections)
  );
}

const named = (...terms: string[][]): Pod =>
  testPod("p", {
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: terms.map((fields) => ({
            matchFields: fields.map((values) => ({
              key: "metadata.name",
              operator: "In",
              values: values.split(" "),
            })),
          })),
        },
      },
    },
  });

const nodes = ["n1", "n2", "n3"];

test("a pod that names its nodes, as daemons do, is not tried on the others", () => {
  expect(result(named(["n2"]), clusterOf(nodes))).toBe("n2");
  expect(result(named(["n1"]), clusterOf(nodes))).toBe(
    "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
  );
  expect(result(named(["n2 n1", "n2"], ["n1"]), clusterOf(["n1", "n3"]))).toBe(
    "0/2 nodes are available: 1 node(s) didn't satisfy plugin(s) [NodeAffinity], 1 node(s) were unschedulable.",
  );
});

test("terms that no node can meet are a conflict", () => {
  expect(result(named(["n1", "n2"]), clusterOf(nodes))).toBe(
    "0/3 nodes are available: pod affinity terms conflict.",
  );
});

test("an affinity leans on a pod that is being deleted", () => {
  const labels = { app: "x" };
  const there = testPod("there", { nodeName: "n2" });
  there.metadata = {
    ...{ ...there.metadata, labels },
    deletionTimestamp: "2024-01-01T00:00:00Z",
  };
  const pod = testPod("p", {
    affinity: {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          {
            topologyKey: "kubernetes.io/hostname",
            labelSelector: { matchLabels: labels },
          },
        ],
      },
    },
  });
  expect(result(pod, clusterOf(nodes, [there]))).toBe("n2");
});
