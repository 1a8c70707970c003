// The connections of an HTTP transport: a bounded pool of undici's for requests, and one for watches, each of which keeps a
// connection of its own. undici is loaded with the first of them.
import type { Pool } from "undici";
import { checkServerNames } from "../api/pki/server-names.ts";

export interface TlsOptions {
  /** PEM; without it the system's roots are trusted. */
  ca?: string;
  /** PEM client certificate (chain) and key; bytes stay out of heap snapshots. */
  cert?: string;
  key?: string | Buffer;
  serverName?: string;
  insecureSkipVerify?: boolean;
}

export interface HttpPools {
  readonly requests: Pool;
  readonly watches: Pool;
}

const connectTimeoutMs = 10_000;
const keepAliveMs = 30_000;

/** @param connections for requests, at most */
export async function createHttpPools(
  origin: string,
  tls: TlsOptions,
  connections: number,
): Promise<HttpPools> {
  const { Pool } = await import("undici");
  const { ca, cert, key, serverName, insecureSkipVerify } = tls;
  const connect = {
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
    ...(serverName ? { servername: serverName } : {}),
    ...(insecureSkipVerify ? { rejectUnauthorized: false } : {}),
    checkServerIdentity: checkServerNames,
    timeout: connectTimeoutMs,
    keepAliveInitialDelay: keepAliveMs,
  };
  return {
    requests: new Pool(origin, {
      connect,
      connections,
      keepAliveTimeout: keepAliveMs,
    }),
    watches: new Pool(origin, { connect, connections: null }),
  };
}
