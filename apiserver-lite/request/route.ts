// What is checked of a request before anything else of a place is looked at: its method, and the media types that the
// place takes and gives, by name alone. The reference does this in its router, so these errors have texts and a form of
// their own; parameters, qualities and other wildcards are negotiation's (negotiation.ts).
import { ApiError } from "../../api/errors.ts";
import { methodNotAllowed } from "./refusals.ts";
import type { Exchange } from "../../http-kit/exchange.ts";
import { leadingClauses } from "./media-type.ts";

export interface Route {
  /** Undefined: any. */
  readonly methods?: readonly string[];
  /** Media types it answers in. Undefined: any. */
  readonly produces?: readonly string[];
  /** Media types of its bodies. Undefined: any. */
  readonly consumes?: readonly string[];
}

const writing = new Set(["POST", "PUT", "PATCH"]);

/** Throws ApiError 405, 415 or 406. */
export function checkRoute(
  { method, headers }: Pick<Exchange, "method" | "headers">,
  { methods, produces, consumes }: Route,
): void {
  if (methods && !methods.includes(method)) throw methodNotAllowed();
  let available = produces;
  if (consumes && !names(headers["content-type"] ?? "", consumes)) {
    if (Number(headers["content-length"]) > 0)
      throw refusal(415, "UnsupportedMediaType", "Unsupported Media Type");
    available = [];
  }
  const { accept } = headers;
  if (!available || (available.length > 0 && accepts(accept, available)))
    return;
  const list = `\n\nAvailable representations: ${available.join(", ")}`;
  throw writing.has(method) && headers["content-length"] === undefined
    ? refusal(415, "UnsupportedMediaType", `Unsupported Media Type${list}`)
    : refusal(406, "NotAcceptable", `Not Acceptable${list}`);
}

function accepts(
  accept: string | undefined,
  available: readonly string[],
): boolean {
  return !accept || accept === "*/*" || names(accept, ["*/*", ...available]);
}

/** Is one of the types in the header, parameters left out? */
function names(header: string, types: readonly string[]): boolean {
  return leadingClauses(header)
    .split(",")
    .some((part) => {
      const semicolon = part.indexOf(";");
      const type = (semicolon < 0 ? part : part.slice(0, semicolon)).trim();
      return types.includes(
        type === "application/vnd.orbit.protobuf"
          ? "application/vnd.kubernetes.protobuf"
          : type,
      );
    });
}

function refusal(code: number, reason: string, text: string): ApiError {
  return new ApiError({
    code,
    reason,
    message: `${code}: ${text}`,
    details: {},
  });
}

/** An error that is answered in plain text: what comes before, or beside, the API. */
export class PlainAnswer extends Error {
  constructor(
    readonly status: number,
    readonly text: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(text.trim());
  }
}

/** What is answered before any filter: no caching rule. */
export function malformed(status: number, text: string): PlainAnswer {
  return new PlainAnswer(status, text, { "cache-control": "" });
}

/** Nothing is served at or above this path. */
export function pageNotFound(): PlainAnswer {
  return new PlainAnswer(404, "404 page not found\n", {
    "x-content-type-options": "nosniff",
  });
}
