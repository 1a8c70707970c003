// Validation of one container of a pod or pod template: name, image, ports, and the parts in the files beside this.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  portNameProblems,
  portNumberProblems,
} from "../../../api/names.ts";
import type { Container, ContainerPort } from "../../../api/types/core-v1.ts";
import { oneOf } from "../field-checks.ts";
import {
  validateEnv,
  validateEnvFrom,
  validateMounts,
} from "./container-environment.ts";
import { validateHandler, validateProbe } from "./probe-validation.ts";
import { validateResources } from "./resource-validation.ts";

type Problems = FieldError[];

const protocols = ["SCTP", "TCP", "UDP"];

function validatePorts(
  field: string,
  ports: readonly ContainerPort[],
  hostNetwork: boolean,
): Problems {
  const problems: Problems = [];
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const path = `${field}[${index}]`;
    if (port.name) {
      const bad = invalidEach(
        `${path}.name`,
        port.name,
        portNameProblems(port.name),
      );
      problems.push(...bad);
      if (bad.length === 0 && names.has(port.name))
        problems.push(fieldErrors.duplicate(`${path}.name`, port.name));
      names.add(port.name);
    }
    if (!port.containerPort)
      problems.push(fieldErrors.required(`${path}.containerPort`));
    else {
      problems.push(
        ...invalidEach(
          `${path}.containerPort`,
          port.containerPort,
          portNumberProblems(port.containerPort),
        ),
      );
    }
    if (port.hostPort) {
      problems.push(
        ...invalidEach(
          `${path}.hostPort`,
          port.hostPort,
          portNumberProblems(port.hostPort),
        ),
      );
      if (hostNetwork && port.hostPort !== port.containerPort) {
        problems.push(
          fieldErrors.invalid(
            `${path}.containerPort`,
            port.containerPort,
            "must match `hostPort` when `hostNetwork` is true",
          ),
        );
      }
    }
    problems.push(...oneOf(`${path}.protocol`, port.protocol, protocols, true));
  }
  return problems;
}

export interface ContainerRules {
  readonly kind: "app" | "init" | "ephemeral";
  readonly volumes: ReadonlySet<string>;
  readonly hostNetwork: boolean;
}

const notForInit =
  "may not be set for init containers without restartPolicy=Always";

export function validateContainer(
  field: string,
  container: Container,
  rules: ContainerRules,
): Problems {
  const problems: Problems = [];
  if (!container.name) problems.push(fieldErrors.required(`${field}.name`));
  else
    problems.push(
      ...invalidEach(
        `${field}.name`,
        container.name,
        dnsLabelProblems(container.name),
      ),
    );
  if (!container.image) problems.push(fieldErrors.required(`${field}.image`));
  else if (container.image.trim() !== container.image) {
    problems.push(
      fieldErrors.invalid(
        `${field}.image`,
        container.image,
        "must not have leading or trailing whitespace",
      ),
    );
  }
  problems.push(
    ...validatePorts(
      `${field}.ports`,
      container.ports ?? [],
      rules.hostNetwork,
    ),
  );
  problems.push(...validateEnv(`${field}.env`, container.env ?? []));
  problems.push(
    ...validateEnvFrom(`${field}.envFrom`, container.envFrom ?? []),
  );
  problems.push(
    ...validateMounts(
      `${field}.volumeMounts`,
      container.volumeMounts ?? [],
      rules.volumes,
    ),
  );
  problems.push(
    ...oneOf(
      `${field}.imagePullPolicy`,
      container.imagePullPolicy,
      ["Always", "IfNotPresent", "Never"],
      true,
    ),
  );
  problems.push(
    ...oneOf(
      `${field}.terminationMessagePolicy`,
      container.terminationMessagePolicy,
      ["FallbackToLogsOnError", "File"],
      rules.kind !== "ephemeral",
    ),
  );
  problems.push(
    ...validateResources(`${field}.resources`, container.resources),
  );
  problems.push(...validateLife(field, container, rules));
  const security = container.securityContext;
  if (security?.privileged && security.allowPrivilegeEscalation === false) {
    problems.push(
      fieldErrors.invalid(
        `${field}.securityContext`,
        security,
        "cannot set `allowPrivilegeEscalation` to false and `privileged` to true",
      ),
    );
  }
  for (const name of ["runAsUser", "runAsGroup"] as const) {
    const id = security?.[name];
    if (id !== undefined && (id < 0 || id > 2147483647)) {
      problems.push(
        fieldErrors.invalid(
          `${field}.securityContext.${name}`,
          id,
          "must be between 0 and 2147483647, inclusive",
        ),
      );
    }
  }
  return problems;
}

/** Probes, hooks and restart policy, which init containers have only as sidecars. */
function validateLife(
  field: string,
  container: Container,
  rules: ContainerRules,
): Problems {
  const problems: Problems = [];
  if (rules.kind === "app" && container.restartPolicy) {
    problems.push(
      fieldErrors.forbidden(
        `${field}.restartPolicy`,
        "may not be set for non-init containers",
      ),
    );
  }
  if (rules.kind === "ephemeral") {
    for (const name of [
      "lifecycle",
      "livenessProbe",
      "readinessProbe",
      "startupProbe",
      "ports",
      "resources",
    ] as const) {
      const value = container[name];
      if (value && Object.keys(value).length > 0) {
        problems.push(
          fieldErrors.forbidden(
            `${field}.${name}`,
            "cannot be set for an Ephemeral Container",
          ),
        );
      }
    }
    return problems;
  }
  if (rules.kind === "init") {
    problems.push(
      ...oneOf(`${field}.restartPolicy`, container.restartPolicy, ["Always"]),
    );
    if (!container.restartPolicy) {
      for (const name of [
        "lifecycle",
        "livenessProbe",
        "readinessProbe",
        "startupProbe",
      ] as const) {
        if (container[name])
          problems.push(fieldErrors.forbidden(`${field}.${name}`, notForInit));
      }
      return problems;
    }
  }
  if (container.lifecycle?.postStart) {
    problems.push(
      ...validateHandler(
        `${field}.lifecycle.postStart`,
        container.lifecycle.postStart,
      ),
    );
  }
  if (container.lifecycle?.preStop) {
    problems.push(
      ...validateHandler(
        `${field}.lifecycle.preStop`,
        container.lifecycle.preStop,
      ),
    );
  }
  problems.push(
    ...validateProbe(`${field}.livenessProbe`, container.livenessProbe, true),
  );
  problems.push(
    ...validateProbe(
      `${field}.readinessProbe`,
      container.readinessProbe,
      false,
    ),
  );
  problems.push(
    ...validateProbe(`${field}.startupProbe`, container.startupProbe, true),
  );
  return problems;
}

/** Ports of the host are used once a pod: `Duplicate value: "TCP//8080"`. */
export function duplicateHostPorts(
  field: string,
  containers: readonly Container[],
): Problems {
  const problems: Problems = [];
  const seen = new Set<string>();
  for (const [at, container] of containers.entries()) {
    for (const [index, port] of (container.ports ?? []).entries()) {
      if (!port.hostPort) continue;
      const identity = `${port.protocol ?? "TCP"}/${port.hostIP ?? ""}/${port.hostPort}`;
      if (seen.has(identity)) {
        problems.push(
          fieldErrors.duplicate(
            `${field}[${at}].ports[${index}].hostPort`,
            identity,
          ),
        );
      }
      seen.add(identity);
    }
  }
  return problems;
}
