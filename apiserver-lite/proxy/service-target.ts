// services/proxy: one of the service's ready endpoints, at random. Only addresses of pods are accepted: hand-written
// endpoints could otherwise direct requests of the API server to any host.
import { ApiError, errors } from "../../api/errors.ts";
import type { Pod, Service } from "../../api/types/core-v1.ts";
import type { Endpoint } from "../../api/types/discovery-v1.ts";
import type { StateReader } from "../resources/state.ts";
import type { ConnectRequest } from "./connect-handler.ts";
import { pathOf, splitProxyName, type ProxyTarget } from "./proxy-name.ts";
import { readyPlace } from "../service-routing/service-place.ts";
import { typed } from "../resources/typed.ts";

export function serviceTarget(
  request: ConnectRequest,
  state: StateReader,
): ProxyTarget {
  const parsed = splitProxyName(request.name);
  if (!parsed)
    throw errors.badRequest(`invalid service request "${request.name}"`);
  const { name, port: asked } = parsed;
  const service = typed<Service>(
    request.read("", "services", request.namespace, name),
  );
  if (!service)
    throw errors.notFound({ group: "", resource: "services" }, name);
  const ports = service.spec.ports ?? [];
  const port =
    asked === "" && ports.length === 1
      ? ports[0]
      : ports.find((one) => one.name === asked || String(one.port) === asked);
  if (!port) {
    throw new ApiError({
      code: 503,
      reason: "ServiceUnavailable",
      message: `no service port ${JSON.stringify(asked)} found for service ${JSON.stringify(name)}`,
    });
  }
  const place = readyPlace(
    state,
    request.namespace,
    name,
    port,
    request.name,
    (endpoint) => isAddressOfPod(request, endpoint),
  );
  return {
    scheme: parsed.scheme || "http",
    ...place,
    path: pathOf(request),
    agent: false,
  };
}

/** Whether the endpoint names a pod of the request's namespace whose address it has. */
function isAddressOfPod(
  { namespace, read }: ConnectRequest,
  { addresses, targetRef }: Endpoint,
): boolean {
  if (!targetRef?.name || targetRef.namespace !== namespace) return false;
  const pod = typed<Pod | undefined>(
    read("", "pods", namespace, targetRef.name),
  );
  return (pod?.status?.podIPs ?? []).some(({ ip }) => ip === addresses[0]);
}
