// Devices of one agent: those of device plug-ins, and those of claims. Both register in the plug-ins' registry.
import { join } from "node:path";
import type { Ground, Wired } from "./agent-parts.ts";
import { isGateOn } from "./config/feature-gates.ts";
import type { NodeReporter } from "./node/node-reporter.ts";
import { PodResources } from "./pod-resources/pod-resources.ts";
import type { RuntimePods } from "./pods/runtime/runtime-pods.ts";
import { ClaimManager } from "./resources/claims/claim-manager.ts";
import {
  withoutClaims,
  type PodClaims,
} from "./resources/claims/pod-claims.ts";
import { DeviceManager } from "./resources/devices/device-manager.ts";
import { readMachineTopology } from "./resources/machine/machine-topology.ts";
import type { ResourceManagers } from "./resources/resource-managers.ts";

export function wireClaims({
  settings,
  client,
  plugins,
  metrics,
  clock,
  logger,
}: Ground): PodClaims {
  if (!client || !isGateOn(settings, "DynamicResourceAllocation"))
    return withoutClaims;
  const { rootDirectory, nodeName } = settings;
  const claims = new ClaimManager({
    ...{ rootDirectory, nodeName },
    ...{ client, clock, logger },
  });
  plugins.registerHandler("DRAPlugin", claims.drivers);
  metrics.add(() => claims.metrics.families());
  return claims;
}

export function wirePodResources({
  settings,
  metrics,
  clock,
  logger,
  workers,
  devices,
  claims,
  resources,
}: Wired): PodResources {
  const served = new PodResources({
    directory: join(settings.rootDirectory, "pod-resources"),
    pods: () => workers.live().map(({ pod }) => pod),
    allPods: () => workers.list().map(({ pod }) => pod),
    devices,
    resources,
    claimsOf: (pod, container) => claims.claimsOf(pod, container),
    get: isGateOn(settings, "KubeletPodResourcesGet"),
    dynamicResources: isGateOn(settings, "KubeletPodResourcesDynamicResources"),
    clock,
    logger,
  });
  metrics.add(() => served.counts.families());
  return served;
}

export function wireDevices(
  { settings, plugins, metrics, clock, logger }: Ground,
  node: NodeReporter,
  runtimePods: RuntimePods,
  resources: ResourceManagers,
): DeviceManager {
  const devices = new DeviceManager({
    rootDirectory: settings.rootDirectory,
    numaNodes: () => readMachineTopology().nodes.map(({ id }) => id),
    isInRuntime: (uid) => (runtimePods.get(uid)?.sandboxes.length ?? 0) > 0,
    onChange: () => node.report(),
    clock,
    logger,
  });
  resources.add(devices);
  plugins.registerHandler("DevicePlugin", devices.registration);
  node.setDevices(() => devices.capacity());
  metrics.add(() => devices.metrics());
  return devices;
}
