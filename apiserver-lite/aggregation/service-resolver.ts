// Where the service of an APIService is reached: at its cluster address, where the cluster has a data path to those, or at
// one of its endpoints, by chance. This server's own service is this server.
import type { Endpoints, Service } from "../../api/types/core-v1.ts";
import type { StateReader } from "../resources/state.ts";
import { typed } from "../resources/typed.ts";
import type { Place } from "./extension-server.ts";
import type { ServicePort } from "./registration.ts";

export type ServiceResolver = (service: ServicePort) => Place;

/**
 * "cluster": to the service's own address; "endpoints": to its endpoints; "no-data-path": as "cluster", but service
 * addresses lead nowhere from here, so its endpoints are used in their place.
 */
export type Routing = "cluster" | "endpoints" | "no-data-path";

export interface ResolverOptions {
  readonly state: StateReader;
  readonly routing: Routing;
  /** Where this server is reached; undefined: it has no port. */
  readonly ownPlace: () => Place | undefined;
}

/** Throws an Error that says why there is no place. */
export function createServiceResolver({
  state,
  routing,
  ownPlace,
}: ResolverOptions): ServiceResolver {
  return (reference) => {
    const { namespace, name, port } = reference;
    const own = ownPlace();
    if (own && namespace === "default" && name === "kubernetes" && port === 443)
      return own;
    const service = typed<Service>(state.read("", "services", namespace, name));
    if (!service) throw new Error(`service "${name}" not found`);
    const external = service.spec.type === "ExternalName";
    return routing === "cluster" || (external && routing === "no-data-path")
      ? clusterPlace(service, reference)
      : endpointPlace(service, reference, state);
  };
}

function clusterPlace({ spec }: Service, { name, port }: ServicePort): Place {
  if (spec.type === "ExternalName")
    return { host: spec.externalName ?? "", port };
  if (spec.type === "ClusterIP" && spec.clusterIP === "None")
    throw new Error('cannot route to service with ClusterIP "None"');
  portOf(spec, name, port);
  return { host: spec.clusterIP ?? "", port };
}

function endpointPlace(
  { spec }: Service,
  { namespace, name, port }: ServicePort,
  state: StateReader,
): Place {
  if (spec.type === "ExternalName")
    throw new Error(`unsupported service type "${spec.type}"`);
  const { name: portName = "" } = portOf(spec, name, port);
  const endpoints = typed<Endpoints>(
    state.read("", "endpoints", namespace, name),
  );
  if (!endpoints) throw new Error(`endpoints "${name}" not found`);
  const places = (endpoints.subsets ?? []).flatMap(({ addresses, ports }) => {
    const found = ports?.find((one) => (one.name ?? "") === portName);
    return found
      ? (addresses ?? []).map(({ ip }) => ({ host: ip, port: found.port }))
      : [];
  });
  const place = places[Math.floor(Math.random() * places.length)];
  if (!place) throw new Error(`no endpoints available for service "${name}"`);
  return place;
}

function portOf(spec: Service["spec"], name: string, port: number) {
  const found = spec.ports?.find((one) => one.port === port);
  if (!found)
    throw new Error(`no service port ${port} found for service "${name}"`);
  return found;
}
