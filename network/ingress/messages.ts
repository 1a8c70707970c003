// What the proxy's thread and the thread that feeds it say to each other.
import type { BackendState, RouteSet } from "./routing/route.ts";
import type { IngressStatistics } from "./front/statistics.ts";

/** What the proxy is started with; it does not change. */
export interface IngressServerData {
  /** Peers whose X-Forwarded-* and Forwarded are believed, as CIDRs. */
  readonly trustedProxies: readonly string[];
  /** A file, "-" for standard output; undefined: none. */
  readonly accessLog?: string;
  /** How long requests under way may go on when a socket is closed. */
  readonly graceMs: number;
  /** Of pino. */
  readonly logLevel: string;
}

export interface SocketSpec {
  readonly id: string;
  /** Undefined: all of the machine. */
  readonly address?: string;
  /** 0: a free one. */
  readonly port: number;
  readonly tls: boolean;
}

/** Which certificate is shown to clients that ask for a name. */
export interface CertificateUse {
  readonly sockets: readonly string[];
  /** Of two uses for one name the one with the lower rank wins. */
  readonly rank: string;
  /** "": of clients that ask for no name, or for one without a certificate; none: the names of the certificate. */
  readonly hosts: readonly string[];
  /** A wildcard is any number of labels. */
  readonly deep?: boolean;
  /** Key of the certificate. */
  readonly certificate: string;
}

export interface CertificatePem {
  readonly certificate: string;
  readonly key: string;
}

/** Of one object (an Ingress, a route, a Gateway); absent parts: it has none. */
export interface ObjectChange {
  readonly key: string;
  readonly routes?: readonly RouteSet[];
  readonly certificateUses?: readonly CertificateUse[];
}

export type ToProxy =
  | { readonly kind: "sockets"; readonly sockets: readonly SocketSpec[] }
  | {
      readonly kind: "change";
      readonly objects: readonly ObjectChange[];
      /** Absent state: it is gone. */
      readonly backends: readonly {
        readonly key: string;
        readonly state?: BackendState;
      }[];
      readonly certificates: readonly {
        readonly key: string;
        readonly pem?: CertificatePem;
      }[];
    }
  | { readonly kind: "stop" };

export interface SocketState {
  readonly id: string;
  /** That it listens on; undefined: it does not. */
  readonly port?: number;
  readonly problem?: string;
}

export type FromProxy =
  | { readonly kind: "started" }
  | { readonly kind: "sockets"; readonly states: readonly SocketState[] }
  | {
      readonly kind: "certificates";
      /** Without a problem: it is used. */
      readonly states: readonly {
        readonly key: string;
        readonly problem?: string;
      }[];
    }
  | { readonly kind: "statistics"; readonly statistics: IngressStatistics }
  /** A record of the thread's log, as JSON. */
  | { readonly kind: "log"; readonly record: string };
