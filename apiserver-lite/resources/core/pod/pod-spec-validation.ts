// Validation of a pod's spec, for pods and for the templates of every workload. Defaults have been applied before.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  ipProblems,
  qualifiedNameProblems,
} from "../../../../api/names.ts";
import type {
  PodSpec,
  PodTemplateSpec,
} from "../../../../api/types/core-v1.ts";
import { joined, labels, ofEach, oneOf } from "../../field-checks.ts";
import { validateAnnotations } from "../../object-meta.ts";
import { validatePodAnnotations } from "./pod-annotations.ts";
import { validateContainers } from "../container/container-validation.ts";
import {
  validateHostProcesses,
  validateHostUsers,
  validateOs,
  validatePodSecurity,
} from "./pod-security-validation.ts";
import { validatePodResources } from "./pod-resources-validation.ts";
import { validateResources } from "../container/resource-validation.ts";
import {
  validateAffinity,
  validateSpread,
  validateTolerations,
} from "./scheduling-validation.ts";
import { validateVolumes } from "../volume/volume-validation.ts";

type Problems = FieldError[];

const restartPolicies = ["Always", "OnFailure", "Never"];
const dnsPolicies = [
  "ClusterFirstWithHostNet",
  "ClusterFirst",
  "Default",
  "None",
];
const maxNameservers = 3;
const maxSearches = 32;
const maxSearchCharacters = 2048;
const maxInt32 = 2 ** 31 - 1;

function validateDnsConfig(field: string, spec: PodSpec): Problems {
  const { dnsConfig, dnsPolicy } = spec;
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === "None") {
    if (!dnsConfig)
      return [
        fieldErrors.required(
          field,
          "must provide `dnsConfig` when `dnsPolicy` is None",
        ),
      ];
    if (nameservers.length === 0)
      return [
        fieldErrors.required(
          `${field}.nameservers`,
          "must provide at least one DNS nameserver when `dnsPolicy` is None",
        ),
      ];
  }
  const atMost = (
    part: "nameservers" | "searches",
    list: readonly string[],
    fits: boolean,
    what: string,
  ): Problems =>
    fits
      ? []
      : [
          fieldErrors.invalid(
            `${field}.${part}`,
            list,
            `must not have more than ${what}`,
          ),
        ];
  return joined(
    atMost(
      "nameservers",
      nameservers,
      nameservers.length <= maxNameservers,
      `${maxNameservers} nameservers`,
    ),
    ofEach(nameservers, (server, index) =>
      invalidEach(`${field}.nameservers[${index}]`, server, ipProblems(server)),
    ),
    atMost(
      "searches",
      searches,
      searches.length <= maxSearches,
      `${maxSearches} search paths`,
    ),
    atMost(
      "searches",
      searches,
      searches.join(" ").length <= maxSearchCharacters,
      `${maxSearchCharacters} characters (including spaces) in the search list`,
    ),
    ofEach(searches, (search, index) => {
      const bare = search.replace(/\.$/, "");
      return invalidEach(
        `${field}.searches[${index}]`,
        bare,
        dnsSubdomainProblems(bare),
      );
    }),
    ofEach(options, ({ name }, index) =>
      name
        ? []
        : [
            fieldErrors.required(
              `${field}.options[${index}]`,
              "must not be empty",
            ),
          ],
    ),
  );
}

/** On the host's network a port of the host is the container's own; templates may leave it to the pod's defaults. */
function validateHostNetworkPorts(
  field: string,
  spec: PodSpec,
  isPod: boolean,
): Problems {
  if (!spec.hostNetwork) return [];
  return ofEach(spec.containers, ({ ports }, at) =>
    ofEach(ports, ({ containerPort, hostPort = 0 }, index) =>
      hostPort === containerPort || (!isPod && hostPort === 0)
        ? []
        : [
            fieldErrors.invalid(
              `${field}.containers[${at}].ports[${index}].hostPort`,
              hostPort,
              "must match `containerPort` when `hostNetwork` is true",
            ),
          ],
    ),
  );
}

function validateGates(field: string, spec: PodSpec): Problems {
  const seen = new Set<string>();
  return joined(
    ofEach(spec.readinessGates, ({ conditionType = "" }, index) =>
      invalidEach(
        `${field}.readinessGates[${index}].conditionType`,
        conditionType,
        qualifiedNameProblems(conditionType),
      ),
    ),
    ofEach(spec.schedulingGates, ({ name = "" }, index) => {
      const path = `${field}.schedulingGates[${index}]`;
      const again = seen.has(name);
      seen.add(name);
      return [
        ...invalidEach(path, name, qualifiedNameProblems(name)),
        ...(again ? [fieldErrors.duplicate(path, name)] : []),
      ];
    }),
  );
}

