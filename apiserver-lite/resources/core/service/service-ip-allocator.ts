// Cluster IPs and node ports in use, in memory. The state of the store is the truth: an allocator is filled from the
// services at start (`adopt`) and only ever holds what a stored or just being written service has. Where other servers
// write to the store as well, what they have given out is looked up in the range they share (allocation-range.ts), and
// what is taken here is only ours when `SharedRanges` has entered it there.
// Dynamic picks start in the upper band, so that the low band (16 to 256 numbers) stays free for picks by hand; network
// and broadcast address are never given out. Every number has an owner, and only its owner can give it back.
import { isIPv6 } from "node:net";
import type { Service } from "../../../../api/types/core-v1.ts";
import { NumberPool } from "./number-pool.ts";
import { addressValue, addressText, parseCidr } from "./ip-address.ts";

export type IpFamily = "IPv4" | "IPv6";

const maxPoolSize = 65536;

/** The reference's reserved band: at most 256, at least 16, a sixteenth of the range between. */
function reservedBand(size: number, divisor: number, max: number): number {
  if (size <= 16) return 0;
  return Math.min(max, Math.max(16, Math.floor(size / divisor)));
}

export class IpAllocator {
  readonly cidr: string;
  readonly family: IpFamily;
  readonly #base: bigint;
  readonly #size: number;
  readonly pool: NumberPool;

