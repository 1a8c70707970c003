// Warning headers with the reference's bounds: texts go out whole until together they are longer than 4,096 characters,
// from then on all are cut to 256. Texts with control characters can't be headers and are left out.
const maxCharacters = 4096;
const maxCutCharacters = 256;

/** One header a text, in order; ready for Node, which takes bytes as Latin-1. */
export function warningHeaders(texts: readonly string[]): string[] {
  const sendable = texts.filter((text) => !/\p{Cc}/u.test(text));
  const characters = sendable.reduce((sum, text) => sum + length(text), 0);
  const headers: string[] = [];
  let written = 0;
  for (const text of sendable) {
    const shown =
      characters > maxCharacters
        ? [...text].slice(0, maxCutCharacters).join("")
        : text;
    if (written >= maxCharacters) break;
    written += length(shown);
    headers.push(
      `299 - "${Buffer.from(shown.replace(/["\\]/g, "\\$&")).toString("latin1")}"`,
    );
  }
  return headers;
}

function length(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
