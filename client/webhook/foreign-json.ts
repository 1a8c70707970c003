// JSON from other servers: webhooks, aggregated APIs. JSON.parse holds the event loop for a second for a few megabytes, and
// what is nested deeply overflows the stack of whatever walks through it: so large texts are parsed in parts.
import { parsingParts } from "../../api/codec/json-parts.ts";
import { scanningText } from "../../api/codec/json-text.ts";
import {
  finish,
  started,
  type Pause,
  type Steps,
} from "../../api/queueing/steps.ts";

/** Shorter texts can't be nested deeply enough to hurt. */
const minScanned = 2000;
/** Longer ones are parsed in parts. */
const minInParts = 128 * 1024;
/** Of one object: with the next thousand the engine moves all of them, which takes 10 ms and more. */
const maxKeys = 87_000;

/** As JSON.parse; also throws JsonSyntaxError for nesting deeper than MAX_DEPTH, and an Error for what is absurdly wide. */
export function parseForeignJson(
  bytes: Uint8Array,
  pause: Pause,
): unknown | Promise<unknown> {
  return bytes.length < minInParts
    ? finish(parsingForeignJson(bytes))
    : started(parsingForeignJson(bytes), pause);
}

export function* parsingForeignJson(bytes: Uint8Array): Steps<unknown> {
  if (bytes.length >= minScanned) yield* scanningText(bytes);
  if (bytes.length < minInParts)
    return JSON.parse(Buffer.from(bytes).toString()) as unknown;
  const parsed = yield* parsingParts(bytes, false, undefined, maxKeys);
  if (!parsed) throw new SyntaxError("the text can't be read as JSON");
  return parsed.value;
}
