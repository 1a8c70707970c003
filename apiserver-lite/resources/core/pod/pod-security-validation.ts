// A pod's own security context, and what its operating system and the host's namespaces leave of it.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import type { Container, PodSpec } from "../../../../api/types/core-v1.ts";
import { joined, ofEach, oneOf } from "../../field-checks.ts";
import {
  idInRange,
  validateAppArmor,
  validateSeccomp,
  validateWindows,
} from "../container/container-security.ts";

type Problems = FieldError[];

const maxSysctlLength = 253;
const sysctlSegment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const sysctlName = `(${sysctlSegment}[\\./])*${sysctlSegment}`;
const sysctlPattern = new RegExp(`^${sysctlName}$`);
/** Kernel parameters that belong to a namespace, by the namespace a pod may share with its host. */
const sysctlsOfNamespaces = [
  [/^net\./, "hostNetwork"],
  [/^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/, "hostIPC"],
] as const;

function validateSysctls(field: string, spec: PodSpec): Problems {
  const seen = new Set<string>();
  return ofEach(spec.securityContext?.sysctls, ({ name }, index) => {
    const path = `${field}[${index}].name`;
    if (!name) return [fieldErrors.required(path)];
    if (name.length > maxSysctlLength || !sysctlPattern.test(name))
      return [
        fieldErrors.invalid(
          path,
          name,
          `must have at most ${maxSysctlLength} characters and match regex ^${sysctlName}$`,
        ),
      ];
    if (seen.has(name)) return [fieldErrors.duplicate(path, name)];
    seen.add(name);
    const canonical = name.replaceAll("/", ".");
    return sysctlsOfNamespaces
      .filter(([pattern, shared]) => pattern.test(canonical) && spec[shared])
      .map(([, shared]) =>
        fieldErrors.invalid(
          path,
          name,
          `may not be specified when '${shared}' is true`,
        ),
      );
  });
}

export function validatePodSecurity(field: string, spec: PodSpec): Problems {
  const context = spec.securityContext ?? {};
  const path = `${field}.securityContext`;
  return joined(
    idInRange(`${path}.fsGroup`, context.fsGroup),
    idInRange(`${path}.runAsUser`, context.runAsUser),
    idInRange(`${path}.runAsGroup`, context.runAsGroup),
    ofEach(context.supplementalGroups, (group, index) =>
      idInRange(`${path}.supplementalGroups[${index}]`, group),
    ),
    spec.shareProcessNamespace && spec.hostPID
      ? [
          fieldErrors.invalid(
            `${path}.shareProcessNamespace`,
            true,
            "ShareProcessNamespace and HostPID cannot both be enabled",
          ),
        ]
      : [],
    validateSysctls(`${path}.sysctls`, spec),
    context.fsGroupChangePolicy === undefined
      ? []
      : oneOf(`${path}.fsGroupChangePolicy`, context.fsGroupChangePolicy, [
          "Always",
          "OnRootMismatch",
        ]),
    context.supplementalGroupsPolicy === undefined
      ? []
      : oneOf(
          `${path}.supplementalGroupsPolicy`,
          context.supplementalGroupsPolicy,
          ["Merge", "Strict"],
        ),
    validateSeccomp(`${path}.seccompProfile`, context.seccompProfile),
    validateWindows(`${path}.windowsOptions`, context.windowsOptions),
    validateAppArmor(`${path}.appArmorProfile`, context.appArmorProfile),
  );
}

/** A pod with users of its own has no namespace of the host. The names of fields are the reference's. */
export function validateHostUsers(field: string, spec: PodSpec): Problems {
  if (spec.hostUsers !== false) return [];
  const shared = [
    [spec.hostNetwork, "hostNetwork"],
    [spec.hostPID, "HostPID"],
    [spec.hostIPC, "HostIPC"],
  ] as const;
  return shared
    .filter(([isShared]) => isShared)
    .map(([, name]) =>
      fieldErrors.forbidden(
        `${field}.${name}`,
        "when `pod.Spec.HostUsers` is false",
      ),
    );
}

