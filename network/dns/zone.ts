// The cluster's zone: which names exist and what they answer, from services, their named endpoints and namespaces. A
// lookup walks the labels from the top; nothing is made ahead of a question but an index of addresses for PTR.
// Source: Kubernetes DNS specification 1.1; TTLs and the SOA as the reference's installer sets them up.
import { addressOfLabel } from "./address-names.ts";
import { EntryCompactor } from "./zone/compact-entry.ts";
import { rcodes } from "./query.ts";
import type { Answer, DnsRecord } from "./message.ts";
import { ReverseIndex } from "./zone/reverse-index.ts";
import type {
  EntryEndpoint,
  EntryPort,
  ServiceEntry,
} from "./service-entry.ts";

/** Seconds. */
export const zoneTtl = 30;
const soaSerialTtl = 30;

/** Types by number, as far as the zone has them. */
const typeNames: Readonly<Record<number, DnsRecord["type"]>> = {
  1: "A",
  2: "NS",
  5: "CNAME",
  6: "SOA",
  12: "PTR",
  16: "TXT",
  28: "AAAA",
  33: "SRV",
};

/** What was found for a name. `records` empty: the name exists, and has nothing of the type. */
interface Found {
  readonly records: readonly DnsRecord[];
  readonly additional?: readonly DnsRecord[];
  /** The name is an alias of this one; the caller goes on there. */
  readonly alias?: string;
}

const exists: Found = { records: [] };

function addressRecord(name: string, address: string): DnsRecord {
  return {
    name,
    type: address.includes(":") ? "AAAA" : "A",
    ttl: zoneTtl,
    data: address,
  };
}

export class ClusterZone {
  /** Namespace, then name. */
  readonly #services = new Map<string, Map<string, ServiceEntry>>();
  readonly #namespaces = new Set<string>();
  readonly #reverse = new ReverseIndex();
  readonly #compactor = new EntryCompactor();
  readonly #labels: readonly string[];
  #changes = 1;

  /** @param domain such as cluster.local, lower case, without a dot at the end */
  constructor(
    readonly domain: string,
    readonly serverAddresses: readonly string[] = [],
  ) {
    this.#labels = domain.split(".");
  }

  /** Changes whenever an answer may; kept answers of an older one are not used. */
  get generation(): number {
    return this.#changes;
  }

  get serviceCount(): number {
    let count = 0;
    for (const each of this.#services.values()) count += each.size;
    return count;
  }

  setNamespace(name: string, present: boolean): void {
    this.#changes++;
    if (present) this.#namespaces.add(name);
    else this.#namespaces.delete(name);
  }

  /** @param entry undefined: the service is gone */
  setService(
    namespace: string,
    name: string,
    entry: ServiceEntry | undefined,
  ): void {
    this.#changes++;
    let services = this.#services.get(namespace);
    const before = services?.get(name);
    if (before) this.#reverse.remove(before);
    if (entry) {
      const kept = this.#compactor.compact(entry);
      if (!services) this.#services.set(namespace, (services = new Map()));
      services.set(kept.name, kept);
      this.#reverse.add(kept);
    } else if (services?.delete(name) && services.size === 0)
      this.#services.delete(namespace);
  }

  /** Labels below the domain, or undefined when the name is not in it. */
  below(labels: readonly string[]): readonly string[] | undefined {
    const count = labels.length - this.#labels.length;
    if (count < 0) return undefined;
    for (const [n, label] of this.#labels.entries())
      if (labels[count + n] !== label) return undefined;
    return labels.slice(0, count);
  }

  /** The answer of the zone; undefined: the name is another's. `alias` of the answer: where the caller goes on. */
  answer(
    labels: readonly string[],
    type: number,
  ): (Answer & { alias?: string }) | undefined {
    const below = this.below(labels);
    if (below) return this.#authoritative(this.#find(below, type), type);
    if (labels.at(-1) !== "arpa") return undefined;
    const names = this.#reverse.names(labels);
    if (!names) return undefined;
    return this.#authoritative(
      {
        records:
          type === 12
            ? names.map((name) => ({
                name: labels.join("."),
                type: "PTR",
                ttl: zoneTtl,
                data: `${name}.${this.domain}`,
              }))
            : [],
      },
      type,
    );
  }

  #authoritative(
    found: Found | undefined,
    type: number,
  ): Answer & { alias?: string } {
    const records = found?.records ?? [];
    const negative = records.length === 0;
    return {
      rcode: found ? rcodes.noError : rcodes.nameError,
      authoritative: true,
      answers: records,
      authority: negative ? [this.#soa()] : [],
      additional: found?.additional ?? [],
      ...(found?.alias !== undefined && type !== 5
        ? { alias: found.alias }
        : {}),
    };
  }

  #soa(): DnsRecord {
    return {
      name: this.domain,
      type: "SOA",
      ttl: soaSerialTtl,
      data: {
        mname: `ns.dns.${this.domain}`,
        rname: `hostmaster.${this.domain}`,
        serial: this.#changes,
        refresh: 7200,
        retry: 1800,
        expire: 86_400,
        minimum: zoneTtl,
      },
    };
  }

