// Nodes: taints, CIDRs and provider id are checked; capacity and allocatable may not be negative; status has its own
// subresource. A node once given pod CIDRs or a provider id keeps them.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  cidrProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from "../../../api/names.ts";
import type { Node, Taint } from "../../../api/types/core-v1.ts";
import { formatAge, orNone } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import { validateResourceQuantity } from "./container/resource-validation.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function taintProblems(taints: readonly Taint[]): FieldError[] {
  const problems: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    // The reference says metadata.
    const field = `metadata.taints[${index}]`;
    problems.push(
      ...invalidEach(
        `${field}.key`,
        taint.key,
        qualifiedNameProblems(taint.key),
      ),
    );
    const wrong = labelValueProblems(taint.value ?? "");
    if (wrong.length > 0)
      problems.push(
        fieldErrors.invalid(
          `${field}.value`,
          taint.value ?? "",
          wrong.join(";"),
        ),
      );
    if (!taint.effect) problems.push(fieldErrors.required(`${field}.effect`));
    else if (!effects.includes(taint.effect)) {
      problems.push(
        fieldErrors.notSupported(`${field}.effect`, taint.effect, effects),
      );
    }
    const identity = `${taint.key}:${taint.effect}`;
    if (seen.has(identity)) {
      const quoted = JSON.stringify;
      problems.push({
        ...fieldErrors.duplicate(field, ""),
        detail: `Duplicate value: core.Taint{Key:${quoted(taint.key)}, Value:${quoted(taint.value ?? "")}, Effect:${quoted(taint.effect)}, TimeAdded:<nil>}: taints must be unique by key and effect pair`,
      });
    }
    seen.add(identity);
  }
  return problems;
}

function validateNode(node: Node): FieldError[] {
  const problems = taintProblems(node.spec?.taints ?? []);
  const cidrs =
    node.spec?.podCIDRs ?? (node.spec?.podCIDR ? [node.spec.podCIDR] : []);
  for (const [index, cidr] of cidrs.entries()) {
    problems.push(
      ...invalidEach(`spec.podCIDRs[${index}]`, cidr, cidrProblems(cidr)),
    );
  }
  const families = new Set(cidrs.map((cidr) => cidr.includes(":")));
  if (
    cidrs.length > 2 ||
    (cidrs.length === 2 && families.size < 2 && problems.length === 0)
  ) {
    problems.push(
      fieldErrors.invalid(
        "spec.podCIDRs",
        cidrs,
        "may specify no more than one CIDR for each IP family",
      ),
    );
  }
  for (const [index, cidr] of cidrs.entries())
    if (cidrs.indexOf(cidr) < index)
      problems.push(fieldErrors.duplicate(`spec.podCIDRs[${index}]`, cidr));
  for (const part of ["capacity", "allocatable"] as const) {
    for (const [name, value] of Object.entries(node.status?.[part] ?? {})) {
      problems.push(
        ...validateResourceQuantity(`status.${part}.${name}`, name, value),
      );
    }
  }
  return problems;
}

function* nodeWarnings({ spec }: Node): Iterable<string> {
  if (spec?.externalID)
    yield "spec.externalID: this field is deprecated, and is unused by Kubernetes";
}

/** "control-plane,worker", or "<none>". */
function nodeRoles(node: Node): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
    if (key.startsWith("node-role.kubernetes.io/")) {
      const role = key.slice("node-role.kubernetes.io/".length);
      if (role) roles.add(role);
    } else if (key === "kubernetes.io/role" && value) roles.add(value);
  }
  return orNone([...roles].sort().join(","));
}

function nodeStatus(node: Node): string {
  const ready = node.status?.conditions?.find(({ type }) => type === "Ready");
  const words = [
    ready ? (ready.status === "True" ? "Ready" : "NotReady") : "Unknown",
  ];
  if (node.spec?.unschedulable) words.push("SchedulingDisabled");
  return words.join(",");
}

const address = (node: Node, kind: string): string =>
  orNone(node.status?.addresses?.find(({ type }) => type === kind)?.address);

export const nodeStrategy = strategyOf<Node>({
  countsGeneration: false,
  setDefaults(node) {
    if (node.status?.capacity && !node.status.allocatable)
      node.status.allocatable = { ...node.status.capacity };
    // The singular and the plural are two views of one list.
    if (node.spec?.podCIDR && node.spec.podCIDRs?.[0] !== node.spec.podCIDR)
      node.spec.podCIDRs = [node.spec.podCIDR];
    if (!node.spec?.podCIDR && node.spec?.podCIDRs?.length)
      node.spec.podCIDR = node.spec.podCIDRs[0]!;
  },
  prepareForCreate(object) {
    // A feature that is gone.
    delete object.spec?.configSource;
  },
  warnings: (object) => nodeWarnings(object),
  validate: (object) => validateNode(object),
  validateUpdate(object, old) {
    const [spec, was] = [object.spec ?? {}, old.spec ?? {}];
    // The reference reports these problems twice.
    const problems = taintProblems(spec.taints ?? []);
    if (was.podCIDRs?.length && !sameValue(spec.podCIDRs, was.podCIDRs)) {
      problems.push(
        fieldErrors.forbidden(
          "spec.podCIDRs",
          'node updates may not change podCIDR except from "" to valid',
        ),
      );
    }
    if ((spec.externalID ?? "") !== (was.externalID ?? ""))
      problems.push(
        fieldErrors.forbidden("spec.externalID", "may not be updated"),
      );
    if (was.providerID && spec.providerID !== was.providerID) {
      problems.push(
        fieldErrors.forbidden(
          "spec.providerID",
          'node updates may not change providerID except from "" to valid',
        ),
      );
    }
    return problems;
  },
  status: {
    prepareForUpdate(object, old) {
      object.spec = { ...old.spec };
    },
    validateUpdate: (object) => validateNode(object),
  },
  selectableFields: (object) => ({
    "spec.unschedulable": object.spec?.unschedulable ? "true" : "false",
  }),
  printRow: (node, now) => {
    const info = node.status?.nodeInfo;
    return [
      node.metadata.name,
      nodeStatus(node),
      nodeRoles(node),
      formatAge(node.metadata.creationTimestamp, now),
      info?.kubeletVersion ?? "",
      address(node, "InternalIP"),
      address(node, "ExternalIP"),
      info?.osImage || "<unknown>",
      info?.kernelVersion || "<unknown>",
      info?.containerRuntimeVersion || "<unknown>",
    ];
  },
});