function validateHostAliases(field: string, spec: PodSpec): Problems {
  return ofEach(spec.hostAliases, ({ ip = "", hostnames }, index) => [
    ...invalidEach(`${field}[${index}].ip`, ip, ipProblems(ip)),
    ...ofEach(hostnames, (host, at) =>
      invalidEach(
        `${field}[${index}].hostnames[${at}]`,
        host,
        dnsSubdomainProblems(host),
      ),
    ),
  ]);
}

/** A name that need not be there. */
function validateName(
  field: string,
  spec: PodSpec,
  name:
    | "serviceAccountName"
    | "nodeName"
    | "hostname"
    | "subdomain"
    | "priorityClassName"
    | "runtimeClassName",
  problemsOf: (text: string) => string[] = dnsSubdomainProblems,
): Problems {
  const value = spec[name];
  return value ? invalidEach(`${field}.${name}`, value, problemsOf(value)) : [];
}

interface PodSpecRules {
  /** The name of the pod; undefined for a template, for which some checks are left out. */
  readonly podName?: string;
}

/** `field` is "spec" for a pod and "spec.template.spec" for a template. */
export function validatePodSpec(
  field: string,
  spec: PodSpec,
  { podName }: PodSpecRules = {},
): Problems {
  const { problems, byName } = validateVolumes(
    `${field}.volumes`,
    spec.volumes,
    podName ?? "",
  );
  const deadline = spec.activeDeadlineSeconds;
  return joined(
    problems,
    validateContainers(field, spec, byName),
    validatePodResources(field, spec),
    validateHostNetworkPorts(field, spec, podName !== undefined),
    oneOf(`${field}.restartPolicy`, spec.restartPolicy, restartPolicies, true),
    oneOf(`${field}.dnsPolicy`, spec.dnsPolicy, dnsPolicies, true),
    labels(`${field}.nodeSelector`, spec.nodeSelector),
    validatePodSecurity(field, spec),
    spec.affinity ? validateAffinity(`${field}.affinity`, spec.affinity) : [],
    validateDnsConfig(`${field}.dnsConfig`, spec),
    validateGates(field, spec),
    validateSpread(field, spec),
    validateHostProcesses(field, spec),
    validateHostUsers(field, spec),
    validateName(field, spec, "serviceAccountName"),
    validateName(field, spec, "nodeName"),
    deadline !== undefined && (deadline < 1 || deadline > maxInt32)
      ? [
          fieldErrors.invalid(
            `${field}.activeDeadlineSeconds`,
            deadline,
            `must be between 1 and ${maxInt32}, inclusive`,
          ),
        ]
      : [],
    validateName(field, spec, "hostname", dnsLabelProblems),
    validateName(field, spec, "subdomain", dnsLabelProblems),
    validateTolerations(`${field}.tolerations`, spec.tolerations ?? []),
    validateHostAliases(`${field}.hostAliases`, spec),
    validateName(field, spec, "priorityClassName"),
    validateName(field, spec, "runtimeClassName"),
    oneOf(`${field}.preemptionPolicy`, spec.preemptionPolicy, [
      "PreemptLowerPriority",
      "Never",
    ]),
    validateResources(`${field}.overhead`, { limits: spec.overhead ?? {} }),
    validateOs(field, spec),
  );
}

/** A workload's template: its labels must match the workload's selector, which the workload checks. */
export function validatePodTemplate(
  field: string,
  template: PodTemplateSpec,
): Problems {
  const { metadata, spec } = template;
  const annotations = `${field}.annotations`;
  const problems = [
    ...labels(`${field}.labels`, metadata?.labels),
    ...validateAnnotations(metadata?.annotations, annotations),
    ...validatePodAnnotations(annotations, metadata?.annotations, spec),
    ...validatePodSpec(`${field}.spec`, spec ?? ({} as PodSpec)),
  ];
  if (spec?.ephemeralContainers?.length)
    problems.push(
      fieldErrors.forbidden(
        `${field}.spec.ephemeralContainers`,
        "ephemeral containers not allowed in pod template",
      ),
    );
  return problems;
}
