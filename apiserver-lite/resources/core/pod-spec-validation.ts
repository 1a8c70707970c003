// Validation of a pod's spec, for pods and for the templates of every workload. Defaults have been applied before.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  ipProblems,
  qualifiedNameProblems,
} from "../../../api/names.ts";
import type { PodSpec, PodTemplateSpec } from "../../../api/types/core-v1.ts";
import {
  labels,
  nonNegative,
  nonNegativeQuantity,
  oneOf,
} from "../field-checks.ts";
import { validateAnnotations } from "../object-meta.ts";
import {
  duplicateHostPorts,
  validateContainer,
} from "./container-validation.ts";
import { validatePodSecurityContext } from "./pod-security-context-validation.ts";
import {
  validateAffinity,
  validateSpread,
  validateTolerations,
} from "./scheduling-validation.ts";
import { validateVolumes } from "./volume-validation.ts";

type Problems = FieldError[];

function validateContainers(
  field: string,
  spec: PodSpec,
  volumes: ReadonlySet<string>,
): Problems {
  const problems: Problems = [];
  const hostNetwork = spec.hostNetwork ?? false;
  const app = spec.containers ?? [];
  if (app.length === 0)
    problems.push(fieldErrors.required(`${field}.containers`));
  const names = new Set<string>();
  const groups = [
    ["containers", "app", app],
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
      if (target && !app.some(({ name }) => name === target)) {
        problems.push(
          fieldErrors.notFound(`${path}.targetContainerName`, target),
        );
      }
    }
  }
  problems.push(...duplicateHostPorts(`${field}.containers`, app));
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
  problems.push(
    ...validatePodSecurityContext(
      `${field}.securityContext`,
      spec.securityContext,
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
