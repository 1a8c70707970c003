// The services of DRA drivers that the agent calls: DRAPlugin of v1beta1, and Node of v1alpha4 with the same messages, which
// drivers made for Kubernetes 1.31 have alone. Claims are prepared before a pod starts, and unprepared after it ended.
import type { GrpcMethod } from "../../../grpc/channel.ts";
import { createBoundedWireCodec } from "../../../grpc/wire.ts";

/** How a driver names the services among its versions. */
export const draService = "v1beta1.DRAPlugin";
const draAlphaService = "v1alpha3.NodeService";

/** Of one answer: as many devices as are taken (1,024), with several requests and names each. */
const maxFields = 16_384;

export const draCodec = createBoundedWireCodec(maxFields, {
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

const methodsOf = (
  service: string,
): Record<"prepare" | "unprepare", GrpcMethod> => {
  const method = (name: string): GrpcMethod => ({
    path: `/${service}/${name}`,
    request: `${name}Request`,
    response: `${name}Response`,
  });
  return {
    prepare: method("NodePrepareResources"),
    unprepare: method("NodeUnprepareResources"),
  };
};

export const draMethods = methodsOf(
  "k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin",
);
/** The package's name is older than its version. */
export const draAlphaMethods = methodsOf("v1alpha3.Node");

/**
 * By what a driver says of itself; the newest of several. One that gives a number, as before services were named, has the
 * older one. @throws Error, with the reference's beginning, when there is none that the agent can call
 */
export function draMethodsFor(
  driver: string,
  versions: readonly string[],
): typeof draMethods {
  if (versions.includes(draService)) return draMethods;
  if (
    versions.some((each) => each === draAlphaService || /^[\d.]+$/.test(each))
  )
    return draAlphaMethods;
  const why =
    versions.length === 0
      ? "empty list of supported gRPC services (aka supported versions)"
      : `neither ${draService} nor ${draAlphaService} is among [${versions.join(" ")}]`;
  throw new Error(`invalid versions of plugin ${driver}: ${why}`);
}

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
