// The Node object and its status, as the reference's kubelet writes them. Pure.
import { transitionTime } from "../../api/objects/conditions.ts";
import { formatTime } from "../../api/clock.ts";
import { localPathAnnotation } from "../../api/objects/volumes/local-path.ts";
import {
  canonicalQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityValue,
} from "../../api/quantity.ts";
import type {
  ContainerImage,
  Node,
  NodeAddress,
  NodeCondition,
  NodeSystemInfo,
} from "../../api/types/core-v1.ts";
import type { ImageSummary } from "../../cri/runtime.ts";
import { formatBinary } from "../../eviction/format.ts";
import type { SignalName } from "../../eviction/signals.ts";
import { keptBack } from "../../eviction/thresholds.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { isGateOn } from "../config/feature-gates.ts";
import type { NodeFeatures } from "../pods/start/node-features.ts";
import type { DeviceCapacity } from "../resources/devices/device-inventory.ts";
import { localPathRoot } from "../volumes/volume-paths.ts";
import type { MachineCapacity } from "./machine.ts";
import { nodeLabels } from "./node-labels.ts";

export interface Pressure {
  memory: boolean;
  disk: boolean;
  pid: boolean;
}

interface NodeFacts {
  config: AgentConfig;
  capacity: MachineCapacity;
  /** Of plug-ins. */
  devices: DeviceCapacity;
  info: NodeSystemInfo;
  addresses: readonly string[];
  /** Of the Node in the API. */
  current: readonly NodeAddress[] | undefined;
  images: readonly ImageSummary[];
  features: NodeFeatures;
  /** Why the node is not ready; empty: it is. */
  problems: readonly string[];
  pressure: Pressure;
  nowMs: number;
  previous: readonly NodeCondition[];
}

/** What is sent when the node is not registered yet. */
export function nodeObject(config: AgentConfig): Node {
  const taints = [...config.registerWithTaints];
  const unschedulable = {
    key: "node.kubernetes.io/unschedulable",
    effect: "NoSchedule",
  };
  const isGiven = taints.some(
    ({ key, effect }) =>
      key === unschedulable.key && effect === unschedulable.effect,
  );
  if (!config.registerSchedulable && !isGiven) taints.push(unschedulable);
  if (config.externalCloudProvider)
    taints.push({
      key: "node.cloudprovider.kubernetes.io/uninitialized",
      value: "true",
      effect: "NoSchedule",
    });
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: config.nodeName,
      labels: nodeLabels(config),
      annotations: nodeAnnotations(config),
    },
    spec: {
      ...(config.registerPodRanges && config.podRanges.length > 0
        ? { podCIDR: config.podRanges[0]!, podCIDRs: [...config.podRanges] }
        : {}),
      ...(config.providerId ? { providerID: config.providerId } : {}),
      ...(taints.length > 0 ? { taints } : {}),
      ...(config.registerSchedulable ? {} : { unschedulable: true }),
    },
  };
}

const providedAddresses = "alpha.kubernetes.io/provided-node-ip";

const managedAttachment =
  "volumes.kubernetes.io/controller-managed-attach-detach";

/** Volumes are attached by the controllers, the directory of local volumes, and --node-ip for the cloud's controller. */
function nodeAnnotations(config: AgentConfig): Record<string, string> {
  return {
    ...(config.enableControllerAttachDetach
      ? { [managedAttachment]: "true" }
      : {}),
    [localPathAnnotation]: localPathRoot(config),
    ...(config.externalCloudProvider && config.nodeIPs.length > 0
      ? { [providedAddresses]: config.nodeIPs.join(",") }
      : {}),
  };
}

/** What is different in the annotations of a Node that was there already; null: to be removed. */
export function annotationChanges(
  { metadata }: Node,
  config: AgentConfig,
): Record<string, string | null> {
  const wanted = nodeAnnotations(config);
  const changes: Record<string, string | null> = {};
  for (const key of [managedAttachment, localPathAnnotation, providedAddresses])
    if (metadata.annotations?.[key] !== wanted[key])
      changes[key] = wanted[key] ?? null;
  return changes;
}

