// Events about the node itself, when what it reports has changed: pressure, readiness, a new boot, and whether pods may be
// placed on it. Reasons and words are the reference's, so that `kubectl describe node` shows its history.
import type { Node, NodeCondition } from "../../api/types/core-v1.ts";

export type NodeEvent = readonly [
  type: "Normal" | "Warning",
  reason: string,
  message: string,
];

/** By type of condition: the reasons when it holds and when it does not. */
const reasons: Readonly<Record<string, readonly [string, string]>> = {
  MemoryPressure: ["NodeHasInsufficientMemory", "NodeHasSufficientMemory"],
  DiskPressure: ["NodeHasDiskPressure", "NodeHasNoDiskPressure"],
  PIDPressure: ["NodeHasInsufficientPID", "NodeHasSufficientPID"],
  Ready: ["NodeReady", "NodeNotReady"],
};

const statusEvent = (nodeName: string, reason: string): NodeEvent => [
  "Normal",
  reason,
  `Node ${nodeName} status is now: ${reason}`,
];

/** @param before the conditions that were reported last; a condition that was not among them counts as changed */
export function conditionEvents(
  nodeName: string,
  before: readonly NodeCondition[],
  after: readonly NodeCondition[],
): NodeEvent[] {
  const known = new Map(before.map(({ type, status }) => [type, status]));
  return after.flatMap(({ type, status }) => {
    const pair = reasons[type];
    // That a node is not ready yet at its first report is no news.
    const last = known.get(type) ?? (type === "Ready" ? "False" : undefined);
    return pair && last !== status
      ? [statusEvent(nodeName, status === "True" ? pair[0] : pair[1])]
      : [];
  });
}

/** The machine was booted since the Node was last reported; undefined when it was not, or never reported. */
export function rebootEvent(
  node: Node,
  bootId: string | undefined,
): NodeEvent | undefined {
  const last = node.status?.nodeInfo?.bootID;
  if (!last || !bootId || last === bootId) return undefined;
  const { name } = node.metadata;
  return [
    "Warning",
    "Rebooted",
    `Node ${name} has been rebooted, boot id: ${bootId}`,
  ];
}

/** @param before undefined: the Node was just seen for the first time */
export function schedulingEvent(
  before: Node | undefined,
  { metadata: { name }, spec }: Node,
): NodeEvent | undefined {
  const closed = spec?.unschedulable ?? false;
  if (closed === (before?.spec?.unschedulable ?? false)) return undefined;
  return statusEvent(name, closed ? "NodeNotSchedulable" : "NodeSchedulable");
}

export const isReady = (conditions: readonly NodeCondition[]): boolean =>
  conditions.some(({ type, status }) => type === "Ready" && status === "True");
