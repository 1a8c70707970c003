// The format `email`: one address as RFC 5322 writes it, with a name in front or without: `Ann Doe <ann@example.com>`.

/** Characters of atoms; everything outside of ASCII is allowed too. */
const atomText = /^[a-zA-Z0-9!#$%&'*+\-/=?^_`{|}~\u0080-\u{10ffff}]+$/u;
const maxLength = 10_000;

export function isMailAddress(text: string): boolean {
  if (text.length > maxLength) return false;
  const given = withoutComment(text.trim());
  if (given === undefined) return false;
  if (!given.endsWith(">")) return isAddress(given);
  const open = given.lastIndexOf("<");
  if (open < 0) return false;
  return (
    isPhrase(given.slice(0, open).trim()) &&
    isAddress(given.slice(open + 1, -1))
  );
}

/** A comment may follow the address. Undefined for one that does not end. */
function withoutComment(text: string): string | undefined {
  if (!text.endsWith(")")) return text;
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at--) {
    if (text[at] === ")") depth++;
    else if (text[at] === "(" && --depth === 0)
      return text.slice(0, at).trimEnd();
  }
  return undefined;
}

/** Words and quoted texts, or nothing. */
function isPhrase(phrase: string): boolean {
  let rest = phrase;
  while (rest !== "") {
    const end = rest.startsWith('"') ? quotedEnd(rest) : wordEnd(rest);
    if (end <= 0) return false;
    rest = rest.slice(end).trimStart();
  }
  return true;
}

/** Behind the closing quote; -1 when there is none. */
function quotedEnd(text: string): number {
  for (let at = 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
    // eslint-disable-next-line no-control-regex -- quoted text is printable
    else if (/[\x00-\x08\x0a-\x1f\x7f]/.test(text[at]!)) return -1;
  }
  return -1;
}

function wordEnd(text: string): number {
  const end = text.search(/[ \t"]/);
  const word = end < 0 ? text : text.slice(0, end);
  return atomText.test(word.replaceAll(".", "a")) ? word.length : -1;
}

function isAddress(address: string): boolean {
  const quoted = address.startsWith('"') ? quotedEnd(address) : 0;
  if (quoted < 0) return false;
  const at = quoted > 0 ? quoted : address.indexOf("@");
  if (at <= 0 || address[at] !== "@") return false;
  const local = address.slice(0, at);
  const domain = address.slice(at + 1).trim();
  return (
    (quoted > 0 ? local !== '""' : isDotAtom(local)) &&
    (isDotAtom(domain) || isLiteral(domain))
  );
}

const isDotAtom = (text: string): boolean =>
  text.split(".").every((part) => atomText.test(part));

/** [192.0.2.1] */
const isLiteral = (text: string): boolean =>
  /^\[[\x21-\x5a\x5e-\x7e ]*\]$/.test(text);
