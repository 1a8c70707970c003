// A JSON document made in steps of a millisecond or less.
import type { Steps } from "../queueing/steps.ts";

const chunkBytes = 16 * 1024;

/** Of objects that never change, and are found in one document after the other. */
export type KeptTexts = WeakMap<object, string>;

/** As JSON.stringify writes it, in chunks. @param depth how deep objects are taken apart @param kept where they are not */
export function* jsonChunks(
  value: Readonly<Record<string, unknown>>,
  depth = 3,
  kept?: KeptTexts,
): Steps<Buffer[]> {
  const chunks: Buffer[] = [];
  let text = "";
  function* write(inner: unknown, level: number): Steps<void> {
    if (level === 0 || typeof inner !== "object" || inner === null) {
      text += textOf(inner, kept);
    } else if (Array.isArray(inner)) {
      text += JSON.stringify(inner);
    } else {
      let before = "{";
      for (const [key, each] of Object.entries(inner)) {
        if (each === undefined) continue;
        text += `${before}${JSON.stringify(key)}:`;
        before = ",";
        yield* write(each, level - 1);
      }
      text += before === "{" ? "{}" : "}";
    }
    if (text.length < chunkBytes) return;
    chunks.push(Buffer.from(text));
    text = "";
    yield;
  }
  yield* write(value, depth);
  chunks.push(Buffer.from(text));
  return chunks;
}

function textOf(value: unknown, kept: KeptTexts | undefined): string {
  if (!kept || typeof value !== "object" || value === null)
    return JSON.stringify(value);
  let text = kept.get(value);
  if (text === undefined) kept.set(value, (text = JSON.stringify(value)));
  return text;
}
