// The policies of the topology manager: which placement a container or pod gets, and whether it may run with it.
import type { AgentGate } from "../../config/feature-gates.ts";
import type { TopologyPolicy } from "../../config/resource-policies.ts";
import { policyBoolean } from "../policy-boolean.ts";
import type { TopologyHint, TopologyHints } from "./hint-provider.ts";
import {
  hintsByResource,
  mergeHints,
  type ResourceHints,
} from "./merge-hints.ts";
import { nodeCount } from "./numa-nodes.ts";
import type { NumaDistances } from "./numa-distances.ts";

export interface TopologyPolicyOptions {
  /** Of sets with equally many nodes the one whose nodes are closest to each other. */
  readonly preferClosestNumaNodes: boolean;
  readonly maxAllowableNumaNodes: number;
}

/** Beyond it the number of possible sets of nodes explodes. */
const defaultMaxNumaNodes = 8;

/** @throws Error that names the option */
export function parseTopologyOptions(
  options: Readonly<Record<string, string>>,
  isOn: (gate: AgentGate) => boolean,
): TopologyPolicyOptions {
  let preferClosestNumaNodes = false;
  let maxAllowableNumaNodes = defaultMaxNumaNodes;
  for (const [name, text] of Object.entries(options))
    if (name === "prefer-closest-numa-nodes") {
      preferClosestNumaNodes = policyBoolean(name, text);
    } else if (name === "max-allowable-numa-nodes") {
      if (!isOn("TopologyManagerPolicyBetaOptions"))
        throw new Error(
          `Topology Manager Policy Beta-level Options not enabled, but option "${name}" provided`,
        );
      if (!/^\d+$/.test(text))
        throw new Error(
          `unable to convert policy option to integer "${name}": ${text}`,
        );
      maxAllowableNumaNodes = Number(text);
      if (maxAllowableNumaNodes < defaultMaxNumaNodes)
        throw new Error(
          `the minimum value of "${name}" should not be less than ${defaultMaxNumaNodes}`,
        );
    } else throw new Error(`unknown Topology Manager Policy option: "${name}"`);
  return { preferClosestNumaNodes, maxAllowableNumaNodes };
}

export interface Placement {
  readonly affinity: TopologyHint;
  readonly admitted: boolean;
}

/** What the policy makes of the hints. `policy` is not none. */
export function choosePlacement(
  policy: TopologyPolicy,
  options: TopologyPolicyOptions,
  numa: NumaDistances,
  providers: readonly TopologyHints[],
): Placement {
  const hints = hintsByResource(providers);
  if (policy === "single-numa-node") {
    const best = mergeHints(hints.map(onOneNode), numa.all);
    const affinity = {
      nodes: best.nodes === numa.all ? undefined : best.nodes,
      preferred: best.preferred,
    };
    return { affinity, admitted: best.preferred };
  }
  const affinity = mergeHints(
    hints,
    numa.all,
    options.preferClosestNumaNodes ? (a, b) => numa.isCloser(a, b) : undefined,
  );
  return {
    affinity,
    admitted: policy === "best-effort" || affinity.preferred,
  };
}

function onOneNode(hints: ResourceHints): ResourceHints {
  return hints.filter(
    ({ nodes, preferred }) =>
      preferred && (nodes === undefined || nodeCount(nodes) === 1),
  );
}
