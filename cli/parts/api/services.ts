// Addresses and node ports of services: the allocators that the options describe, adopted from the state at the start and,
// where servers share the store, kept with it.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import { storedEncodingOf } from "../../../api/codec/stored-form.ts";
import type { Service } from "../../../api/types/core-v1.ts";
import {
  adoptServices,
  type ClusterState,
  createServiceAllocators,
  followService,
  type ServiceAllocators,
  type ServiceRangesOptions,
  shareAllocators,
} from "../../../apiserver-lite/index.ts";
import type { Store } from "../../../storage/store.ts";
import type { OptionValues } from "../../options/parse.ts";
import { nodePorts } from "./node-port-range.ts";

interface ServiceAddresses {
  readonly allocators: ServiceAllocators | undefined;
  /** After the state is loaded. */
  start(state: ClusterState): Promise<void>;
  stop(): void;
}

/** Undefined without a range: services get no addresses then. */
function allocatorsOf(
  serviceCidrs: readonly string[],
  ports: { from: number; to: number },
  shared: ServiceRangesOptions | undefined,
): ServiceAllocators | undefined {
  if (serviceCidrs.length === 0) return undefined;
  const own = createServiceAllocators({ serviceCidrs, nodePorts: ports });
  return shared ? shareAllocators(own, shared) : own;
}

export function serviceAddresses(
  values: OptionValues,
  { store, clock, logger }: { store: Store; clock: Clock; logger: Logger },
): ServiceAddresses {
  const encoding = storedEncodingOf(values.text("storage-media-type"));
  const allocators = allocatorsOf(
    values.list("service-cluster-ip-range"),
    nodePorts(values.text("service-node-port-range")),
    store.shared ? { store, encoding, clock, logger } : undefined,
  );
  let unfollow = (): void => undefined;
  return {
    allocators,
    async start(state) {
      if (!allocators) return;
      const services = (): Service[] =>
        state.list("", "services") as unknown as Service[];
      await allocators.ranges?.start(services);
      for (const problem of adoptServices(allocators, services()))
        logger.warn({ problem }, "a service's address or port can't be kept");
      if (store.shared)
        unfollow = state.onChange("", "services", ({ object, previous }) =>
          followService(
            allocators,
            object as unknown as Service | undefined,
            previous as unknown as Service | undefined,
          ),
        );
    },
    stop() {
      unfollow();
      allocators?.ranges?.stop();
    },
  };
}
