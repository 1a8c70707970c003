// Where a request to a service goes: an address and port of one of its ready endpoints, at random. The service's own
// address is not used, as not every composition of the cluster has a data path to it; a service of an external name is
// that name. Used by services/proxy, webhooks and everything else that names a service.
import { addressKind } from "../../api/address-kind.ts";
import { ApiError, errors } from "../../api/errors.ts";
import type { Service, ServicePort } from "../../api/types/core-v1.ts";
import type { Endpoint, EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { StateReader } from "../resources/state.ts";
import { typed } from "../resources/typed.ts";

interface ServicePlace {
  /** An address, or an external name. */
  readonly host: string;
  readonly port: number;
}

interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  /** Of the service. */
  readonly port: number;
}

const serviceLabel = "kubernetes.io/service-name";

/** Throws ApiError 404 and 503, and 400 where the endpoint's address leads to this machine itself. */
export function servicePlace(
  state: StateReader,
  { namespace, name, port }: ServiceReference,
): ServicePlace {
  const service = typed<Service | undefined>(
    state.read("", "services", namespace, name),
  );
  if (!service)
    throw new ApiError({
      ...errors.notFound({ group: "", resource: "services" }, name).status,
      message: `service ${JSON.stringify(name)} not found`,
    });
  const { spec } = service;
  if (spec.type === "ExternalName")
    return { host: spec.externalName ?? "", port };
  const found = (spec.ports ?? []).find((one) => one.port === port);
  if (!found)
    throw errors.unavailable(
      `no service port ${port} found for service ${JSON.stringify(name)}`,
    );
  return readyPlace(state, namespace, name, found, name);
}

/**
 * @param shown the service, as the caller named it
 * @param accepts which endpoints, when not all that are ready
 */
export function readyPlace(
  state: StateReader,
  namespace: string,
  service: string,
  port: ServicePort,
  shown: string,
  accepts: (endpoint: Endpoint) => boolean = () => true,
): ServicePlace {
  const places = readyPlaces(
    state,
    namespace,
    service,
    port.name ?? "",
    accepts,
  );
  const place = places[Math.floor(Math.random() * places.length)];
  if (!place)
    throw errors.unavailable(
      `no endpoints available for service ${JSON.stringify(shown)}`,
    );
  refuseLocalAddress(place.host);
  return place;
}

function readyPlaces(
  state: StateReader,
  namespace: string,
  service: string,
  portName: string,
  accepts: (endpoint: Endpoint) => boolean,
): ServicePlace[] {
  const slices = typed<EndpointSlice[]>(
    state.list("discovery.k8s.io", "endpointslices", namespace),
  ).filter(({ metadata }) => metadata.labels?.[serviceLabel] === service);
  return slices.flatMap((slice) => {
    const port = (slice.ports ?? []).find(
      (one) => (one.name ?? "") === portName,
    )?.port;
    if (!port) return [];
    const ready = (slice.endpoints ?? []).filter(
      (endpoint) => endpoint.conditions?.ready !== false && accepts(endpoint),
    );
    return ready.flatMap(({ addresses }) =>
      addresses.slice(0, 1).map((host) => ({ host, port })),
    );
  });
}

/** Throws ApiError 400 for what is no address, or leads to this machine, its links or to many (the reference's rule). */
export function refuseLocalAddress(address: string): void {
  if (addressKind(address) === "outside") return;
  throw new ApiError({
    code: 400,
    reason: "BadRequest",
    message: "address not allowed",
  });
}
