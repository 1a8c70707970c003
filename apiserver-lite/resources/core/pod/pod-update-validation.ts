// What of a pod may change after its creation: of the spec next to nothing, of the status what can be true of that spec.
import { isIPv6 } from "node:net";
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import { asGo } from "../../../../api/go-syntax.ts";
import {
  dnsSubdomainProblems,
  ipProblems,
  qualifiedNameProblems,
} from "../../../../api/names.ts";
import type {
  Affinity,
  Container,
  NodeSelectorTerm,
  Pod,
  PodSpec,
} from "../../../../api/types/core-v1.ts";
import { sameValue } from "../../../../api/objects/json-equality.ts";
import { validateImagePadding } from "../container/container-validation.ts";
import { mirrorAnnotation, validatePodAnnotations } from "./pod-annotations.ts";
import { validateResourceClaimStatuses } from "./pod-resource-claims.ts";

const maxInt32 = 2 ** 31 - 1;
const allowedChanges =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/** Lines of what differs between two values, one pair a field, in the way of the reference's. */
export function goDifference(type: string, now: object, was: object): string {
  const [a, b] = [
    now as Record<string, unknown>,
    was as Record<string, unknown>,
  ];
  const names = [...new Set([...Object.keys(b), ...Object.keys(a)])].filter(
    (name) => !sameValue(a[name], b[name]),
  );
  const title = (name: string): string =>
    name[0]!.toUpperCase() + name.slice(1);
  const lines = names.flatMap((name) => [
    `- \t${title(name)}: ${JSON.stringify(b[name] ?? null)},`,
    `+ \t${title(name)}: ${JSON.stringify(a[name] ?? null)},`,
  ]);
  return `  ${type}{\n${lines.join("\n")}\n  }\n`;
}

/** Run in addition to what is asked of every pod. */
export function validatePodUpdate(pod: Pod, old: Pod): FieldError[] {
  // Annotations and images are validated twice, as in the reference: it reports their causes as often.
  const problems = [
    ...validateMirror(pod, old),
    ...validatePodAnnotations(
      "metadata.annotations",
      pod.metadata.annotations,
      pod.spec,
    ),
  ];
  for (const part of ["containers", "initContainers"] as const) {
    const [now, was] = [pod.spec[part] ?? [], old.spec[part] ?? []];
    if (now.length !== was.length) {
      problems.push(
        fieldErrors.forbidden(
          `spec.${part}`,
          "pod updates may not add or remove containers",
        ),
      );
      return problems;
    }
    for (const [index, container] of now.entries()) {
      const path = `spec.${part}[${index}]`;
      problems.push(
        ...(container.image
          ? validateImagePadding(path, container)
          : [fieldErrors.required(`${path}.image`)]),
      );
    }
  }
  const [deadline, wasDeadline] = [
    pod.spec.activeDeadlineSeconds,
    old.spec.activeDeadlineSeconds,
  ];
  if (deadline !== undefined && (deadline < 0 || deadline > maxInt32))
    problems.push(
      fieldErrors.invalid(
        "spec.activeDeadlineSeconds",
        deadline,
        `must be between 0 and ${maxInt32}, inclusive`,
      ),
    );
  else if (wasDeadline !== undefined) {
    if (deadline === undefined) {
      problems.push(
        fieldErrors.invalid(
          "spec.activeDeadlineSeconds",
          null,
          "must not update from a positive integer to nil value",
        ),
      );
    } else if (deadline > wasDeadline) {
      problems.push(
        fieldErrors.invalid(
          "spec.activeDeadlineSeconds",
          deadline,
          "must be less than or equal to previous value",
        ),
      );
    }
  }
  const tolerations = pod.spec.tolerations ?? [];
  const bare = (toleration: object): object => ({
    ...toleration,
    tolerationSeconds: undefined,
  });
  for (const toleration of old.spec.tolerations ?? []) {
    if (!tolerations.some((one) => sameValue(bare(one), bare(toleration)))) {
      problems.push(
        fieldErrors.forbidden(
          "spec.tolerations",
          "existing toleration can not be modified except its tolerationSeconds",
        ),
      );
      break;
    }
  }
  const gates = new Set(
    (old.spec.schedulingGates ?? []).map(({ name }) => name),
  );
  for (const [index, { name }] of (pod.spec.schedulingGates ?? []).entries()) {
    if (!gates.has(name)) {
      problems.push(
        fieldErrors.forbidden(
          `spec.schedulingGates[${index}].name`,
          `only deletion is allowed, but found new scheduling gate '${name}'`,
        ),
      );
    }
  }
  if (problems.length > 0) return problems;
  if (old.spec.schedulingGates?.length)
    problems.push(...validateNarrowing(pod.spec, old.spec));
  if (problems.length > 0) return problems;

  const masked = maskAllowed(pod.spec, old.spec);
  if (!sameValue(masked, old.spec)) {
    problems.push(
      fieldErrors.forbidden(
        "spec",
        `${allowedChanges}\n${goDifference("core.PodSpec", masked, old.spec)}`,
      ),
    );
  }
  return problems;
}

