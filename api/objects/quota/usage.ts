// What one object takes of the resources a quota can count.
import { podQuantities } from "../pod-resources.ts";
import { isPodTerminal } from "../pod-state.ts";
import {
  addQuantities,
  compareQuantities,
  subtractQuantities,
} from "../../quantity.ts";
import { qualifiedResource, type AnyObject } from "../../object.ts";
import type {
  PersistentVolumeClaim,
  Pod,
  Service,
} from "../../types/core-v1.ts";

/** Quotas count events in neither of their groups, as the reference. */
export const areEvents = (group: string, resource: string): boolean =>
  resource === "events" && (group === "" || group === "events.k8s.io");

export type Usage = Record<string, string>;

/** Counted by their plain names, beside `count/<resource>`. */
export const PLAIN_COUNTS: ReadonlySet<string> = new Set([
  "pods",
  "services",
  "configmaps",
  "secrets",
  "replicationcontrollers",
  "resourcequotas",
  "persistentvolumeclaims",
]);

export function usageOf(
  group: string,
  resource: string,
  object: Readonly<AnyObject>,
): Usage {
  const usage: Usage = {
    [`count/${qualifiedResource({ group, resource })}`]: "1",
  };
  if (group !== "") return usage;
  if (PLAIN_COUNTS.has(resource)) usage[resource] = "1";
  if (resource === "pods")
    return { ...usage, ...podUsage(object as unknown as Pod) };
  if (resource === "services")
    return { ...usage, ...serviceUsage(object as unknown as Service) };
  if (resource === "persistentvolumeclaims") {
    return {
      ...usage,
      ...claimUsage(object as unknown as PersistentVolumeClaim),
    };
  }
  return usage;
}

/** Finished pods take nothing. */
export function isFinished(
  resource: string,
  object: Readonly<AnyObject>,
): boolean {
  return resource === "pods" && isPodTerminal(object as unknown as Pod);
}

export function addUsage(total: Usage, more: Usage): void {
  for (const [name, value] of Object.entries(more)) {
    total[name] =
      total[name] === undefined ? value : addQuantities(total[name], value);
  }
}

/** What `now` takes beyond `before`, without what it does not take more of. */
export function usageBeyond(now: Usage, before: Usage): Usage {
  return Object.fromEntries(
    Object.entries(now).flatMap(([name, value]) => {
      const had = before[name];
      const more = had === undefined ? value : subtractQuantities(value, had);
      return compareQuantities(more, "0") > 0 ? [[name, more]] : [];
    }),
  );
}

/** Names that a quota knows without "requests." too. */
const isShort = (name: string): boolean =>
  ["cpu", "memory", "ephemeral-storage"].includes(name) ||
  name.startsWith("hugepages-");

function podUsage({ spec, status }: Pod): Usage {
  const usage: Usage = {};
  for (const which of ["requests", "limits"] as const) {
    for (const [name, value] of Object.entries(
      podQuantities(spec, which, { status }),
    )) {
      usage[`${which}.${name}`] = value;
      if (which === "requests" && isShort(name)) usage[name] = value;
    }
  }
  return usage;
}

function serviceUsage({ spec }: Service): Usage {
  const ports = (spec.ports ?? []).length;
  const balanced = spec.type === "LoadBalancer";
  const opened =
    spec.type === "NodePort" ||
    (balanced && spec.allocateLoadBalancerNodePorts !== false);
  return {
    "services.loadbalancers": balanced ? "1" : "0",
    "services.nodeports": opened ? String(ports) : "0",
  };
}

function claimUsage({ spec }: PersistentVolumeClaim): Usage {
  const storage = texts(spec.resources?.requests)["storage"];
  const usage: Usage = storage ? { "requests.storage": storage } : {};
  if (spec.storageClassName) {
    const prefix = `${spec.storageClassName}.storageclass.storage.k8s.io`;
    usage[`${prefix}/persistentvolumeclaims`] = "1";
    if (storage) usage[`${prefix}/requests.storage`] = storage;
  }
  return usage;
}

function texts(map: object | undefined): Usage {
  return Object.fromEntries(
    Object.entries(map ?? {}).map(([name, value]) => [name, String(value)]),
  );
}
