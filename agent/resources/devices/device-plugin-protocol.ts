// The services of device plug-ins (v1beta1): Registration, which the agent serves, and DevicePlugin, which it calls.
import type { GrpcMethod } from "../../../grpc/channel.ts";
import { createBoundedWireCodec, type WireTable } from "../../../grpc/wire.ts";

export const supportedVersion = "v1beta1";

const messages: WireTable = {
  Empty: [],
  DevicePluginOptions: [
    ["pre_start_required", 1, "bool", 0],
    ["get_preferred_allocation_available", 2, "bool", 0],
  ],
  RegisterRequest: [
    ["version", 1, "string", 0],
    ["endpoint", 2, "string", 0],
    ["resource_name", 3, "string", 0],
    ["options", 4, "DevicePluginOptions", 0],
  ],
  ListAndWatchResponse: [["devices", 1, "Device", 1]],
  TopologyInfo: [["nodes", 1, "NUMANode", 1]],
  NUMANode: [["ID", 1, "int64", 0]],
  Device: [
    ["ID", 1, "string", 0],
    ["health", 2, "string", 0],
    ["topology", 3, "TopologyInfo", 0],
  ],
  PreStartContainerRequest: [["devices_ids", 1, "string", 1]],
  PreStartContainerResponse: [],
  PreferredAllocationRequest: [
    ["container_requests", 1, "ContainerPreferredAllocationRequest", 1],
  ],
  ContainerPreferredAllocationRequest: [
    ["available_deviceIDs", 1, "string", 1],
    ["must_include_deviceIDs", 2, "string", 1],
    ["allocation_size", 3, "int32", 0],
  ],
  PreferredAllocationResponse: [
    ["container_responses", 1, "ContainerPreferredAllocationResponse", 1],
  ],
  ContainerPreferredAllocationResponse: [["deviceIDs", 1, "string", 1]],
  AllocateRequest: [["container_requests", 1, "ContainerAllocateRequest", 1]],
  ContainerAllocateRequest: [["devices_ids", 1, "string", 1]],
  CDIDevice: [["name", 1, "string", 0]],
  AllocateResponse: [
    ["container_responses", 1, "ContainerAllocateResponse", 1],
  ],
  ContainerAllocateResponse: [
    ["envs", 1, "string", 2],
    ["mounts", 2, "Mount", 1],
    ["devices", 3, "DeviceSpec", 1],
    ["annotations", 4, "string", 2],
    ["cdi_devices", 5, "CDIDevice", 1],
  ],
  Mount: [
    ["container_path", 1, "string", 0],
    ["host_path", 2, "string", 0],
    ["read_only", 3, "bool", 0],
  ],
  DeviceSpec: [
    ["container_path", 1, "string", 0],
    ["host_path", 2, "string", 0],
    ["permissions", 3, "string", 0],
  ],
};

/** Of one message: as many devices as are taken (10,000), each with two NUMA nodes, and some room. */
const maxFields = 100_000;

export const devicePluginCodec = createBoundedWireCodec(maxFields, messages);

const method = (
  name: string,
  request: string,
  response: string,
): GrpcMethod => ({ path: `/v1beta1.${name}`, request, response });

export const registerMethod = method(
  "Registration/Register",
  "RegisterRequest",
  "Empty",
);

export const devicePluginMethods = {
  options: method(
    "DevicePlugin/GetDevicePluginOptions",
    "Empty",
    "DevicePluginOptions",
  ),
  listAndWatch: method(
    "DevicePlugin/ListAndWatch",
    "Empty",
    "ListAndWatchResponse",
  ),
  preferredAllocation: method(
    "DevicePlugin/GetPreferredAllocation",
    "PreferredAllocationRequest",
    "PreferredAllocationResponse",
  ),
  allocate: method(
    "DevicePlugin/Allocate",
    "AllocateRequest",
    "AllocateResponse",
  ),
  preStartContainer: method(
    "DevicePlugin/PreStartContainer",
    "PreStartContainerRequest",
    "PreStartContainerResponse",
  ),
};

export interface DevicePluginOptions {
  pre_start_required: boolean;
  get_preferred_allocation_available: boolean;
}

export interface RegisterRequest {
  version: string;
  endpoint: string;
  resource_name: string;
}

export interface PluginDevice {
  ID: string;
  health: string;
  topology?: { nodes: { ID: number }[] };
}

/** What a container is given with its devices. */
export interface ContainerAllocation {
  envs: Record<string, string>;
  mounts: { container_path: string; host_path: string; read_only: boolean }[];
  devices: {
    container_path: string;
    host_path: string;
    permissions: string;
  }[];
  annotations: Record<string, string>;
  cdi_devices: { name: string }[];
}
