// Warnings for labels of nodes that are deprecated, wherever an object selects nodes by them.
import type { NodeSelectorTerm } from "../../../api/types/core-v1.ts";
import type { LabelSelector } from "../../../api/types/meta-v1.ts";

const topology = (part: string): string =>
  `deprecated since v1.17; use "topology.kubernetes.io/${part}" instead`;

export const deprecatedNodeLabels: Readonly<Record<string, string>> = {
  "beta.kubernetes.io/arch":
    'deprecated since v1.14; use "kubernetes.io/arch" instead',
  "beta.kubernetes.io/os":
    'deprecated since v1.14; use "kubernetes.io/os" instead',
  "failure-domain.beta.kubernetes.io/region": topology("region"),
  "failure-domain.beta.kubernetes.io/zone": topology("zone"),
  "beta.kubernetes.io/instance-type":
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  "app.kubernetes.io/created-by": "deprecated since v1.9",
  "scheduler.alpha.kubernetes.io/preferAvoidPods":
    "deprecated since v1.22; use Taints and Tolerations instead",
  "node-role.kubernetes.io/master":
    'use "node-role.kubernetes.io/control-plane" instead',
};

/** Of a term of a node selector, or of a label selector's expressions. */
export function* expressionWarnings(
  field: string,
  { matchExpressions = [] }: Pick<NodeSelectorTerm, "matchExpressions">,
): Iterable<string> {
  for (const [index, { key }] of matchExpressions.entries()) {
    const since = deprecatedNodeLabels[key];
    if (since)
      yield `${field}.matchExpressions[${index}].key: ${key} is ${since}`;
  }
}

export function* nodeSelectorWarnings(
  field: string,
  selector: LabelSelector,
): Iterable<string> {
  yield* expressionWarnings(field, selector);
  for (const label of Object.keys(selector.matchLabels ?? {}).sort())
    if (deprecatedNodeLabels[label])
      yield `${field}.matchLabels.${label}: ${deprecatedNodeLabels[label]}`;
}