/** Those the Node is reported with; undefined: a cloud's controller has set them. */
function nodeAddresses({
  config,
  addresses,
  current,
}: NodeFacts): NodeAddress[] | undefined {
  const hostname = { type: "Hostname", address: config.hostname };
  if (config.externalCloudProvider) {
    if ((current?.length ?? 0) > 0) return undefined;
    if (config.nodeIPs.length === 0) return [hostname];
  }
  return [
    ...addresses.map((address) => ({ type: "InternalIP", address })),
    hostname,
  ];
}

/** Ranges of pod addresses that the Node was given. */
export function specPodRanges({ spec }: Node): readonly string[] {
  if (spec?.podCIDRs?.length) return spec.podCIDRs;
  return spec?.podCIDR ? [spec.podCIDR] : [];
}

/** Another has written or removed one of these conditions. */
export function hasOtherConditions(
  { status }: Node,
  conditions: readonly NodeCondition[] = [],
): boolean {
  return conditions.some((own) => {
    const known = status?.conditions?.find(({ type }) => type === own.type);
    return (
      known?.status !== own.status ||
      known.reason !== own.reason ||
      known.message !== own.message
    );
  });
}

export function nodeStatus(facts: NodeFacts): NonNullable<Node["status"]> {
  const { config } = facts;
  const addresses = nodeAddresses(facts);
  const capacity = capacityList(facts);
  return {
    ...(addresses ? { addresses } : {}),
    capacity,
    allocatable: allocatable(facts, capacity),
    conditions: conditions(facts),
    daemonEndpoints: { kubeletEndpoint: { Port: config.port } },
    nodeInfo: facts.info,
    images: imageList(facts.images, config.nodeStatusMaxImages),
    ...featureStatus(facts),
  };
}

/** What the runtime's handlers can, and what the runtime itself can where the gate is on. */
function featureStatus({
  config,
  features,
}: NodeFacts): Pick<
  NonNullable<Node["status"]>,
  "runtimeHandlers" | "features"
> {
  const runtimeHandlers = features.handlers.map(
    ({ name, recursiveReadOnlyMounts, userNamespaces }) => ({
      name,
      features: { recursiveReadOnlyMounts, userNamespaces },
    }),
  );
  const { supplementalGroupsPolicy } = features;
  return {
    ...(runtimeHandlers.length > 0 ? { runtimeHandlers } : {}),
    ...(isGateOn(config, "SupplementalGroupsPolicy")
      ? { features: { supplementalGroupsPolicy } }
      : {}),
  };
}

function capacityList({
  config,
  capacity,
  devices,
}: NodeFacts): Record<string, string> {
  const pods =
    config.podsPerCore > 0
      ? Math.min(config.maxPods, config.podsPerCore * capacity.cpus)
      : config.maxPods;
  const list: Record<string, string> = {
    cpu: String(capacity.cpus),
    // Without isolation no pod may ask for a share of it, as at the reference.
    ...(config.localStorageCapacityIsolation
      ? {
          "ephemeral-storage": `${Math.floor(capacity.storageBytes / 1024)}Ki`,
        }
      : {}),
    memory: `${Math.floor(capacity.memoryBytes / 1024)}Ki`,
    pods: String(pods),
  };
  for (const [size, bytes] of Object.entries(capacity.hugepages))
    list[`hugepages-${size}`] = formatBinary(bytes);
  for (const [name, count] of Object.entries(devices.capacity))
    list[name] = String(count);
  return list;
}

