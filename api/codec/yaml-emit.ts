// Writes YAML as the ecosystem's tools do: sorted keys, two blanks of indentation, lists at their key's own column, text
// with newlines as literal blocks, double quotes for what would be read as another type, single quotes for what plain
// style can't hold, long lines folded at 80 columns.
import { isBase60, isTimestamp, resolvePlain } from "./yaml-scalar.ts";

const WIDTH = 80;

/** `value` as JSON would carry it; undefined fields are left out. */
export function emitYaml(value: unknown): string {
  const emitter = new Emitter();
  emitter.node(value, 0, "");
  return emitter.text;
}

type Style = "plain" | "single" | "double" | "literal";

class Emitter {
  text = "";
  #column = 0;

  /** Text that may end in a newline, but has none before. */
  #write(text: string): void {
    this.text += text;
    this.#column = text.endsWith("\n") ? 0 : this.#column + text.length;
  }

  /** A line break and the indentation of the next line. */
  #break(indent: number): void {
    this.text += `\n${" ".repeat(indent)}`;
    this.#column = indent;
  }

  /** Writes a value after `lead`: "" at the start of a line, " " after a key's colon. */
  node(value: unknown, indent: number, lead: string): void {
    if (Array.isArray(value)) return this.#list(value, indent, lead);
    if (typeof value === "object" && value !== null)
      return this.#map(value as Record<string, unknown>, indent, lead);
    this.#write(lead);
    if (typeof value === "string") this.#string(value, indent, false);
    else
      this.#write(
        value === null || value === undefined
          ? "null"
          : number(value as number | boolean),
      );
    this.#write("\n");
  }

  #list(list: readonly unknown[], indent: number, lead: string): void {
    if (list.length === 0) return this.#write(`${lead}[]\n`);
    if (lead !== "") this.#write("\n");
    for (const item of list) {
      this.#write(" ".repeat(indent));
      this.#write("-");
      this.#item(item, indent + 2);
    }
  }

  /** An item's text starts on the line of its dash. */
  #item(value: unknown, indent: number): void {
    if (Array.isArray(value) && value.length > 0) {
      value.forEach((inner, index) => {
        this.#write(index === 0 ? " -" : `${" ".repeat(indent)}-`);
        this.#item(inner, indent + 2);
      });
    } else if (
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      keysOf(value).length > 0
    ) {
      this.#entries(value as Record<string, unknown>, indent, " ");
    } else {
      this.node(value, indent - 2, " ");
    }
  }

  #map(map: Record<string, unknown>, indent: number, lead: string): void {
    if (keysOf(map).length === 0) return this.#write(`${lead}{}\n`);
    if (lead !== "") this.#write("\n");
    this.#entries(map, indent, " ".repeat(indent));
  }

  #entries(
    map: Record<string, unknown>,
    indent: number,
    firstLead: string,
  ): void {
    let lead = firstLead;
    for (const key of keysOf(map).sort(naturalOrder)) {
      this.#write(lead);
      lead = " ".repeat(indent);
      this.#string(key, indent, true);
      this.#write(":");
      const value = map[key];
      const isMap =
        typeof value === "object" && value !== null && !Array.isArray(value);
      this.node(value, isMap ? indent + 2 : indent, " ");
    }
  }

  #string(text: string, indent: number, isKey: boolean): void {
    switch (styleOf(text, isKey)) {
      case "plain":
        return this.#folded(text, indent, isKey, (char) => char);
      case "single":
        this.#write("'");
        this.#folded(text, indent, isKey, (char) => char.replaceAll("'", "''"));
        return this.#write("'");
      case "double":
        return this.#double(text, indent, isKey);
      case "literal":
        return this.#literal(text, indent);
    }
  }

  /** A single blank between words beyond the width becomes a line break. */
  #folded(
    text: string,
    indent: number,
    isKey: boolean,
    escape: (text: string) => string,
  ): void {
    if (isKey || this.#column + text.length <= WIDTH || !text.includes(" "))
      return this.#write(escape(text));
    let spaces = false;
    const chars = [...text];
    for (let at = 0; at < chars.length; at++) {
      const char = chars[at]!;
      if (char === " ") {
        const fold =
          !isKey &&
          !spaces &&
          this.#column > WIDTH &&
          at > 0 &&
          at < chars.length - 1 &&
          chars[at + 1] !== " ";
        if (fold) this.#break(indent + 2);
        else this.#write(" ");
        spaces = true;
      } else {
        this.#write(escape(char));
        spaces = false;
      }
    }
  }

  #double(text: string, indent: number, isKey: boolean): void {
    this.#write('"');
    let spaces = false;
    const chars = [...text];
    for (let at = 0; at < chars.length; at++) {
      const char = chars[at]!;
      if (
        char === " " &&
        !spaces &&
        !isKey &&
        this.#column > WIDTH &&
        at > 0 &&
        at < chars.length - 1
      ) {
        this.#break(indent + 2);
        if (chars[at + 1] === " ") this.#write("\\");
        spaces = true;
      } else {
        this.#write(doubleEscape(char));
        spaces = char === " ";
      }
    }
    this.#write('"');
  }

  #literal(text: string, indent: number): void {
    const first = text[0];
    const hint = first === " " || first === "\n" ? "2" : "";
    const chomp = !text.endsWith("\n")
      ? "-"
      : text.length === 1 || text.endsWith("\n\n")
        ? "+"
        : "";
    this.#write(`|${hint}${chomp}`);
    const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
    for (const line of lines)
      if (line === "") this.#write("\n");
      else {
        this.#break(indent + 2);
        this.#write(line);
      }
  }
}

