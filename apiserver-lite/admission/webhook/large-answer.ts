// An answer of megabytes, cut down to what the schema of reviews is to be applied to in one turn of the event loop: its
// patch is decoded in slices, the request that it repeats is left out, and what has more values than any answer is refused.
import { isBase64 } from "../../../api/codec/conform.ts";
import { isJsonObject } from "../../../api/patch/json-value.ts";
import type { Pause } from "../../../api/queueing/steps.ts";

/** Warnings, annotations and causes of a refusal together. */
const maxValues = 20_000;
/** Characters in base64: a multiple of four. */
const sliceLength = 128 * 1024;
const keptPatch = "AAAA";

interface CutAnswer {
  readonly value: object;
  /** In whose place another one is in `value`; undefined: it was left as it is. */
  readonly patch: Buffer | undefined;
}

/** Never changes its argument. Rejects with an Error that says what is too much. */
export async function cutDown(
  value: Readonly<Record<string, unknown>>,
  pause: Pause,
): Promise<CutAnswer> {
  const { request, response, ...others } = value;
  const kept = isJsonObject(request) ? others : { request, ...others };
  if (!isJsonObject(response))
    return { value: { ...kept, response }, patch: undefined };
  const text = response["patch"];
  const patch =
    typeof text === "string" ? await decode(text, pause) : undefined;
  const cut = patch ? { ...response, patch: keptPatch } : response;
  countValues(cut, { left: maxValues });
  return { value: { ...kept, response: cut }, patch };
}

/** Undefined for what is no base64, is none but for its line breaks, or is empty. */
async function decode(text: string, pause: Pause): Promise<Buffer | undefined> {
  if (text.length === 0) return undefined;
  const bytes = Buffer.allocUnsafe(Math.ceil(text.length / 4) * 3);
  let length = 0;
  for (let at = 0; at < text.length; at += sliceLength) {
    const slice = text.slice(at, at + sliceLength);
    const isLast = at + sliceLength >= text.length;
    if (!isBase64(slice) || (!isLast && slice.endsWith("="))) return undefined;
    length += bytes.write(slice, length, "base64");
    const paused = pause();
    if (paused) await paused;
  }
  return bytes.subarray(0, length);
}

function countValues(value: unknown, budget: { left: number }): void {
  const length = Array.isArray(value) ? value.length : 0;
  if (--budget.left < length)
    throw new Error(`the answer has more than ${maxValues} values`);
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) for (const one of value) countValues(one, budget);
  else
    for (const key in value)
      countValues((value as Record<string, unknown>)[key], budget);
}
