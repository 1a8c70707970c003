// What all of a container's devices together add to its configuration. Of two plug-ins that set the same variable, path or
// annotation the first one (by the resource's name) wins, as only one can.
import type { ContainerConfig } from "../../../cri/runtime.ts";
import type { Holding } from "./device-holdings.ts";

export interface ContainerDevices {
  readonly env: ContainerConfig["env"];
  readonly mounts: ContainerConfig["mounts"];
  readonly devices: ContainerConfig["devices"];
  readonly annotations: Readonly<Record<string, string>>;
  /** Fully qualified names: `vendor.com/class=name`. */
  readonly cdiDevices: readonly string[];
}

export const noDevices: ContainerDevices = {
  env: [],
  mounts: [],
  devices: [],
  annotations: {},
  cdiDevices: [],
};

export function containerDevices(
  holdings: readonly Holding[],
): ContainerDevices {
  const env = new Map<string, string>();
  const mounts = new Map<string, ContainerConfig["mounts"][number]>();
  const devices = new Map<string, ContainerConfig["devices"][number]>();
  const annotations = new Map<string, string>();
  const cdiDevices = new Set<string>();
  const inOrder = [...holdings].sort((a, b) =>
    a.resource < b.resource ? -1 : 1,
  );
  for (const { allocation } of inOrder) {
    for (const [name, value] of Object.entries(allocation.envs))
      if (!env.has(name)) env.set(name, value);
    for (const { container_path, host_path, read_only } of allocation.mounts)
      if (!mounts.has(container_path))
        mounts.set(container_path, {
          containerPath: container_path,
          hostPath: host_path,
          readonly: read_only,
          propagation: "private",
        });
    for (const { container_path, host_path, permissions } of allocation.devices)
      if (!devices.has(container_path))
        devices.set(container_path, {
          containerPath: container_path,
          hostPath: host_path,
          permissions,
        });
    for (const [name, value] of Object.entries(allocation.annotations))
      if (!annotations.has(name)) annotations.set(name, value);
    for (const { name } of allocation.cdi_devices) cdiDevices.add(name);
  }
  return {
    env: [...env].map(([name, value]) => ({ name, value })),
    mounts: [...mounts.values()],
    devices: [...devices.values()],
    annotations: Object.fromEntries(annotations),
    cdiDevices: [...cdiDevices],
  };
}
