// What a failed request rejects with.
import { ApiError } from "../../api/errors.ts";
import type { Status } from "../../api/types/meta-v1.ts";
import type { BodyCodec } from "./body-codec.ts";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** An ApiError of a Status body in JSON, or of the bare code and text when there is none. */
export function statusError(
  code: number,
  text: string,
  headers: Headers = {},
): ApiError {
  return errorOf(code, text, headers, () => JSON.parse(text) as unknown);
}

/** The same of a body in the encoding that its Content-Type names. */
export function answerError(
  code: number,
  bytes: Buffer,
  headers: Headers,
  codec: BodyCodec,
): ApiError {
  const type = String(headers["content-type"] ?? "");
  const isText = type === "" || /^text\/|json/.test(type);
  const text = isText ? bytes.toString("utf8") : "";
  return errorOf(code, text, headers, () => codec.decode(bytes, type));
}

function errorOf(
  code: number,
  text: string,
  headers: Headers,
  decode: () => unknown,
): ApiError {
  const retryAfter = headers["retry-after"];
  const extra: Record<string, string> = retryAfter
    ? { "Retry-After": String(retryAfter) }
    : {};
  try {
    const status = decode() as Status;
    if (status.kind === "Status")
      return new ApiError({ ...status, code }, extra);
  } catch {
    // No Status: below.
  }
  const reason = reasons[code] ?? "Unknown";
  const message = text.trim().slice(0, 1024) || `the server answered ${code}`;
  return new ApiError({ code, reason, message }, extra);
}

/** Milliseconds to wait before the request may be sent again, or undefined when the answer is final. */
export function retryAfterMs(
  status: number,
  header: string | string[] | undefined,
): number | undefined {
  if (header === undefined || (status !== 429 && status < 500))
    return undefined;
  const seconds = Number(header);
  return Number.isFinite(seconds) && seconds >= 0
    ? Math.min(seconds, 60) * 1000
    : undefined;
}
