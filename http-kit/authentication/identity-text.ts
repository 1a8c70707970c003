// The name of a user or group in a header: UTF-8, which Node hands over byte by byte as Latin-1.

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const ascii = /^[\t -~]*$/;

/** Undefined for other bytes: with replacements in their places two names would become one. */
export function identityText(value: string): string | undefined {
  if (ascii.test(value)) return value;
  try {
    return decoder.decode(Buffer.from(value, "latin1"));
  } catch {
    return undefined;
  }
}
