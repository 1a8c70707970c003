// Validation of services, with addresses and node ports already assigned.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  cidrProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  ipProblems,
  labelKeyProblems,
  portNameProblems,
  portNumberProblems,
  qualifiedNameProblems,
} from "../../../api/names.ts";
import type { Service, ServicePort } from "../../../api/types/core-v1.ts";
import { immutable, labels, oneOf, sameValue } from "../field-checks.ts";

type Problems = FieldError[];

function validatePorts(service: Service, headless: boolean): Problems {
  const spec = service.spec!;
  const ports = spec.ports ?? [];
  const problems: Problems = [];
  if (ports.length === 0 && !headless && spec.type !== "ExternalName") {
    return [fieldErrors.required("spec.ports")];
  }
  const names = new Set<string>();
  const numbers = new Set<string>();
  const nodePorts = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const path = `spec.ports[${index}]`;
    if (ports.length > 1 && !port.name)
      problems.push(fieldErrors.required(`${path}.name`));
    else if (port.name) {
      problems.push(
        ...invalidEach(`${path}.name`, port.name, dnsLabelProblems(port.name)),
      );
      if (names.has(port.name))
        problems.push(fieldErrors.duplicate(`${path}.name`, port.name));
      names.add(port.name);
    }
    problems.push(
      ...invalidEach(`${path}.port`, port.port, portNumberProblems(port.port)),
    );
    problems.push(
      ...oneOf(`${path}.protocol`, port.protocol, ["SCTP", "TCP", "UDP"], true),
    );
    problems.push(...validateTarget(`${path}.targetPort`, port, headless));
    if (port.appProtocol) {
      problems.push(
        ...invalidEach(
          `${path}.appProtocol`,
          port.appProtocol,
          qualifiedNameProblems(port.appProtocol),
        ),
      );
    }
    const identity = `${port.protocol}/${port.port}`;
    if (numbers.has(identity)) {
      problems.push(
        fieldErrors.duplicate(path, {
          protocol: port.protocol,
          port: port.port,
        }),
      );
    }
    numbers.add(identity);
    if (!port.nodePort) continue;
    if (spec.type === "ClusterIP") {
      problems.push(
        fieldErrors.forbidden(
          `${path}.nodePort`,
          "may not be used when `type` is 'ClusterIP'",
        ),
      );
    }
    const taken = `${port.protocol}/${port.nodePort}`;
    if (nodePorts.has(taken))
      problems.push(fieldErrors.duplicate(`${path}.nodePort`, port.nodePort));
    nodePorts.add(taken);
  }
  return problems;
}

function validateTarget(
  field: string,
  port: ServicePort,
  headless: boolean,
): Problems {
  const target = port.targetPort;
  if (target === undefined || target === null) return [];
  const problems =
    typeof target === "string"
      ? invalidEach(field, target, portNameProblems(target))
      : invalidEach(field, target, portNumberProblems(target));
  if (
    headless &&
    problems.length === 0 &&
    typeof target === "number" &&
    target !== port.port
  ) {
    // Allowed, and without effect: the reference lets it pass too.
    return [];
  }
  return problems;
}

function validateAddresses(service: Service): Problems {
  const spec = service.spec!;
  const problems: Problems = [];
  const ips = spec.clusterIPs ?? [];
  for (const [index, ip] of ips.entries()) {
    const path = `spec.clusterIPs[${index}]`;
    if (ip === "None") {
      if (index > 0)
        problems.push(
          fieldErrors.invalid(path, ip, "may not be set to 'None'"),
        );
      else if (ips.length > 1) {
        problems.push(
          fieldErrors.invalid(
            "spec.clusterIPs",
            ips,
            "'None' must be the first and only value",
          ),
        );
      }
    } else problems.push(...invalidEach(path, ip, ipProblems(ip)));
  }
  if (spec.type === "ExternalName") {
    if (ips.length > 0) {
      problems.push(
        fieldErrors.invalid(
          "spec.clusterIPs[0]",
          ips,
          "may not be set when `type` is 'ExternalName'",
        ),
      );
    }
    const name = spec.externalName ?? "";
    if (name)
      problems.push(
        ...invalidEach(
          "spec.externalName",
          name,
          dnsSubdomainProblems(name.replace(/\.$/, "")),
        ),
      );
    else problems.push(fieldErrors.required("spec.externalName"));
  }
  if (
    ips.includes("None") &&
    (spec.type === "NodePort" || spec.type === "LoadBalancer")
  ) {
    problems.push(
      fieldErrors.invalid(
        "spec.clusterIPs[0]",
        "None",
        `may not be set to 'None' for ${spec.type} services`,
      ),
    );
  }
  for (const [index, ip] of (spec.externalIPs ?? []).entries()) {
    problems.push(
      ...invalidEach(`spec.externalIPs[${index}]`, ip, ipProblems(ip)),
    );
  }
  const families = spec.ipFamilies ?? [];
  for (const [index, family] of families.entries()) {
    problems.push(
      ...oneOf(`spec.ipFamilies[${index}]`, family, ["IPv4", "IPv6"]),
    );
    if (families.indexOf(family) !== index)
      problems.push(fieldErrors.duplicate(`spec.ipFamilies[${index}]`, family));
  }
  problems.push(
    ...oneOf("spec.ipFamilyPolicy", spec.ipFamilyPolicy, [
      "SingleStack",
      "PreferDualStack",
      "RequireDualStack",
    ]),
  );
  return problems;
}

