// Which strategy a resource has: one file a kind, registered here by group and plural name. A resource that is not here
// gets the registry's plain behaviour. Nothing is shared between two calls of `createStrategies`.
import type { ResourceStrategy } from "../registry/strategy.ts";
import { deploymentStrategy } from "./apps/deployment.ts";
import { replicaSetStrategy } from "./apps/replica-set.ts";
import { configMapStrategy } from "./core/config-map.ts";
import { namespaceStrategy } from "./core/namespace.ts";
import { nodeStrategy } from "./core/node.ts";
import { podStrategy } from "./core/pod.ts";
import { secretStrategy } from "./core/secret.ts";
import { serviceAccountStrategy } from "./core/service-account.ts";
import type { ServiceAllocators } from "./core/service-ip-allocator.ts";
import { createServiceStrategy } from "./core/service.ts";

export interface StrategyOptions {
  /**
   * Cluster IPs and node ports: `createServiceAllocators({ serviceCidrs })`, then `adoptServices(allocators, stored)`
   * before the first request. Without it services get no addresses.
   */
  readonly services?: ServiceAllocators;
}

export type StrategyLookup = (
  group: string,
  resource: string,
) => ResourceStrategy | undefined;

const strategies: ReadonlyMap<string, ResourceStrategy> = new Map([
  ["/namespaces", namespaceStrategy],
  ["/pods", podStrategy],
  ["/nodes", nodeStrategy],
  ["/configmaps", configMapStrategy],
  ["/secrets", secretStrategy],
  ["/serviceaccounts", serviceAccountStrategy],
  ["apps/deployments", deploymentStrategy],
  ["apps/replicasets", replicaSetStrategy],
]);

/** The lookup for one API server. */
export function createStrategies(
  options: StrategyOptions = {},
): StrategyLookup {
  const services = createServiceStrategy(options.services);
  return (group, resource) =>
    group === "" && resource === "services"
      ? services
      : strategies.get(`${group}/${resource}`);
}

const stateless = createStrategies();

/** Without allocators: for printing, validation and tests. */
export function strategyFor(
  group: string,
  resource: string,
): ResourceStrategy | undefined {
  return stateless(group, resource);
}
