// Validation of services, with addresses and node ports already assigned, and what is warned of.
import { isIP } from "node:net";
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import { asGo } from "../../../../api/go-syntax.ts";
import {
  cidrProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  ipProblems,
  labelKeyProblems,
  portNameProblems,
  portNumberProblems,
  qualifiedNameProblems,
} from "../../../../api/names.ts";
import type {
  LoadBalancerIngress,
  Service,
  ServicePort,
  ServiceSpec,
} from "../../../../api/types/core-v1.ts";
import { labels, oneOf } from "../../field-checks.ts";
import {
  isHeadless,
  validateAddressUpdate,
  validateClusterIps,
} from "./service-address-validation.ts";
import { specialIpProblems } from "./ip-address.ts";

type Problems = FieldError[];

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const trafficPolicies = ["Cluster", "Local"];
export const hintsAnnotation = "service.kubernetes.io/topology-aware-hints";
export const modeAnnotation = "service.kubernetes.io/topology-mode";
const rangesAnnotation =
  "service.beta.kubernetes.io/load-balancer-source-ranges";
const kubeletPort = 10250;
const onlyForBalancers = "may only be used when `type` is 'LoadBalancer'";

function validatePort(
  field: string,
  port: ServicePort,
  several: boolean,
  names: Set<string>,
): Problems {
  const { name, targetPort, appProtocol } = port;
  const problems: Problems = [];
  if (several && !name) problems.push(fieldErrors.required(`${field}.name`));
  else if (name) {
    problems.push(
      ...invalidEach(`${field}.name`, name, dnsLabelProblems(name)),
    );
    if (names.has(name))
      problems.push(fieldErrors.duplicate(`${field}.name`, name));
    names.add(name);
  }
  return [
    ...problems,
    ...invalidEach(
      `${field}.port`,
      port.port ?? 0,
      portNumberProblems(port.port ?? 0),
    ),
    ...oneOf(`${field}.protocol`, port.protocol, ["SCTP", "TCP", "UDP"], true),
    ...invalidEach(
      `${field}.targetPort`,
      targetPort ?? 0,
      typeof targetPort === "string"
        ? portNameProblems(targetPort)
        : portNumberProblems(targetPort ?? 0),
    ),
    ...(appProtocol === undefined
      ? []
      : invalidEach(
          `${field}.appProtocol`,
          appProtocol,
          qualifiedNameProblems(appProtocol),
        )),
  ];
}

/** Duplicates of what `identify` says of a port; ports without it are left out. */
function duplicatePorts(
  spec: ServiceSpec,
  identify: (port: ServicePort) => string | undefined,
  problem: (index: number, port: ServicePort) => FieldError,
): Problems {
  const seen = new Set<string>();
  return (spec.ports ?? []).flatMap((port, index) => {
    const identity = identify(port);
    if (identity === undefined) return [];
    if (seen.has(identity)) return [problem(index, port)];
    seen.add(identity);
    return [];
  });
}

function validateByType(spec: ServiceSpec): Problems {
  const { type } = spec;
  if (type === "ExternalName") {
    const forbidden = (
      ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] as const
    ).filter((name) => spec[name]?.length);
    const name = (spec.externalName ?? "").replace(/\.$/, "");
    return [
      ...forbidden.map((one) =>
        fieldErrors.forbidden(
          `spec.${one}`,
          "may not be set for ExternalName services",
        ),
      ),
      ...(name
        ? invalidEach("spec.externalName", name, dnsSubdomainProblems(name))
        : [fieldErrors.required("spec.externalName")]),
    ];
  }
  if (type !== "LoadBalancer" && type !== "NodePort") return [];
  return [
    ...(type === "LoadBalancer" ? (spec.ports ?? []) : []).flatMap(
      ({ port }, index) =>
        port === kubeletPort
          ? [
              fieldErrors.invalid(
                `spec.ports[${index}]`,
                port,
                `may not expose port ${port} externally since it is used by kubelet`,
              ),
            ]
          : [],
    ),
    ...(isHeadless(spec)
      ? [
          fieldErrors.invalid(
            "spec.clusterIPs[0]",
            "None",
            `may not be set to 'None' for ${type} services`,
          ),
        ]
      : []),
  ];
}

