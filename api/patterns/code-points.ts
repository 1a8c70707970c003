// Lengths of texts as schemas and expressions count them.

/** No `u`: halves of pairs are looked for. Texts of single bytes have none, which the engine sees at once. */
const anyHalf = /[\ud800-\udfff]/;

/** The number of code points; half of a pair is one. */
export function countCodePoints(text: string): number {
  let count = text.length;
  if (!anyHalf.test(text)) return count;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(at + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      count--;
      at++;
    }
  }
  return count;
}
