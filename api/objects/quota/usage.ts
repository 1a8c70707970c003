// What one object takes of the resources a quota can count.
import { podQuantities } from "../pod-resources.ts";
import { isPodTerminal } from "../pod-state.ts";
import {
  addQuantities,
  compareQuantities,
  quantityValue,
  subtractQuantities,
} from "../../quantity.ts";
import { qualifiedResource, type AnyObject } from "../../object.ts";
import type {
  PersistentVolumeClaim,
  Pod,
  Service,
} from "../../types/core-v1.ts";
import type { ResourceClaim } from "../../types/resource-v1beta1.ts";

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

/** Names of quantities of storage by its class. */
export const storageClassPart = ".storageclass.storage.k8s.io/";
/** Ends the names of quantities of devices by their class. */
export const devicesSuffix = ".deviceclass.resource.k8s.io/devices";
/** What a claim for all devices of a class may get. */
const mostDevices = 32;
const legacyClass = "volume.beta.kubernetes.io/storage-class";

/** @param nowMs a pod that should be gone by then takes nothing but its place among all pods */
export function usageOf(
  group: string,
  resource: string,
  object: Readonly<AnyObject>,
  nowMs: number,
): Usage {
  const usage: Usage = {
    [`count/${qualifiedResource({ group, resource })}`]: "1",
  };
  const as = <T>(): T => object as unknown as T;
  if (group === "resource.k8s.io" && resource === "resourceclaims")
    return { ...usage, ...deviceUsage(as<ResourceClaim>()) };
  if (group !== "") return usage;
  if (resource === "pods")
    return isChargedPod(as<Pod>(), nowMs)
      ? { ...usage, pods: "1", ...podUsage(as<Pod>()) }
      : usage;
  if (PLAIN_COUNTS.has(resource)) usage[resource] = "1";
  if (resource === "services")
    return { ...usage, ...serviceUsage(as<Service>()) };
  if (resource === "persistentvolumeclaims")
    return { ...usage, ...claimUsage(as<PersistentVolumeClaim>()) };
  return usage;
}

/** Neither ended nor, its node lost, beyond the end of its grace. */
export function isChargedPod(pod: Pod, nowMs: number): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  if (isPodTerminal(pod)) return false;
  return (
    deletionTimestamp === undefined ||
    deletionGracePeriodSeconds === undefined ||
    nowMs <= Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000
  );
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
  const ports = spec.ports ?? [];
  const balanced = spec.type === "LoadBalancer";
  // Without ports of nodes by itself it has those that it names.
  const named = balanced && spec.allocateLoadBalancerNodePorts === false;
  const opened = balanced || spec.type === "NodePort" ? ports : [];
  const counted = named ? opened.filter(({ nodePort }) => nodePort) : opened;
  return {
    "services.loadbalancers": balanced ? "1" : "0",
    "services.nodeports": String(counted.length),
  };
}

function claimUsage({ metadata, spec, status }: PersistentVolumeClaim): Usage {
  const storage = claimedStorage(
    texts(spec.resources?.requests)["storage"],
    texts(status?.allocatedResources)["storage"],
  );
  const usage: Usage = storage ? { "requests.storage": storage } : {};
  const className =
    metadata.annotations?.[legacyClass] ?? spec.storageClassName;
  if (className) {
    const prefix = className + storageClassPart;
    usage[`${prefix}persistentvolumeclaims`] = "1";
    if (storage) usage[`${prefix}requests.storage`] = storage;
  }
  return usage;
}

/** In whole bytes; what was allocated counts where a claim takes back that it is to grow. */
function claimedStorage(
  requested: string | undefined,
  allocated: string | undefined,
): string | undefined {
  if (requested === undefined) return undefined;
  const more =
    allocated !== undefined && compareQuantities(allocated, requested) > 0;
  const storage = more ? allocated : requested;
  const bytes = String(quantityValue(storage));
  return compareQuantities(bytes, storage) === 0 ? storage : bytes;
}

function deviceUsage({ spec }: ResourceClaim): Usage {
  const usage: Usage = {};
  for (const request of spec.devices?.requests ?? []) {
    const { deviceClassName, allocationMode, count = 0 } = request;
    if (!deviceClassName) continue;
    const devices =
      allocationMode === "All"
        ? mostDevices
        : allocationMode === "ExactCount"
          ? count
          : 0;
    addUsage(usage, { [deviceClassName + devicesSuffix]: String(devices) });
  }
  return usage;
}

function texts(map: object | undefined): Usage {
  return Object.fromEntries(
    Object.entries(map ?? {}).map(([name, value]) => [name, String(value)]),
  );
}
