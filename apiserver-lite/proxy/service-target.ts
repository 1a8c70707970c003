// services/proxy: one of the service's ready endpoints, at random.
import { ApiError, errors } from "../../api/errors.ts";
import type { Service } from "../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { StateReader } from "../resources/state.ts";
import type { ConnectRequest } from "./connect-handler.ts";
import {
  pathOf,
  refuseLocalAddress,
  splitProxyName,
  type ProxyTarget,
} from "./proxy-name.ts";
import { typed } from "../resources/typed.ts";

const SERVICE_LABEL = "kubernetes.io/service-name";

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
  const places = readyPlaces(request.namespace, name, port.name ?? "", state);
  const place = places[Math.floor(Math.random() * places.length)];
  if (!place)
    throw errors.unavailable(
      `no endpoints available for service ${JSON.stringify(request.name)}`,
    );
  refuseLocalAddress(place.host);
  return {
    scheme: parsed.scheme || "http",
    ...place,
    path: pathOf(request),
    agent: false,
  };
}

function readyPlaces(
  namespace: string,
  service: string,
  portName: string,
  state: StateReader,
): { host: string; port: number }[] {
  const slices = typed<EndpointSlice[]>(
    state.list("discovery.k8s.io", "endpointslices", namespace),
  ).filter(({ metadata }) => metadata.labels?.[SERVICE_LABEL] === service);
  return slices.flatMap((slice) => {
    const port = (slice.ports ?? []).find(
      (one) => (one.name ?? "") === portName,
    )?.port;
    if (!port) return [];
    const ready = (slice.endpoints ?? []).filter(
      ({ conditions }) => conditions?.ready !== false,
    );
    return ready.flatMap(({ addresses }) =>
      addresses.slice(0, 1).map((host) => ({ host, port })),
    );
  });
}