function validateAffinity(spec: ServiceSpec): Problems {
  const { sessionAffinity, sessionAffinityConfig: config } = spec;
  const field = "spec.sessionAffinityConfig";
  const problems = oneOf(
    "spec.sessionAffinity",
    sessionAffinity,
    ["ClientIP", "None"],
    true,
  );
  if (sessionAffinity === "None" && config)
    problems.push(
      fieldErrors.forbidden(
        field,
        "must not be set when session affinity is None",
      ),
    );
  if (sessionAffinity !== "ClientIP") return problems;
  const timeout = config?.clientIP?.timeoutSeconds;
  if (timeout !== undefined && (timeout <= 0 || timeout > 86400))
    problems.push(
      fieldErrors.invalid(
        `${field}.clientIP.timeoutSeconds`,
        timeout,
        "must be greater than 0 and less than 86400",
      ),
    );
  return problems;
}

function validateSourceRanges({ metadata, spec = {} }: Service): Problems {
  const given = spec.loadBalancerSourceRanges ?? [];
  const annotation = metadata.annotations?.[rangesAnnotation];
  const own = given.length > 0;
  if (!own && annotation === undefined) return [];
  const field = own
    ? "spec.LoadBalancerSourceRanges"
    : `metadata.annotations[${rangesAnnotation}]`;
  const ranges = own ? given : annotation!.trim() ? annotation!.split(",") : [];
  return [
    ...(spec.type === "LoadBalancer"
      ? []
      : [fieldErrors.forbidden(field, onlyForBalancers)]),
    ...ranges.flatMap((range, index) =>
      invalidEach(
        own ? `${field}[${index}]` : field,
        range.trim(),
        cidrProblems(range.trim()),
      ),
    ),
  ];
}

function validateBalancer(service: Service): Problems {
  const spec = service.spec ?? {};
  const isBalancer = spec.type === "LoadBalancer";
  const { allocateLoadBalancerNodePorts: allocate, loadBalancerClass } = spec;
  const forbidden = (name: string): FieldError =>
    fieldErrors.forbidden(`spec.${name}`, onlyForBalancers);
  return [
    ...validateSourceRanges(service),
    ...(allocate !== undefined && !isBalancer
      ? [forbidden("allocateLoadBalancerNodePorts")]
      : []),
    ...(loadBalancerClass === undefined
      ? []
      : isBalancer
        ? invalidEach(
            "spec.loadBalancerClass",
            loadBalancerClass,
            labelKeyProblems(loadBalancerClass),
          )
        : [forbidden("loadBalancerClass")]),
  ];
}

const needsHealthCheck = (spec: ServiceSpec): boolean =>
  spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";

