// The pod resources API (podresources v1): which container has which devices, CPUs, memory and claims. Monitors of devices
// ask it. Older ones ask v1alpha1, whose only method answers a part of the same messages.
import type { GrpcMethod } from "../../grpc/channel.ts";
import { createBoundedWireCodec } from "../../grpc/wire.ts";

/** Of one message that is read: requests have two. */
const maxFields = 4096;

export const podResourcesCodec = createBoundedWireCodec(maxFields, {
  AllocatableResourcesRequest: [],
  AllocatableResourcesResponse: [
    ["devices", 1, "ContainerDevices", 1],
    ["cpu_ids", 2, "int64", 1],
    ["memory", 3, "ContainerMemory", 1],
  ],
  ListPodResourcesRequest: [],
  ListPodResourcesResponse: [["pod_resources", 1, "PodResources", 1]],
  GetPodResourcesRequest: [
    ["pod_name", 1, "string", 0],
    ["pod_namespace", 2, "string", 0],
  ],
  GetPodResourcesResponse: [["pod_resources", 1, "PodResources", 0]],
  PodResources: [
    ["name", 1, "string", 0],
    ["namespace", 2, "string", 0],
    ["containers", 3, "ContainerResources", 1],
  ],
  ContainerResources: [
    ["name", 1, "string", 0],
    ["devices", 2, "ContainerDevices", 1],
    ["cpu_ids", 3, "int64", 1],
    ["memory", 4, "ContainerMemory", 1],
    ["dynamic_resources", 5, "DynamicResource", 1],
  ],
  ContainerMemory: [
    ["memory_type", 1, "string", 0],
    ["size", 2, "uint64", 0],
    ["topology", 3, "TopologyInfo", 0],
  ],
  ContainerDevices: [
    ["resource_name", 1, "string", 0],
    ["device_ids", 2, "string", 1],
    ["topology", 3, "TopologyInfo", 0],
  ],
  TopologyInfo: [["nodes", 1, "NUMANode", 1]],
  NUMANode: [["ID", 1, "int64", 0]],
  DynamicResource: [
    ["claim_name", 2, "string", 0],
    ["claim_namespace", 3, "string", 0],
    ["claim_resources", 4, "ClaimResource", 1],
  ],
  ClaimResource: [
    ["cdi_devices", 1, "CDIDevice", 1],
    ["driver_name", 2, "string", 0],
    ["pool_name", 3, "string", 0],
    ["device_name", 4, "string", 0],
  ],
  CDIDevice: [["name", 1, "string", 0]],
});

const method = (
  name: string,
  request: string,
  response: string,
  version = "v1",
): GrpcMethod => ({
  path: `/${version}.PodResourcesLister/${name}`,
  request,
  response,
});

const listMessages = [
  "ListPodResourcesRequest",
  "ListPodResourcesResponse",
] as const;

export const podResourcesMethods = {
  list: method("List", ...listMessages),
  allocatable: method(
    "GetAllocatableResources",
    "AllocatableResourcesRequest",
    "AllocatableResourcesResponse",
  ),
  get: method("Get", "GetPodResourcesRequest", "GetPodResourcesResponse"),
  listAlpha: method("List", ...listMessages, "v1alpha1"),
};
