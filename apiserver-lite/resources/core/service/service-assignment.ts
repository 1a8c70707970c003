// What a service is given: addresses by family, node ports, a health check port; what an update keeps of the stored
// service and what its new type has no use for.
import { isIPv6 } from "node:net";
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import type { Service, ServiceSpec } from "../../../../api/types/core-v1.ts";
import { validateClusterIps } from "./service-address-validation.ts";
import { sameValue } from "../../../../api/objects/json-equality.ts";
import {
  nodePortsOf,
  serviceOwner,
  type IpFamily,
  type ServiceAllocators,
} from "./service-ip-allocator.ts";

const needsIp = ({ type }: ServiceSpec): boolean => type !== "ExternalName";
const needsNodePorts = (spec: ServiceSpec): boolean =>
  spec.type === "NodePort" ||
  (spec.type === "LoadBalancer" &&
    spec.allocateLoadBalancerNodePorts !== false);
const needsHealthPort = (spec: ServiceSpec): boolean =>
  spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";

/** clusterIP is the first of clusterIPs; when a client gives only one of them, the server sets the other. */
export function joinClusterIps(spec: ServiceSpec): void {
  if (!spec.clusterIPs?.length && spec.clusterIP)
    spec.clusterIPs = [spec.clusterIP];
}

/** Settles the policy and the families, as far as the addresses given do not. */
function assignFamilies(
  spec: ServiceSpec,
  families: readonly IpFamily[],
  was: ServiceSpec | undefined,
): FieldError[] {
  const bare =
    spec.clusterIP === "None" && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??=
    was?.ipFamilyPolicy ?? (bare ? "RequireDualStack" : "SingleStack");
  const wrong = validateClusterIps(spec);
  if (wrong.length > 0) return wrong;
  const problems = judgePolicy(spec, was);
  const given = (spec.clusterIPs ?? []).filter((ip) => ip !== "None");
  for (const [index, ip] of given.entries()) {
    if (index < (spec.ipFamilies?.length ?? 0)) continue;
    const family: IpFamily = isIPv6(ip) ? "IPv6" : "IPv4";
    if (families.includes(family))
      spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
    else
      problems.push(
        fieldErrors.invalid(
          `spec.clusterIPs[${index}]`,
          spec.clusterIPs,
          `${family} is not configured on this cluster`,
        ),
      );
  }
  if (problems.length > 0) return problems;
  const dual = families.length > 1;
  if (!bare) {
    if (spec.ipFamilyPolicy === "RequireDualStack" && !dual)
      problems.push(
        fieldErrors.invalid(
          "spec.ipFamilyPolicy",
          "RequireDualStack",
          "this cluster is not configured for dual-stack services",
        ),
      );
    for (const [index, family] of (spec.ipFamilies ?? []).entries())
      if (!families.includes(family as IpFamily))
        problems.push(
          fieldErrors.invalid(
            `spec.ipFamilies[${index}]`,
            family,
            "not configured on this cluster",
          ),
        );
    if (problems.length > 0) return problems;
  }
  if (!spec.ipFamilies?.length) spec.ipFamilies = [families[0] ?? "IPv4"];
  if (
    spec.ipFamilyPolicy !== "SingleStack" &&
    spec.ipFamilies.length === 1 &&
    (dual || bare)
  )
    spec.ipFamilies = [
      ...spec.ipFamilies,
      spec.ipFamilies[0] === "IPv6" ? "IPv4" : "IPv6",
    ];
  return [];
}

/** A policy of one family lets go of what was the second, and refuses a second that is new. */
function judgePolicy(
  spec: ServiceSpec,
  was: ServiceSpec | undefined,
): FieldError[] {
  const lists = [
    ["clusterIPs", "cluster IP", "cluster IPs"],
    ["ipFamilies", "IP family", "IP families"],
  ] as const;
  const single = spec.ipFamilyPolicy === "SingleStack";
  return lists.flatMap(([name, one, many]) => {
    const [now, before] = [spec[name] ?? [], was?.[name] ?? []];
    if (single && was && now.length > 1 && sameValue(now, before)) {
      spec[name] = now.slice(0, 1);
      return [];
    }
    const released = now.length === 1 && before.length === 2;
    const why =
      single && now.length === 2
        ? `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${many} are specified`
        : !single && released && now[0] === before[0]
          ? `must be 'SingleStack' to release the secondary ${one}`
          : undefined;
    return why
      ? [fieldErrors.invalid("spec.ipFamilyPolicy", spec.ipFamilyPolicy, why)]
      : [];
  });
}

