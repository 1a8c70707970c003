// Validation of one container of a pod or pod template: names, image, ports, environment, mounts, probes, resources.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dataKeyProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  envNameProblems,
  httpHeaderProblems,
  portNameProblems,
  portNumberProblems,
  qualifiedNameProblems,
} from "../../../api/names.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type {
  Container,
  ContainerPort,
  EnvFromSource,
  EnvVar,
  LifecycleHandler,
  Probe,
  ResourceRequirements,
  VolumeMount,
} from "../../../api/types/core-v1.ts";
import { nonNegative, oneOf, quantity } from "../field-checks.ts";

type Problems = FieldError[];

const protocols = ["SCTP", "TCP", "UDP"];
const downwardEnvFields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
const standardResources = new Set(["cpu", "memory", "ephemeral-storage"]);

export function validateResourceName(field: string, name: string): Problems {
  const problems = invalidEach(field, name, qualifiedNameProblems(name));
  if (
    problems.length === 0 &&
    !name.includes("/") &&
    !standardResources.has(name) &&
    !name.startsWith("hugepages-")
  ) {
    problems.push(
      fieldErrors.invalid(
        field,
        name,
        "must be a standard resource for containers",
      ),
    );
  }
  return problems;
}

export function validateResources(
  field: string,
  resources: ResourceRequirements | undefined,
): Problems {
  const problems: Problems = [];
  const { limits = {}, requests = {} } = resources ?? {};
  const good = new Set<string>();
  for (const [part, list] of [
    ["limits", limits] as const,
    ["requests", requests] as const,
  ]) {
    for (const [name, value] of Object.entries(list)) {
      const path = `${field}.${part}[${name}]`;
      problems.push(...validateResourceName(path, name));
      const parsed = quantity(path, value);
      if (!("nano" in parsed)) problems.push(parsed);
      else if (parsed.nano < 0n) {
        problems.push(
          fieldErrors.invalid(
            path,
            String(value),
            "must be greater than or equal to 0",
          ),
        );
      } else good.add(`${part}.${name}`);
    }
  }
  for (const [name, request] of Object.entries(requests)) {
    const limit = limits[name];
    const bounded = good.has(`limits.${name}`) && good.has(`requests.${name}`);
    const isStandard = standardResources.has(name);
    if (limit !== undefined && bounded) {
      if (!isStandard && compareQuantities(request, limit) !== 0) {
        problems.push(
          fieldErrors.invalid(
            `${field}.requests`,
            String(request),
            `must be equal to ${name} limit of ${limit}`,
          ),
        );
      } else if (compareQuantities(request, limit) > 0) {
        problems.push(
          fieldErrors.invalid(
            `${field}.requests`,
            String(request),
            `must be less than or equal to ${name} limit of ${limit}`,
          ),
        );
      }
    } else if (limit === undefined && !isStandard) {
      problems.push(
        fieldErrors.required(
          `${field}.limits`,
          "Limit must be set for non overcommitable resources",
        ),
      );
    }
  }
  return problems;
}

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

function keyReference(
  field: string,
  reference: { name?: string; key: string },
): Problems {
  const problems: Problems = [];
  if (!reference.name) problems.push(fieldErrors.required(`${field}.name`));
  if (!reference.key) problems.push(fieldErrors.required(`${field}.key`));
  else
    problems.push(
      ...invalidEach(
        `${field}.key`,
        reference.key,
        dataKeyProblems(reference.key),
      ),
    );
  return problems;
}

