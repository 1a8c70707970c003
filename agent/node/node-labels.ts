// The Node's labels: those it is registered with, and those that a Node that is there already is brought up to. Pure.
import type { Node } from "../../api/types/core-v1.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { machineArchitecture } from "./machine.ts";

type Labels = Readonly<Record<string, string>>;

export function nodeLabels({ hostname, nodeLabels }: AgentConfig): Labels {
  const arch = machineArchitecture();
  return {
    "beta.kubernetes.io/arch": arch,
    "beta.kubernetes.io/os": "linux",
    "kubernetes.io/arch": arch,
    "kubernetes.io/hostname": hostname,
    "kubernetes.io/os": "linux",
    ...nodeLabels,
  };
}

/** They say what the machine is and where, and follow the agent's options; others are given once and then the cluster's. */
const following: readonly string[] = [
  "beta.kubernetes.io/arch",
  "beta.kubernetes.io/instance-type",
  "beta.kubernetes.io/os",
  "failure-domain.beta.kubernetes.io/region",
  "failure-domain.beta.kubernetes.io/zone",
  "kubernetes.io/arch",
  "kubernetes.io/hostname",
  "kubernetes.io/os",
  "node.kubernetes.io/instance-type",
  "topology.kubernetes.io/region",
  "topology.kubernetes.io/zone",
];

/** What is different in the labels of a Node that was there already. */
export const labelChanges = (node: Node, config: AgentConfig): Labels =>
  different(node, nodeLabels(config), following);

/** Of the system and architecture, those that another has changed, as they must be; undefined when all are right. */
export function lostLabels(node: Node): Labels | undefined {
  const lost = different(node, {
    "kubernetes.io/arch": machineArchitecture(),
    "kubernetes.io/os": "linux",
  });
  return Object.keys(lost).length > 0 ? lost : undefined;
}

const different = (
  { metadata }: Node,
  wanted: Labels,
  names: readonly string[] = Object.keys(wanted),
): Labels =>
  Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) =>
        names.includes(name) && metadata.labels?.[name] !== value,
    ),
  );
