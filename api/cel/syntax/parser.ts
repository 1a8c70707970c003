// The parser: precedence climbing over the tokens, the reference's grammar. Comparisons and equality share one level
// there, and chains of && and || become balanced trees, so that wide rules do not nest deeply. It is written here
// because the published ones lack message literals, optional elements, places of operators or the reference's
// precedence. The first syntax error ends it; a macro's error does not.
import type { Node } from "./tree.ts";
import type { Issues } from "./issues.ts";
import { bytesValue, stringValue, tokenize, type Token } from "./lexer.ts";
import { startsExpression, SyntaxStop, TokenStream } from "./token-stream.ts";
import { expandMacro, MacroError, type Macro } from "./macros.ts";
import { Uint } from "../values/value.ts";

/** Code points. */
const maxExpressionSize = 100_000;
const reserved = new Set(
  (
    "as break const continue else false for function if import in let loop package namespace null return true var " +
    "void while"
  ).split(" "),
);
const relations = new Set(["<", "<=", ">=", ">", "==", "!=", "in"]);
const expressionStarts =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Undefined when the text is no expression; the issues say why. */
export function parse(
  text: string,
  macros: ReadonlyMap<string, Macro>,
  issues: Issues,
): Node | undefined {
  const size = text.length > maxExpressionSize ? [...text].length : text.length;
  if (size > maxExpressionSize) {
    issues.report(
      -1,
      `expression code point size exceeds limit: size: ${size}, limit ${maxExpressionSize}`,
    );
    return undefined;
  }
  try {
    const parser = new Parser(tokenize(text, issues), macros, issues);
    const node = parser.whole();
    return issues.empty ? node : undefined;
  } catch (error) {
    if (error instanceof SyntaxStop) return undefined;
    throw error;
  }
}

class Parser extends TokenStream {
  readonly #macros: ReadonlyMap<string, Macro>;

  constructor(
    tokens: readonly Token[],
    macros: ReadonlyMap<string, Macro>,
    issues: Issues,
  ) {
    super(tokens, issues);
    this.#macros = macros;
  }

  whole(): Node {
    const node = this.#expression();
    const isEnd = ({ kind }: Token): boolean => kind === "end";
    if (!isEnd(this.token) && !this.skipExtraneous("<EOF>", isEnd))
      this.unexpected("<EOF>");
    return node;
  }