/** Takes the addresses and ports the service asks for or needs. All or nothing. */
export function assign(
  service: Service,
  allocators: ServiceAllocators,
  old?: Service,
): FieldError[] {
  const spec = service.spec!;
  const owner = serviceOwner(service);
  const taken: (() => void)[] = [];
  const problems: FieldError[] = [];
  const had = new Set([...(old?.spec?.clusterIPs ?? [])]);

  if (needsIp(spec)) {
    problems.push(
      ...assignFamilies(
        spec,
        allocators.ips.map(({ family }) => family),
        old?.spec?.type === "ExternalName" ? undefined : old?.spec,
      ),
    );
    if (spec.clusterIP !== "None" && problems.length === 0) {
      const ips = [...(spec.clusterIPs ?? [])];
      for (const [index, family] of spec.ipFamilies!.entries()) {
        const allocator = allocators.ips.find((one) => one.family === family);
        const path = `spec.clusterIPs[${index}]`;
        if (!allocator) {
          problems.push(
            fieldErrors.invalid(
              `spec.ipFamilies[${index}]`,
              family,
              "not configured on this cluster",
            ),
          );
          continue;
        }
        const wanted = ips[index];
        if (wanted && had.has(wanted)) continue;
        const problem = wanted ? allocator.take(wanted, owner) : undefined;
        const ip = wanted ?? allocator.takeAny(owner);
        if (problem)
          problems.push(fieldErrors.invalid("spec.clusterIPs", ips, problem));
        else if (!ip)
          problems.push(
            fieldErrors.internal(
              path,
              "failed to allocate a serviceIP: range is full",
            ),
          );
        else {
          ips[index] = ip;
          taken.push(() => allocator.release(ip, owner));
        }
      }
      if (problems.length === 0) {
        spec.clusterIPs = ips;
        spec.clusterIP = ips[0]!;
      }
    }
  }
  problems.push(
    ...assignPorts(
      spec,
      owner,
      allocators,
      taken,
      new Set(old ? nodePortsOf(old) : []),
    ),
  );
  if (problems.length > 0) for (const release of taken) release();
  return problems;
}

const alreadyAllocated = "provided port is already allocated";

function assignPorts(
  spec: ServiceSpec,
  owner: string,
  { ports: allocator }: ServiceAllocators,
  taken: (() => void)[],
  had: ReadonlySet<number>,
): FieldError[] {
  const problems: FieldError[] = [];
  // TCP and UDP of one service share a number.
  const mine = new Set(had);
  const given = new Set<string>();
  const take = (field: string, wanted: number, protocol = ""): number => {
    const again = wanted > 0 && given.has(`${protocol}/${wanted}`);
    given.add(`${protocol}/${wanted}`);
    if (wanted && mine.has(wanted) && !again) return wanted;
    const problem = again
      ? alreadyAllocated
      : wanted
        ? allocator.take(wanted, owner)
        : undefined;
    const port = wanted || allocator.takeAny(owner);
    if (problem) problems.push(fieldErrors.invalid(field, wanted, problem));
    else if (!port)
      problems.push(
        fieldErrors.internal(
          field,
          "failed to allocate a nodePort: range is full",
        ),
      );
    else {
      mine.add(port);
      taken.push(() => allocator.release(port, owner));
    }
    return port ?? 0;
  };
  if (needsNodePorts(spec) || spec.type === "LoadBalancer") {
    const byNumber = new Map<
      number,
      { nodePort: number; protocols: Set<string> }
    >();
    spec.ports = (spec.ports ?? []).map((port, index) => {
      if (!port.nodePort && !needsNodePorts(spec)) return port;
      // One number serves the same port of several protocols.
      const shared = port.nodePort ? undefined : byNumber.get(port.port);
      const protocol = port.protocol ?? "TCP";
      const nodePort =
        shared && !shared.protocols.has(protocol)
          ? shared.nodePort
          : take(`spec.ports[${index}].nodePort`, port.nodePort ?? 0, protocol);
      const entry = byNumber.get(port.port) ?? {
        nodePort,
        protocols: new Set<string>(),
      };
      entry.protocols.add(protocol);
      byNumber.set(port.port, entry);
      return { ...port, nodePort };
    });
  }
  if (needsHealthPort(spec)) {
    spec.healthCheckNodePort = take(
      "spec.healthCheckNodePort",
      spec.healthCheckNodePort ?? 0,
    );
  }
  return problems;
}

