// Makes room for a pod by removing pods of lower priority from one node: the fewest and least important ones, and none
// protected by a disruption budget when that can be helped. The pod is nominated to the node and tried again when its
// victims are gone.
import { selectorFromObject } from "../api/selectors.ts";
import type { Pod } from "../api/types/core-v1.ts";
import type { PodDisruptionBudget } from "../api/types/policy-v1.ts";
import type { DefaultPreemptionArgs } from "./configuration/configuration-types.ts";
import type { NodeInfo } from "./node-info.ts";
import { compileFilters, firstRejection } from "./placement.ts";
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
  /** The text behind "preemption: ". */
  | { message: string };

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
  const nominated = view.pod.status?.nominatedNodeName;
  if (nominated && victimsLeave(view, cluster, nominated))
    return {
      message: "not eligible due to a terminating pod on the nominated node.",
    };
  const helpless = [...rejections.values()].filter(
    (rejection) => rejection.unresolvable,
  ).length;
  const enough = candidatesToFind(rejections.size - helpless, args);
  const candidates: Candidate[] = [];
  for (const [node, rejection] of rejections) {
    if (rejection.unresolvable) continue;
    // Enough of them, and one that breaks no budget among them.
    if (
      candidates.length >= enough &&
      candidates.some(({ budgetViolations }) => budgetViolations === 0)
    )
      break;
    const candidate = tryNode(view, node, cluster, filters, budgets);
    if (candidate) candidates.push(candidate);
  }
  if (candidates.length > 0) return { candidates };
  const texts = [
    ...(rejections.size > helpless
      ? [
          `${rejections.size - helpless} No preemption victims found for incoming pod`,
        ]
      : []),
    ...(helpless > 0
      ? [`${helpless} Preemption is not helpful for scheduling`]
      : []),
  ];
  return { message: `0/${total} nodes are available: ${texts.join(", ")}.` };
}

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

/** Victims of an earlier preemption are still ending on the nominated node. */
function victimsLeave(
  view: PodView,
  cluster: ClusterView,
  nodeName: string,
): boolean {
  const node = cluster.nodes().find(({ name }) => name === nodeName);
  if (!node) return false;
  for (const { pod } of node.pods.values())
    if (
      pod.metadata.deletionTimestamp &&
      priorityOf(pod) < priorityOf(view.pod)
    )
      return true;
  return false;
}

/** The victims on one node, when removing lower priorities makes the pod fit. */
function tryNode(
  view: PodView,
  node: NodeInfo,
  cluster: ClusterView,
  filters: readonly FilterPlugin[],
  budgets: readonly PodDisruptionBudget[],
): Candidate | undefined {
  const priority = priorityOf(view.pod);
  const lower = [...node.pods.values()].filter(
    ({ pod }) => priorityOf(pod) < priority,
  );
  if (lower.length === 0) return undefined;
  const trial = node.clone();
  const trialCluster: ClusterView = {
    namespaceLabels: cluster.namespaceLabels,
    nodes: () =>
      cluster.nodes().map((other) => (other === node ? trial : other)),
  };
  const fits = (): boolean =>
    !firstRejection(compileFilters(filters, view, trialCluster), trial);
  for (const { key } of lower) trial.remove(key);
  if (!fits()) return undefined;
  const violating = violatesBudgets(lower, budgets);
  // Put back as many as possible, first those that must not be disrupted, then the most important.
  const order = lower.sort(
    (a, b) =>
      Number(violating.has(b)) - Number(violating.has(a)) ||
      importance(a.pod, b.pod),
  );
  const victims: PodView[] = [];
  for (const candidate of order) {
    trial.add(candidate);
    if (fits()) continue;
    trial.remove(candidate.key);
    victims.push(candidate);
  }
  if (victims.length === 0) return undefined;
  victims.sort((a, b) => importance(a.pod, b.pod));
  return {
    node,
    victims,
    budgetViolations: victims.filter((victim) => violating.has(victim)).length,
  };
}

function importance(a: Pod, b: Pod): number {
  return priorityOf(b) - priorityOf(a) || (startOf(a) < startOf(b) ? -1 : 1);
}

const startOf = (pod: Pod): string =>
  pod.status?.startTime ?? pod.metadata.creationTimestamp ?? "";

function violatesBudgets(
  views: readonly PodView[],
  budgets: readonly PodDisruptionBudget[],
): Set<PodView> {
  const violating = new Set<PodView>();
  const left = budgets.map((budget) => budget.status?.disruptionsAllowed ?? 0);
  const selectors = budgets.map((budget) =>
    selectorFromObject(budget.spec?.selector),
  );
  for (const view of views) {
    const { namespace, labels, name } = view.pod.metadata;
    budgets.forEach((budget, index) => {
      if (budget.metadata.namespace !== namespace) return;
      if (!selectors[index]!.matches(labels)) return;
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
