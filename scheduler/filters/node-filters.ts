// Filters that look at the node and what is on it: name, cordon, taints, affinity, ports, resources.
import {
  matchesNodeAffinity,
  matchesNodeSelector,
} from "../../api/objects/node-affinity.ts";
import { isExtendedResource } from "../../api/objects/resource-names.ts";
import { tolerates, untoleratedTaint } from "../../api/objects/taints.ts";
import type {
  NodeAffinityArgs,
  NodeResourcesFitArgs,
} from "../configuration/configuration-types.ts";
import type { NodeAffinity } from "../../api/types/core-v1.ts";
import {
  rejectEverywhere,
  type FilterPlugin,
  type NodeFilter,
  type Rejection,
} from "../plugin.ts";

const blockingEffects = ["NoSchedule", "NoExecute"];

const rejection = (
  plugin: string,
  reason: string,
  unresolvable = false,
): Rejection => ({ plugin, reasons: [reason], unresolvable });

export const nodeName: FilterPlugin = {
  name: "NodeName",
  hints: ["node-added"],
  compile({ pod }) {
    const wanted = pod.spec.nodeName;
    if (!wanted) return undefined;
    const rejected = rejection(
      "NodeName",
      "node(s) didn't match the requested node name",
      true,
    );
    return ({ name }) => (name === wanted ? undefined : rejected);
  },
};

export const nodeUnschedulable: FilterPlugin = {
  name: "NodeUnschedulable",
  hints: ["node-added", "node-taints"],
  compile({ pod }) {
    const taint = {
      key: "node.kubernetes.io/unschedulable",
      effect: "NoSchedule",
    };
    const tolerated = pod.spec.tolerations?.some((toleration) =>
      tolerates(toleration, taint),
    );
    if (tolerated) return undefined;
    const rejected = rejection(
      "NodeUnschedulable",
      "node(s) were unschedulable",
      true,
    );
    return ({ node }) => (node?.spec.unschedulable ? rejected : undefined);
  },
};

export const taintToleration: FilterPlugin = {
  name: "TaintToleration",
  hints: ["node-added", "node-taints"],
  compile({ pod }) {
    return ({ node }) => {
      if (!node?.spec.taints?.length) return undefined;
      const taint = untoleratedTaint(
        node.spec.taints,
        pod.spec.tolerations,
        blockingEffects,
      );
      return (
        taint &&
        rejection(
          "TaintToleration",
          `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ""}}`,
          true,
        )
      );
    };
  },
};

export const createNodeAffinityFilter = ({
  addedAffinity,
}: NodeAffinityArgs): FilterPlugin => ({
  name: "NodeAffinity",
  hints: ["node-added", "node-labels"],
  compile({ pod }) {
    const { nodeSelector, affinity } = pod.spec;
    const added = addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    if (
      !added &&
      Object.keys(nodeSelector ?? {}).length === 0 &&
      !affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    )
      return undefined;
    const rejected = rejection(
      "NodeAffinity",
      "node(s) didn't match Pod's node affinity/selector",
      true,
    );
    const enforced = rejection(
      "NodeAffinity",
      "node(s) didn't match scheduler-enforced node affinity",
      true,
    );
    const named = namedNodes(affinity?.nodeAffinity);
    if (named?.size === 0)
      return rejectEverywhere(
        rejection("NodeAffinity", "pod affinity terms conflict", true),
      );
    const filter: NodeFilter = ({ node }) => {
      if (added && !(node && matchesNodeSelector(added, node))) return enforced;
      return node && matchesNodeAffinity(pod.spec, node) ? undefined : rejected;
    };
    return named
      ? Object.assign(filter, {
          only: { plugin: "NodeAffinity", names: named },
        })
      : filter;
  },
});

/** The only nodes that required terms can match, by their names; undefined where a term says nothing about names. */
function namedNodes(
  affinity: NodeAffinity | undefined,
): ReadonlySet<string> | undefined {
  const terms =
    affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const lists = terms?.map(({ matchFields = [] }) => {
    const wanted = matchFields.flatMap(({ key, operator, values = [] }) =>
      key === "metadata.name" && operator === "In" ? [values] : [],
    );
    return wanted[0]?.filter((name) =>
      wanted.every((values) => values.includes(name)),
    );
  });
  if (!lists || lists.length === 0 || lists.includes(undefined))
    return undefined;
  return new Set(lists.flatMap((names) => names ?? []));
}

export const nodePorts: FilterPlugin = {
  name: "NodePorts",
  hints: ["node-added", "pod-removed"],
  compile({ hostPorts }) {
    if (hostPorts.length === 0) return undefined;
    const rejected = rejection(
      "NodePorts",
      "node(s) didn't have free ports for the requested pod ports",
    );
    return ({ ports }) =>
      ports.size > 0 && hostPorts.some((wanted) => isTaken(wanted, ports))
        ? rejected
        : undefined;
  },
};

/** Any address collides with each address of the same port and protocol. */
function isTaken(wanted: string, used: ReadonlyMap<string, number>): boolean {
  if (used.has(wanted)) return true;
  const [protocol, ip, port] = wanted.split("/");
  if (ip !== "0.0.0.0") return used.has(`${protocol}/0.0.0.0/${port}`);
  for (const other of used.keys())
    if (other.startsWith(`${protocol}/`) && other.endsWith(`/${port}`))
      return true;
  return false;
}

/** @param managed extended resources that an extender looks after, and the filter does not */
export function createNodeResourcesFitFilter(
  { ignoredResources = [], ignoredResourceGroups = [] }: NodeResourcesFitArgs,
  managed: readonly string[] = [],
): FilterPlugin {
  const names = new Set([...ignoredResources, ...managed]);
  const groups = new Set(ignoredResourceGroups);
  const isIgnored = (name: string): boolean =>
    isExtendedResource(name) &&
    (names.has(name) || groups.has(name.slice(0, name.indexOf("/"))));
  return {
    name: "NodeResourcesFit",
    hints: ["node-added", "node-allocatable", "pod-removed"],
    compile({ requests }) {
      const wanted = [...requests].filter(
        ([name, amount]) => amount > 0 && !isIgnored(name),
      );
      return ({ allocatable, requested, pods }) => {
        const reasons: string[] = [];
        if (pods.size + 1 > (allocatable.get("pods") ?? 0))
          reasons.push("Too many pods");
        for (const [name, amount] of wanted) {
          const free =
            (allocatable.get(name) ?? 0) - (requested.get(name) ?? 0);
          if (amount > free) reasons.push(`Insufficient ${name}`);
        }
        return reasons.length > 0
          ? { plugin: "NodeResourcesFit", reasons }
          : undefined;
      };
    },
  };
}
