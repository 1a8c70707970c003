// Validation of the containers of a pod or pod template: what every container has in this order, then what its kind may
// have: probes and hooks for those that stay, none for those that end, next to nothing for ephemeral ones.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  portNameProblems,
  portNumberProblems,
} from "../../../../api/names.ts";
import type {
  Container,
  ContainerPort,
  EphemeralContainer,
  PodSpec,
} from "../../../../api/types/core-v1.ts";
import { joined, ofEach, oneOf } from "../../field-checks.ts";
import {
  validateDevices,
  validateEnv,
  validateEnvFrom,
  validateMounts,
  type Volumes,
} from "./container-environment.ts";
import { validateSecurityContext } from "./container-security.ts";
import { validateLifecycle, validateProbe } from "./probe-validation.ts";
import {
  refuseResizePolicy,
  validateResizePolicy,
} from "./resize-policy-validation.ts";
import { validateResources } from "./resource-validation.ts";

type Problems = FieldError[];

const protocols = ["SCTP", "TCP", "UDP"];
const messagePolicies = ["File", "FallbackToLogsOnError"];
const probes = ["livenessProbe", "readinessProbe", "startupProbe"] as const;

function validatePorts(
  field: string,
  ports: readonly ContainerPort[],
): Problems {
  const names = new Set<string>();
  return ofEach(ports, (port, index) => {
    const path = `${field}[${index}]`;
    const { name, containerPort, hostPort } = port;
    const problems: Problems = [];
    if (name) {
      const bad = portNameProblems(name);
      problems.push(...invalidEach(`${path}.name`, name, bad));
      if (bad.length === 0 && names.has(name))
        problems.push(fieldErrors.duplicate(`${path}.name`, name));
      if (bad.length === 0) names.add(name);
    }
    return joined(
      problems,
      containerPort
        ? invalidEach(
            `${path}.containerPort`,
            containerPort,
            portNumberProblems(containerPort),
          )
        : [fieldErrors.required(`${path}.containerPort`)],
      hostPort
        ? invalidEach(
            `${path}.hostPort`,
            hostPort,
            portNumberProblems(hostPort),
          )
        : [],
      oneOf(`${path}.protocol`, port.protocol, protocols, true),
    );
  });
}

/** What all kinds of containers have. */
function validateCommon(
  field: string,
  container: Container,
  volumes: Volumes,
  { restartPolicy, hostUsers = true }: PodSpec,
): Problems {
  const { name, image } = container;
  return joined(
    name
      ? invalidEach(`${field}.name`, name, dnsLabelProblems(name))
      : [fieldErrors.required(`${field}.name`)],
    image ? [] : [fieldErrors.required(`${field}.image`)],
    oneOf(
      `${field}.terminationMessagePolicy`,
      container.terminationMessagePolicy,
      messagePolicies,
      true,
    ),
    validatePorts(`${field}.ports`, container.ports ?? []),
    validateEnv(`${field}.env`, container.env ?? []),
    validateEnvFrom(`${field}.envFrom`, container.envFrom ?? []),
    validateMounts(`${field}.volumeMounts`, container, volumes),
    validateDevices(`${field}.volumeDevices`, container, volumes),
    oneOf(
      `${field}.imagePullPolicy`,
      container.imagePullPolicy,
      ["Always", "IfNotPresent", "Never"],
      true,
    ),
    validateResources(`${field}.resources`, container.resources),
    validateResizePolicy(
      `${field}.resizePolicy`,
      container.resizePolicy,
      restartPolicy,
    ),
    validateSecurityContext(
      `${field}.securityContext`,
      container.securityContext,
      hostUsers,
    ),
  );
}

/** Hooks and probes of a container that is kept running. */
function validateLife(
  field: string,
  container: Container,
  graceSeconds: number,
): Problems {
  return joined(
    validateLifecycle(`${field}.lifecycle`, container.lifecycle, graceSeconds),
    ofEach(probes, (kind) =>
      validateProbe(field, kind, container[kind], graceSeconds),
    ),
  );
}

/** Ports of the host are used once among the containers: `Duplicate value: "TCP//8080"`. */
function duplicateHostPorts(
  containers: readonly Container[],
  fieldOf: (index: number) => string,
): Problems {
  const seen = new Set<string>();
  return ofEach(containers, (container, at) =>
    ofEach(container.ports, (port, index) => {
      if (!port.hostPort) return [];
      const identity = `${port.protocol ?? "TCP"}/${port.hostIP ?? ""}/${port.hostPort}`;
      if (seen.has(identity))
        return [
          fieldErrors.duplicate(
            `${fieldOf(at)}.ports[${index}].hostPort`,
            identity,
          ),
        ];
      seen.add(identity);
      return [];
    }),
  );
}

