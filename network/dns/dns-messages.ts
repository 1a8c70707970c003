// What the thread of the DNS server and the thread that feeds it say to each other.
import type { ListenAddress } from "./listener.ts";
import type { ServiceEntry } from "./service-entry.ts";
import type { Upstream } from "./upstream-socket.ts";

/** What the server is started with; it does not change. */
export interface DnsServerData {
  /** Such as cluster.local. */
  domain: string;
  listen: readonly ListenAddress[];
  /** CIDRs whose queries are answered. */
  allowed: readonly string[];
  /** The addresses of the cluster's DNS service. */
  serviceAddresses: readonly string[];
  /** How long another server has to answer; default 2,000. */
  upstreamTimeoutMs?: number;
}

/** What may change while it runs. */
export interface DnsConfiguration {
  upstreams: readonly Upstream[];
  stubDomains: Readonly<Record<string, readonly Upstream[]>>;
  hosts: Readonly<Record<string, readonly string[]>>;
}

export interface ServiceChange {
  namespace: string;
  name: string;
  /** Absent: the service is gone. */
  entry?: ServiceEntry;
}

export type ToServer =
  | { kind: "configure"; configuration: DnsConfiguration }
  | {
      kind: "change";
      services: readonly ServiceChange[];
      namespaces: readonly { name: string; present: boolean }[];
    }
  | { kind: "stop" };

/** Counted since the thread's start. */
export interface DnsStatistics {
  requests: Record<string, number>;
  responses: Record<string, number>;
  cacheHits: number;
  cacheMisses: number;
  forwarded: Record<string, number>;
  forwardFailures: Record<string, number>;
  forwardRefused: number;
  services: number;
}

export type FromServer =
  | { kind: "listening"; ports: readonly number[] }
  | { kind: "failed"; message: string }
  | { kind: "statistics"; statistics: DnsStatistics }
  | { kind: "loop"; upstream: string };
