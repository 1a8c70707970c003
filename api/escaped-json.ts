// JSON text as Go's encoder writes it. JSON.stringify leaves five characters of strings as they are that Go escapes; clients
// in Go compare fields of any form (RawExtension, JSON) by their bytes with what they would write themselves, so that a
// controller of revisions whose template has `>` in a command would take each answer for another template.

const escapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};
const escaped = /[<>&\u2028\u2029]/g;

/** @param json well-formed JSON: outside of strings these characters are not in it */
export function escapedJson(json: string): string {
  // Looking for one letter is many times faster than for one of a class, and most texts have none.
  const isPlain =
    !json.includes("<") &&
    !json.includes(">") &&
    !json.includes("&") &&
    !json.includes("\u2028") &&
    !json.includes("\u2029");
  return isPlain ? json : json.replace(escaped, (letter) => escapes[letter]!);
}

/** JSON.stringify of a value that is no function and not undefined, in that form. */
export const stringified = (value: unknown, indent?: number): string =>
  escapedJson(JSON.stringify(value, null, indent));
