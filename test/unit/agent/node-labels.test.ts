// Labels and taints that a Node gets from the agent's options, and which of them one that is there already is brought up to.
import { resolveAgentConfig } from "../../../agent/config/agent-config.ts";
import { labelChanges } from "../../../agent/node/node-labels.ts";
import { nodeObject } from "../../../agent/node/node-object.ts";

test("a label that was changed since the node was registered stays, one of the machine or its place follows", () => {
  const config = resolveAgentConfig({
    nodeName: "n",
    hostname: "new",
    nodeLabels: { pool: "a", role: "x", "topology.kubernetes.io/zone": "z" },
  });
  const node = nodeObject(config);
  expect(node.metadata.labels).toMatchObject({ pool: "a", role: "x" });
  expect(labelChanges(node, config)).toEqual({});
  const { role: _role, ...labels } = node.metadata.labels!;
  node.metadata.labels = {
    ...labels,
    pool: "b",
    "kubernetes.io/hostname": "old",
    "topology.kubernetes.io/zone": "elsewhere",
  };
  expect(labelChanges(node, config)).toEqual({
    "kubernetes.io/hostname": "new",
    "topology.kubernetes.io/zone": "z",
  });
});

test("a node that takes no pods has that taint once", () => {
  const key = "node.kubernetes.io/unschedulable";
  const taints = (effect: string): unknown =>
    nodeObject(
      resolveAgentConfig({
        nodeName: "n",
        registerSchedulable: false,
        registerWithTaints: [{ key, effect }],
      }),
    ).spec?.taints;
  expect(taints("NoSchedule")).toEqual([{ key, effect: "NoSchedule" }]);
  expect(taints("NoExecute")).toEqual([
    { key, effect: "NoExecute" },
    { key, effect: "NoSchedule" },
  ]);
});
