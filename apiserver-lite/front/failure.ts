// The answer of a request that failed: an ApiError as a Status in the format the client takes, a PlainAnswer as text, and
// an unexpected error as a 500 that is logged with its stack and called a panic.
import type { Logger } from "pino";
import { ApiError, errors } from "../../api/errors.ts";
import { PlainAnswer } from "../request/route.ts";
import { wantsPretty } from "../serving/answers.ts";
import {
  formatNamed,
  jsonFormat,
  type OtherFormats,
} from "../serving/formats.ts";
import type { HttpRequest } from "../serving/http-request.ts";
import type { Negotiator } from "../serving/negotiation.ts";
import { parseTarget } from "../request/request-target.ts";
import type { FailureAnswer } from "./filter.ts";

interface FailureOptions {
  readonly negotiator: Negotiator;
  readonly formats: OtherFormats;
  readonly logger: Logger;
}

export function failureAnswer(options: FailureOptions): FailureAnswer {
  const { logger } = options;
  return (request, error) => {
    const expected = error instanceof ApiError || error instanceof PlainAnswer;
    if (!expected) {
      request.panic = error instanceof Error ? error.message : String(error);
      logger.error({ err: error }, "a request failed unexpectedly");
    }
    const { exchange } = request;
    try {
      if (exchange.started) return exchange.destroy();
      if (exchange.closed) return;
      if (error instanceof PlainAnswer) answerPlainly(request, error);
      else
        answerStatus(
          request,
          error instanceof ApiError ? error : errors.internal(request.panic!),
          options,
        );
      exchange.body.resume();
    } catch (failure) {
      logger.error({ err: failure }, "an error could not be answered");
      exchange.destroy();
    }
  };
}

function answerPlainly(
  { exchange, headers }: HttpRequest,
  { status, headers: own, text }: PlainAnswer,
): void {
  Object.assign(headers, own);
  headers["content-type"] = "text/plain; charset=utf-8";
  if (headers["cache-control"] === "") delete headers["cache-control"];
  exchange.respond(status, headers, text);
}

function answerStatus(
  { exchange, headers }: HttpRequest,
  { code, status, headers: own }: ApiError,
  { negotiator, formats }: FailureOptions,
): void {
  let format = jsonFormat;
  let contentType = "application/json";
  let pretty = false;
  try {
    const negotiated = negotiator.negotiate(exchange.headers.accept, {
      protobuf: formats.protobuf !== undefined,
      cbor: formats.cbor !== undefined,
      table: false,
      partial: false,
    });
    format = formatNamed(negotiated.format, formats);
    ({ contentType, pretty } = negotiated);
    pretty ||= wantsPretty(exchange, parseTarget(exchange.url).query);
  } catch {
    // Not acceptable: the Status comes as JSON, for people.
    pretty = true;
  }
  Object.assign(headers, own, { "content-type": contentType });
  if (exchange.http2) delete headers["connection"];
  exchange.respond(
    code,
    headers,
    pretty && format === jsonFormat
      ? JSON.stringify(status, null, 2)
      : format.encode(status),
  );
}
