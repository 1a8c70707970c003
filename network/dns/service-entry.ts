// What DNS needs of a Service: its addresses, ports and, where each has a name, its endpoints. Made of the Service and its
// EndpointSlices by a pure function, small and structured-cloneable, because the server runs in a thread of its own.
// Source: Kubernetes DNS specification 1.1.
import {
  canonicalAddress,
  canonicalAddresses,
} from "../../api/addresses/address-range.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import { dashed } from "./address-names.ts";
import type { Service } from "../../api/types/core-v1.ts";

export interface EntryPort {
  /** Empty: the port has no name, and no SRV record of its own. */
  readonly name: string;
  /** Lower case. */
  readonly protocol: string;
  readonly port: number;
}

export interface EntryEndpoint {
  readonly address: string;
  /** Its name below the service: its host name, else the address with dashes. */
  readonly host: string;
  readonly ports: readonly EntryPort[];
}

export interface ServiceEntry {
  readonly namespace: string;
  readonly name: string;
  /** Empty: headless, the endpoints' addresses are the service's. */
  readonly addresses: readonly string[];
  readonly ports: readonly EntryPort[];
  /** Of headless services all that are ready; of others those that have a host name. */
  readonly endpoints: readonly EntryEndpoint[];
  /** Of type ExternalName: what it is an alias of, without a dot at the end. */
  readonly externalName?: string;
}

function slicePorts(slice: EndpointSlice): EntryPort[] {
  return (slice.ports ?? []).flatMap(({ name, protocol, port }) =>
    port === undefined
      ? []
      : [
          {
            name: name ?? "",
            protocol: (protocol ?? "TCP").toLowerCase(),
            port,
          },
        ],
  );
}

function entryEndpoints(
  headless: boolean,
  unready: boolean,
  slices: readonly EndpointSlice[],
): EntryEndpoint[] {
  const found = new Map<string, EntryEndpoint>();
  for (const slice of slices) {
    if (slice.addressType === "FQDN") continue;
    const ports = slicePorts(slice);
    for (const { addresses, hostname, conditions } of slice.endpoints ?? []) {
      // An unset condition means ready.
      if (!unready && conditions?.ready === false) continue;
      if (!headless && (hostname ?? "") === "") continue;
      for (const text of addresses ?? []) {
        const address = canonicalAddress(text);
        if (address === undefined) continue;
        const host = hostname ? hostname.toLowerCase() : dashed(address);
        const key = `${address} ${host}`;
        const known = found.get(key);
        found.set(key, {
          address,
          host,
          ports: known ? [...known.ports, ...ports] : ports,
        });
      }
    }
  }
  return [...found.values()];
}

/** @param slices those of the service, in any order */
export function serviceEntry(
  service: Service,
  slices: readonly EndpointSlice[],
): ServiceEntry | undefined {
  const { metadata, spec } = service;
  if (!metadata?.name || !metadata.namespace) return undefined;
  const base = {
    namespace: metadata.namespace,
    name: metadata.name,
    ports: (spec?.ports ?? []).map(({ name, protocol, port }) => ({
      name: name ?? "",
      protocol: (protocol ?? "TCP").toLowerCase(),
      port,
    })),
  };
  if (spec?.type === "ExternalName") {
    const externalName = (spec.externalName ?? "")
      .toLowerCase()
      .replace(/\.$/, "");
    return { ...base, addresses: [], endpoints: [], externalName };
  }
  const ips = spec?.clusterIPs?.length
    ? spec.clusterIPs
    : [spec?.clusterIP ?? ""];
  const headless = ips.includes("None");
  const addresses = headless ? [] : canonicalAddresses(ips);
  if (!headless && addresses.length === 0) return undefined;
  return {
    ...base,
    addresses,
    endpoints: entryEndpoints(
      headless,
      spec?.publishNotReadyAddresses === true,
      slices,
    ),
  };
}
