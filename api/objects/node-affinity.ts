// Which nodes a pod's nodeSelector and node affinity choose.
import type {
  Node,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodSpec,
} from "../types/core-v1.ts";
import { ownValue } from "./own-value.ts";

const wholeNumber = (text = ""): bigint | undefined =>
  /^[+-]?\d+$/.test(text) ? BigInt(text.replace("+", "")) : undefined;

function meets(
  { operator, values = [] }: NodeSelectorRequirement,
  value: string | undefined,
): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      const [left, right] = [value, values[0]].map(wholeNumber);
      if (left === undefined || right === undefined) return false;
      return operator === "Gt" ? left > right : left < right;
    }
    default:
      return false;
  }
}

/** A term without requirements matches nothing. */
export function matchesTerm(term: NodeSelectorTerm, node: Node): boolean {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) =>
      meets(requirement, ownValue(node.metadata.labels, requirement.key)),
    ) &&
    matchFields.every(
      (requirement) =>
        requirement.key === "metadata.name" &&
        meets(requirement, node.metadata.name),
    )
  );
}

/** Any term is enough. */
export function matchesNodeSelector(
  selector: NodeSelector,
  node: Node,
): boolean {
  return selector.nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

/** nodeSelector and required node affinity together. */
export function matchesNodeAffinity(spec: PodSpec, node: Node): boolean {
  for (const [key, value] of Object.entries(spec.nodeSelector ?? {}))
    if (ownValue(node.metadata.labels, key) !== value) return false;
  const required =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || matchesNodeSelector(required, node);
}