export function validateService(service: Service): Problems {
  const spec = service.spec ?? {};
  const headless = spec.clusterIPs?.[0] === "None" || spec.clusterIP === "None";
  const problems = [
    ...validatePorts({ ...service, spec }, headless),
    ...validateAddresses({ ...service, spec }),
  ];
  problems.push(...labels("spec.selector", spec.selector));
  problems.push(
    ...oneOf(
      "spec.sessionAffinity",
      spec.sessionAffinity,
      ["ClientIP", "None"],
      true,
    ),
  );
  const timeout = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (
    spec.sessionAffinity === "ClientIP" &&
    timeout !== undefined &&
    (timeout <= 0 || timeout > 86400)
  ) {
    problems.push(
      fieldErrors.invalid(
        "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
        timeout,
        "must be greater than 0 and less than 86400",
      ),
    );
  }
  problems.push(
    ...oneOf(
      "spec.type",
      spec.type,
      ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"],
      true,
    ),
  );
  const reachable =
    spec.type === "NodePort" ||
    spec.type === "LoadBalancer" ||
    (spec.externalIPs?.length ?? 0) > 0;
  if (spec.externalTrafficPolicy) {
    if (!reachable) {
      problems.push(
        fieldErrors.invalid(
          "spec.externalTrafficPolicy",
          spec.externalTrafficPolicy,
          "may only be set for externally-accessible services",
        ),
      );
    }
    problems.push(
      ...oneOf("spec.externalTrafficPolicy", spec.externalTrafficPolicy, [
        "Cluster",
        "Local",
      ]),
    );
  }
  problems.push(
    ...oneOf("spec.internalTrafficPolicy", spec.internalTrafficPolicy, [
      "Cluster",
      "Local",
    ]),
  );
  for (const [index, range] of (
    spec.loadBalancerSourceRanges ?? []
  ).entries()) {
    problems.push(
      ...invalidEach(
        `spec.loadBalancerSourceRanges[${index}]`,
        range,
        cidrProblems(range.trim()),
      ),
    );
  }
  if (spec.loadBalancerClass) {
    if (spec.type !== "LoadBalancer") {
      problems.push(
        fieldErrors.forbidden(
          "spec.loadBalancerClass",
          "may only be used when `type` is 'LoadBalancer'",
        ),
      );
    } else
      problems.push(
        ...invalidEach(
          "spec.loadBalancerClass",
          spec.loadBalancerClass,
          labelKeyProblems(spec.loadBalancerClass),
        ),
      );
  }
  if (
    spec.healthCheckNodePort &&
    !(spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local")
  ) {
    problems.push(
      fieldErrors.invalid(
        "spec.healthCheckNodePort",
        spec.healthCheckNodePort,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    );
  }
  return problems;
}

export function validateServiceUpdate(
  service: Service,
  old: Service,
): Problems {
  const [spec, was] = [service.spec ?? {}, old.spec ?? {}];
  const problems: Problems = [];
  if (spec.type === "ExternalName" || was.type === "ExternalName")
    return problems;
  const [ips, oldIps] = [spec.clusterIPs ?? [], was.clusterIPs ?? []];
  if (oldIps[0] && !sameValue(ips[0], oldIps[0])) {
    problems.push(
      fieldErrors.invalid("spec.clusterIPs[0]", ips, "may not change once set"),
    );
  }
  if (oldIps[1] && ips[1] && ips[1] !== oldIps[1]) {
    problems.push(
      fieldErrors.invalid("spec.clusterIPs[1]", ips, "may not change once set"),
    );
  }
  if (was.ipFamilies?.[0] && spec.ipFamilies?.[0] !== was.ipFamilies[0]) {
    problems.push(
      fieldErrors.invalid(
        "spec.ipFamilies[0]",
        spec.ipFamilies ?? [],
        "may not change once set",
      ),
    );
  }
  if (was.type === "LoadBalancer" && spec.type === "LoadBalancer") {
    problems.push(
      ...immutable(
        "spec.loadBalancerClass",
        spec.loadBalancerClass,
        was.loadBalancerClass,
      ),
    );
    if (
      was.healthCheckNodePort &&
      spec.healthCheckNodePort !== was.healthCheckNodePort &&
      spec.externalTrafficPolicy === "Local"
    ) {
      problems.push(
        fieldErrors.forbidden("spec.healthCheckNodePort", "field is immutable"),
      );
    }
  }
  return problems;
}