const containerLists = [
  "initContainers",
  "containers",
  "ephemeralContainers",
] as const;

/** Every container with its field. */
export function containersOf(
  field: string,
  spec: PodSpec,
): [field: string, container: Container][] {
  const all: [string, Container][] = [];
  for (const list of containerLists) {
    const containers = spec[list] ?? [];
    for (let index = 0; index < containers.length; index++)
      all.push([`${field}.${list}[${index}]`, containers[index] as Container]);
  }
  return all;
}

/** Windows containers that are processes of the host: all of a pod's or none, and on the host's network. */
export function validateHostProcesses(field: string, spec: PodSpec): Problems {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const containers = containersOf(field, spec);
  const problems: Problems = [];
  let count = 0;
  for (const [path, { securityContext }] of containers) {
    const own = securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && own !== ofPod)
      problems.push(
        fieldErrors.invalid(
          `${path}.securityContext.windowsOptions.hostProcess`,
          own,
          `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
        ),
      );
    if (own ?? ofPod) count++;
  }
  if (count === 0) return problems;
  if (count !== containers.length)
    problems.push(
      fieldErrors.invalid(
        field,
        "",
        "If pod contains any hostProcess containers then all containers must be HostProcess containers",
      ),
    );
  if (!spec.hostNetwork)
    problems.push(
      fieldErrors.invalid(
        `${field}.hostNetwork`,
        false,
        "hostNetwork must be true if pod contains any hostProcess containers",
      ),
    );
  return problems;
}

/** What says nothing on Windows, in the reference's order: of the pod and of a container's security context. */
const linuxOnlyOfPod = [
  "securityContext.appArmorProfile",
  "securityContext.seLinuxOptions",
  "hostUsers",
  "hostPID",
  "hostIPC",
  "securityContext.seccompProfile",
  "securityContext.fsGroup",
  "securityContext.fsGroupChangePolicy",
  "securityContext.sysctls",
  "shareProcessNamespace",
  "securityContext.runAsUser",
  "securityContext.runAsGroup",
  "securityContext.supplementalGroups",
  "securityContext.supplementalGroupsPolicy",
];
const linuxOnlyOfContainer = [
  "appArmorProfile",
  "seLinuxOptions",
  "seccompProfile",
  "capabilities",
  "readOnlyRootFilesystem",
  "privileged",
  "allowPrivilegeEscalation",
  "procMount",
  "runAsUser",
  "runAsGroup",
];
const systems = ["linux", "windows"];

const valueAt = (object: unknown, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>(
      (value, name) => (value as Record<string, unknown> | undefined)?.[name],
      object,
    );

export function validateOs(field: string, spec: PodSpec): Problems {
  const { os, securityContext } = spec;
  if (!os) return [];
  if (!os.name)
    return [fieldErrors.required(`${field}.os.name`, "cannot be empty")];
  if (!systems.includes(os.name))
    return [fieldErrors.notSupported(`${field}.os`, os.name, systems)];
  const containers = containersOf(field, spec);
  if (os.name === "linux")
    return [
      ...(securityContext?.windowsOptions ? [`${field}.securityContext`] : []),
      ...containers
        .filter(([, container]) => container.securityContext?.windowsOptions)
        .map(([path]) => `${path}.securityContext`),
    ].map((path) =>
      fieldErrors.forbidden(
        `${path}.windowsOptions`,
        "windows options cannot be set for a linux pod",
      ),
    );
  const refuse = (path: string): FieldError =>
    fieldErrors.forbidden(path, "cannot be set for a windows pod");
  return joined(
    linuxOnlyOfPod
      .filter((path) => {
        const value = valueAt(spec, path);
        return path === "hostPID" || path === "hostIPC"
          ? value
          : value !== undefined;
      })
      .map((path) => refuse(`${field}.${path}`)),
    ofEach(containers, ([path, container]) =>
      linuxOnlyOfContainer
        .filter(
          (name) => valueAt(container.securityContext, name) !== undefined,
        )
        .map((name) => refuse(`${path}.securityContext.${name}`)),
    ),
  );
}
