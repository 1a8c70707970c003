// services/proxy: one of the service's ready endpoints, at random.
import { ApiError, errors } from "../../api/errors.ts";
import type { Service } from "../../api/types/core-v1.ts";
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
  const place = readyPlace(state, request.namespace, name, port, request.name);
  return {
    scheme: parsed.scheme || "http",
    ...place,
    path: pathOf(request),
    agent: false,
  };
}
