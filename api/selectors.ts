// Label selectors (texts of `labelSelector=` and LabelSelector objects) and field selectors, evaluated on what was
// extracted at write time. Grammar and error texts are the reference's; a bad text is an ApiError 400.
import { ApiError, errors } from "./errors.ts";
import { shownValue } from "./field-errors.ts";
import { labelKeyProblems, labelValueProblems } from "./names.ts";
import type { LabelSelector } from "./types/meta-v1.ts";

type Operator =
  "in" | "notin" | "=" | "==" | "!=" | "exists" | "!" | "gt" | "lt";

interface LabelRequirement {
  readonly key: string;
  readonly operator: Operator;
  /** Sorted, unique. */
  readonly values: readonly string[];
}

export type Labels = Readonly<Record<string, string>>;

export interface Selector {
  readonly requirements: readonly LabelRequirement[];
  /** True when it selects everything. */
  readonly empty: boolean;
  matches(labels?: Labels): boolean;
  /** The canonical text, by key. */
  toString(): string;
}

/** Undefined: no number, or none of 64 bits. */
function int64(text: string): bigint | undefined {
  if (!/^[-+]?[0-9]+$/.test(text)) return undefined;
  const value = BigInt(text.replace("+", ""));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

const noLabels: Labels = Object.freeze({});

function meets(
  labels: Labels,
  { key, operator, values }: LabelRequirement,
): boolean {
  const present = Object.hasOwn(labels, key);
  switch (operator) {
    case "exists":
      return present;
    case "!":
      return !present;
    case "in":
    case "=":
    case "==":
      return present && values.includes(labels[key]!);
    case "notin":
    case "!=":
      return !present || !values.includes(labels[key]!);
    case "gt":
    case "lt": {
      const value = present ? int64(labels[key]!) : undefined;
      const bound = int64(values[0]!);
      if (value === undefined || bound === undefined) return false;
      return operator === "gt" ? value > bound : value < bound;
    }
  }
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case "exists":
      return key;
    case "!":
      return `!${key}`;
    case "in":
    case "notin":
      return `${key} ${operator} (${values.join(",")})`;
    case "gt":
      return `${key}>${values[0]}`;
    case "lt":
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}

function selectorOf(requirements: readonly LabelRequirement[]): Selector {
  const sorted = [...requirements].sort((a, b) =>
    a.key < b.key ? -1 : a.key > b.key ? 1 : 0,
  );
  return {
    requirements: sorted,
    empty: sorted.length === 0,
    matches: (labels = noLabels) =>
      sorted.every((requirement) => meets(labels, requirement)),
    toString: () => sorted.map(requirementText).join(","),
  };
}

const everything = selectorOf([]);
const nothing: Selector = {
  requirements: [],
  empty: false,
  matches: () => false,
  toString: () => "",
};

function requirement(
  key: string,
  operator: Operator,
  values: readonly string[],
): LabelRequirement {
  const problems: string[] = [];
  const keyProblems = labelKeyProblems(key);
  if (keyProblems.length > 0)
    problems.push(
      `<nil>: Invalid value: ${shownValue(key)}: ${keyProblems.join("; ")}`,
    );
  const shown = `[${values.map((value) => JSON.stringify(value)).join(", ")}]`;
  if ((operator === "in" || operator === "notin") && values.length === 0) {
    problems.push(
      `values: Invalid value: ${shown}: for 'in', 'notin' operators, values set can't be empty`,
    );
  }
  if (operator === "gt" || operator === "lt") {
    for (const [index, value] of values.entries()) {
      if (int64(value) !== undefined) continue;
      problems.push(
        `values[${index}]: Invalid value: ${shownValue(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
      );
    }
  }
  for (const [index, value] of values.entries()) {
    for (const text of labelValueProblems(value)) {
      problems.push(
        `values[${index}][${key}]: Invalid value: ${shownValue(value)}: ${text}`,
      );
    }
  }
  if (problems.length > 0)
    throw errors.badRequest(
      problems.length === 1 ? problems[0]! : `[${problems.join(", ")}]`,
    );
  return { key, operator, values };
}

interface Token {
  readonly type:
    | "end"
    | "word"
    | "in"
    | "notin"
    | "!"
    | ","
    | "("
    | ")"
    | "="
    | "=="
    | "!="
    | ">"
    | "<"
    | "error";
  readonly text: string;
}

const endToken: Token = { type: "end", text: "" };
const symbols = /[()!,=<>]/;

/** `in` and `notin` are operators only where an operator may occur: `expect` decides that at consumption. */
class Tokens {
  readonly #tokens: Token[] = [];
  #next = 0;

  constructor(text: string) {
    let at = 0;
    while (at < text.length) {
      const char = text[at]!;
      if (/[ \t\r\n]/.test(char)) {
        at++;
      } else if (symbols.test(char)) {
        let end = at + 1;
        if ((char === "=" || char === "!") && text[end] === "=") end++;
        const symbol = text.slice(at, end);
        this.#tokens.push({ type: symbol as Token["type"], text: symbol });
        at = end;
      } else {
        let end = at + 1;
        while (end < text.length && !/[ \t\r\n()!,=<>]/.test(text[end]!)) end++;
        const word = text.slice(at, end);
        this.#tokens.push({
          type: word === "in" || word === "notin" ? word : "word",
          text: word,
        });
        at = end;
      }
    }
  }

  peek(operators = false): Token {
    const token = this.#tokens[this.#next] ?? endToken;
    return !operators && (token.type === "in" || token.type === "notin")
      ? { type: "word", text: token.text }
      : token;
  }

  take(operators = false): Token {
    const token = this.peek(operators);
    this.#next++;
    return token;
  }
}

function found(token: Token, expected: string): ApiError {
  return errors.badRequest(`found '${token.text}', expected: ${expected}`);
}

/** Throws ApiError 400. An empty text selects everything. */
export function parseLabelSelector(text: string): Selector {
  if (text.trim() === "") return everything;
  // A NUL ends the text.
  const tokens = new Tokens(text.split("\0", 1)[0]!);
  const requirements: LabelRequirement[] = [];
  for (;;) {
    const token = tokens.peek();
    if (token.type === "end") break;
    if (token.type !== "word" && token.type !== "!")
      throw found(token, "!, identifier, or 'end of string'");
    try {
      requirements.push(parseRequirement(tokens));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw errors.badRequest(`unable to parse requirement: ${error.message}`);
    }
    const after = tokens.take();
    if (after.type === "end") break;
    if (after.type !== ",") throw found(after, "',' or 'end of string'");
    const next = tokens.peek();
    if (next.type !== "word" && next.type !== "!")
      throw found(next, "identifier after ','");
  }
  return selectorOf(requirements);
}

function parseRequirement(tokens: Tokens): LabelRequirement {
  let token = tokens.take();
  const negated = token.type === "!";
  if (negated) token = tokens.take();
  if (token.type !== "word") throw found(token, "identifier");
  const key = token.text;
  const next = tokens.peek();
  if (negated) return requirement(key, "!", []);
  if (next.type === "end" || next.type === ",")
    return requirement(key, "exists", []);
  const operator = tokens.take(true);
  switch (operator.type) {
    case "in":
    case "notin":
      return requirement(key, operator.type, parseValues(tokens));
    case "=":
    case "==":
    case "!=":
      return requirement(key, operator.type, [parseValue(tokens)]);
    case ">":
      return requirement(key, "gt", [parseValue(tokens)]);
    case "<":
      return requirement(key, "lt", [parseValue(tokens)]);
    default:
      requirement(key, "exists", []);
      throw found(operator, "in, notin, =, ==, !=, gt, lt");
  }
}

function parseValue(tokens: Tokens): string {
  const next = tokens.peek();
  if (next.type === "end" || next.type === ",") return "";
  const token = tokens.take();
  if (token.type !== "word") throw found(token, "identifier");
  return token.text;
}

/** `(a,b)`; an empty place between commas is the empty value. */
function parseValues(tokens: Tokens): string[] {
  const open = tokens.take();
  if (open.type !== "(")
    throw errors.badRequest(`found '${open.text}' expected: '('`);
  const values = new Set<string>();
  for (;;) {
    const token = tokens.peek();
    if (token.type === "word") {
      values.add(token.text);
      tokens.take();
      const after = tokens.peek();
      if (after.type !== "," && after.type !== ")")
        throw found(after, "',' or ')'");
    } else if (token.type === "," || token.type === ")") {
      values.add("");
    } else {
      throw found(
        token,
        values.size === 0 ? "',', ')' or identifier" : "',', or identifier",
      );
    }
    if (tokens.take().type === ")") return [...values].sort();
  }
}

/** undefined selects nothing, `{}` everything. Throws ApiError 400 for an unknown operator or a bad key or value. */
export function selectorFromObject(
  selector: Readonly<LabelSelector> | null | undefined,
): Selector {
  if (selector === undefined || selector === null) return nothing;
  const requirements = Object.entries(selector.matchLabels ?? {}).map(
    ([key, value]) => requirement(key, "=", [value]),
  );
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const name = {
      In: "in",
      NotIn: "notin",
      Exists: "exists",
      DoesNotExist: "!",
    }[operator] as Operator | undefined;
    if (!name)
      throw errors.badRequest(
        `${JSON.stringify(operator)} is not a valid label selector operator`,
      );
    requirements.push(
      requirement(key, name, [...new Set(values ?? [])].sort()),
    );
  }
  return requirements.length === 0 ? everything : selectorOf(requirements);
}

/** A plain map as in Service or ReplicationController selectors; empty or undefined selects everything. */
export function selectorFromMap(labels: Labels | undefined): Selector {
  return selectorFromObject({ matchLabels: labels ?? {} });
}

export interface FieldRequirement {
  readonly field: string;
  readonly op: "=" | "!=";
  readonly value: string;
}

export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
  readonly empty: boolean;
  /** A field that is missing counts as "". */
  matches(fields: Readonly<Record<string, string>>): boolean;
  /** The value an equality requires of the field, which lets a reader go straight to one object or index. */
  required(field: string): string | undefined;
  toString(): string;
}

/** Throws ApiError 400. Backslash escapes itself, ',' and '=' in values. */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text).sort()) {
    if (term === "") continue;
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
    if (!match)
      throw errors.badRequest(
        `invalid selector: '${text}'; can't understand '${term}'`,
      );
    const [, field, op, escaped] = match;
    const value = unescapeValue(escaped!);
    // Nothing asked of nothing.
    if (field === "" && value === "") continue;
    requirements.push({ field: field!, op: op === "!=" ? op : "=", value });
  }
  return {
    requirements,
    empty: requirements.length === 0,
    matches: (fields) =>
      requirements.every(
        ({ field, op, value }) =>
          ((fields[field] ?? "") === value) === (op === "="),
      ),
    required: (field) =>
      requirements.find((one) => one.field === field && one.op === "=")?.value,
    toString: () =>
      requirements
        .map(
          ({ field, op, value }) => `${field}${op}${escapeFieldValue(value)}`,
        )
        .join(","),
  };
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === ",") {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescapeValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  let value = "";
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (char === "\\") {
      const next = text[++at] ?? "";
      if (next !== "\\" && next !== "," && next !== "=") {
        throw errors.badRequest(
          `invalid field selector: invalid escape sequence: \\${next}`,
        );
      }
      value += next;
    } else if (char === "," || char === "=") {
      throw errors.badRequest(
        `invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`,
      );
    } else value += char;
  }
  return value;
}

export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, "\\$&");
}
