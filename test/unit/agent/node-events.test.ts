// Events about the node, from what it reported before and reports now, in the reference's words.
import type { Node, NodeCondition } from "../../../api/types/core-v1.ts";
import {
  conditionEvents,
  rebootEvent,
  schedulingEvent,
} from "../../../agent/node/node-events.ts";

const condition = (type: string, status: string): NodeCondition =>
  ({ type, status }) as NodeCondition;
const well = [
  condition("MemoryPressure", "False"),
  condition("DiskPressure", "False"),
  condition("PIDPressure", "False"),
];
const reasonsOf = (
  before: readonly NodeCondition[],
  after: readonly NodeCondition[],
): string[] => conditionEvents("n", before, after).map(([, reason]) => reason);

test("a first report says how the node is, but not that it is not ready yet", () => {
  expect(reasonsOf([], [...well, condition("Ready", "False")])).toEqual([
    "NodeHasSufficientMemory",
    "NodeHasNoDiskPressure",
    "NodeHasSufficientPID",
  ]);
});

test("what changes is said once", () => {
  const before = [...well, condition("Ready", "False")];
  const after = [
    condition("MemoryPressure", "True"),
    condition("DiskPressure", "True"),
    condition("PIDPressure", "True"),
    condition("Ready", "True"),
  ];
  expect(conditionEvents("n", before, after)).toEqual([
    [
      "Normal",
      "NodeHasInsufficientMemory",
      "Node n status is now: NodeHasInsufficientMemory",
    ],
    [
      "Normal",
      "NodeHasDiskPressure",
      "Node n status is now: NodeHasDiskPressure",
    ],
    [
      "Normal",
      "NodeHasInsufficientPID",
      "Node n status is now: NodeHasInsufficientPID",
    ],
    ["Normal", "NodeReady", "Node n status is now: NodeReady"],
  ]);
  expect(conditionEvents("n", after, after)).toEqual([]);
  expect(reasonsOf(after, [...well, condition("Ready", "Unknown")])).toEqual([
    "NodeHasSufficientMemory",
    "NodeHasNoDiskPressure",
    "NodeHasSufficientPID",
    "NodeNotReady",
  ]);
});

const node = (bootID?: string, unschedulable?: boolean): Node =>
  ({
    metadata: { name: "n" },
    ...(unschedulable === undefined ? {} : { spec: { unschedulable } }),
    ...(bootID === undefined ? {} : { status: { nodeInfo: { bootID } } }),
  }) as Node;

test("a new boot is said, a first report is none", () => {
  expect(rebootEvent(node(), "b")).toBeUndefined();
  expect(rebootEvent(node("b"), "b")).toBeUndefined();
  expect(rebootEvent(node("a"), "b")).toEqual([
    "Warning",
    "Rebooted",
    "Node n has been rebooted, boot id: b",
  ]);
});

test("closing the node for pods is said, also at the start", () => {
  expect(schedulingEvent(undefined, node())).toBeUndefined();
  expect(schedulingEvent(node(), node("b", false))).toBeUndefined();
  expect(schedulingEvent(undefined, node("b", true))).toEqual([
    "Normal",
    "NodeNotSchedulable",
    "Node n status is now: NodeNotSchedulable",
  ]);
  expect(schedulingEvent(node("b", true), node())?.[1]).toBe("NodeSchedulable");
});
