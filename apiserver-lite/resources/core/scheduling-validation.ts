// Validation of what says where a pod may go: tolerations, affinity, topology spread.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  labelKeyProblems,
  labelValueProblems,
} from "../../../api/names.ts";
import type {
  Affinity,
  NodeSelectorTerm,
  PodAffinityTerm,
  PodSpec,
  Toleration,
} from "../../../api/types/core-v1.ts";
import { labelSelector, oneOf } from "../field-checks.ts";

type Problems = FieldError[];

const taintEffects = ["NoExecute", "NoSchedule", "PreferNoSchedule"];

export function validateTolerations(
  field: string,
  tolerations: readonly Toleration[],
): Problems {
  const problems: Problems = [];
  for (const [
    index,
    { key, operator, value, effect, tolerationSeconds },
  ] of tolerations.entries()) {
    const path = `${field}[${index}]`;
    if (key)
      problems.push(...invalidEach(`${path}.key`, key, labelKeyProblems(key)));
    else if (operator !== "Exists") {
      problems.push(
        fieldErrors.invalid(
          `${path}.operator`,
          operator ?? "",
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    }
    if (tolerationSeconds !== undefined && effect !== "NoExecute") {
      problems.push(
        fieldErrors.invalid(
          `${path}.effect`,
          effect ?? "",
          "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
      );
    }
    if (!operator || operator === "Equal") {
      problems.push(
        ...invalidEach(
          `${path}.operator`,
          value ?? "",
          labelValueProblems(value ?? ""),
        ),
      );
    } else if (operator === "Exists") {
      if (value) {
        problems.push(
          fieldErrors.invalid(
            path,
            tolerations[index],
            "value must be empty when `operator` is 'Exists'",
          ),
        );
      }
    } else
      problems.push(
        fieldErrors.notSupported(`${path}.operator`, operator, [
          "Equal",
          "Exists",
        ]),
      );
    problems.push(...oneOf(`${path}.effect`, effect, taintEffects));
  }
  return problems;
}

export function validateNodeSelectorTerm(
  field: string,
  term: NodeSelectorTerm,
): Problems {
  const problems: Problems = [];
  for (const part of ["matchExpressions", "matchFields"] as const) {
    for (const [index, { key, operator, values }] of (
      term[part] ?? []
    ).entries()) {
      const path = `${field}.${part}[${index}]`;
      const count = values?.length ?? 0;
      if (operator === "In" || operator === "NotIn") {
        if (count === 0) {
          problems.push(
            fieldErrors.required(
              `${path}.values`,
              "must be specified when `operator` is 'In' or 'NotIn'",
            ),
          );
        }
      } else if (operator === "Exists" || operator === "DoesNotExist") {
        if (count > 0) {
          problems.push(
            fieldErrors.forbidden(
              `${path}.values`,
              "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
          );
        }
      } else if (operator === "Gt" || operator === "Lt") {
        if (count !== 1) {
          problems.push(
            fieldErrors.required(
              `${path}.values`,
              "must be specified single value when `operator` is 'Lt' or 'Gt'",
            ),
          );
        }
      } else
        problems.push(
          fieldErrors.invalid(
            `${path}.operator`,
            operator,
            "not a valid selector operator",
          ),
        );
      if (part === "matchExpressions")
        problems.push(
          ...invalidEach(`${path}.key`, key, labelKeyProblems(key)),
        );
      else if (key !== "metadata.name") {
        problems.push(
          fieldErrors.invalid(
            `${path}.key`,
            key,
            "not a valid field selector key",
          ),
        );
      }
    }
  }
  return problems;
}

function validateAffinityTerm(field: string, term: PodAffinityTerm): Problems {
  const problems = labelSelector(`${field}.labelSelector`, term.labelSelector);
  for (const namespace of term.namespaces ?? []) {
    problems.push(
      ...invalidEach(
        `${field}.namespace`,
        namespace,
        dnsLabelProblems(namespace),
      ),
    );
  }
  problems.push(
    ...labelSelector(`${field}.namespaceSelector`, term.namespaceSelector),
  );
  if (!term.topologyKey)
    problems.push(
      fieldErrors.required(`${field}.topologyKey`, "can not be empty"),
    );
  else
    problems.push(
      ...invalidEach(
        `${field}.topologyKey`,
        term.topologyKey,
        labelKeyProblems(term.topologyKey),
      ),
    );
  return problems;
}

function validateWeight(field: string, weight: number): Problems {
  return weight < 1 || weight > 100
    ? [fieldErrors.invalid(field, weight, "must be in the range 1-100")]
    : [];
}

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

export function validateAffinity(field: string, affinity: Affinity): Problems {
  const problems: Problems = [];
  const node = affinity.nodeAffinity;
  const nodePath = `${field}.nodeAffinity`;
  if (node?.[required]) {
    const terms = node[required].nodeSelectorTerms ?? [];
    const path = `${nodePath}.${required}.nodeSelectorTerms`;
    if (terms.length === 0)
      problems.push(
        fieldErrors.required(path, "must have at least one node selector term"),
      );
    problems.push(
      ...terms.flatMap((term, index) =>
        validateNodeSelectorTerm(`${path}[${index}]`, term),
      ),
    );
  }
  for (const [index, term] of (node?.[preferred] ?? []).entries()) {
    const path = `${nodePath}.${preferred}[${index}]`;
    problems.push(...validateWeight(`${path}.weight`, term.weight));
    problems.push(
      ...validateNodeSelectorTerm(`${path}.preference`, term.preference),
    );
  }
  for (const kind of ["podAffinity", "podAntiAffinity"] as const) {
    for (const [index, term] of (affinity[kind]?.[required] ?? []).entries()) {
      problems.push(
        ...validateAffinityTerm(`${field}.${kind}.${required}[${index}]`, term),
      );
    }
    for (const [index, term] of (affinity[kind]?.[preferred] ?? []).entries()) {
      const path = `${field}.${kind}.${preferred}[${index}]`;
      problems.push(...validateWeight(`${path}.weight`, term.weight));
      problems.push(
        ...validateAffinityTerm(
          `${path}.podAffinityTerm`,
          term.podAffinityTerm,
        ),
      );
    }
  }
  return problems;
}

export function validateSpread(field: string, spec: PodSpec): Problems {
  return (spec.topologySpreadConstraints ?? []).flatMap((constraint, index) => {
    const path = `${field}.topologySpreadConstraints[${index}]`;
    const problems: Problems = [];
    if (constraint.maxSkew <= 0) {
      problems.push(
        fieldErrors.invalid(
          `${path}.maxSkew`,
          constraint.maxSkew,
          "must be greater than zero",
        ),
      );
    }
    if (!constraint.topologyKey)
      problems.push(
        fieldErrors.required(`${path}.topologyKey`, "can not be empty"),
      );
    problems.push(
      ...oneOf(
        `${path}.whenUnsatisfiable`,
        constraint.whenUnsatisfiable,
        ["DoNotSchedule", "ScheduleAnyway"],
        true,
      ),
    );
    return [
      ...problems,
      ...labelSelector(`${path}.labelSelector`, constraint.labelSelector),
    ];
  });
}
