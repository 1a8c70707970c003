// Services: cluster IPs and node ports are taken when a service is prepared and given back when it goes, when it stops
// needing them, or when its write fails. Without allocators (tests, other stores) nothing is assigned.
import { isIPv6 } from "node:net";
import { errors, type FieldError } from "../../../api/errors.ts";
import { dns1035Problems, nameRule } from "../../../api/names.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { Service } from "../../../api/types/core-v1.ts";
import { formatAge, formatLabels, orNone } from "../../printing/age.ts";
import type {
  ResourceStrategy,
  StrategyContext,
} from "../../registry/strategy.ts";
import {
  assign,
  carryOver,
  dropUnneeded,
  joinClusterIps,
} from "./service-assignment.ts";
import {
  nodePortsOf,
  releaseService,
  serviceOwner,
  type ServiceAllocators,
} from "./service-ip-allocator.ts";
import {
  validateService,
  validateServiceUpdate,
} from "./service-validation.ts";

const asService = (object: Readonly<AnyObject>): Service =>
  object as unknown as Service;
function refuse(service: Service, problems: readonly FieldError[]): void {
  if (problems.length > 0)
    throw errors.invalid(
      { group: "", kind: "Service" },
      service.metadata.name,
      problems,
    );
}

function externalIps({ spec = {}, status }: Service): string {
  const external = spec.externalIPs ?? [];
  if (spec.type === "ExternalName") return orNone(spec.externalName);
  if (spec.type === "LoadBalancer") {
    const balancers = (status?.loadBalancer?.ingress ?? []).map(
      ({ ip, hostname }) => ip || hostname || "",
    );
    return [...balancers.filter(Boolean), ...external].join(",") || "<pending>";
  }
  return orNone(external.join(","));
}

/** `allocators` belong to the registry's owner, filled from the stored services before the first request. */
export function createServiceStrategy(
  allocators?: ServiceAllocators,
): ResourceStrategy {
  const hold = (
    service: Service,
    context: StrategyContext,
    old?: Service,
  ): void => {
    if (!allocators) return;
    refuse(service, assign(service, allocators, old));
    if (context.dryRun) releaseService(allocators, service, old);
  };
  return {
    countsGeneration: false,
    validateName: nameRule(dns1035Problems),
    setDefaults: (object) => joinClusterIps((asService(object).spec ??= {})),
    prepareForCreate(object, context) {
      const service = asService(object);
      service.status = { loadBalancer: {} };
      service.spec ??= {};
      joinClusterIps(service.spec);
      hold(service, context);
    },
    prepareForUpdate(object, oldObject, context) {
      const [service, old] = [asService(object), asService(oldObject)];
      service.status = { ...old.status };
      const [spec, was] = [(service.spec ??= {}), old.spec ?? {}];
      carryOver(spec, was);
      dropUnneeded(spec, was);
      joinClusterIps(spec);
      hold(service, context, old);
      // Given back now and taken again by `rollback`, since nothing is called after a successful update.
      if (allocators && !context.dryRun)
        releaseService(allocators, old, service);
    },
    validate: (object) => validateService(asService(object)),
    validateUpdate: (object, old) =>
      validateServiceUpdate(asService(object), asService(old)),
    rollback(object, context) {
      if (!allocators || context.dryRun) return;
      const { namespace = "", name } = object.metadata;
      const stored = context.read("", "services", namespace, name);
      releaseService(
        allocators,
        asService(object),
        stored && asService(stored),
      );
      if (stored) adopt(allocators, asService(stored));
    },
    afterDelete(object) {
      if (allocators) releaseService(allocators, asService(object));
    },
    status: {
      prepareForUpdate(object, old) {
        asService(object).spec = { ...asService(old).spec };
      },
    },
    selectableFields: (object) => {
      const { spec } = asService(object);
      return {
        "spec.clusterIP": spec?.clusterIP ?? "",
        "spec.type": spec?.type ?? "",
      };
    },
    printRow: (object, now) => {
      const service = asService(object);
      const { metadata, spec = {} } = service;
      const ports = (spec.ports ?? []).map(({ port, nodePort, protocol }) =>
        nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
      );
      return [
        metadata.name,
        spec.type ?? "",
        orNone(spec.clusterIPs?.[0] ?? spec.clusterIP),
        externalIps(service),
        orNone(ports.join(",")),
        formatAge(metadata.creationTimestamp, now),
        formatLabels(spec.selector),
      ];
    },
  };
}

function adopt(allocators: ServiceAllocators, service: Service): void {
  const owner = serviceOwner(service);
  for (const ip of service.spec?.clusterIPs ?? []) {
    if (ip === "None") continue;
    allocators.ips
      .find(({ family }) => (family === "IPv6") === isIPv6(ip))
      ?.take(ip, owner);
  }
  for (const port of nodePortsOf(service)) allocators.ports.take(port, owner);
}