function validateApps(
  field: string,
  spec: PodSpec,
  volumes: Volumes,
  graceSeconds: number,
): Problems {
  const { containers } = spec;
  if (!containers?.length) return [fieldErrors.required(field)];
  const names = new Set<string>();
  const problems = ofEach(containers, (container, index) => {
    const path = `${field}[${index}]`;
    const { name } = container;
    const taken = names.has(name);
    names.add(name);
    return joined(
      validateCommon(path, container, volumes, spec),
      taken ? [fieldErrors.duplicate(`${path}.name`, name)] : [],
      validateLife(path, container, graceSeconds),
      container.restartPolicy === undefined
        ? []
        : [
            fieldErrors.forbidden(
              `${path}.restartPolicy`,
              "may not be set for non-init containers",
            ),
          ],
    );
  });
  return joined(
    problems,
    duplicateHostPorts(containers, (index) => `${field}[${index}]`),
  );
}

/** Init containers run one by one, and stay only with a restart policy of their own. */
function validateInits(
  field: string,
  spec: PodSpec,
  volumes: Volumes,
  graceSeconds: number,
): Problems {
  const { containers, initContainers } = spec;
  const names = new Set((containers ?? []).map(({ name }) => name));
  return ofEach(initContainers, (container, index) => {
    const path = `${field}[${index}]`;
    const { name, restartPolicy } = container;
    const taken = names.has(name);
    if (name) names.add(name);
    return joined(
      validateCommon(path, container, volumes, spec),
      restartPolicy === undefined || restartPolicy === "Always"
        ? []
        : [
            fieldErrors.notSupported(`${path}.restartPolicy`, restartPolicy, [
              "Always",
            ]),
          ],
      taken ? [fieldErrors.duplicate(`${path}.name`, name)] : [],
      duplicateHostPorts([container], () => `${field}[0]`),
      restartPolicy === "Always"
        ? validateLife(path, container, graceSeconds)
        : (["lifecycle", ...probes] as const)
            .filter((part) => container[part])
            .map((part) =>
              fieldErrors.forbidden(
                `${path}.${part}`,
                "may not be set for init containers without restartPolicy=Always",
              ),
            ),
      refuseResizePolicy(path, container),
    );
  });
}

const notForEphemeral = "cannot be set for an Ephemeral Container";
/** In the order in which the reference finds them. */
const refusedFields = [
  "ports",
  "resources",
  "resizePolicy",
  "restartPolicy",
  ...probes,
  "lifecycle",
] as const;

/** Empty lists and empty resources are as good as none; probes and hooks that say nothing are there. */
const isSet = (
  container: Container,
  part: (typeof refusedFields)[number],
): boolean => {
  const value = container[part];
  if (value === undefined || value === null) return false;
  return part === "resources" || Array.isArray(value)
    ? Object.keys(value).length > 0
    : true;
};

function validateEphemeral(
  field: string,
  spec: PodSpec,
  volumes: Volumes,
): Problems {
  const { containers, initContainers, ephemeralContainers } = spec;
  const targets = new Set(
    [...(containers ?? []), ...(initContainers ?? [])].map(({ name }) => name),
  );
  const names = new Set(targets);
  return ofEach(ephemeralContainers, (ephemeral, index) => {
    const path = `${field}[${index}]`;
    const container = ephemeral as EphemeralContainer & Container;
    const { name, targetContainerName: target } = ephemeral;
    const taken = names.has(name);
    names.add(name);
    return joined(
      validateCommon(path, container, volumes, spec),
      validateImagePadding(path, container),
      taken ? [fieldErrors.duplicate(`${path}.name`, name)] : [],
      target && !targets.has(target)
        ? [fieldErrors.notFound(`${path}.targetContainerName`, target)]
        : [],
      refusedFields
        .filter((part) => isSet(container, part))
        .map((part) =>
          fieldErrors.forbidden(`${path}.${part}`, notForEphemeral),
        ),
      ofEach(container.volumeMounts, (mount, at) =>
        (["subPath", "subPathExpr"] as const)
          .filter((part) => mount[part])
          .map((part) =>
            fieldErrors.forbidden(
              `${path}.volumeMounts[${at}].${part}`,
              notForEphemeral,
            ),
          ),
      ),
    );
  });
}

/** Pods are stricter than templates, whose images may be filled in later. */
export function validateImagePadding(
  field: string,
  { image = "" }: Container,
): Problems {
  return image.trim() === image
    ? []
    : [
        fieldErrors.invalid(
          `${field}.image`,
          image,
          "must not have leading or trailing whitespace",
        ),
      ];
}

/** `field` is the spec's. */
export function validateContainers(
  field: string,
  spec: PodSpec,
  volumes: Volumes,
): Problems {
  const graceSeconds = spec.terminationGracePeriodSeconds ?? 0;
  return joined(
    validateApps(`${field}.containers`, spec, volumes, graceSeconds),
    validateInits(`${field}.initContainers`, spec, volumes, graceSeconds),
    validateEphemeral(`${field}.ephemeralContainers`, spec, volumes),
  );
}
