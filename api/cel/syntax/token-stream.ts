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

/** Whether an expression can begin with a token. */
export function startsExpression({ kind, text }: Token): boolean {
  if (kind === "end") return false;
  return (
    kind !== "symbol" ||
    ["[", "{", "(", ".", "-", "!", "true", "false", "null"].includes(text)
  );
}

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

  /**
   * The closing bracket or colon that has to be next. One token too many before it is left out, a parenthesis that is
   * missing is taken as there, so that the parser goes on as the reference's does.
   */
  protected expect(symbol: string, expected = `'${symbol}'`): Token {
    const found = this.accept(symbol);
    if (found) return found;
    const { token } = this;
    const following = this.tokens[this.next + 1];
    if (following?.kind === "symbol" && following.text === symbol) {
      this.#report(
        token,
        `extraneous input '${token.text}' expecting`,
        expected,
      );
      this.next += 2;
      return following;
    }
    if (symbol !== ")" || expected.length > 3 || startsExpression(token))
      this.unexpected(expected);
    this.#report(token, `missing ${expected} at '${token.text}'`);
    return token;
  }

  protected identifier(expected = "IDENTIFIER"): Token {
    if (this.token.kind !== "identifier") this.unexpected(expected);
    return this.tokens[this.next++] as Token;
  }

  /** Leaves out one token where the rest could go on; false where it could not. */
  protected skipExtraneous(
    expected: string,
    fits: (token: Token) => boolean,
  ): boolean {
    const { token } = this;
    const following = this.tokens[this.next + 1];
    if (!following || !fits(following)) return false;
    this.#report(token, `extraneous input '${token.text}' expecting`, expected);
    this.next++;
    return true;
  }

  protected unexpected(expected: string): never {
    const { token } = this;
    this.#report(token, `mismatched input '${token.text}' expecting`, expected);
    throw new SyntaxStop();
  }

  /** Behind a dot no name follows. */
  protected noAlternative(): void {
    const { token } = this;
    const text = token.kind === "end" ? "." : `.${token.text}`;
    this.#report(token, `no viable alternative at input '${text}'`);
  }

  #report({ at }: Token, ...parts: string[]): void {
    this.issues.report(at, `Syntax error: ${parts.join(" ")}`);
  }

  /** An issue that does not stop the parser. */
  protected report(at: number, message: string): Node {
    this.issues.report(at, message);
    return { kind: "literal", at, value: null };
  }

  /** One more rule within the rule, or one more operator in its chain. */
  protected enter(rule: Rule): void {
    if (++this.depth[rule] <= maxDepth) return;
    // Brackets nest expressions, chains of operators do not.
    const isNested = this.depth.expr > maxDepth / 2;
    this.issues.report(
      -1,
      isNested
        ? `expression recursion limit exceeded: ${maxDepth}`
        : "max recursion depth exceeded",
    );
    throw new SyntaxStop();
  }
}
