// The service of DRA drivers that the agent calls (DRAPlugin v1beta1): claims are prepared before a pod starts, and
// unprepared after it ended.
import type { GrpcMethod } from "../../../grpc/channel.ts";
import { createWireCodec } from "../../../grpc/wire.ts";

/** How a driver names the service among its versions. */
export const draService = "v1beta1.DRAPlugin";

export const draCodec = createWireCodec({
  Claim: [
    ["namespace", 1, "string", 0],
    ["uid", 2, "string", 0],
    ["name", 3, "string", 0],
  ],
  Device: [
    ["request_names", 1, "string", 1],
    ["pool_name", 2, "string", 0],
    ["device_name", 3, "string", 0],
    ["cdi_device_ids", 4, "string", 1],
  ],
  NodePrepareResourcesRequest: [["claims", 1, "Claim", 1]],
  NodePrepareResourcesResponse: [
    ["claims", 1, "NodePrepareResourceResponse", 2],
  ],
  NodePrepareResourceResponse: [
    ["devices", 1, "Device", 1],
    ["error", 2, "string", 0],
  ],
  NodeUnprepareResourcesRequest: [["claims", 1, "Claim", 1]],
  NodeUnprepareResourcesResponse: [
    ["claims", 1, "NodeUnprepareResourceResponse", 2],
  ],
  NodeUnprepareResourceResponse: [["error", 1, "string", 0]],
});

const method = (name: string): GrpcMethod => ({
  path: `/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/${name}`,
  request: `${name}Request`,
  response: `${name}Response`,
});

export const draMethods = {
  prepare: method("NodePrepareResources"),
  unprepare: method("NodeUnprepareResources"),
};

export interface DraClaim {
  namespace: string;
  uid: string;
  name: string;
}

export interface DraDevice {
  request_names: string[];
  pool_name: string;
  device_name: string;
  cdi_device_ids: string[];
}
