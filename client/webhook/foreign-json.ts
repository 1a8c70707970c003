// JSON from other servers: webhooks, aggregated APIs. JSON.parse takes seconds for a few megabytes of brackets, and what is
// nested so deeply overflows the stack of whatever walks through it.
import { scanText } from "../../api/codec/json-text.ts";

/** Shorter texts can't be nested deeply enough to hurt. */
const minScanned = 2000;

/** As JSON.parse; also throws JsonSyntaxError for nesting deeper than MAX_DEPTH. */
export function parseForeignJson(text: string): unknown {
  if (text.length >= minScanned) scanText(Buffer.from(text));
  return JSON.parse(text);
}