function validateTraffic(spec: ServiceSpec): Problems {
  const { externalTrafficPolicy: policy, healthCheckNodePort: port } = spec;
  const field = "spec.externalTrafficPolicy";
  const reachable =
    spec.type === "NodePort" ||
    spec.type === "LoadBalancer" ||
    (spec.type === "ClusterIP" && (spec.externalIPs?.length ?? 0) > 0);
  const problems =
    reachable || !policy
      ? oneOf(field, policy, trafficPolicies, reachable)
      : [
          fieldErrors.invalid(
            field,
            policy,
            "may only be set for externally-accessible services",
          ),
        ];
  if (port && !needsHealthCheck(spec))
    problems.push(
      fieldErrors.invalid(
        "spec.healthCheckNodePort",
        port,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    );
  return [
    ...problems,
    ...oneOf(
      "spec.internalTrafficPolicy",
      spec.internalTrafficPolicy,
      trafficPolicies,
    ),
    ...oneOf("spec.trafficDistribution", spec.trafficDistribution, [
      "PreferClose",
    ]),
  ];
}

export function validateService(service: Service): Problems {
  const spec = service.spec ?? {};
  const ports = spec.ports ?? [];
  const names = new Set<string>();
  const { [hintsAnnotation]: hints, [modeAnnotation]: mode } =
    service.metadata.annotations ?? {};
  return [
    ...(hints !== undefined && mode !== undefined && hints !== mode
      ? [
          fieldErrors.invalid(
            `metadata.annotations[${modeAnnotation}]`,
            mode,
            `must match annotations[${hintsAnnotation}] when both are specified`,
          ),
        ]
      : []),
    ...(ports.length > 0 || isHeadless(spec) || spec.type === "ExternalName"
      ? []
      : [fieldErrors.required("spec.ports")]),
    ...validateByType(spec),
    ...ports.flatMap((port, index) =>
      validatePort(`spec.ports[${index}]`, port, ports.length > 1, names),
    ),
    ...labels("spec.selector", spec.selector),
    ...validateAffinity(spec),
    ...validateClusterIps(spec),
    ...(spec.externalIPs ?? []).flatMap((ip, index) => {
      const problems = ipProblems(ip);
      return invalidEach(
        `spec.externalIPs[${index}]`,
        ip,
        problems.length > 0 ? problems : specialIpProblems(ip),
      );
    }),
    ...oneOf("spec.type", spec.type, types, true),
    ...(spec.type === "ClusterIP" ? ports : []).flatMap(
      ({ nodePort }, index) =>
        nodePort
          ? [
              fieldErrors.forbidden(
                `spec.ports[${index}].nodePort`,
                "may not be used when `type` is 'ClusterIP'",
              ),
            ]
          : [],
    ),
    ...duplicatePorts(
      spec,
      ({ protocol, nodePort }) =>
        nodePort ? `${protocol}/${nodePort}` : undefined,
      (index, { nodePort }) =>
        fieldErrors.duplicate(`spec.ports[${index}].nodePort`, nodePort),
    ),
    ...duplicatePorts(
      spec,
      ({ protocol, port }) => `${protocol}/${port}`,
      (index, { protocol, port }) =>
        fieldErrors.duplicate(
          `spec.ports[${index}]`,
          asGo("core.ServicePort", { protocol, port }),
        ),
    ),
    ...validateBalancer(service),
    ...validateTraffic(spec),
  ];
}

export function validateServiceUpdate(
  service: Service,
  old: Service,
): Problems {
  const [spec, was] = [service.spec ?? {}, old.spec ?? {}];
  const problems = validateAddressUpdate(service, old);
  if (
    spec.type === "LoadBalancer" &&
    was.type === "LoadBalancer" &&
    spec.loadBalancerClass !== was.loadBalancerClass
  )
    problems.push(
      fieldErrors.invalid(
        "spec.loadBalancerClass",
        spec.loadBalancerClass,
        "may not change once set",
      ),
    );
  if (
    needsHealthCheck(spec) &&
    needsHealthCheck(was) &&
    spec.healthCheckNodePort !== was.healthCheckNodePort
  )
    problems.push(
      fieldErrors.forbidden("spec.healthCheckNodePort", "field is immutable"),
    );
  return problems;
}

/** Where a load balancer takes traffic: for services and, with other rules for the place, ingresses. */
function validateIngress(
  field: string,
  { ip, ipMode, hostname }: LoadBalancerIngress,
): Problems {
  const problems = ip ? invalidEach(`${field}.ip`, ip, ipProblems(ip)) : [];
  if (ipMode !== undefined && !ip)
    problems.push(
      fieldErrors.forbidden(
        `${field}.ipMode`,
        "may not be specified when `ip` is not set",
      ),
    );
  else problems.push(...oneOf(`${field}.ipMode`, ipMode, ["Proxy", "VIP"]));
  if (!hostname) return problems;
  return [
    ...problems,
    ...invalidEach(
      `${field}.hostname`,
      hostname,
      dnsSubdomainProblems(hostname),
    ),
    ...(isIP(hostname)
      ? [
          fieldErrors.invalid(
            `${field}.hostname`,
            hostname,
            "must be a DNS name, not an IP address",
          ),
        ]
      : []),
  ];
}

export function validateServiceStatus({ spec, status }: Service): Problems {
  const ingress = status?.loadBalancer?.ingress ?? [];
  const field = "status.loadBalancer.ingress";
  if (ingress.length > 0 && spec?.type !== "LoadBalancer")
    return [
      fieldErrors.forbidden(
        field,
        "may only be used when `spec.type` is 'LoadBalancer'",
      ),
    ];
  return ingress.flatMap((one, index) =>
    validateIngress(`${field}[${index}]`, one),
  );
}
