// Ingresses and IngressClasses: hosts, paths and backends; a class's controller never changes.
import type { FieldError } from "../../../api/errors.ts";
import { isIP } from "node:net";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import {
  dns1035Problems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  ipProblems,
  portNameProblems,
  portNumberProblems,
  wildcardSubdomainProblems,
} from "../../../api/names.ts";
import type {
  Ingress,
  IngressBackend,
  IngressClass,
} from "../../../api/types/networking-v1.ts";
import { formatAge, orNone } from "../../printing/age.ts";
import { ingressUpgrades } from "./legacy-ingress.ts";
import { strategyOf } from "../typed.ts";
import {
  domainPrefixedPath,
  exactlyOneOf,
  immutable,
  objectReference,
  oneOf,
} from "../field-checks.ts";

function hostProblems(field: string, host: string): FieldError[] {
  return [
    ...(isIP(host)
      ? [
          fieldErrors.invalid(
            field,
            host,
            "must be a DNS name, not an IP address",
          ),
        ]
      : []),
    ...invalidEach(
      field,
      host,
      host.includes("*")
        ? wildcardSubdomainProblems(host)
        : dnsSubdomainProblems(host),
    ),
  ];
}

const hostnameProblems = (field: string, name: string): FieldError[] => [
  ...invalidEach(field, name, dnsSubdomainProblems(name)),
  ...(isIP(name)
    ? [
        fieldErrors.invalid(
          field,
          name,
          "must be a DNS name, not an IP address",
        ),
      ]
    : []),
];

const unclear = ["//", "/./", "/../", "%2f", "%2F"];

function pathProblems(
  field: string,
  path: string,
  type: string | undefined,
): FieldError[] {
  const free = type === "ImplementationSpecific";
  if (free && path === "") return [];
  const invalid = (text: string): FieldError =>
    fieldErrors.invalid(field, path, text);
  if (!path.startsWith("/")) return [invalid("must be an absolute path")];
  if (free) return [];
  return [
    ...unclear
      .filter((part) => path.includes(part))
      .map((part) => invalid(`must not contain '${part}'`)),
    ...["/..", "/."]
      .filter((end) => path.endsWith(end))
      .map((end) => invalid(`cannot end with '${end}'`)),
  ];
}

const classAnnotation = "kubernetes.io/ingress.class";

function backendProblems(
  field: string,
  backend: IngressBackend | undefined,
): FieldError[] {
  const { service, resource } = backend ?? {};
  if (service && resource) {
    return [
      fieldErrors.invalid(
        field,
        "",
        "cannot set both resource and service backends",
      ),
    ];
  }
  if (resource) return objectReference(`${field}.resource`, resource);
  if (!service)
    return [
      fieldErrors.invalid(field, "", "resource or service backend is required"),
    ];
  const problems: FieldError[] = [];
  if (!service.name)
    problems.push(fieldErrors.required(`${field}.service.name`));
  else
    problems.push(
      ...invalidEach(
        `${field}.service.name`,
        service.name,
        dns1035Problems(service.name),
      ),
    );
  const { name, number } = service.port ?? {};
  if (name && number) {
    problems.push(
      fieldErrors.invalid(field, "", "cannot set both port name & port number"),
    );
  } else if (name)
    problems.push(
      ...invalidEach(
        `${field}.service.port.name`,
        name,
        portNameProblems(name),
      ),
    );
  else if (number)
    problems.push(
      ...invalidEach(
        `${field}.service.port.number`,
        number,
        portNumberProblems(number),
      ),
    );
  else
    problems.push(
      fieldErrors.required(field, "port name or number is required"),
    );
  return problems;
}

