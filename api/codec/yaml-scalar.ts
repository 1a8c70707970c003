// How plain scalars read under YAML 1.1 the way the ecosystem's tools read them: yes/no/on/off/y/n are booleans, 014 and
// 0o14 are octal, 1_000 is a number, timestamps stay strings. Used by the reader and by the writer, which quotes what
// would not come back as a string.

const WORDS = new Map<string, boolean | null>();
for (const word of ["", "~", "null", "Null", "NULL"]) WORDS.set(word, null);
for (const word of [
  "y",
  "Y",
  "yes",
  "Yes",
  "YES",
  "true",
  "True",
  "TRUE",
  "on",
  "On",
  "ON",
])
  WORDS.set(word, true);
for (const word of [
  "n",
  "N",
  "no",
  "No",
  "NO",
  "false",
  "False",
  "FALSE",
  "off",
  "Off",
  "OFF",
])
  WORDS.set(word, false);

const INFINITE = /^[-+]?\.(?:inf|Inf|INF)$/;
const NOT_A_NUMBER = /^\.(?:nan|NaN|NAN)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const INTEGER =
  /^[-+]?(?:0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)$/;

/** The value of an unquoted scalar: null, a boolean, a number (possibly not finite) or the text itself. */
export function resolvePlain(text: string): string | number | boolean | null {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  // Only digits, signs and dots start numbers.
  if (first > 0x39 || first < 0x2b || first === 0x2c || first === 0x2f)
    return text;
  if (INFINITE.test(text)) return text[0] === "-" ? -Infinity : Infinity;
  if (NOT_A_NUMBER.test(text)) return NaN;
  const plain = text.includes("_") ? text.replaceAll("_", "") : text;
  if (INTEGER.test(plain)) return parseInteger(plain);
  return FLOAT.test(plain) ? Number(plain) : text;
}

function parseInteger(text: string): number {
  const negative = text[0] === "-";
  const digits = text.replace(/^[-+]/, "");
  const octal = /^0[oO]?([0-7]+)$/.exec(digits);
  const value = octal ? parseInt(octal[1]!, 8) : Number(digits);
  return negative && value !== 0 ? -value : value;
}

/** `190:20:30` is a number in YAML 1.1 although the readers here take it for text: writers quote it. */
export function isBase60(text: string): boolean {
  return /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/.test(text);
}

/** Timestamps are read as text, but a writer quotes them. */
export function isTimestamp(text: string): boolean {
  return /^\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|\s+)\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d*)?(?:\s*(?:Z|[-+]\d\d?(?::?\d\d)?))?)?$/.test(
    text,
  );
}