const mirrorField = `metadata.annotations[${mirrorAnnotation}]`;

/** A pod is a mirror of a node's own, or not, for ever. */
function validateMirror(pod: Pod, old: Pod): FieldError[] {
  const [now, was] = [
    pod.metadata.annotations?.[mirrorAnnotation],
    old.metadata.annotations?.[mirrorAnnotation],
  ];
  if (now === was) return [];
  const verb =
    was === undefined ? "add" : now === undefined ? "remove" : "update";
  return [
    fieldErrors.forbidden(mirrorField, `may not ${verb} mirror pod annotation`),
  ];
}

/** While a pod is held back, the nodes it may go to can become fewer, never others. */
function validateNarrowing(spec: PodSpec, was: PodSpec): FieldError[] {
  const problems: FieldError[] = [];
  const [selector, before] = [spec.nodeSelector, was.nodeSelector ?? {}];
  if (Object.entries(before).some(([key, value]) => selector?.[key] !== value))
    problems.push(
      fieldErrors.invalid(
        "spec.nodeSelector",
        asGo("map[string]string", selector),
        "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
      ),
    );
  const [terms, old] = [termsOf(spec), termsOf(was)];
  if (!old?.length) return problems;
  if (terms?.length !== old.length)
    return [
      ...problems,
      fieldErrors.invalid(
        termsField,
        asGo("[]core.NodeSelectorTerm", terms),
        "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
      ),
    ];
  const kept = (now: unknown[] = [], earlier: unknown[] = []): boolean =>
    earlier.every((each, index) => sameValue(now[index], each));
  return [
    ...problems,
    ...terms.flatMap((term, index) =>
      kept(term.matchExpressions, old[index]!.matchExpressions) &&
      kept(term.matchFields, old[index]!.matchFields)
        ? []
        : [
            fieldErrors.invalid(
              `${termsField}[${index}]`,
              asGo("core.NodeSelectorTerm", term),
              "only additions are allowed (no mutations or deletions)",
            ),
          ],
    ),
  ];
}

const termsField =
  "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";

const termsOf = ({ affinity }: PodSpec): NodeSelectorTerm[] | undefined =>
  affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    ?.nodeSelectorTerms;

/** The new spec with everything that may change set back to what it was. */
function maskAllowed(spec: PodSpec, was: PodSpec): PodSpec {
  const masked: PodSpec = { ...spec };
  for (const part of ["containers", "initContainers"] as const) {
    const list = spec[part];
    if (list)
      masked[part] = list.map(
        (container, index) =>
          ({ ...container, image: was[part]?.[index]?.image }) as Container,
      );
  }
  const take = <Name extends keyof PodSpec>(name: Name): void => {
    if (was[name] === undefined) delete masked[name];
    else masked[name] = was[name];
  };
  take("activeDeadlineSeconds");
  take("tolerations");
  if (
    (was.terminationGracePeriodSeconds ?? 0) < 0 &&
    spec.terminationGracePeriodSeconds === 1
  ) {
    take("terminationGracePeriodSeconds");
  }
  if (was.schedulingGates?.length) {
    take("schedulingGates");
    // While a pod is held back, where it may go can be narrowed.
    take("nodeSelector");
    const affinity = maskNodeAffinity(spec.affinity, was.affinity);
    if (affinity) masked.affinity = affinity;
    else delete masked.affinity;
  }
  return masked;
}