/** Capacity less what is reserved for system and daemons, and less the hard eviction thresholds. */
function allocatable(
  facts: NodeFacts,
  capacity: Record<string, string>,
): Record<string, string> {
  const { config } = facts;
  const list = { ...capacity };
  const reserved = (name: string): string[] =>
    [config.systemReserved[name], config.kubeReserved[name]].filter(
      (text) => text !== undefined,
    );
  const cpuMillis = reserved("cpu").reduce(
    (sum, text) => sum + quantityMilliValue(parseQuantity(text)),
    0,
  );
  if (cpuMillis > 0)
    list.cpu = canonicalQuantity(
      `${Math.max(0, facts.capacity.cpus * 1000 - cpuMillis)}m`,
    );
  const bytes = (name: string, total: number, signal: SignalName): number => {
    const held = reserved(name).reduce(
      (sum, text) => sum + quantityValue(parseQuantity(text)),
      0,
    );
    return Math.max(
      0,
      Math.floor(total - held - keptBack(config.evictionHard, signal, total)),
    );
  };
  const hugepages = Object.values(facts.capacity.hugepages).reduce(
    (sum, size) => sum + size,
    0,
  );
  const memory = bytes(
    "memory",
    facts.capacity.memoryBytes,
    "memory.available",
  );
  // Pages may take more than the reservations leave.
  list.memory = `${Math.floor(Math.max(0, memory - hugepages) / 1024)}Ki`;
  if (config.localStorageCapacityIsolation)
    list["ephemeral-storage"] = String(
      bytes(
        "ephemeral-storage",
        facts.capacity.storageBytes,
        "nodefs.available",
      ),
    );
  for (const [name, count] of Object.entries(facts.devices.allocatable))
    list[name] = String(count);
  return list;
}

function conditions(facts: NodeFacts): NodeCondition[] {
  const { pressure, problems } = facts;
  const condition = (
    type: string,
    status: boolean,
    reason: string,
    message: string,
  ): NodeCondition => {
    const text = status ? "True" : "False";
    const before = facts.previous.find((known) => known.type === type);
    const now = formatTime(facts.nowMs);
    return {
      type,
      status: text,
      lastHeartbeatTime: now,
      lastTransitionTime: transitionTime(before, text, now),
      reason,
      message,
    };
  };
  return [
    pressure.memory
      ? condition(
          "MemoryPressure",
          true,
          "KubeletHasInsufficientMemory",
          "kubelet has insufficient memory available",
        )
      : condition(
          "MemoryPressure",
          false,
          "KubeletHasSufficientMemory",
          "kubelet has sufficient memory available",
        ),
    pressure.disk
      ? condition(
          "DiskPressure",
          true,
          "KubeletHasDiskPressure",
          "kubelet has disk pressure",
        )
      : condition(
          "DiskPressure",
          false,
          "KubeletHasNoDiskPressure",
          "kubelet has no disk pressure",
        ),
    pressure.pid
      ? condition(
          "PIDPressure",
          true,
          "KubeletHasInsufficientPID",
          "kubelet has insufficient PID available",
        )
      : condition(
          "PIDPressure",
          false,
          "KubeletHasSufficientPID",
          "kubelet has sufficient PID available",
        ),
    problems.length === 0
      ? condition(
          "Ready",
          true,
          "KubeletReady",
          "kubelet is posting ready status",
        )
      : condition(
          "Ready",
          false,
          "KubeletNotReady",
          problems.length === 1 ? problems[0]! : `[${problems.join(", ")}]`,
        ),
  ];
}

function imageList(
  images: readonly ImageSummary[],
  maximum: number,
): ContainerImage[] {
  const sorted = [...images]
    .filter(
      ({ repoTags, repoDigests }) => repoTags.length + repoDigests.length > 0,
    )
    .sort((a, b) => b.sizeBytes - a.sizeBytes || (a.id < b.id ? -1 : 1));
  const chosen = maximum < 0 ? sorted : sorted.slice(0, maximum);
  return chosen.map(({ repoTags, repoDigests, sizeBytes }) => ({
    names: [...repoDigests, ...repoTags].slice(0, 5),
    sizeBytes,
  }));
}
