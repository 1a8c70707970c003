// Ingresses and IngressClasses: hosts, paths and backends; a class's controller never changes.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { isIP } from "node:net";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dns1035Problems,
  dnsSubdomainProblems,
  portNameProblems,
  portNumberProblems,
  qualifiedNameProblems,
  wildcardSubdomainProblems,
} from "../../../api/names.ts";
import type {
  Ingress,
  IngressBackend,
  IngressClass,
} from "../../../api/types/networking-v1.ts";
import { formatAge, orNone } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { immutable, oneOf } from "../field-checks.ts";

const asIngress = (object: Readonly<AnyObject>): Ingress =>
  object as unknown as Ingress;

function hostProblems(field: string, host: string): FieldError[] {
  if (isIP(host))
    return [
      fieldErrors.invalid(field, host, "must be a DNS name, not an IP address"),
    ];
  return invalidEach(
    field,
    host,
    host.includes("*")
      ? wildcardSubdomainProblems(host)
      : dnsSubdomainProblems(host),
  );
}

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
  if (resource) return [];
  if (!service)
    return [
      fieldErrors.required(
        field,
        "must have either `service` or `resource` backend",
      ),
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

export const ingressStrategy: ResourceStrategy = {
  prepareForCreate(object) {
    asIngress(object).status = { loadBalancer: {} };
  },
  prepareForUpdate(object, old) {
    asIngress(object).status = asIngress(old).status;
  },
  validate(object) {
    const spec = asIngress(object).spec ?? {};
    const problems: FieldError[] = [];
    if (!spec.rules?.length && !spec.defaultBackend) {
      problems.push(
        fieldErrors.invalid(
          "spec",
          spec.rules ?? null,
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
        if (one.pathType !== "ImplementationSpecific" || one.path) {
          if (!one.path?.startsWith("/")) {
            problems.push(
              fieldErrors.invalid(
                `${field}.path`,
                one.path ?? "",
                "must be an absolute path",
              ),
            );
          }
        }
        problems.push(...backendProblems(`${field}.backend`, one.backend));
      }
    }
    for (const [index, tls] of (spec.tls ?? []).entries()) {
      for (const [at, host] of (tls.hosts ?? []).entries()) {
        problems.push(...hostProblems(`spec.tls[${index}].hosts[${at}]`, host));
      }
    }
    if (spec.ingressClassName) {
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
  status: {
    prepareForUpdate(object, old) {
      asIngress(object).spec = { ...asIngress(old).spec };
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asIngress(object);
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
};

const asClass = (object: Readonly<AnyObject>): IngressClass =>
  object as unknown as IngressClass;

export const ingressClassStrategy: ResourceStrategy = {
  validate(object) {
    const { spec } = asClass(object);
    if (!spec?.controller) return [fieldErrors.required("spec.controller")];
    return invalidEach(
      "spec.controller",
      spec.controller,
      qualifiedNameProblems(spec.controller),
    );
  },
  validateUpdate: (object, old) =>
    immutable(
      "spec.controller",
      asClass(object).spec?.controller,
      asClass(old).spec?.controller,
    ),
  printRow: (object, now) => {
    const { metadata, spec } = asClass(object);
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
};
