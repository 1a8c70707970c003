// A JSON document made in steps of a millisecond or less.
import type { Steps } from "../queueing/steps.ts";

const chunkBytes = 16 * 1024;
/** Smaller texts are not worth a chunk of their own. */
const ownChunkBytes = 1024;

/** Of objects that never change, and are found in one document after the other. */
export type KeptTexts = WeakMap<object, Buffer>;

/** As JSON.stringify writes it, in chunks. @param depth how deep objects are taken apart @param kept where they are not */
export function* jsonChunks(
  value: Readonly<Record<string, unknown>>,
  depth = 3,
  kept?: KeptTexts,
): Steps<Buffer[]> {
  const chunks: Buffer[] = [];
  let text = "";
  const flush = (): void => {
    if (text !== "") chunks.push(Buffer.from(text));
    text = "";
  };
  function* write(inner: unknown, level: number): Steps<void> {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) {
      text += JSON.stringify(inner);
    } else if (level === 0) {
      const known = kept?.get(inner);
      if (known) {
        flush();
        chunks.push(known);
        return;
      }
      const made = JSON.stringify(inner);
      if (kept && made.length >= ownChunkBytes) {
        flush();
        const bytes = Buffer.from(made);
        kept.set(inner, bytes);
        chunks.push(bytes);
        yield;
        return;
      }
      text += made;
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
    flush();
    yield;
  }
  yield* write(value, depth);
  flush();
  return chunks;
}
