// What serving a request needs to know (routes, backends, who counts), and what becomes known by it.
import type { Logger } from "pino";
import type { AuthorityParser } from "../routing/authority.ts";
import type { RouteTable } from "../routing/route-table.ts";
import type { Backend } from "../upstream/backend.ts";
import type { AccessLog } from "./access-log.ts";
import type { StatisticsCounter } from "./statistics.ts";

/** The socket a request came in at. */
export interface ServingSocket {
  readonly id: string;
  readonly scheme: "http" | "https";
  readonly port: number;
}

export interface ProxyContext {
  readonly table: RouteTable;
  readonly backends: ReadonlyMap<string, Backend>;
  readonly authorities: AuthorityParser;
  readonly statistics: StatisticsCounter;
  readonly accessLog: AccessLog | undefined;
  readonly logger: Pick<Logger, "debug" | "error">;
  /** Whether what this peer says of its clients is believed. */
  trusted(address: string): boolean;
  /** Monotonic. */
  nowMs(): number;
}

/** What is known of a request when it is over. */
export interface Outcome {
  bytes: number;
  backend?: string;
  endpoint?: string;
}