  #expression(): Node {
    this.enter("expr");
    const condition = this.#logical("||");
    const question = this.accept("?");
    let node = condition;
    if (question) {
      const yes = this.#logical("||");
      this.expect(":");
      const no = this.#expression();
      node = this.#call(question.at, "_?_:_", undefined, [condition, yes, no]);
    }
    this.depth.expr--;
    return node;
  }

  #logical(operator: "||" | "&&"): Node {
    const operand = (): Node =>
      operator === "||" ? this.#logical("&&") : this.#relation();
    const terms = [operand()];
    const places: number[] = [];
    for (;;) {
      const token = this.accept(operator);
      if (!token) break;
      places.push(token.at);
      terms.push(operand());
    }
    const balance = (low: number, high: number): Node => {
      const middle = (low + high + 1) >> 1;
      const left =
        middle === low ? (terms[middle] as Node) : balance(low, middle - 1);
      const right =
        middle === high
          ? (terms[middle + 1] as Node)
          : balance(middle + 1, high);
      const at = places[middle] as number;
      return this.#call(at, `_${operator}_`, undefined, [left, right]);
    };
    return places.length === 0
      ? (terms[0] as Node)
      : balance(0, places.length - 1);
  }

  #relation(): Node {
    const before = this.depth.relation;
    this.enter("relation");
    let left = this.#calculation(0);
    while (this.token.kind === "symbol" && relations.has(this.token.text)) {
      this.enter("relation");
      const { text, at } = this.tokens[this.next++] as Token;
      const right = this.#calculation(0);
      const name = text === "in" ? "@in" : `_${text}_`;
      left = this.#call(at, name, undefined, [left, right]);
    }
    this.depth.relation = before;
    return left;
  }

  /** Level 0: sums, level 1: products. */
  #calculation(level: 0 | 1): Node {
    const before = this.depth.calc;
    this.enter("calc");
    const operand = (): Node =>
      level === 0 ? this.#calculation(1) : this.#unary();
    const operators = level === 0 ? "+-" : "*/%";
    let left = operand();
    while (
      this.token.kind === "symbol" &&
      operators.includes(this.token.text)
    ) {
      this.enter("calc");
      const { text, at } = this.tokens[this.next++] as Token;
      left = this.#call(at, `_${text}_`, undefined, [left, operand()]);
    }
    this.depth.calc = before;
    return left;
  }

  #unary(): Node {
    const first = this.token;
    for (const symbol of ["!", "-"]) {
      if (!this.is(symbol)) continue;
      // A minus before a number belongs to the literal: -9223372036854775808 has no positive.
      const following = this.tokens[this.next + 1];
      if (symbol === "-" && /^(int|double)$/.test(following?.kind ?? "")) break;
      let count = 0;
      while (this.accept(symbol)) count++;
      const operand = this.#member();
      if (count % 2 === 0) return operand;
      const name = symbol === "!" ? "!_" : "-_";
      return this.#call(first.at, name, undefined, [operand]);
    }
    return this.#member();
  }

  #member(): Node {
    const before = this.depth.member;
    this.enter("member");
    let node = this.#primary();
    for (;;) {
      const token = this.accept(".") ?? this.accept("[");
      if (!token) break;
      this.enter("member");
      node =
        token.text === "."
          ? this.#selection(node, token)
          : this.#index(node, token);
    }
    this.depth.member = before;
    return node;
  }

  #selection(operand: Node, dot: Token): Node {
    const optional = this.accept("?") !== undefined;
    if (this.token.kind !== "identifier") {
      this.noAlternative();
      return operand;
    }
    const { text: field, at } = this.identifier();
    if (optional) {
      const name: Node = { kind: "literal", at, value: field };
      return this.#call(dot.at, "_?._", undefined, [operand, name]);
    }
    const open = this.accept("(");
    if (!open)
      return { kind: "select", at: dot.at, operand, field, testOnly: false };
    return this.#call(open.at, field, operand, this.#arguments());
  }

  #index(operand: Node, bracket: Token): Node {
    const name = this.accept("?") ? "_[?_]" : "_[_]";
    const index = this.#expression();
    this.expect("]");
    return this.#call(bracket.at, name, undefined, [operand, index]);
  }

  /** Behind the opening parenthesis, up to the closing one. */
  #arguments(): Node[] {
    const args: Node[] = [];
    if (this.accept(")")) return args;
    do args.push(this.#expression());
    while (this.accept(","));
    this.expect(")", "{')', ','}");
    return args;
  }

  #primary(): Node {
    const token = this.token;
    switch (token.kind) {
      case "identifier":
        return this.#name("");
      case "int":
      case "uint":
      case "double":
      case "string":
      case "bytes":
        this.next++;
        return this.#literal(token, "");
      case "symbol":
        return this.#symbol(token);
      default:
        return this.unexpected(expressionStarts);
    }
  }

  #symbol(token: Token): Node {
    const { text, at } = token;
    this.next++;
    switch (text) {
      case "true":
      case "false":
        return { kind: "literal", at, value: text === "true" };
      case "null":
        return { kind: "literal", at, value: null };
      case "(": {
        const node = this.#expression();
        this.expect(")");
        return node;
      }
      case "[":
        return this.#list(at);
      case "{":
        return this.#map(at);
      case ".":
        if (this.token.kind === "identifier") return this.#name(".", at);
        return this.unexpected("IDENTIFIER");
      case "-": {
        const number = this.tokens[this.next++] as Token;
        if (number.kind === "int" || number.kind === "double")
          return this.#literal(number, "-", at);
        this.next--;
        break;
      }
    }
    this.next--;
    if (this.skipExtraneous(expressionStarts, startsExpression))
      return this.#primary();
    return this.unexpected(expressionStarts);
  }

  /** A variable, a global function's call or a message: `x`, `f(x)`, `a.b{c: d}`. */
  #name(dot: "" | ".", start = this.token.at): Node {
    const token = this.identifier();
    if (reserved.has(token.text))
      return this.report(start, `reserved identifier: ${token.text}`);
    const name = dot + token.text;
    const open = this.accept("(");
    if (open) return this.#call(open.at, name, undefined, this.#arguments());
    const rest = this.#messageName();
    if (rest !== undefined) return this.#message(name + rest);
    return { kind: "ident", at: token.at, name };
  }

  /** The rest `.b.c` of a message's name when a brace follows it; then the brace is the next token. */
  #messageName(): string | undefined {
    let at = this.next;
    let name = "";
    const symbol = (text: string): boolean =>
      this.tokens[at]?.kind === "symbol" && this.tokens[at]?.text === text;
    while (symbol(".") && this.tokens[at + 1]?.kind === "identifier") {
      name += `.${this.tokens[at + 1]?.text}`;
      at += 2;
    }
    if (!symbol("{")) return undefined;
    this.next = at;
    return name;
  }

  #message(typeName: string): Node {
    const { at } = this.expect("{");
    let expected: string | undefined = "{'}', ',', '?', IDENTIFIER}";
    const fields = this.#separated("}", () => {
      const optional = this.accept("?") !== undefined;
      const { text: name } = this.identifier(optional ? undefined : expected);
      expected = undefined;
      const colon = this.expect(":");
      return { at: colon.at, name, value: this.#expression(), optional };
    });
    return { kind: "struct", at, typeName, fields };
  }

  #list(at: number): Node {
    const optional = new Set<number>();
    let count = 0;
    const elements = this.#separated("]", () => {
      if (this.accept("?")) optional.add(count);
      count++;
      return this.#expression();
    });
    return { kind: "list", at, elements, optional };
  }

  #map(at: number): Node {
    const entries = this.#separated("}", () => {
      const optional = this.accept("?") !== undefined;
      const key = this.#expression();
      const colon = this.expect(":");
      return { at: colon.at, key, value: this.#expression(), optional };
    });
    return { kind: "map", at, entries };
  }

  /** Elements up to the closing bracket; a comma may end them. */
  #separated<T>(closing: string, element: () => T): T[] {
    const found: T[] = [];
    while (!this.is(closing)) {
      if (found.length === 0 && this.accept(",")) break;
      found.push(element());
      if (!this.accept(",")) break;
    }
    this.expect(closing, found.length > 0 ? `{'${closing}', ','}` : undefined);
    return found;
  }

  #literal(token: Token, sign: "" | "-", at = token.at): Node {
    const { kind, text } = token;
    const digits = kind === "uint" ? text.slice(0, -1) : text;
    if (kind === "double") {
      const value = Number(sign + text);
      if (!Number.isFinite(value))
        return this.report(at, "invalid double literal");
      return { kind: "literal", at, value };
    }
    if (kind === "int" || kind === "uint") {
      const value = sign === "-" ? -BigInt(digits) : BigInt(digits);
      const fits = kind === "int" ? BigInt.asIntN : BigInt.asUintN;
      if (fits(64, value) !== value)
        return this.report(at, `invalid ${kind} literal`);
      return {
        kind: "literal",
        at,
        value: kind === "int" ? value : new Uint(value),
      };
    }
    try {
      const value = kind === "bytes" ? bytesValue(token) : stringValue(token);
      return { kind: "literal", at, value };
    } catch (error) {
      return this.report(at, (error as Error).message);
    }
  }

  #call(
    at: number,
    name: string,
    target: Node | undefined,
    args: readonly Node[],
  ): Node {
    try {
      const expanded = expandMacro(this.#macros, at, name, target, args);
      if (expanded) return expanded;
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      return this.report(error.at, error.message);
    }
    return { kind: "call", at, name, target, args };
  }
}