export const ingressStrategy = strategyOf<Ingress>({
  upgrades: ingressUpgrades,
  prepareForCreate(object) {
    object.status = { loadBalancer: {} };
  },
  prepareForUpdate(object, old) {
    object.status = old.status;
  },
  validate(object) {
    const spec = object.spec ?? {};
    const problems: FieldError[] = [];
    if (!spec.rules?.length && !spec.defaultBackend) {
      problems.push(
        fieldErrors.invalid(
          "spec",
          asGo("[]networking.IngressRule", spec.rules),
          "either `defaultBackend` or `rules` must be specified",
        ),
      );
    }
    if (spec.defaultBackend)
      problems.push(
        ...backendProblems("spec.defaultBackend", spec.defaultBackend),
      );
    for (const [index, rule] of (spec.rules ?? []).entries()) {
      const path = `spec.rules[${index}]`;
      if (rule.host) problems.push(...hostProblems(`${path}.host`, rule.host));
      if (rule.http && !rule.http.paths?.length)
        problems.push(fieldErrors.required(`${path}.http.paths`));
      for (const [at, one] of (rule.http?.paths ?? []).entries()) {
        const field = `${path}.http.paths[${at}]`;
        if (!one.pathType)
          problems.push(
            fieldErrors.required(
              `${field}.pathType`,
              "pathType must be specified",
            ),
          );
        else
          problems.push(
            ...oneOf(`${field}.pathType`, one.pathType, [
              "Exact",
              "ImplementationSpecific",
              "Prefix",
            ]),
          );
        problems.push(
          ...pathProblems(`${field}.path`, one.path ?? "", one.pathType),
        );
        problems.push(...backendProblems(`${field}.backend`, one.backend));
      }
    }
    for (const [index, tls] of (spec.tls ?? []).entries()) {
      for (const [at, host] of (tls.hosts ?? []).entries()) {
        problems.push(...hostProblems(`spec.tls[${index}].hosts[${at}]`, host));
      }
      if (tls.secretName)
        problems.push(
          ...invalidEach(
            `spec.tls[${index}].secretName`,
            tls.secretName,
            dnsSubdomainProblems(tls.secretName),
          ),
        );
    }
    if (spec.ingressClassName !== undefined) {
      problems.push(
        ...invalidEach(
          "spec.ingressClassName",
          spec.ingressClassName,
          dnsSubdomainProblems(spec.ingressClassName),
        ),
      );
    }
    return problems;
  },
  validateCreate(object) {
    const name = object.spec?.ingressClassName;
    const annotated = object.metadata.annotations?.[classAnnotation];
    return name === undefined || annotated === undefined || name === annotated
      ? []
      : [
          fieldErrors.invalid(
            `annotations.${classAnnotation}`,
            annotated,
            "must match `ingressClassName` when both are specified",
          ),
        ];
  },
  warnings: (object, old) =>
    old === undefined &&
    object.metadata.annotations?.[classAnnotation] !== undefined
      ? [
          `annotation ${JSON.stringify(classAnnotation)} is deprecated, please use 'spec.ingressClassName' instead`,
        ]
      : [],
  status: {
    prepareForUpdate(object, old) {
      object.spec = { ...old.spec };
    },
    validateUpdate(object) {
      const points = object.status?.loadBalancer?.ingress ?? [];
      return points.flatMap(({ ip, hostname }, index) => {
        const field = `status.loadBalancer.ingress[${index}]`;
        return [
          ...(ip ? invalidEach(`${field}.ip`, ip, ipProblems(ip)) : []),
          ...(hostname ? hostnameProblems(`${field}.hostname`, hostname) : []),
        ];
      });
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = object;
    const hosts = (spec?.rules ?? []).map(({ host }) => host).filter(Boolean);
    const few =
      hosts.length > 3
        ? `${hosts.slice(0, 3).join(",")} + ${hosts.length - 3} more...`
        : hosts.join(",");
    const addresses = (status?.loadBalancer?.ingress ?? []).map(
      ({ ip, hostname }) => ip || hostname || "",
    );
    return [
      metadata.name,
      orNone(spec?.ingressClassName),
      few || "*",
      addresses.filter(Boolean).join(","),
      spec?.tls?.length ? "80, 443" : "80",
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});

const maxControllerBytes = 250;

function parameterProblems(
  parameters: NonNullable<IngressClass["spec"]>["parameters"] & object,
): FieldError[] {
  const field = "spec.parameters";
  const { scope, namespace } = parameters;
  const problems = objectReference(field, parameters);
  if (scope !== undefined)
    problems.push(
      ...exactlyOneOf(`${field}.scope`, scope, ["Cluster", "Namespace"]),
    );
  if (scope === "Namespace" && !namespace)
    problems.push(
      fieldErrors.required(
        `${field}.namespace`,
        "`parameters.scope` is set to 'Namespace'",
      ),
    );
  else if (scope === "Namespace")
    problems.push(
      ...invalidEach(
        `${field}.namespace`,
        namespace,
        dnsLabelProblems(namespace!),
      ),
    );
  if (scope === "Cluster" && namespace !== undefined)
    problems.push(
      fieldErrors.forbidden(
        `${field}.namespace`,
        "`parameters.scope` is set to 'Cluster'",
      ),
    );
  return problems;
}

export const ingressClassStrategy = strategyOf<IngressClass>({
  validate(object) {
    const { controller = "", parameters } = object.spec ?? {};
    return [
      ...(Buffer.byteLength(controller) > maxControllerBytes
        ? [fieldErrors.tooLong("spec.controller", maxControllerBytes)]
        : []),
      ...(controller
        ? domainPrefixedPath("spec.controller", controller)
        : [fieldErrors.required("spec.controller")]),
      ...(parameters ? parameterProblems(parameters) : []),
    ];
  },
  validateUpdate: (object, old) =>
    immutable(
      "spec.controller",
      object.spec?.controller ?? "",
      old.spec?.controller ?? "",
    ),
  printRow: (object, now) => {
    const { metadata, spec } = object;
    const reference = spec?.parameters;
    const kind = reference
      ? `${reference.kind}${reference.apiGroup ? `.${reference.apiGroup}` : ""}`
      : "";
    return [
      metadata.name,
      spec?.controller ?? "",
      reference ? `${kind}/${reference.name}` : "<none>",
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
