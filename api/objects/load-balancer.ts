// Which addresses of a Service its status has out of the pool of --load-balancer-cidr: nodes announce these, and no others.
// The controller says so in a condition, which users without permission for a Service's status can't write.
import type { Service } from "../types/core-v1.ts";
import { isConditionTrue } from "./conditions.ts";

export const poolCondition = "orbit.io/AddressFromPool";

/** Of a Service's load balancer, of whichever controller. */
export function balancerAddresses({ status }: Service): string[] {
  return (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) =>
    ip === undefined ? [] : [ip],
  );
}

/** Those out of the pool. */
export function pooledAddresses(service: Service): string[] {
  return isConditionTrue(service.status?.conditions, poolCondition)
    ? balancerAddresses(service)
    : [];
}
