// Validation of what says where a pod may go: tolerations, affinity, topology spread.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
} from "../../../../api/names.ts";
import type {
  Affinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinityTerm,
  PodSpec,
  Toleration,
  TopologySpreadConstraint,
} from "../../../../api/types/core-v1.ts";
import type { LabelSelector } from "../../../../api/types/meta-v1.ts";
import { joined, labelSelector, ofEach, oneOf } from "../../field-checks.ts";

type Problems = FieldError[];

const taintEffects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function validateTolerationValue(
  field: string,
  { operator, value = "" }: Toleration,
): Problems {
  if (operator && operator !== "Equal" && operator !== "Exists")
    return [fieldErrors.notSupported(field, operator, ["Equal", "Exists"])];
  const problems =
    operator === "Exists"
      ? value
        ? ["value must be empty when `operator` is 'Exists'"]
        : []
      : labelValueProblems(value);
  return problems.length > 0
    ? [fieldErrors.invalid(field, value, problems.join(";"))]
    : [];
}

export function validateTolerations(
  field: string,
  tolerations: readonly Toleration[],
): Problems {
  return ofEach(tolerations, (toleration, index) => {
    const path = `${field}[${index}]`;
    const { key, operator, effect, tolerationSeconds } = toleration;
    const problems: Problems = [];
    if (key)
      problems.push(...invalidEach(`${path}.key`, key, labelKeyProblems(key)));
    else if (operator !== "Exists")
      problems.push(
        fieldErrors.invalid(
          `${path}.operator`,
          operator ?? "",
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    if (tolerationSeconds !== undefined && effect !== "NoExecute")
      problems.push(
        fieldErrors.invalid(
          `${path}.effect`,
          effect ?? "",
          "effect must be 'NoExecute' when `tolerationSeconds` is set",
        ),
      );
    return joined(
      problems,
      validateTolerationValue(`${path}.operator`, toleration),
      oneOf(`${path}.effect`, effect, taintEffects),
    );
  });
}

/** How many values an operator of a node's labels wants. */
function validateLabelRequirement(
  field: string,
  { key, operator, values }: NodeSelectorRequirement,
): Problems {
  const count = values?.length ?? 0;
  const path = `${field}.values`;
  const problems: Problems = [];
  switch (operator) {
    case "In":
    case "NotIn":
      if (count === 0)
        problems.push(
          fieldErrors.required(
            path,
            "must be specified when `operator` is 'In' or 'NotIn'",
          ),
        );
      break;
    case "Exists":
    case "DoesNotExist":
      if (count > 0)
        problems.push(
          fieldErrors.forbidden(
            path,
            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
          ),
        );
      break;
    case "Gt":
    case "Lt":
      if (count !== 1)
        problems.push(
          fieldErrors.required(
            path,
            "must be specified single value when `operator` is 'Lt' or 'Gt'",
          ),
        );
      break;
    default:
      problems.push(
        fieldErrors.invalid(
          `${field}.operator`,
          operator ?? "",
          "not a valid selector operator",
        ),
      );
  }
  return joined(
    problems,
    invalidEach(`${field}.key`, key ?? "", labelKeyProblems(key ?? "")),
  );
}

/** Of a node's fields only the name can be asked for, one at a time. */
function validateFieldRequirement(
  field: string,
  { key = "", operator = "", values = [] }: NodeSelectorRequirement,
): Problems {
  const problems: Problems = [];
  if (operator !== "In" && operator !== "NotIn")
    problems.push(
      fieldErrors.invalid(
        `${field}.operator`,
        operator,
        "not a valid selector operator",
      ),
    );
  else if (values.length !== 1)
    problems.push(
      fieldErrors.required(
        `${field}.values`,
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      ),
    );
  if (key !== "metadata.name")
    return [
      ...problems,
      fieldErrors.invalid(
        `${field}.key`,
        key,
        "not a valid field selector key",
      ),
    ];
  return joined(
    problems,
    ofEach(values, (value, index) =>
      invalidEach(
        `${field}.values[${index}]`,
        value,
        dnsSubdomainProblems(value),
      ),
    ),
  );
}

function validateNodeSelectorTerm(
  field: string,
  { matchExpressions, matchFields }: NodeSelectorTerm,
): Problems {
  return joined(
    ofEach(matchExpressions, (requirement, index) =>
      validateLabelRequirement(
        `${field}.matchExpressions[${index}]`,
        requirement,
      ),
    ),
    ofEach(matchFields, (requirement, index) =>
      validateFieldRequirement(`${field}.matchFields[${index}]`, requirement),
    ),
  );
}

export function validateNodeSelector(
  field: string,
  { nodeSelectorTerms: terms }: NodeSelector,
): Problems {
  const path = `${field}.nodeSelectorTerms`;
  return terms?.length
    ? ofEach(terms, (term, index) =>
        validateNodeSelectorTerm(`${path}[${index}]`, term),
      )
    : [fieldErrors.required(path, "must have at least one node selector term")];
}

function selectorKeys(selector: LabelSelector | undefined): Set<string> {
  return new Set([
    ...Object.keys(selector?.matchLabels ?? {}),
    ...(selector?.matchExpressions ?? []).map(({ key }) => key),
  ]);
}

const withoutSelector = "must not be specified when labelSelector is not set";

function validateLabelKeys(
  field: string,
  keys: readonly string[] | undefined,
  selector: LabelSelector | undefined,
): Problems {
  if (!keys?.length) return [];
  return joined(
    selector ? [] : [fieldErrors.forbidden(field, withoutSelector)],
    ofEach(keys, (key, index) =>
      invalidEach(`${field}[${index}]`, key, labelKeyProblems(key)),
    ),
  );
}

function validateAffinityTerm(field: string, term: PodAffinityTerm): Problems {
  const { matchLabelKeys, mismatchLabelKeys, topologyKey = "" } = term;
  return joined(
    labelSelector(`${field}.labelSelector`, term.labelSelector),
    labelSelector(`${field}.namespaceSelector`, term.namespaceSelector),
    ofEach(term.namespaces, (namespace) =>
      invalidEach(`${field}.namespace`, namespace, dnsLabelProblems(namespace)),
    ),
    validateLabelKeys(
      `${field}.matchLabelKeys`,
      matchLabelKeys,
      term.labelSelector,
    ),
    validateLabelKeys(
      `${field}.mismatchLabelKeys`,
      mismatchLabelKeys,
      term.labelSelector,
    ),
    ofEach(matchLabelKeys, (key, index) =>
      mismatchLabelKeys?.includes(key)
        ? [
            fieldErrors.invalid(
              `${field}.matchLabelKeys[${index}]`,
              key,
              "exists in both matchLabelKeys and mismatchLabelKeys",
            ),
          ]
        : [],
    ),
    topologyKey
      ? []
      : [fieldErrors.required(`${field}.topologyKey`, "can not be empty")],
    invalidEach(
      `${field}.topologyKey`,
      topologyKey,
      labelKeyProblems(topologyKey),
    ),
  );
}

function validateWeight(field: string, weight: number): Problems {
  return weight < 1 || weight > 100
    ? [fieldErrors.invalid(field, weight, "must be in the range 1-100")]
    : [];
}

const required = "requiredDuringSchedulingIgnoredDuringExecution";
const preferred = "preferredDuringSchedulingIgnoredDuringExecution";

export function validateAffinity(field: string, affinity: Affinity): Problems {
  const { nodeAffinity } = affinity;
  const nodes = `${field}.nodeAffinity`;
  return joined(
    nodeAffinity?.[required]
      ? validateNodeSelector(`${nodes}.${required}`, nodeAffinity[required])
      : [],
    (nodeAffinity?.[preferred] ?? []).flatMap((term, index) => {
      const path = `${nodes}.${preferred}[${index}]`;
      return [
        ...validateWeight(`${path}.weight`, term.weight),
        ...validateNodeSelectorTerm(`${path}.preference`, term.preference),
      ];
    }),
    (["podAffinity", "podAntiAffinity"] as const).flatMap((kind) => [
      ...(affinity[kind]?.[required] ?? []).flatMap((term, index) =>
        validateAffinityTerm(`${field}.${kind}.${required}[${index}]`, term),
      ),
      ...(affinity[kind]?.[preferred] ?? []).flatMap((term, index) => {
        const path = `${field}.${kind}.${preferred}[${index}]`;
        return [
          ...validateWeight(`${path}.weight`, term.weight),
          ...validateAffinityTerm(
            `${path}.podAffinityTerm`,
            term.podAffinityTerm,
          ),
        ];
      }),
    ]),
  );
}

const unsatisfiable = ["DoNotSchedule", "ScheduleAnyway"];
const inclusion = ["Honor", "Ignore"];

function validateMinDomains(
  field: string,
  { minDomains, whenUnsatisfiable }: TopologySpreadConstraint,
): Problems {
  if (minDomains === undefined) return [];
  return joined(
    minDomains <= 0
      ? [fieldErrors.invalid(field, minDomains, "must be greater than zero")]
      : [],
    whenUnsatisfiable === "DoNotSchedule"
      ? []
      : [
          fieldErrors.invalid(
            field,
            minDomains,
            `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
          ),
        ],
  );
}

function validateSpreadKeys(
  field: string,
  { matchLabelKeys, labelSelector: selector }: TopologySpreadConstraint,
): Problems {
  if (!matchLabelKeys?.length) return [];
  const selected = selectorKeys(selector);
  return joined(
    selector ? [] : [fieldErrors.forbidden(field, withoutSelector)],
    ofEach(matchLabelKeys, (key, index) => [
      ...invalidEach(`${field}[${index}]`, key, labelKeyProblems(key)),
      ...(selected.has(key)
        ? [
            fieldErrors.invalid(
              `${field}[${index}]`,
              key,
              "exists in both matchLabelKeys and labelSelector",
            ),
          ]
        : []),
    ]),
  );
}

export function validateSpread(field: string, spec: PodSpec): Problems {
  const constraints = spec.topologySpreadConstraints ?? [];
  return ofEach(constraints, (constraint, index) => {
    const path = `${field}.topologySpreadConstraints[${index}]`;
    const { maxSkew = 0, topologyKey, whenUnsatisfiable = "" } = constraint;
    const again = constraints
      .slice(index + 1)
      .some(
        (other) =>
          other.topologyKey === topologyKey &&
          (other.whenUnsatisfiable ?? "") === whenUnsatisfiable,
      );
    return joined(
      maxSkew > 0
        ? []
        : [
            fieldErrors.invalid(
              `${path}.maxSkew`,
              maxSkew,
              "must be greater than zero",
            ),
          ],
      topologyKey
        ? []
        : [fieldErrors.required(`${path}.topologyKey`, "can not be empty")],
      unsatisfiable.includes(whenUnsatisfiable)
        ? []
        : [
            fieldErrors.notSupported(
              `${path}.whenUnsatisfiable`,
              whenUnsatisfiable,
              unsatisfiable,
            ),
          ],
      again
        ? [
            fieldErrors.duplicate(
              `${path}.{topologyKey, whenUnsatisfiable}`,
              `{${topologyKey}, ${whenUnsatisfiable}}`,
            ),
          ]
        : [],
      validateMinDomains(`${path}.minDomains`, constraint),
      oneOf(
        `${path}.nodeAffinityPolicy`,
        constraint.nodeAffinityPolicy,
        inclusion,
      ),
      oneOf(`${path}.nodeTaintsPolicy`, constraint.nodeTaintsPolicy, inclusion),
      validateSpreadKeys(`${path}.matchLabelKeys`, constraint),
      labelSelector(`${path}.labelSelector`, constraint.labelSelector),
    );
  });
}
