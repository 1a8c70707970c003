// Makes room for a pod by removing pods of lower priority from one node: the fewest and least important ones, and none
// protected by a disruption budget when that can be helped. The pod is nominated to the node and tried again when its
// victims are gone.
import { findCondition } from "../api/objects/conditions.ts";
import { selectorFromObject } from "../api/selectors.ts";
import type { Pod } from "../api/types/core-v1.ts";
import type { PodDisruptionBudget } from "../api/types/policy-v1.ts";
import type { DefaultPreemptionArgs } from "./configuration/configuration-types.ts";
import type { NodeInfo } from "./node-info.ts";
import {
  compileFilters,
  rejectionOn,
  unavailableMessage,
} from "./placement.ts";
import type { ClusterView, FilterPlugin, Rejection } from "./plugin.ts";
import type { PodView } from "./pod-view.ts";

export interface Preemption {
  node: NodeInfo;
  victims: readonly PodView[];
}

export interface Candidate extends Preemption {
  budgetViolations: number;
}

const priorityOf = (pod: Pod): number => pod.spec.priority ?? 0;

interface PreemptionOptions {
  readonly filters: readonly FilterPlugin[];
  readonly rejections: ReadonlyMap<NodeInfo, Rejection>;
  readonly budgets: readonly PodDisruptionBudget[];
  readonly args: DefaultPreemptionArgs;
}

export type CandidateResult =
  | { candidates: readonly Candidate[] }
  | {
      /** The text behind "preemption: ". */
      message: string;
      /** No node can be made to take the pod: an earlier nomination holds no more. */
      hopeless?: true;
    };

/** @param candidates one at least */
export const bestCandidate = (candidates: readonly Candidate[]): Candidate =>
  candidates.reduce(better);

export function findCandidates(
  view: PodView,
  cluster: ClusterView,
  { filters, rejections, budgets, args }: PreemptionOptions,
): CandidateResult {
  const total = cluster.nodes().length;
  if (view.pod.spec.preemptionPolicy === "Never")
    return { message: "not eligible due to preemptionPolicy=Never." };
  if (victimsLeave(view, rejections))
    return {
      message: "not eligible due to a terminating pod on the nominated node.",
    };
  const open = [...rejections].filter(([, { unresolvable }]) => !unresolvable);
  const enough = candidatesToFind(open.length, args);
  const candidates: Candidate[] = [];
  const failures = new Map<NodeInfo, Pick<Rejection, "reasons">>(
    [...rejections.keys()].map((node) => [node, notHelpful]),
  );
  for (const [node] of open) {
    // Enough of them, and one that breaks no budget among them.
    if (
      candidates.length >= enough &&
      candidates.some(({ budgetViolations }) => budgetViolations === 0)
    )
      break;
    const found = tryNode(view, node, cluster, filters, budgets);
    if ("victims" in found) candidates.push(found);
    else failures.set(node, found);
  }
  if (candidates.length > 0) return { candidates };
  return { message: unavailableMessage(total, failures), hopeless: true };
}

const notHelpful = {
  reasons: ["Preemption is not helpful for scheduling"],
};
const noVictims = { reasons: ["No preemption victims found for incoming pod"] };

function candidatesToFind(
  nodes: number,
  {
    minCandidateNodesPercentage = 10,
    minCandidateNodesAbsolute = 100,
  }: DefaultPreemptionArgs,
): number {
  const share = Math.floor((nodes * minCandidateNodesPercentage) / 100);
  return Math.max(share, minCandidateNodesAbsolute);
}

/**
 * Victims of an earlier preemption are still ending on the nominated node. That does not matter where the node can't take
 * the pod whatever ends there.
 */
function victimsLeave(
  { pod }: PodView,
  rejections: ReadonlyMap<NodeInfo, Rejection>,
): boolean {
  const nominated = pod.status?.nominatedNodeName;
  if (!nominated) return false;
  for (const [node, { unresolvable }] of rejections)
    if (node.name === nominated && !unresolvable)
      return [...node.pods.values()].some(
        (other) =>
          priorityOf(other.pod) < priorityOf(pod) && isVictim(other.pod),
      );
  return false;
}

