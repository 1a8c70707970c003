// Validation of a pod's spec, for pods and for the templates of every workload. Defaults have been applied before.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  ipProblems,
  labelKeyProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from "../../../api/names.ts";
import type {
  Affinity,
  NodeSelectorTerm,
  PodAffinityTerm,
  PodSpec,
  PodTemplateSpec,
  Toleration,
} from "../../../api/types/core-v1.ts";
import {
  labels,
  labelSelector,
  nonNegative,
  nonNegativeQuantity,
  oneOf,
} from "../field-checks.ts";
import { validateAnnotations } from "../object-meta.ts";
import {
  duplicateHostPorts,
  validateContainer,
} from "./container-validation.ts";
import { validateVolumes } from "./volume-validation.ts";

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

function validateAffinity(field: string, affinity: Affinity): Problems {
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

function validateContainers(
  field: string,
  spec: PodSpec,
  volumes: ReadonlySet<string>,
): Problems {
  const problems: Problems = [];
  const hostNetwork = spec.hostNetwork ?? false;
  if (spec.containers.length === 0)
    problems.push(fieldErrors.required(`${field}.containers`));
  const names = new Set<string>();
  const groups = [
    ["containers", "app", spec.containers],
    ["initContainers", "init", spec.initContainers ?? []],
    ["ephemeralContainers", "ephemeral", spec.ephemeralContainers ?? []],
  ] as const;
  for (const [part, kind, containers] of groups) {
    for (const [index, container] of containers.entries()) {
      const path = `${field}.${part}[${index}]`;
      problems.push(
        ...validateContainer(path, container, { kind, volumes, hostNetwork }),
      );
      if (names.has(container.name))
        problems.push(fieldErrors.duplicate(`${path}.name`, container.name));
      names.add(container.name);
      const target =
        "targetContainerName" in container
          ? container.targetContainerName
          : undefined;
      if (target && !spec.containers.some(({ name }) => name === target)) {
        problems.push(
          fieldErrors.notFound(`${path}.targetContainerName`, target),
        );
      }
    }
  }
  problems.push(...duplicateHostPorts(`${field}.containers`, spec.containers));
  return problems;
}

function validateDns(field: string, spec: PodSpec): Problems {
  const problems = oneOf(
    `${field}.dnsPolicy`,
    spec.dnsPolicy,
    ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"],
    true,
  );
  const { nameservers = [], searches = [] } = spec.dnsConfig ?? {};
  const path = `${field}.dnsConfig`;
  if (spec.dnsPolicy === "None") {
    if (!spec.dnsConfig) {
      problems.push(
        fieldErrors.required(
          path,
          "must provide `dnsConfig` when `dnsPolicy` is None",
        ),
      );
    } else if (nameservers.length === 0) {
      problems.push(
        fieldErrors.required(
          `${path}.nameservers`,
          "must provide at least one DNS nameserver when `dnsPolicy` is None",
        ),
      );
    }
  }
  if (nameservers.length > 3) {
    problems.push(
      fieldErrors.invalid(
        `${path}.nameservers`,
        nameservers,
        "must not have more than 3 nameservers",
      ),
    );
  }
  for (const [index, server] of nameservers.entries()) {
    problems.push(
      ...invalidEach(
        `${path}.nameservers[${index}]`,
        server,
        ipProblems(server),
      ),
    );
  }
  if (searches.length > 32) {
    problems.push(
      fieldErrors.invalid(
        `${path}.searches`,
        searches,
        "must not have more than 32 search paths",
      ),
    );
  }
  for (const [index, search] of searches.entries()) {
    const bare = search.replace(/\.$/, "");
    if (bare !== "")
      problems.push(
        ...invalidEach(
          `${path}.searches[${index}]`,
          search,
          dnsSubdomainProblems(bare),
        ),
      );
  }
  return problems;
}

function validateSpread(field: string, spec: PodSpec): Problems {
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

/** `field` is "spec" for a pod and "spec.template.spec" for a template. */
export function validatePodSpec(field: string, spec: PodSpec): Problems {
  const { problems, names: volumes } = validateVolumes(
    `${field}.volumes`,
    spec.volumes,
  );
  problems.push(...validateContainers(field, spec, volumes));
  problems.push(
    ...oneOf(
      `${field}.restartPolicy`,
      spec.restartPolicy,
      ["Always", "Never", "OnFailure"],
      true,
    ),
  );
  problems.push(...validateDns(field, spec));
  problems.push(...labels(`${field}.nodeSelector`, spec.nodeSelector));
  if (spec.hostNetwork === true && spec.hostUsers === false) {
    problems.push(
      fieldErrors.forbidden(
        `${field}.hostNetwork`,
        "when `hostUsers` is false",
      ),
    );
  }
  for (const [index, secret] of (spec.imagePullSecrets ?? []).entries()) {
    if (!secret.name)
      problems.push(
        fieldErrors.required(`${field}.imagePullSecrets[${index}].name`),
      );
  }
  if (spec.affinity)
    problems.push(...validateAffinity(`${field}.affinity`, spec.affinity));
  problems.push(
    ...validateTolerations(`${field}.tolerations`, spec.tolerations ?? []),
  );
  problems.push(...validateSpread(field, spec));
  for (const [index, alias] of (spec.hostAliases ?? []).entries()) {
    const path = `${field}.hostAliases[${index}]`;
    problems.push(...invalidEach(`${path}.ip`, alias.ip, ipProblems(alias.ip)));
    for (const [at, host] of (alias.hostnames ?? []).entries()) {
      problems.push(
        ...invalidEach(
          `${path}.hostnames[${at}]`,
          host,
          dnsSubdomainProblems(host),
        ),
      );
    }
  }
  for (const name of [
    "serviceAccountName",
    "nodeName",
    "priorityClassName",
    "runtimeClassName",
  ] as const) {
    const value = spec[name];
    if (value)
      problems.push(
        ...invalidEach(`${field}.${name}`, value, dnsSubdomainProblems(value)),
      );
  }
  for (const name of ["hostname", "subdomain"] as const) {
    const value = spec[name];
    if (value)
      problems.push(
        ...invalidEach(`${field}.${name}`, value, dnsLabelProblems(value)),
      );
  }
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && (deadline < 1 || deadline > 2147483647)) {
    problems.push(
      fieldErrors.invalid(
        `${field}.activeDeadlineSeconds`,
        deadline,
        "must be between 1 and 2147483647, inclusive",
      ),
    );
  }
  problems.push(
    ...nonNegative(
      `${field}.terminationGracePeriodSeconds`,
      spec.terminationGracePeriodSeconds,
    ),
  );
  for (const [index, gate] of (spec.schedulingGates ?? []).entries()) {
    problems.push(
      ...invalidEach(
        `${field}.schedulingGates[${index}]`,
        gate.name,
        qualifiedNameProblems(gate.name),
      ),
    );
  }
  for (const [name, value] of Object.entries(spec.overhead ?? {})) {
    problems.push(...nonNegativeQuantity(`${field}.overhead[${name}]`, value));
  }
  return problems;
}

/** A workload's template: its labels must match the workload's selector, which the workload checks. */
export function validatePodTemplate(
  field: string,
  template: PodTemplateSpec,
): Problems {
  const problems = [
    ...labels(`${field}.labels`, template.metadata?.labels),
    ...validateAnnotations(
      template.metadata?.annotations,
      `${field}.annotations`,
    ),
  ];
  if (!template.spec)
    return [...problems, fieldErrors.required(`${field}.spec.containers`)];
  problems.push(...validatePodSpec(`${field}.spec`, template.spec));
  if ((template.spec.ephemeralContainers?.length ?? 0) > 0) {
    problems.push(
      fieldErrors.forbidden(
        `${field}.spec.ephemeralContainers`,
        "ephemeral containers not allowed in pod template",
      ),
    );
  }
  return problems;
}