/** What a PUT left out and the stored service has, so that a manifest can be replaced without knowing it. */
export function carryOver(spec: ServiceSpec, was: ServiceSpec): void {
  if (needsIp(spec) && needsIp(was)) {
    const listSame = sameValue(spec.clusterIPs, was.clusterIPs);
    if (
      !spec.clusterIP &&
      (listSame || !spec.clusterIPs?.length) &&
      was.clusterIP
    ) {
      spec.clusterIP = was.clusterIP;
      if (was.clusterIPs) spec.clusterIPs = [...was.clusterIPs];
    } else if (spec.clusterIP === was.clusterIP) {
      // A client that knows only one of the two fields changes only that one.
      if (!spec.clusterIPs?.length && was.clusterIPs)
        spec.clusterIPs = [...was.clusterIPs];
    } else if (spec.clusterIP && listSame) {
      spec.clusterIPs = [spec.clusterIP, ...(was.clusterIPs?.slice(1) ?? [])];
    }
    if (!spec.ipFamilies?.length && was.ipFamilies)
      spec.ipFamilies = [...was.ipFamilies];
    spec.ipFamilyPolicy ??= was.ipFamilyPolicy;
  }
  if (needsNodePorts(spec) && needsNodePorts(was)) {
    const used = new Set(
      (spec.ports ?? []).map(
        ({ nodePort, protocol }) => `${protocol}/${nodePort ?? 0}`,
      ),
    );
    spec.ports = (spec.ports ?? []).map((port) => {
      if (port.nodePort) return port;
      const before = was.ports?.find(
        (one) =>
          one.port === port.port &&
          (one.protocol ?? "TCP") === (port.protocol ?? "TCP"),
      );
      if (!before?.nodePort || used.has(`${port.protocol}/${before.nodePort}`))
        return port;
      return { ...port, nodePort: before.nodePort };
    });
  }
  if (needsHealthPort(spec) && needsHealthPort(was))
    spec.healthCheckNodePort ||= was.healthCheckNodePort ?? 0;
}

/** Removes fields that the new type has no use for, where they only repeat the stored service's. */
export function dropUnneeded(spec: ServiceSpec, was: ServiceSpec): void {
  if (!needsIp(spec) && needsIp(was)) {
    // A client that knows only clusterIP may have cleared it beside the unchanged list.
    if (
      spec.clusterIP === was.clusterIP ||
      (!spec.clusterIP && sameValue(spec.clusterIPs, was.clusterIPs))
    ) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    delete spec.ipFamilies;
    delete spec.ipFamilyPolicy;
    if (spec.internalTrafficPolicy === was.internalTrafficPolicy)
      delete spec.internalTrafficPolicy;
  }
  if (
    needsNodePorts(was) &&
    !needsNodePorts(spec) &&
    spec.type !== "LoadBalancer"
  ) {
    const before = new Set((was.ports ?? []).map(({ nodePort }) => nodePort));
    spec.ports = (spec.ports ?? []).map((port) => {
      if (!port.nodePort || !before.has(port.nodePort)) return port;
      const { nodePort: _, ...rest } = port;
      return rest;
    });
  }
  if (
    !needsHealthPort(spec) &&
    spec.healthCheckNodePort === was.healthCheckNodePort
  )
    delete spec.healthCheckNodePort;
  const reachable =
    spec.type === "NodePort" ||
    spec.type === "LoadBalancer" ||
    (spec.externalIPs?.length ?? 0) > 0;
  if (!reachable && spec.externalTrafficPolicy === was.externalTrafficPolicy)
    delete spec.externalTrafficPolicy;
  if (spec.type !== "LoadBalancer") {
    if (
      spec.allocateLoadBalancerNodePorts === was.allocateLoadBalancerNodePorts
    )
      delete spec.allocateLoadBalancerNodePorts;
    if (spec.loadBalancerClass === was.loadBalancerClass)
      delete spec.loadBalancerClass;
  }
}
