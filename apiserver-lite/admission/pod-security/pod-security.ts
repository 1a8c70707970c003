// PodSecurity: a namespace's labels say which level its pods must keep to (enforce), and which makes a warning (warn) or
// is told to the audit log (audit).
// Workload resources are only warned about. Default: privileged.
import { errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { nameOf } from "../requests.ts";
import { podViolations, type SecurityLevel, type Violation } from "./checks.ts";

const PREFIX = "pod-security.kubernetes.io/";
const LEVELS: readonly string[] = ["privileged", "baseline", "restricted"];

export const podSecurity: AdmissionPlugin = {
  name: "PodSecurity",
  validate(attributes, context) {
    const { operation, subresource, namespace, resource } = attributes;
    if ((operation !== "CREATE" && operation !== "UPDATE") || namespace === "")
      return;
    const isPod = resource.group === "" && resource.resource === "pods";
    if (
      isPod
        ? subresource !== "" && subresource !== "ephemeralcontainers"
        : subresource !== ""
    )
      return;
    const pod = isPod
      ? (attributes.object as unknown as Pod | undefined)
      : templateOf(attributes.object);
    if (!pod?.spec?.containers) return;
    const labels =
      context.read("", "namespaces", "", namespace)?.metadata.labels ?? {};
    const enforced = levelOf(labels, "enforce");
    const warned = levelOf(labels, "warn");
    if (isPod)
      context.annotate(
        `${PREFIX}enforce-policy`,
        `${enforced}:${versionOf(labels, "enforce")}`,
      );
    const audited = levelOf(labels, "audit");
    const told = podViolations(pod, audited);
    if (told.length > 0 && !(isPod && isUnchanged(attributes, pod)))
      context.annotate(
        `${PREFIX}audit-violations`,
        `would violate PodSecurity ${JSON.stringify(`${audited}:${versionOf(labels, "audit")}`)}: ${text(told)}`,
      );
    const broken = isPod ? podViolations(pod, enforced) : [];
    if (broken.length > 0 && !isUnchanged(attributes, pod)) {
      throw errors.forbidden(
        resource,
        nameOf(attributes),
        `violates PodSecurity ${JSON.stringify(`${enforced}:${versionOf(labels, "enforce")}`)}: ${text(broken)}`,
      );
    }
    const warnings = podViolations(pod, warned);
    if (warnings.length > 0 && !(isPod && isUnchanged(attributes, pod))) {
      context.warn(
        `would violate PodSecurity ${JSON.stringify(`${warned}:${versionOf(labels, "warn")}`)}: ${text(warnings)}`,
      );
    }
  },
};

type Labels = Readonly<Record<string, string>>;

function levelOf(labels: Labels, mode: string): SecurityLevel {
  const label = labels[PREFIX + mode];
  if (label === undefined) return "privileged";
  // What can't be read is taken for the strictest.
  return LEVELS.includes(label) ? (label as SecurityLevel) : "restricted";
}

function versionOf(labels: Labels, mode: string): string {
  return labels[`${PREFIX}${mode}-version`] ?? "latest";
}

function text(violations: readonly Violation[]): string {
  return violations
    .map(({ reason, detail }) => `${reason} (${detail})`)
    .join(", ");
}

/** Updates that touch nothing the checks look at are let through, so that older pods can still be handled. */
function isUnchanged(
  { operation, oldObject, subresource }: AdmissionAttributes,
  pod: Pod,
): boolean {
  if (operation !== "UPDATE" || subresource !== "" || !oldObject) return false;
  const old = oldObject as unknown as Pod;
  const relevant = ({ spec }: Pod): string =>
    JSON.stringify([
      [spec.containers, spec.initContainers ?? []].map((list) =>
        list.map(({ image: _, ...container }) => container),
      ),
      spec.securityContext,
      spec.volumes,
    ]);
  return relevant(old) === relevant(pod);
}

/** The pod a workload would make. */
function templateOf(object: AnyObject | undefined): Pod | undefined {
  const spec = object?.["spec"] as
    { template?: Pod; jobTemplate?: { spec?: { template?: Pod } } } | undefined;
  return spec?.template ?? spec?.jobTemplate?.spec?.template;
}
