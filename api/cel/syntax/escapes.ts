// Escape sequences in strings and bytes.

const simple: Record<string, string> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "`": "`",
  "?": "?",
};
const numbered =
  /^(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/;

/** Throws an Error with the reference's text. In bytes, \x and \ooo are bytes; in strings they are code points. */
export function unescapeText(body: string): string;
export function unescapeText(body: string, asBytes: true): Uint8Array;
export function unescapeText(
  body: string,
  asBytes = false,
): string | Uint8Array {
  const parts: Buffer[] = [];
  let text = "";
  let from = 0;
  for (;;) {
    const at = body.indexOf("\\", from);
    text += body.slice(from, at < 0 ? undefined : at);
    if (at < 0) break;
    const letter = body[at + 1] ?? "";
    const plain = simple[letter];
    if (plain !== undefined) {
      text += plain;
      from = at + 2;
      continue;
    }
    const found = numbered.exec(body.slice(at + 1, at + 10));
    if (!found) throw new Error("unable to unescape string");
    const [sequence, hex, short, long, octal] = found;
    from = at + 1 + sequence.length;
    const code = octal
      ? parseInt(octal, 8)
      : parseInt(hex ?? short ?? long ?? "", 16);
    if (asBytes && (short || long))
      throw new Error("unable to unescape string");
    if (code > 0x10ffff) throw new Error("unable to unescape string");
    if (asBytes) {
      parts.push(Buffer.from(text), Buffer.from([code]));
      text = "";
    } else {
      // Halves of surrogate pairs are no characters.
      const isHalf = code >= 0xd800 && code <= 0xdfff;
      text += isHalf ? "\ufffd" : String.fromCodePoint(code);
    }
  }
  return asBytes ? Buffer.concat([...parts, Buffer.from(text)]) : text;
}