function validateEnv(field: string, env: readonly EnvVar[]): Problems {
  const problems: Problems = [];
  for (const [index, { name, value, valueFrom }] of env.entries()) {
    const path = `${field}[${index}]`;
    if (!name) problems.push(fieldErrors.required(`${path}.name`));
    else
      problems.push(
        ...invalidEach(`${path}.name`, name, envNameProblems(name)),
      );
    if (!valueFrom) continue;
    const from = `${path}.valueFrom`;
    let sources = 0;
    if (valueFrom.fieldRef) {
      sources++;
      const { apiVersion, fieldPath } = valueFrom.fieldRef;
      if (!apiVersion)
        problems.push(fieldErrors.required(`${from}.fieldRef.apiVersion`));
      if (!fieldPath)
        problems.push(fieldErrors.required(`${from}.fieldRef.fieldPath`));
      else if (
        !/^metadata\.(labels|annotations)\['.*'\]$/.test(fieldPath) &&
        !downwardEnvFields.includes(fieldPath)
      ) {
        problems.push(
          fieldErrors.notSupported(
            `${from}.fieldRef.fieldPath`,
            fieldPath,
            downwardEnvFields,
          ),
        );
      }
    }
    if (valueFrom.resourceFieldRef) {
      sources++;
      if (!valueFrom.resourceFieldRef.resource)
        problems.push(
          fieldErrors.required(`${from}.resourceFieldRef.resource`),
        );
    }
    if (valueFrom.configMapKeyRef) {
      sources++;
      problems.push(
        ...keyReference(`${from}.configMapKeyRef`, valueFrom.configMapKeyRef),
      );
    }
    if (valueFrom.secretKeyRef) {
      sources++;
      problems.push(
        ...keyReference(`${from}.secretKeyRef`, valueFrom.secretKeyRef),
      );
    }
    if (sources === 0) {
      problems.push(
        fieldErrors.invalid(
          from,
          "",
          "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`",
        ),
      );
    } else if (value) {
      problems.push(
        fieldErrors.invalid(
          from,
          "",
          "may not be specified when `value` is not empty",
        ),
      );
    } else if (sources > 1) {
      problems.push(
        fieldErrors.invalid(
          from,
          "",
          "may not have more than one field specified at a time",
        ),
      );
    }
  }
  return problems;
}

function validateEnvFrom(
  field: string,
  sources: readonly EnvFromSource[],
): Problems {
  const problems: Problems = [];
  for (const [
    index,
    { prefix, configMapRef, secretRef },
  ] of sources.entries()) {
    const path = `${field}[${index}]`;
    if (prefix)
      problems.push(
        ...invalidEach(`${path}.prefix`, prefix, envNameProblems(prefix)),
      );
    if (configMapRef && !configMapRef.name)
      problems.push(fieldErrors.required(`${path}.configMapRef.name`));
    if (secretRef && !secretRef.name)
      problems.push(fieldErrors.required(`${path}.secretRef.name`));
    if (!configMapRef && !secretRef) {
      problems.push(
        fieldErrors.invalid(
          path,
          "",
          "must specify one of: `configMapRef` or `secretRef`",
        ),
      );
    } else if (configMapRef && secretRef) {
      problems.push(
        fieldErrors.invalid(
          path,
          "",
          "may not have more than one field specified at a time",
        ),
      );
    }
  }
  return problems;
}

export function validateRelativePath(field: string, path: string): Problems {
  const problems: Problems = [];
  if (path.startsWith("/"))
    problems.push(fieldErrors.invalid(field, path, "must be a relative path"));
  if (path.split("/").includes(".."))
    problems.push(fieldErrors.invalid(field, path, "must not contain '..'"));
  return problems;
}

