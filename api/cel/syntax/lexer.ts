// Cuts the text of an expression into tokens. Characters that begin no token are reported and skipped, as the
// reference does, so that one message names each of them.
import type { Issues } from "./issues.ts";
import { unescapeText } from "./escapes.ts";

type TokenKind =
  | "end"
  | "identifier"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "symbol";

export interface Token {
  readonly kind: TokenKind;
  /** As written; an operator, a bracket or a word of the grammar (`in`, `true`, `null`) for symbols. */
  readonly text: string;
  /** Index into the UTF-16 text. */
  readonly at: number;
}

const words = new Set(["in", "true", "false", "null"]);
const symbols = /(?:==|!=|<=|>=|&&|\|\||[<>[\](){}.,\-!?:+*/%])/y;
const blank = /(?:[\t \r\n\f]|\/\/[^\n]*)+/y;
const number =
  /(?:0x[0-9a-fA-F]+[uU]?|[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[uU]?)/y;
const identifier = /[A-Za-z_][A-Za-z0-9_]*/y;
const quote = /[bB]?[rR]?(?:"""|'''|"|')/y;

/** The match at a place, undefined without one. */
function take(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function numberKind(text: string): TokenKind {
  if (text.startsWith("0x")) return /[uU]$/.test(text) ? "uint" : "int";
  if (/[.eE]/.test(text)) return "double";
  return /[uU]$/.test(text) ? "uint" : "int";
}

const escape =
  /\\(?:[abfnrtv\\'"`?]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/y;

/** Where a string ends, and whether it does so with its closing quote. */
function endOfString(
  text: string,
  opening: string,
  start: number,
): { closed: boolean; end: number } {
  const raw = /r/i.test(opening);
  const marks = opening.replace(/^[bBrR]+/, "");
  for (let at = start; at < text.length; at += 1) {
    if (!raw && text[at] === "\\") {
      const found = take(escape, text, at);
      if (found === undefined) return { closed: false, end: at + 2 };
      at += found.length - 1;
    } else if (text.startsWith(marks, at))
      return { closed: true, end: at + marks.length };
    else if (marks.length === 1 && (text[at] === "\n" || text[at] === "\r"))
      return { closed: false, end: at + 1 };
  }
  return { closed: false, end: text.length };
}

/** All tokens, the last of kind "end". */
export function tokenize(text: string, issues: Issues): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const skipped = take(blank, text, at);
    if (skipped !== undefined) {
      at += skipped.length;
      continue;
    }
    const opening = take(quote, text, at);
    if (opening !== undefined) {
      const from = at + opening.length;
      const { closed, end } = endOfString(text, opening, from);
      const prefix = /^[bBrR]+/.exec(opening)?.[0] ?? "";
      if (!closed && prefix !== "") {
        tokens.push({ kind: "identifier", text: prefix, at });
        at += prefix.length;
        continue;
      }
      if (!closed) {
        const read = text.slice(at, end);
        issues.report(
          at,
          `Syntax error: token recognition error at: '${read}'`,
        );
        at = Math.max(end, at + 1);
        continue;
      }
      const kind = /^b/i.test(opening) ? "bytes" : "string";
      tokens.push({ kind, text: text.slice(at, end), at });
      at = end;
      continue;
    }
    const digits = take(number, text, at);
    if (digits !== undefined) {
      tokens.push({ kind: numberKind(digits), text: digits, at });
      at += digits.length;
      continue;
    }
    const name = take(identifier, text, at);
    if (name !== undefined) {
      const kind = words.has(name) ? "symbol" : "identifier";
      tokens.push({ kind, text: name, at });
      at += name.length;
      continue;
    }
    const symbol = take(symbols, text, at);
    if (symbol !== undefined) {
      tokens.push({ kind: "symbol", text: symbol, at });
      at += symbol.length;
      continue;
    }
    const point = String.fromCodePoint(text.codePointAt(at) ?? 0);
    issues.report(at, `Syntax error: token recognition error at: '${point}'`);
    at += point.length;
  }
  tokens.push({ kind: "end", text: "<EOF>", at: text.length });
  return tokens;
}

/** The value of a string token. Throws an Error with the reference's text. */
export function stringValue(token: Token): string {
  const { raw, body } = unquote(token.text);
  return raw ? body : unescapeText(body);
}

/** The value of a bytes token. Throws an Error with the reference's text. */
export function bytesValue(token: Token): Uint8Array {
  const { raw, body } = unquote(token.text.slice(1));
  return raw ? Buffer.from(body) : unescapeText(body, true);
}

function unquote(text: string): { raw: boolean; body: string } {
  const raw = /^r/i.test(text);
  const quoted = raw ? text.slice(1) : text;
  const width = /^(?:"""|''')/.test(quoted) && quoted.length >= 6 ? 3 : 1;
  // Lines end by \n, however the text was written.
  const body = quoted.slice(width, -width).replace(/\r\n|\r/g, "\n");
  return { raw, body };
}