/** The new affinity with the node affinity of before; a node affinity alone may be added to a pod without affinity. */
function maskNodeAffinity(
  affinity: Affinity | undefined,
  was: Affinity | undefined,
): Affinity | undefined {
  const nodeAffinity = was?.nodeAffinity;
  if (sameValue(affinity?.nodeAffinity, nodeAffinity)) return affinity;
  const masked = { ...affinity };
  if (nodeAffinity) masked.nodeAffinity = nodeAffinity;
  else delete masked.nodeAffinity;
  return !was && Object.keys(masked).length === 0 ? undefined : masked;
}

/** Addresses of a pod or its host: at most one of each family. */
function validateAddresses(
  name: "podIPs" | "hostIPs",
  addresses: readonly { ip: string }[],
): FieldError[] {
  const field = `status.${name}`;
  const type = name === "podIPs" ? "core.PodIP" : "core.HostIP";
  const as = (ip: string): object => asGo(type, { ip });
  const bad = addresses.flatMap(({ ip }, index) =>
    invalidEach(`${field}[${index}]`, ip, ipProblems(ip)),
  );
  if (bad.length > 0 || addresses.length < 2) return bad;
  const families = new Set(addresses.map(({ ip }) => isIPv6(ip)));
  return [
    ...(addresses.length > 2 || families.size < 2
      ? [
          fieldErrors.invalid(
            field,
            asGo(`[]${type}`, addresses),
            "may specify no more than one IP for each IP family",
          ),
        ]
      : []),
    ...addresses.flatMap(({ ip }, index) =>
      addresses.findIndex((other) => other.ip === ip) < index
        ? [fieldErrors.duplicate(`${field}[${index}]`, as(ip))]
        : [],
    ),
  ];
}

export function validatePodStatus(pod: Pod, old: Pod): FieldError[] {
  const { status = {} } = pod;
  const problems = (status.conditions ?? []).flatMap(({ type }, index) =>
    // The reference says metadata.
    invalidEach(
      `metadata.conditions[${index}].Type`,
      type,
      qualifiedNameProblems(type),
    ),
  );
  const nominated = status.nominatedNodeName;
  if (nominated)
    problems.push(
      ...invalidEach(
        "status.nominatedNodeName",
        nominated,
        dnsSubdomainProblems(nominated),
      ),
    );
  if (pod.spec.nodeName !== old.spec.nodeName) {
    problems.push(
      fieldErrors.forbidden("status.nodeName", "may not be changed directly"),
    );
  }
  if (old.status?.qosClass && pod.status?.qosClass !== old.status.qosClass) {
    problems.push(
      fieldErrors.invalid(
        "status.qosClass",
        pod.status?.qosClass ?? "",
        "field is immutable",
      ),
    );
  }
  const groups = ["containerStatuses", "initContainerStatuses"] as const;
  for (const group of old.spec.restartPolicy === "Always" ? [] : groups) {
    for (const [index, status] of (old.status?.[group] ?? []).entries()) {
      if (!status.state?.terminated) continue;
      if (
        old.spec.restartPolicy === "OnFailure" &&
        status.state.terminated.exitCode !== 0
      )
        continue;
      const spec = old.spec.initContainers?.find(
        ({ name }) => name === status.name,
      );
      if (group === "initContainerStatuses" && spec?.restartPolicy === "Always")
        continue;
      const now = pod.status?.[group]?.find(({ name }) => name === status.name);
      if (now && !now.state?.terminated) {
        problems.push(
          fieldErrors.forbidden(
            `status.${group}[${index}].state`,
            "may not be transitioned to non-terminated state",
          ),
        );
      }
    }
  }
  problems.push(...validateAddresses("podIPs", status.podIPs ?? []));
  const hostIPs = status.hostIPs ?? [];
  if (hostIPs[0] && hostIPs[0].ip !== (status.hostIP ?? ""))
    problems.push(
      fieldErrors.invalid(
        "status.hostIPs[0].ip",
        hostIPs[0].ip,
        "must be equal to `hostIP`",
      ),
    );
  return [
    ...problems,
    ...validateResourceClaimStatuses(pod),
    ...validateAddresses("hostIPs", hostIPs),
  ];
}
