// Who is notified of each request: its metrics.
import type { RequestInfo } from "./request-info.ts";

export interface Observer {
  /** A long-running request begins; the returned function is called when it is over. */
  began?(info: RequestInfo): (() => void) | undefined;
  finished(
    info: RequestInfo,
    method: string,
    status: number,
    startedMs: number,
    /** Of the answer's body; undefined within the process. */
    sentBytes?: number,
  ): void;
  /** The server gives the request up for its own sake: it has too many, or its time is over. */
  terminated?(info: RequestInfo, status: number): void;
}
