// What each part of a composed cluster is given.
import type { Logger } from "pino";
import type { ClusterPki } from "../../apiserver-lite/index.ts";
import type { Clock } from "../../api/clock.ts";
import type { Client } from "../../client/client.ts";
import type { ClientMetrics } from "../../client/metrics/client-metrics.ts";
import type { PartPortOptions } from "../../http-kit/part-port.ts";
import type { OptionValues } from "../options/parse.ts";
import type { ApiPart } from "../parts/api/apiserver.ts";
import type { PartMetrics } from "../parts/part-metrics.ts";
import type { Started } from "./started.ts";

export interface PartPort {
  /** Option of `orbit server` with its number; 0: no port. */
  readonly option: string;
  /** For messages. */
  readonly what: string;
  readonly metrics: PartMetrics;
  /** Further families, by the paths under which they are shown alone. */
  readonly moreMetrics?: PartPortOptions["moreMetrics"];
  /** Of the part, as far as they are set. */
  readonly gates: Readonly<Record<string, boolean>>;
  /** The part's own options. */
  readonly values: OptionValues;
}

export interface ClusterContext {
  /** Options of `orbit server`. */
  readonly values: OptionValues;
  readonly pki: ClusterPki;
  readonly api: ApiPart;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly started: Started;
  /** A client of that user, who may do everything, on the in-process transport; what it asks is counted in `metrics`. */
  clientFor(user: string, metrics?: ClientMetrics): Client;
  /** Opens a part's own port, where ports are asked for. */
  openPort(port: PartPort): Promise<void>;
}