function keysOf(map: object): string[] {
  return Object.keys(map).filter(
    (key) => (map as Record<string, unknown>)[key] !== undefined,
  );
}

/** Letters after digits and signs, numbers inside keys by value: a2 before a10. */
function naturalOrder(left: string, right: string): number {
  // Letters alone compare as they are.
  if (/^[A-Za-z]*$/.test(left) && /^[A-Za-z]*$/.test(right))
    return left < right ? -1 : left > right ? 1 : 0;
  const a = [...left];
  const b = [...right];
  const isDigit = (char: string | undefined): boolean =>
    char !== undefined && /^\p{Nd}$/u.test(char);
  const isLetter = (char: string): boolean => /^\p{L}$/u.test(char);
  let digits = false;
  for (let at = 0; at < a.length && at < b.length; at++) {
    const x = a[at]!;
    const y = b[at]!;
    if (x === y) {
      digits = isDigit(x);
      continue;
    }
    const xLetter = isLetter(x);
    const yLetter = isLetter(y);
    if (xLetter && yLetter) return x.codePointAt(0)! - y.codePointAt(0)!;
    if (xLetter || yLetter) return digits === xLetter ? -1 : 1;
    return compareNumbers(a, b, at) || x.codePointAt(0)! - y.codePointAt(0)!;
  }
  return a.length - b.length;
}

function compareNumbers(
  a: readonly string[],
  b: readonly string[],
  at: number,
): number {
  const isDigit = (char: string | undefined): boolean =>
    char !== undefined && char >= "0" && char <= "9";
  // Leading zeros of equal runs: the run with a digit other than zero later is larger.
  let from = at;
  if (a[at] === "0" || b[at] === "0") {
    for (let back = at - 1; back >= 0 && isDigit(a[back]); back--) {
      if (a[back] !== "0") {
        from = back + 1;
        break;
      }
    }
  }
  let endA = from;
  let endB = from;
  while (isDigit(a[endA])) endA++;
  while (isDigit(b[endB])) endB++;
  const x = BigInt(a.slice(from, endA).join("") || "0");
  const y = BigInt(b.slice(from, endB).join("") || "0");
  if (x !== y) return x < y ? -1 : 1;
  return endA - endB;
}

function number(value: number | boolean): string {
  if (typeof value === "boolean" || Number.isInteger(value))
    return String(value);
  return String(value).replace(/e([-+])(\d)$/, "e$10$2");
}

/** Text that may be written unquoted: no indicator at the start, no ": " or " #" inside, no blanks at the ends. */
function styleOf(text: string, isKey: boolean): Style {
  const special = hasSpecial(text);
  if (text.includes("\n")) {
    if (!isKey && !special && !/ \n| $/.test(text)) return "literal";
    return "double";
  }
  if (resolvePlain(text) !== text || isBase60(text) || isTimestamp(text))
    return "double";
  if (special) return "double";
  // As a key it would merge.
  if (isKey && text === "<<") return "double";
  if (/^[ ]|[ ]$/.test(text) || text === "") return "single";
  const plain =
    !/^[#,[\]{}&*!|>'"%@`]/.test(text) &&
    !/^[-?:](?=\s|$)/.test(text) &&
    !/^(?:---|\.\.\.)/.test(text) &&
    !/:(?=\s|$)/.test(text) &&
    !/\s#/.test(text) &&
    !text.startsWith("\t");
  return plain ? "plain" : "single";
}

/** Characters that only double quotes can carry. */
function hasSpecial(text: string): boolean {
  for (const char of text) {
    const code = char.codePointAt(0)!;
    if (code === 0x0a) continue;
    if (
      code < 0x20 ||
      code === 0x7f ||
      (code >= 0x80 && code < 0xa0 && code !== 0x85) ||
      code === 0xfeff
    )
      return true;
    if (code === 0x85 || code === 0x2028 || code === 0x2029) return true;
    if (
      (code >= 0xd800 && code < 0xe000) ||
      code === 0xfffe ||
      code === 0xffff ||
      code > 0xffff
    )
      return true;
  }
  return false;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\0": "\\0",
  "\x07": "\\a",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\v": "\\v",
  "\f": "\\f",
  "\r": "\\r",
  "\x1b": "\\e",
  '"': '\\"',
  "\\": "\\\\",
  "\x85": "\\N",
  "\xa0": "\\_",
  "\u2028": "\\L",
  "\u2029": "\\P",
};

function doubleEscape(char: string): string {
  const known = ESCAPES[char];
  if (known !== undefined && char !== "\xa0") return known;
  if (!hasSpecial(char)) return char;
  const code = char.codePointAt(0)!;
  if (code <= 0xff)
    return `\\x${code.toString(16).toUpperCase().padStart(2, "0")}`;
  if (code <= 0xffff)
    return `\\u${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return `\\U${code.toString(16).toUpperCase().padStart(8, "0")}`;
}