  /** Offsets start at the address after the network's. Throws when the range is no CIDR. */
  constructor(cidr: string, random: () => number = Math.random) {
    const { base, bits, prefix } = parseCidr(cidr);
    this.cidr = cidr;
    this.family = bits === 32 ? "IPv4" : "IPv6";
    this.#base = base + 1n;
    const hostBits = bits - prefix;
    const most = this.family === "IPv4" ? 2 ** 20 : maxPoolSize;
    const addresses = Math.min(most, 2 ** Math.min(hostBits, 24));
    this.#size = Math.max(0, addresses - (this.family === "IPv4" ? 2 : 1));
    this.pool = new NumberPool(
      this.#size,
      reservedBand(this.#size, 16, 256),
      random,
    );
  }

  /** Of an address: -1 when it is not in the range. */
  readonly offset = (ip: string): number => {
    const value = addressValue(ip);
    if (value === undefined || isIPv6(ip) !== (this.family === "IPv6"))
      return -1;
    const offset = value - this.#base;
    return offset >= 0n && offset < BigInt(this.#size) ? Number(offset) : -1;
  };

  /** The reference's text of what is wrong, or undefined when the address is now the owner's. */
  take(ip: string, owner: string): string | undefined {
    const offset = this.offset(ip);
    if (offset < 0) {
      return `failed to allocate IP ${ip}: the provided IP (${ip}) is not in the valid range. The range of valid IPs is ${this.cidr}`;
    }
    return this.pool.take(offset, owner)
      ? undefined
      : `failed to allocate IP ${ip}: provided IP is already allocated`;
  }

  adopt(ip: string, owner: string): string | undefined {
    return this.pool.adopt(this.offset(ip), owner)
      ? undefined
      : `address ${ip} is out of range or already allocated`;
  }

  /** Undefined when the range is full. */
  takeAny(owner: string): string | undefined {
    const offset = this.pool.takeAny(owner);
    return offset === undefined
      ? undefined
      : addressText(this.#base + BigInt(offset), this.family);
  }

  release(ip: string, owner: string): void {
    this.pool.release(this.offset(ip), owner);
  }

  get used(): number {
    return this.pool.used;
  }
}

export class PortAllocator {
  readonly from: number;
  readonly to: number;
  readonly pool: NumberPool;

  /** Both ends included: 30000–32767. */
  constructor(from: number, to: number, random: () => number = Math.random) {
    this.from = from;
    this.to = to;
    const size = to - from + 1;
    this.pool = new NumberPool(size, reservedBand(size, 32, 128), random);
  }

  take(port: number, owner: string): string | undefined {
    if (port < this.from || port > this.to) {
      return `provided port is not in the valid range. The range of valid ports is ${this.from}-${this.to}`;
    }
    return this.pool.take(port - this.from, owner)
      ? undefined
      : "provided port is already allocated";
  }

  /** Of a port: -1 when it is not in the range. */
  readonly offset = (port: number): number =>
    port < this.from || port > this.to ? -1 : port - this.from;

  adopt(port: number, owner: string): string | undefined {
    return this.pool.adopt(port - this.from, owner)
      ? undefined
      : `port ${port} is out of range or already allocated`;
  }

  takeAny(owner: string): number | undefined {
    const offset = this.pool.takeAny(owner);
    return offset === undefined ? undefined : offset + this.from;
  }

  release(port: number, owner: string): void {
    this.pool.release(port - this.from, owner);
  }

  get used(): number {
    return this.pool.used;
  }
}

/** What several servers on one store give out together: service-ranges.ts. */
export interface SharedRanges {
  /** The first repair; further ones by the clock. Rejects when the ranges can't be read or written. */
  start(services: () => readonly Readonly<Service>[]): Promise<void>;
  stop(): void;
  /** Reads again what all servers together have taken. */
  refresh(): Promise<void>;
  /** Enters what `service` has and `old` has not. False: others have some of it; nothing is entered then. */
  take(service: Readonly<Service>, old?: Readonly<Service>): Promise<boolean>;
  /** Gives back what `service` has and `keep` has not. */
  release(service: Readonly<Service>, keep?: Readonly<Service>): Promise<void>;
}

export interface ServiceAllocators {
  /** The first is the cluster's primary family. */
  readonly ips: readonly IpAllocator[];
  readonly ports: PortAllocator;
  /** Where other servers write to the store as well. */
  readonly ranges?: SharedRanges;
}

interface ServiceAllocatorOptions {
  /** One CIDR, or one a family: `["10.96.0.0/12"]`. */
  readonly serviceCidrs: readonly string[];
  readonly nodePorts?: { readonly from: number; readonly to: number };
  readonly random?: () => number;
}

export function createServiceAllocators(
  options: ServiceAllocatorOptions,
): ServiceAllocators {
  const { from, to } = options.nodePorts ?? { from: 30000, to: 32767 };
  return {
    ips: options.serviceCidrs.map(
      (cidr) => new IpAllocator(cidr, options.random),
    ),
    ports: new PortAllocator(from, to, options.random),
  };
}

export function serviceOwner(
  service: Readonly<Pick<Service, "metadata">>,
): string {
  return `${service.metadata.namespace ?? ""}/${service.metadata.name}`;
}

export function clusterIpsOf({ spec }: Readonly<Service>): string[] {
  const ips = spec?.clusterIPs?.length
    ? spec.clusterIPs
    : spec?.clusterIP
      ? [spec.clusterIP]
      : [];
  return ips.filter((ip) => ip && ip !== "None");
}

export function nodePortsOf({ spec }: Readonly<Service>): number[] {
  const ports = (spec?.ports ?? []).map(({ nodePort }) => nodePort ?? 0);
  if (spec?.healthCheckNodePort) ports.push(spec.healthCheckNodePort);
  return [...new Set(ports.filter((port) => port > 0))];
}

/** Takes everything the services have. Returns a text for each address or port that could not be theirs. */
export function adoptServices(
  allocators: ServiceAllocators,
  services: readonly Readonly<Service>[],
): string[] {
  const problems: string[] = [];
  for (const service of services) {
    const owner = serviceOwner(service);
    const note = (problem: string | undefined): void => {
      if (problem) problems.push(`${owner}: ${problem}`);
    };
    for (const ip of clusterIpsOf(service)) {
      const allocator = allocators.ips.find(
        ({ family }) => (family === "IPv6") === isIPv6(ip),
      );
      note(
        allocator ? allocator.adopt(ip, owner) : `no range for address ${ip}`,
      );
    }
    for (const port of nodePortsOf(service))
      note(allocators.ports.adopt(port, owner));
  }
  return problems;
}

/**
 * Keeps up with one change of a stored service by any server: other servers on the same store allocate too. Own
 * writes have taken theirs already, and taking again changes nothing.
 */
export function followService(
  allocators: ServiceAllocators,
  service: Readonly<Service> | undefined,
  previous: Readonly<Service> | undefined,
): void {
  if (previous) releaseService(allocators, previous, service);
  if (service) adoptServices(allocators, [service]);
}

/** Gives back what `service` has and `keep` has not. */
export function releaseService(
  allocators: ServiceAllocators,
  service: Readonly<Service>,
  keep?: Readonly<Service>,
): void {
  const owner = serviceOwner(service);
  const keptIps = new Set(keep ? clusterIpsOf(keep) : []);
  const keptPorts = new Set(keep ? nodePortsOf(keep) : []);
  for (const ip of clusterIpsOf(service)) {
    if (!keptIps.has(ip))
      for (const allocator of allocators.ips) allocator.release(ip, owner);
  }
  for (const port of nodePortsOf(service))
    if (!keptPorts.has(port)) allocators.ports.release(port, owner);
}
