// A request over HTTP: the request itself, the exchange it came in, and what filters found out for its answer. One such
// object goes through the filter chain (front/) to the delegate that answers it.
import type { OutgoingHttpHeaders } from "node:http";
import type { AuthenticationRemarks, UserInfo } from "../../api/contracts.ts";
import type { BodyGate } from "../../http-kit/body.ts";
import type { Exchange } from "../../http-kit/exchange.ts";
import { RequestContext } from "../dispatch/request.ts";
import type { Representation } from "./representation.ts";
import { warningHeaders } from "./warnings.ts";

/** What a request holds of the server's limits while it is worked on. */
export interface HeldPlace extends BodyGate {
  /** The client does not read on. @param bytes what the answer keeps in memory meanwhile, beside its text */
  stalls(bytes: number): void;
  /** It reads again. */
  goesOn(): void;
  /** The request has its answer: it waits no longer. */
  answered(): void;
  /** Gives back what is held, and waits no longer. Further calls do nothing. */
  leave(): void;
}

/** What answers a request, by a response or, where it takes the offered upgrade, on the socket. */
export type Handler = (request: HttpRequest) => void | Promise<void>;

export class HttpRequest
  extends RequestContext
  implements AuthenticationRemarks
{
  readonly startedMs = performance.now();
  /** Of the answer, whatever it will be: the filters' headers. */
  readonly headers: OutgoingHttpHeaders = {};
  /** The query as sent, without "?". */
  rawQuery = "";
  /** The user that asks; the same as `user` without impersonation. */
  original!: UserInfo;
  /** How long the answer may take; 0: as long as it takes. */
  limitMs = 0;
  /** That time was over before it was answered. */
  timedOut = false;
  /** Undefined: long-running requests hold nothing. */
  place: HeldPlace | undefined;
  /** How a resource is shown in the answer. */
  shown!: Representation;
  /** The text of an unexpected error. */
  panic: string | undefined;
  /** What its audit trail begins with. */
  annotations: Record<string, string> | undefined;
  #controller: AbortController | undefined;

  /** @param exchange where the answer goes; audit puts its own around it */
  constructor(public exchange: Exchange) {
    super(exchange.headers["user-agent"] ?? "");
  }

  annotate(name: string, value: string): void {
    (this.annotations ??= {})[name] ??= value;
  }

  /** Also of answers that no resource gives. */
  warn(text: string): void {
    this.warnings.push(text);
    (this.headers as Record<string, unknown>)["warning"] = warningHeaders(
      this.warnings,
    );
  }

  /** Answers with the filters' headers and these. */
  respond(
    status: number,
    headers: OutgoingHttpHeaders,
    body?: Uint8Array | string,
  ): void {
    this.exchange.respond(status, { ...this.headers, ...headers }, body);
  }

  /** Aborted when the client has gone or has its answer; made when first asked for. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = (this.#controller = new AbortController());
      this.exchange.onClose(() => controller.abort());
    }
    return this.#controller.signal;
  }
}
