// Backends: a Service's port as routes name it, and its endpoints as the proxy takes them, made of the Service and its
// EndpointSlices by a pure function. Requests go to the endpoints at once, not through the Service's address.
import { addressKind } from "../../../api/address-kind.ts";
import type { Service, ServicePort } from "../../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../../api/types/discovery-v1.ts";
import type {
  BackendAddress,
  BackendProtocol,
  BackendState,
} from "../routing/route.ts";

export interface BackendSpec {
  readonly namespace: string;
  readonly service: string;
  /** Its number or name. */
  readonly port: number | string;
  /** Undefined: as the Service's port says. */
  readonly protocol?: BackendProtocol;
  /** A Secret or ConfigMap of the namespace with `ca.crt`; undefined: the system's authorities. */
  readonly authority?: string;
  readonly serverName?: string;
  /** Default true. */
  readonly verify?: boolean;
}

/** The same for the same backend. */
export function backendKey(spec: BackendSpec): string {
  const { namespace, service, port, ...more } = spec;
  const rest = Object.entries(more)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${String(value)}`)
    .sort();
  return `${namespace}/${service}:${port}${rest.length > 0 ? `?${rest.join("&")}` : ""}`;
}

const appProtocols: Readonly<Record<string, BackendProtocol>> = {
  http: "http",
  https: "https",
  "kubernetes.io/h2c": "h2c",
  "kubernetes.io/ws": "http",
  "kubernetes.io/wss": "https",
  h2c: "h2c",
  grpc: "h2c",
  h2: "h2",
  grpcs: "h2",
};

type BackendResult =
  { readonly state: BackendState } | { readonly problem: string };

/** @param authority PEM of the spec's authority, when it names one */
export function backendState(
  spec: BackendSpec,
  service: Service | undefined,
  slices: readonly EndpointSlice[],
  authority: string | undefined,
): BackendResult {
  const name = `${spec.namespace}/${spec.service}`;
  if (!service) return { problem: `there is no Service ${name}` };
  // An outside name would have the proxy reach whatever its own network reaches.
  if (service.spec?.type === "ExternalName")
    return { problem: `the Service ${name} is of type ExternalName` };
  const port = service.spec?.ports?.find(
    (each) => each.port === spec.port || each.name === spec.port,
  );
  if (!port) return { problem: `the Service ${name} has no port ${spec.port}` };
  if ((port.protocol ?? "TCP") !== "TCP")
    return { problem: `port ${spec.port} of the Service ${name} is not TCP` };
  if (spec.authority !== undefined && authority === undefined)
    return { problem: `${spec.authority} has no usable ca.crt` };
  const protocol =
    spec.protocol ??
    appProtocols[port.appProtocol?.toLowerCase() ?? ""] ??
    "http";
  const tls = protocol === "https" || protocol === "h2";
  return {
    state: {
      protocol,
      endpoints: endpointsOf(service, port, slices),
      ...(tls
        ? {
            tls: {
              serverName:
                spec.serverName ?? `${spec.service}.${spec.namespace}.svc`,
              verify: spec.verify ?? true,
              ...(authority === undefined ? {} : { authority }),
            },
          }
        : {}),
    },
  };
}

/** Ready ones; without any those that end and still serve. Of one family: the Service's first that has some. */
function endpointsOf(
  service: Service,
  port: ServicePort,
  slices: readonly EndpointSlice[],
): BackendAddress[] {
  const families = service.spec?.ipFamilies?.length
    ? service.spec.ipFamilies
    : ["IPv4", "IPv6"];
  const unready = service.spec?.publishNotReadyAddresses === true;
  for (const family of families) {
    const ready = new Map<string, BackendAddress>();
    const ending = new Map<string, BackendAddress>();
    for (const slice of slices) {
      if (slice.addressType !== family) continue;
      const number = slice.ports?.find(
        (each) => (each.name ?? "") === (port.name ?? ""),
      )?.port;
      if (number === undefined) continue;
      for (const { addresses, conditions } of slice.endpoints ?? [])
        for (const address of addresses ?? []) {
          if (addressKind(address) !== "outside") continue;
          const key = `${address} ${number}`;
          const each = { address, port: number };
          if (unready || conditions?.ready !== false) ready.set(key, each);
          else if (conditions?.serving === true) ending.set(key, each);
        }
    }
    const usable = ready.size > 0 ? ready : ending;
    if (usable.size > 0)
      return [...usable].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, e]) => e);
  }
  return [];
}
