// Services: cluster IPs and node ports are taken when a service is prepared and given back when it goes, when it stops
// needing them, or when its write fails. Without allocators (tests, other stores) nothing is assigned.
import { errors, type FieldError } from "../../../../api/errors.ts";
import { dns1035Problems, nameRule } from "../../../../api/names.ts";
import type { Service } from "../../../../api/types/core-v1.ts";
import { formatAge, formatLabels, orNone } from "../../../printing/age.ts";
import type { ResourceStrategy, StrategyContext } from "../../strategy.ts";
import { storeFailure } from "../../store-failure.ts";
import {
  assign,
  carryOver,
  dropUnneeded,
  joinClusterIps,
} from "./service-assignment.ts";
import {
  releaseService,
  type ServiceAllocators,
  type SharedRanges,
} from "./service-ip-allocator.ts";
import {
  validateService,
  validateServiceStatus,
  validateServiceUpdate,
} from "./service-validation.ts";
import { serviceWarnings } from "./service-warnings.ts";
import { strategyOf } from "../../typed.ts";

/** How often in a row other servers may take what was chosen here. */
const maxAttempts = 16;
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
  /** What was taken for an object that is not written yet, with its numbers as they were then. */
  const held = new WeakMap<object, Service>();
  /** Until what was taken here is ours among all servers as well. */
  const hold = async (
    service: Service,
    context: StrategyContext,
    old?: Service,
  ): Promise<void> => {
    if (!allocators) return;
    const { ranges } = allocators;
    const asked = structuredClone(service.spec!);
    for (let attempt = 1; ; attempt++) {
      const problems = assign(service, allocators, old);
      if (problems.length === 0) {
        if (context.dryRun) return releaseService(allocators, service, old);
        if (!ranges || (await entered(ranges, service, old))) {
          const { metadata, spec } = service;
          held.set(service, structuredClone({ metadata, spec }) as Service);
          return;
        }
      }
      if (!ranges || attempt > (problems.length > 0 ? 1 : maxAttempts))
        return refuse(service, problems);
      // Others may have given back what we believe taken, or taken what we believe free.
      await ranges.refresh().catch((error: unknown) => {
        throw storeFailure(error);
      });
      service.spec = structuredClone(asked);
    }
  };
  const entered = async (
    ranges: SharedRanges,
    service: Service,
    old: Service | undefined,
  ): Promise<boolean> => {
    let done = false;
    try {
      return (done = await ranges.take(service, old));
    } catch (error) {
      throw storeFailure(error);
    } finally {
      if (!done) releaseService(allocators!, service, old);
    }
  };
  const giveBack = async (service: Service, keep?: Service): Promise<void> => {
    if (!allocators) return;
    await allocators.ranges?.release(service, keep);
    releaseService(allocators, service, keep);
  };
  return strategyOf<Service>({
    returnsDeleted: true,
    countsGeneration: false,
    allowCreateOnUpdate: true,
    validateName: nameRule(dns1035Problems),
    setDefaults(object) {
      object.spec ??= {};
    },
    async prepareForCreate(service, context) {
      service.status = { loadBalancer: {} };
      service.spec ??= {};
      joinClusterIps(service.spec);
      await hold(service, context);
    },
    async prepareForUpdate(service, old, context) {
      service.status = { ...old.status };
      const [spec, was] = [(service.spec ??= {}), old.spec ?? {}];
      carryOver(spec, was);
      dropUnneeded(spec, was);
      joinClusterIps(spec);
      await hold(service, context, old);
    },
    validate: (object) => validateService(object),
    warnings: (object) => serviceWarnings(object),
    validateUpdate: (object, old) => validateServiceUpdate(object, old),
    async rollback(object, _context, old) {
      const taken = held.get(object);
      held.delete(object);
      if (taken) await giveBack(taken, old && old);
    },
    afterUpdate: (object, old) => giveBack(old, object),
    afterDelete: (object) => giveBack(object),
    status: {
      prepareForUpdate(object, old) {
        object.spec = { ...old.spec };
      },
      validateUpdate: (object) => validateServiceStatus(object),
    },
    selectableFields: (object) => {
      const { spec } = object;
      return {
        "spec.clusterIP": spec?.clusterIP ?? "",
        "spec.type": spec?.type ?? "",
      };
    },
    printRow: (service, now) => {
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
  });
}
