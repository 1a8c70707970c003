// Paths of fields as rules (`fieldPath`) and definitions (`selectableFields`) write them: `.spec.size`, `.spec['a-b']`.
import type { Structural } from "../structural.ts";

interface FoundField {
  /** As problems show it: `spec.size`, `spec[key]`. */
  readonly path: string;
  /** Its first step. */
  readonly root: string;
  /** Undefined: inside of values of any type. */
  readonly schema: Structural | undefined;
}

/** The path is no path, or not one of this schema; the message is the reference's. */
export class FieldPathError extends Error {}

/** Throws FieldPathError. @param brackets are `['name']` allowed? */
export function findField(
  path: string,
  schema: Structural,
  brackets = true,
): FoundField {
  const tokens = tokensOf(path);
  let at: Structural | undefined = schema;
  let shown = "";
  let root = "";
  const step = (name: string): void => {
    if (at?.properties) {
      shown = shown === "" ? name : `${shown}.${name}`;
      at = at.properties.get(name);
      if (!at) throw new FieldPathError("does not refer to a valid field");
    } else if (at?.additional !== undefined) {
      shown = `${shown}[${name}]`;
      at = at.values;
    } else throw new FieldPathError("does not refer to a valid field");
    root ||= name;
  };
  const next = (): string => {
    const token = tokens.shift();
    if (token === undefined)
      throw new FieldPathError("unexpected end of JSON path");
    return token;
  };
  while (tokens.length > 0) {
    const token = next();
    if (token === ".") step(next());
    else if (token !== "[")
      throw new FieldPathError(`expected [ or . but got: ${token}`);
    else if (!brackets)
      throw new FieldPathError("array notation is not allowed");
    else {
      step(unquoted(next()));
      const end = next();
      if (end !== "]") throw new FieldPathError(`expected ] but got ${end}`);
    }
  }
  return { path: shown, root, schema: at };
}

/** Delimiters are tokens of their own, text between them or in quotes is one. */
function tokensOf(path: string): string[] {
  const tokens: string[] = [];
  let at = 0;
  while (at < path.length) {
    let end = at + 1;
    if (path[at] === "'") {
      while (
        end < path.length &&
        !(path[end] === "'" && path[end - 1] !== "\\")
      )
        end++;
      end++;
    } else if (!".[]".includes(path[at]!))
      while (end < path.length && !".[]".includes(path[end]!)) end++;
    tokens.push(path.slice(at, end));
    at = end;
  }
  return tokens;
}

function unquoted(token: string): string {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'"))
    throw new FieldPathError(`expected single quoted string but got ${token}`);
  return token.slice(1, -1).replace(/\\./gs, (escape) => {
    const meant = escapes[escape[1]!];
    if (meant === undefined)
      throw new FieldPathError(
        `invalid string literal: invalid escape char ${escape}`,
      );
    return meant;
  });
}

const escapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};