function validateMounts(
  field: string,
  mounts: readonly VolumeMount[],
  volumes: ReadonlySet<string>,
): Problems {
  const problems: Problems = [];
  const paths = new Set<string>();
  for (const [index, mount] of mounts.entries()) {
    const path = `${field}[${index}]`;
    if (!mount.name) problems.push(fieldErrors.required(`${path}.name`));
    else if (!volumes.has(mount.name))
      problems.push(fieldErrors.notFound(`${path}.name`, mount.name));
    if (!mount.mountPath)
      problems.push(fieldErrors.required(`${path}.mountPath`));
    else if (paths.has(mount.mountPath)) {
      problems.push(
        fieldErrors.invalid(
          `${path}.mountPath`,
          mount.mountPath,
          "must be unique",
        ),
      );
    }
    paths.add(mount.mountPath);
    if (mount.subPath)
      problems.push(...validateRelativePath(`${path}.subPath`, mount.subPath));
    if (mount.subPathExpr) {
      if (mount.subPath) {
        problems.push(
          fieldErrors.invalid(
            `${path}.subPathExpr`,
            mount.subPathExpr,
            "subPathExpr and subPath are mutually exclusive",
          ),
        );
      }
      problems.push(
        ...validateRelativePath(`${path}.subPathExpr`, mount.subPathExpr),
      );
    }
    problems.push(
      ...oneOf(`${path}.mountPropagation`, mount.mountPropagation, [
        "Bidirectional",
        "HostToContainer",
        "None",
      ]),
    );
  }
  return problems;
}

function validateHandlerPort(
  field: string,
  port: number | string | undefined,
): Problems {
  if (typeof port === "string")
    return invalidEach(field, port, portNameProblems(port));
  return invalidEach(field, port ?? 0, portNumberProblems(port ?? 0));
}

function validateHandler(
  field: string,
  handler: LifecycleHandler & Probe,
): Problems {
  const problems: Problems = [];
  let kinds = 0;
  const forbid = (kind: string): boolean => {
    if (++kinds > 1)
      problems.push(
        fieldErrors.forbidden(
          `${field}.${kind}`,
          "may not specify more than 1 handler type",
        ),
      );
    return kinds === 1;
  };
  if (handler.exec && forbid("exec") && !handler.exec.command?.length) {
    problems.push(fieldErrors.required(`${field}.exec.command`));
  }
  if (handler.httpGet && forbid("httpGet")) {
    const path = `${field}.httpGet`;
    if (!handler.httpGet.path)
      problems.push(fieldErrors.required(`${path}.path`));
    problems.push(...validateHandlerPort(`${path}.port`, handler.httpGet.port));
    problems.push(
      ...oneOf(`${path}.scheme`, handler.httpGet.scheme, ["HTTP", "HTTPS"]),
    );
    for (const header of handler.httpGet.httpHeaders ?? []) {
      problems.push(
        ...invalidEach(
          `${path}.httpHeaders`,
          header.name,
          httpHeaderProblems(header.name),
        ),
      );
    }
  }
  if (handler.tcpSocket && forbid("tcpSocket")) {
    problems.push(
      ...validateHandlerPort(`${field}.tcpSocket.port`, handler.tcpSocket.port),
    );
  }
  if (handler.grpc && forbid("grpc"))
    problems.push(
      ...validateHandlerPort(`${field}.grpc.port`, handler.grpc.port),
    );
  if (handler.sleep && forbid("sleep") && handler.sleep.seconds < 0) {
    problems.push(
      fieldErrors.invalid(
        `${field}.sleep`,
        handler.sleep.seconds,
        "must be greater than or equal to 0",
      ),
    );
  }
  if (kinds === 0)
    problems.push(fieldErrors.required(field, "must specify a handler type"));
  return problems;
}

function validateProbe(
  field: string,
  probe: Probe | undefined,
  successIsOne: boolean,
): Problems {
  if (!probe) return [];
  const problems = validateHandler(field, probe);
  const names = [
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
  ] as const;
  for (const name of names)
    problems.push(...nonNegative(`${field}.${name}`, probe[name]));
  if (
    successIsOne &&
    probe.successThreshold !== undefined &&
    probe.successThreshold !== 1
  ) {
    problems.push(
      fieldErrors.invalid(
        `${field}.successThreshold`,
        probe.successThreshold,
        "must be 1",
      ),
    );
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

export const secretName = (
  field: string,
  name: string | undefined,
): Problems =>
  name
    ? invalidEach(field, name, dnsSubdomainProblems(name))
    : [fieldErrors.required(field)];
