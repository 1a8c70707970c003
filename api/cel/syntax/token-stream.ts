// The tokens as the parser consumes them: looking at the next one, taking it, reporting it where it does not fit, and
// the limit of nesting.
import type { Issues } from "./issues.ts";
import type { Token } from "./lexer.ts";
import type { Node } from "./tree.ts";

/** Nesting of one rule of the grammar; chains of operators of one level count too. */
const maxDepth = 250;

/** Rules of the grammar that nest. */
type Rule = "expr" | "relation" | "calc" | "member";

/** Thrown when the issue that ends the parser has been reported. */
export class SyntaxStop extends Error {}

export class TokenStream {
  protected readonly tokens: readonly Token[];
  protected readonly issues: Issues;
  protected next = 0;
  protected readonly depth: Record<Rule, number> = {
    expr: 0,
    relation: 0,
    calc: 0,
    member: 0,
  };

  constructor(tokens: readonly Token[], issues: Issues) {
    this.tokens = tokens;
    this.issues = issues;
  }

  protected get token(): Token {
    return this.tokens[this.next] as Token;
  }

  protected is(symbol: string): boolean {
    return this.token.kind === "symbol" && this.token.text === symbol;
  }

  protected accept(symbol: string): Token | undefined {
    return this.is(symbol) ? this.tokens[this.next++] : undefined;
  }

  protected expect(symbol: string): Token {
    return this.accept(symbol) ?? this.unexpected(`'${symbol}'`, "missing");
  }

  protected identifier(): Token {
    if (this.token.kind !== "identifier")
      return this.unexpected("IDENTIFIER", "mismatched");
    return this.tokens[this.next++] as Token;
  }

  protected unexpected(
    expected: string,
    kind: "mismatched" | "extraneous" | "missing",
  ): never {
    const { text, at } = this.token;
    this.issues.report(
      at,
      kind === "missing"
        ? `Syntax error: missing ${expected} at '${text}'`
        : `Syntax error: ${kind} input '${text}' expecting ${expected}`,
    );
    throw new SyntaxStop();
  }

  /** An issue that does not stop the parser. */
  protected report(at: number, message: string): Node {
    this.issues.report(at, message);
    return { kind: "literal", at, value: null };
  }

  protected enter(rule: Rule): void {
    if (++this.depth[rule] <= maxDepth) return;
    this.issues.report(-1, `expression recursion limit exceeded: ${maxDepth}`);
    throw new SyntaxStop();
  }
}