/** Does it end because a scheduler said so, and not by anybody else's wish? */
function isVictim({ metadata, status }: Pod): boolean {
  if (!metadata.deletionTimestamp) return false;
  const target = findCondition(status?.conditions, "DisruptionTarget");
  return target?.status === "True" && target.reason === "PreemptionByScheduler";
}

/** The victims on one node, when removing lower priorities makes the pod fit, or why it does not. */
function tryNode(
  view: PodView,
  node: NodeInfo,
  cluster: ClusterView,
  filters: readonly FilterPlugin[],
  budgets: readonly PodDisruptionBudget[],
): Candidate | Pick<Rejection, "reasons"> {
  const priority = priorityOf(view.pod);
  const lower = [...node.pods.values()].filter(
    ({ pod }) => priorityOf(pod) < priority,
  );
  if (lower.length === 0) return noVictims;
  const trial = node.clone();
  const trialCluster: ClusterView = {
    ...(cluster.reserved
      ? { reserved: (other, of) => cluster.reserved!(other, of) }
      : {}),
    namespaceLabels: cluster.namespaceLabels,
    nodes: () =>
      cluster.nodes().map((other) => (other === node ? trial : other)),
  };
  const problem = (): Rejection | undefined =>
    rejectionOn(
      trial,
      compileFilters(filters, view, trialCluster),
      filters,
      view,
      trialCluster,
    );
  for (const { key } of lower) trial.remove(key);
  const inTheWay = problem();
  if (inTheWay) return inTheWay;
  lower.sort((a, b) => importance(a.pod, b.pod));
  const violating = violatesBudgets(lower, budgets);
  // Put back as many as possible, first those that must not be disrupted, then the most important.
  const order = [...lower].sort(
    (a, b) => Number(violating.has(b)) - Number(violating.has(a)),
  );
  const victims: PodView[] = [];
  for (const candidate of order) {
    trial.add(candidate);
    if (!problem()) continue;
    trial.remove(candidate.key);
    victims.push(candidate);
  }
  if (victims.length === 0) return noVictims;
  victims.sort((a, b) => importance(a.pod, b.pod));
  return {
    node,
    victims,
    budgetViolations: victims.filter((victim) => violating.has(victim)).length,
  };
}

/** Negative: the first is more important, by priority, then by having run for longer. */
function importance(a: Pod, b: Pod): number {
  return priorityOf(b) - priorityOf(a) || compare(startOf(a), startOf(b));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A pod that has not started yet is younger than all others. */
const startOf = ({ status }: Pod): string => status?.startTime ?? "9999";

function violatesBudgets(
  views: readonly PodView[],
  budgets: readonly PodDisruptionBudget[],
): Set<PodView> {
  const violating = new Set<PodView>();
  const left = budgets.map((budget) => budget.status?.disruptionsAllowed ?? 0);
  // A budget without a selector, or for everything, protects nothing here.
  const selectors = budgets.map((budget) =>
    selectorFromObject(budget.spec?.selector),
  );
  for (const view of views) {
    const { namespace, labels = {}, name } = view.pod.metadata;
    if (Object.keys(labels).length === 0) continue;
    budgets.forEach((budget, index) => {
      if (budget.metadata.namespace !== namespace) return;
      const selector = selectors[index]!;
      if (selector.empty || !selector.matches(labels)) return;
      if (budget.status?.disruptedPods?.[name]) return;
      if (left[index]!-- <= 0) violating.add(view);
    });
  }
  return violating;
}

/** Fewest budget violations, lowest highest priority, smallest sum of priorities, fewest victims, latest start. */
function better(a: Candidate, b: Candidate): Candidate {
  const highest = ({ victims }: Candidate): number =>
    Math.max(...victims.map(({ pod }) => priorityOf(pod)));
  const sum = ({ victims }: Candidate): number =>
    victims.reduce((total, { pod }) => total + priorityOf(pod) + 2 ** 31, 0);
  const difference =
    a.budgetViolations - b.budgetViolations ||
    highest(a) - highest(b) ||
    sum(a) - sum(b) ||
    a.victims.length - b.victims.length;
  if (difference !== 0) return difference < 0 ? a : b;
  const earliest = ({ victims }: Candidate): string => startOf(victims[0]!.pod);
  return earliest(a) >= earliest(b) ? a : b;
}
