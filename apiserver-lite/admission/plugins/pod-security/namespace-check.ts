// PodSecurity's look at namespaces: their labels must be readable, and a stricter level warns about the pods that are
// there already. It takes a second at most, and every few pods other requests have their turn.
import { setImmediate } from "node:timers/promises";
import { errors, type FieldError } from "../../../../api/errors.ts";
import { isDeepStrictEqual } from "node:util";
import type { Pod } from "../../../../api/types/core-v1.ts";
import type { StrategyContext } from "../../../resources/strategy.ts";
import { typed } from "../../../resources/typed.ts";
import type { AdmissionAttributes } from "../../plugin.ts";
import { nameOf } from "../requests.ts";
import {
  isStricter,
  labelProblems,
  labelPrefix,
  policyOf,
  shownLevel,
  type LevelVersion,
  type Policy,
} from "./policy.ts";
import { podViolations } from "./standards.ts";

const maxPods = 3000;
const maxMs = 1000;
const podsATurn = 50;
const modes = ["enforce", "audit", "warn"] as const;

interface NamespaceRules {
  readonly defaults: Policy;
  readonly exemptNamespaces: readonly string[];
  readonly exemptClasses: readonly string[];
}

const isSame = (left: LevelVersion, right: LevelVersion): boolean =>
  left.level === right.level && left.minor === right.minor;

/** Throws ApiError 422 for labels that are new and not readable. */
export async function checkNamespace(
  attributes: AdmissionAttributes,
  context: StrategyContext,
  rules: NamespaceRules,
): Promise<void> {
  const { operation, object, oldObject, kind } = attributes;
  const labels = object?.metadata.labels ?? {};
  const before = oldObject?.metadata.labels ?? {};
  const problems: readonly FieldError[] = labelProblems(labels);
  if (
    problems.length > 0 &&
    !isDeepStrictEqual(problems, labelProblems(before))
  )
    throw errors.invalid(kind, nameOf(attributes), problems);
  const name = nameOf(attributes);
  const policy = policyOf(labels, rules.defaults);
  const isExempt = rules.exemptNamespaces.includes(name);
  const warnOfExemption = (): void => {
    const ignored = ignoredPolicy(policy, labels, rules.defaults);
    if (ignored !== undefined)
      context.warn(
        `namespace ${JSON.stringify(name)} is exempt from Pod Security, and the policy (${ignored}) will be ignored`,
      );
  };
  if (operation !== "UPDATE") {
    if (isExempt) warnOfExemption();
    return;
  }
  const { enforce } = policy;
  const old = policyOf(before, rules.defaults).enforce;
  if (
    isSame(enforce, old) ||
    enforce.level === "privileged" ||
    (enforce.minor === old.minor && !isStricter(enforce.level, old.level))
  )
    return;
  if (isExempt) {
    warnOfExemption();
    return;
  }
  const pods = typed<readonly Pod[]>(context.list("", "pods", name));
  const { checked, total, found } = await violations(
    prioritised(pods, rules.exemptClasses),
    enforce,
    context,
  );
  if (checked < total)
    context.warn(
      `new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`,
    );
  if (found.length === 0) return;
  context.warn(
    `existing pods in namespace ${JSON.stringify(name)} violate the new PodSecurity enforce level ${JSON.stringify(shownLevel(enforce))}`,
  );
  for (const text of found) context.warn(text);
}

/** The modes that the labels set and that are not privileged; undefined: the policy says nothing of its own. */
function ignoredPolicy(
  policy: Policy,
  labels: Readonly<Record<string, string>>,
  defaults: Policy,
): string | undefined {
  if (
    modes.every((mode) => policy[mode].level === "privileged") ||
    modes.every((mode) => isSame(policy[mode], defaults[mode]))
  )
    return undefined;
  return modes
    .filter(
      (mode) =>
        policy[mode].level !== "privileged" &&
        (labels[labelPrefix + mode] !== undefined ||
          labels[`${labelPrefix}${mode}-version`] !== undefined),
    )
    .map((mode) => `${mode}=${shownLevel(policy[mode])}`)
    .join(", ");
}

/** Of the pods of one controller the first comes with the rest of the pods, the others behind them. */
function prioritised(
  pods: readonly Pod[],
  exemptClasses: readonly string[],
): readonly Pod[] {
  const seen = new Set<string>();
  const first: Pod[] = [];
  const later: Pod[] = [];
  for (const pod of pods) {
    if (exemptClasses.includes(pod.spec.runtimeClassName ?? "")) continue;
    const owner = pod.metadata.ownerReferences?.find(
      ({ controller }) => controller,
    );
    (owner && seen.has(owner.uid) ? later : first).push(pod);
    if (owner) seen.add(owner.uid);
  }
  return [...first, ...later];
}

async function violations(
  all: readonly Pod[],
  { level, minor }: LevelVersion,
  { clock }: StrategyContext,
): Promise<{ checked: number; total: number; found: readonly string[] }> {
  const byReason = new Map<string, { name: string; pods: number }>();
  const endMs = clock.monotonic() + maxMs;
  let checked = 0;
  for (const pod of all.slice(0, maxPods)) {
    checked++;
    const reasons = podViolations(pod, level, minor)
      .map(({ reason }) => reason)
      .join(", ");
    if (reasons !== "") {
      const name = pod.metadata.name ?? "";
      const known = byReason.get(reasons);
      byReason.set(reasons, {
        name: known && known.name < name ? known.name : name,
        pods: (known?.pods ?? 0) + 1,
      });
    }
    if (checked % podsATurn > 0) continue;
    if (clock.monotonic() >= endMs) break;
    await setImmediate();
  }
  const found = [...byReason].map(([reasons, { name, pods }]) => {
    if (pods === 1) return `${name}: ${reasons}`;
    const others = pods === 2 ? "1 other pod" : `${pods - 1} other pods`;
    return `${name} (and ${others}): ${reasons}`;
  });
  return { checked, total: all.length, found: found.sort() };
}
