// PodSecurity: a namespace's labels say which level of which version its pods must keep to (enforce), and which makes a
// warning (warn) or is reported to the audit log (audit). Workload resources are only warned about. Default: privileged.
import { errors } from "../../../../api/errors.ts";
import type { AnyObject } from "../../../../api/object.ts";
import type { Container, Pod } from "../../../../api/types/core-v1.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../../plugin.ts";
import { nameOf } from "../requests.ts";
import type { Violation } from "./check.ts";
import { checkNamespace } from "./namespace-check.ts";
import {
  labelProblems,
  labelPrefix,
  policyOf,
  privilegedPolicy,
  shownLevel,
  type LevelVersion,
  type Policy,
} from "./policy.ts";
import type { PodSecurityMetrics } from "./pod-security-metrics.ts";
import { podViolations } from "./standards.ts";
import type { StrategyContext } from "../../../resources/strategy.ts";
import { typed } from "../../../resources/typed.ts";

export interface PodSecurityOptions {
  /** Where a namespace's labels say nothing. */
  readonly defaults?: Policy;
  /** Whose pods are not looked at. */
  readonly exemptions?: {
    readonly usernames?: readonly string[];
    readonly namespaces?: readonly string[];
    readonly runtimeClasses?: readonly string[];
  };
  readonly metrics?: PodSecurityMetrics | undefined;
}

/** Subresources of pods whose requests bring no pod. */
const podless: ReadonlySet<string> = new Set([
  "exec",
  "attach",
  "binding",
  "eviction",
  "log",
  "portforward",
  "proxy",
  "status",
]);

export function createPodSecurity({
  defaults = privilegedPolicy,
  exemptions = {},
  metrics,
}: PodSecurityOptions = {}): AdmissionPlugin {
  const { usernames = [], namespaces = [], runtimeClasses = [] } = exemptions;
  const rules = {
    defaults,
    exemptNamespaces: namespaces,
    exemptClasses: runtimeClasses,
  };
  const exemption = (
    { namespace, user }: AdmissionAttributes,
    className: string,
  ): string | undefined => {
    if (namespaces.includes(namespace)) return "namespace";
    if (user.name !== "" && usernames.includes(user.name)) return "user";
    return className !== "" && runtimeClasses.includes(className)
      ? "runtimeClass"
      : undefined;
  };
  return {
    name: "PodSecurity",
    validate(attributes, context) {
      const { operation, subresource, namespace, resource } = attributes;
      if (operation !== "CREATE" && operation !== "UPDATE") return undefined;
      if (resource.group === "" && resource.resource === "namespaces")
        return subresource === ""
          ? checkNamespace(attributes, context, rules)
          : undefined;
      if (namespace === "") return undefined;
      const isPod = resource.group === "" && resource.resource === "pods";
      if (isPod ? podless.has(subresource) : subresource !== "")
        return undefined;
      const pod = isPod
        ? typed<Pod>(attributes.object)
        : templateOf(attributes.object);
      if (!pod?.spec?.containers) return undefined;
      const exempt = exemption(attributes, pod.spec.runtimeClassName ?? "");
      if (exempt !== undefined) {
        context.annotate(`${labelPrefix}exempt`, exempt);
        metrics?.exempted(attributes);
        return undefined;
      }
      if (isPod && !isSignificant(attributes, pod)) return undefined;
      const labels =
        context.read("", "namespaces", "", namespace)?.metadata.labels ?? {};
      const policy = policyOf(labels, defaults);
      checkPod(attributes, context, pod, policy, labels, metrics);
      return undefined;
    },
  };
}

/** Throws ApiError 403 when a pod violates the level that is enforced; workloads are reported and warned about. */
function checkPod(
  attributes: AdmissionAttributes,
  context: StrategyContext,
  pod: Pod,
  policy: Policy,
  labels: Readonly<Record<string, string>>,
  metrics: PodSecurityMetrics | undefined,
): void {
  const { resource } = attributes;
  const isPod = resource.group === "" && resource.resource === "pods";
  const found = (at: LevelVersion): Violation[] =>
    podViolations(pod, at.level, at.minor);
  const unreadable = labelProblems(labels).map(
    ({ field, detail }) => `${field}: ${detail}`,
  );
  if (unreadable.length > 0) {
    context.annotate(
      `${labelPrefix}error`,
      `Failed to parse policy: ${unreadable.length === 1 ? unreadable[0] : `[${unreadable.join(", ")}]`}`,
    );
    metrics?.unreadable(attributes);
  }
  if (isPod)
    context.annotate(
      `${labelPrefix}enforce-policy`,
      shownLevel(policy.enforce),
    );
  const reported = found(policy.audit);
  if (reported.length > 0) {
    context.annotate(
      `${labelPrefix}audit-violations`,
      violationText("would violate", policy.audit, reported),
    );
    metrics?.evaluated("deny", policy.audit, "audit", attributes);
  }
  const broken = isPod ? found(policy.enforce) : [];
  if (isPod)
    metrics?.evaluated(
      broken.length > 0 ? "deny" : "allow",
      ...([policy.enforce, "enforce", attributes] as const),
    );
  if (broken.length > 0)
    throw errors.forbidden(
      resource,
      nameOf(attributes),
      violationText("violates", policy.enforce, broken),
    );
  const warned = found(policy.warn);
  if (warned.length > 0) {
    context.warn(violationText("would violate", policy.warn, warned));
    metrics?.evaluated("deny", policy.warn, "warn", attributes);
  }
}

function violationText(
  verb: string,
  at: LevelVersion,
  violations: readonly Violation[],
): string {
  const list = violations
    .map(({ reason, detail }) => `${reason} (${detail})`)
    .join(", ");
  return `${verb} PodSecurity ${JSON.stringify(shownLevel(at))}: ${list}`;
}

/**
 * Of the fields that the checks read, an update can change only the ephemeral containers. A pod with new images is checked
 * again as well, so that clients can still handle older pods, but not use them for more.
 */
function isSignificant(
  { operation, oldObject }: AdmissionAttributes,
  { spec }: Pod,
): boolean {
  if (operation !== "UPDATE" || !oldObject) return true;
  const old = typed<Pod>(oldObject).spec;
  return (
    changesImages(spec.containers, old.containers) ||
    changesImages(spec.initContainers ?? [], old.initContainers ?? []) ||
    (spec.ephemeralContainers ?? []).some(
      (container) =>
        (old.ephemeralContainers ?? []).find(
          ({ name }) => name === container.name,
        )?.image !== container.image,
    )
  );
}

function changesImages(
  now: readonly Container[],
  before: readonly Container[],
): boolean {
  return (
    now.length !== before.length ||
    now.some(({ image }, index) => image !== before[index]!.image)
  );
}

/** The pod a workload would make. */
function templateOf(object: AnyObject | undefined): Pod | undefined {
  const spec = object?.["spec"] as
    { template?: Pod; jobTemplate?: { spec?: { template?: Pod } } } | undefined;
  return (
    spec?.template ??
    spec?.jobTemplate?.spec?.template ??
    // Of a PodTemplate.
    (object?.["template"] as Pod | undefined)
  );
}