  /** @param below labels below the domain */
  #find(below: readonly string[], type: number): Found | undefined {
    const own = [...below, ...this.#labels].join(".");
    const kind = below.at(-1);
    if (kind === undefined) return this.#apex(type);
    const rest = below.slice(0, -1);
    if (kind === "svc") return this.#serviceName(rest, own, type);
    if (kind === "pod") return this.#podName(rest, own, type);
    if (kind === "dns-version" && rest.length === 0)
      return type === 16
        ? { records: [{ name: own, type: "TXT", ttl: zoneTtl, data: "1.1.0" }] }
        : exists;
    if (kind === "dns" && rest.length === 0) return exists;
    if (kind === "dns" && rest.length === 1 && rest[0] === "ns")
      return { records: this.#addresses(own, this.serverAddresses, type) };
    return undefined;
  }

  #apex(type: number): Found {
    if (type === 6) return { records: [this.#soa()] };
    if (type === 2)
      return {
        records: [
          {
            name: this.domain,
            type: "NS",
            ttl: zoneTtl,
            data: `ns.dns.${this.domain}`,
          },
        ],
      };
    return exists;
  }

  #namespaceExists(namespace: string): boolean {
    return this.#namespaces.has(namespace) || this.#services.has(namespace);
  }

  /** Pods' names are made of their addresses alone; that the namespace exists is all that is asked. */
  #podName(
    rest: readonly string[],
    own: string,
    type: number,
  ): Found | undefined {
    if (rest.length === 0) return exists;
    if (rest.length > 2 || !this.#namespaceExists(rest.at(-1)!))
      return undefined;
    if (rest.length === 1) return exists;
    const address = addressOfLabel(rest[0]!);
    return address === undefined
      ? undefined
      : { records: this.#addresses(own, [address], type) };
  }

  #serviceName(
    rest: readonly string[],
    own: string,
    type: number,
  ): Found | undefined {
    if (rest.length === 0) return exists;
    const namespace = rest.at(-1)!;
    if (rest.length === 1)
      return this.#namespaceExists(namespace) ? exists : undefined;
    const service = this.#services.get(namespace)?.get(rest.at(-2)!);
    if (!service) return undefined;
    if (rest.length === 2) return this.#service(service, own, type);
    const [first, second] = rest as readonly [string, string];
    if (rest.length === 4) return this.#port(service, first, second, own, type);
    if (rest.length > 4) return undefined;
    if (first.startsWith("_"))
      return this.#targets(service).some(({ ports }) =>
        ports.some(
          ({ name, protocol }) => name !== "" && `_${protocol}` === first,
        ),
      )
        ? exists
        : undefined;
    const endpoints = service.endpoints.filter(({ host }) => host === first);
    if (endpoints.length === 0) return undefined;
    if (type === 33) return this.#srv(service, own, endpoints, () => true);
    return {
      records: this.#addresses(
        own,
        endpoints.map(({ address }) => address),
        type,
      ),
    };
  }

  #service(
    service: ServiceEntry,
    own: string,
    type: number,
  ): Found | undefined {
    if (service.externalName !== undefined)
      return {
        records: [
          {
            name: own,
            type: "CNAME",
            ttl: zoneTtl,
            data: service.externalName,
          },
        ],
        alias: service.externalName,
      };
    const headless = service.addresses.length === 0;
    // The specification: a headless service without a ready endpoint does not exist for clients.
    if (headless && service.endpoints.length === 0) return undefined;
    if (type === 33) return this.#srv(service, own, undefined, () => true);
    const addresses = headless
      ? service.endpoints.map(({ address }) => address)
      : service.addresses;
    return { records: this.#addresses(own, addresses, type) };
  }

  /** What SRV records of the service point to: its endpoints when it is headless, else itself. */
  #targets(
    service: ServiceEntry,
  ): readonly { ports: readonly EntryPort[]; host?: string }[] {
    return service.addresses.length > 0 ? [service] : service.endpoints;
  }

  #port(
    service: ServiceEntry,
    port: string,
    protocol: string,
    own: string,
    type: number,
  ): Found | undefined {
    if (!port.startsWith("_") || !protocol.startsWith("_")) return undefined;
    const matches = (each: EntryPort): boolean =>
      each.name !== "" &&
      `_${each.name.toLowerCase()}` === port &&
      `_${each.protocol}` === protocol;
    const targets = this.#targets(service).filter(({ ports }) =>
      ports.some(matches),
    );
    if (targets.length === 0) return undefined;
    if (type === 33) return this.#srv(service, own, undefined, matches);
    const addresses =
      service.addresses.length > 0
        ? service.addresses
        : service.endpoints
            .filter(({ ports }) => ports.some(matches))
            .map(({ address }) => address);
    return { records: this.#addresses(own, addresses, type) };
  }

  #srv(
    service: ServiceEntry,
    own: string,
    endpoints: readonly EntryEndpoint[] | undefined,
    matches: (port: EntryPort) => boolean,
  ): Found {
    const records = new Map<string, DnsRecord>();
    const additional = new Map<string, DnsRecord>();
    const base = `${service.name}.${service.namespace}.svc.${this.domain}`;
    const add = (
      target: string,
      port: EntryPort,
      addresses: readonly string[],
    ): void => {
      records.set(`${target} ${port.port}`, {
        name: own,
        type: "SRV",
        ttl: zoneTtl,
        data: { priority: 0, weight: 1, port: port.port, target },
      });
      for (const address of addresses)
        additional.set(`${target} ${address}`, addressRecord(target, address));
    };
    const hosts =
      endpoints ?? (service.addresses.length > 0 ? [] : service.endpoints);
    for (const { host, address, ports } of hosts)
      for (const port of ports)
        if (matches(port)) add(`${host}.${base}`, port, [address]);
    if (hosts.length === 0)
      for (const port of service.ports)
        if (matches(port)) add(base, port, service.addresses);
    const weight = Math.max(1, Math.floor(100 / Math.max(1, records.size)));
    return {
      records: [...records.values()].map((record) => ({
        ...record,
        data: { ...(record.data as object), weight },
      })),
      additional: [...additional.values()],
    };
  }

  #addresses(
    name: string,
    addresses: readonly string[],
    type: number,
  ): DnsRecord[] {
    const wanted = typeNames[type];
    return [...new Set(addresses)]
      .map((address) => addressRecord(name, address))
      .filter((record) => record.type === wanted);
  }
}
