// From the claims of a good token to who its bearer is, as an AuthenticationConfiguration says it: claims with prefixes or
// expressions over `claims`, rules that the claims must fulfil, and rules over the `user` that came out. Expressions are
// compiled once; a failing or too costly one refuses the token. The engine is loaded with the first configuration.
import type { UserInfo } from "../../../api/contracts.ts";
import type { DeclaredType } from "../../../api/cel/schemas/declared-type.ts";
import type { Node } from "../../../api/cel/syntax/tree.ts";
import type { Environment } from "../../../api/cel/environment.ts";
import type { Program } from "../../../api/cel/program.ts";
import type { Value } from "../../../api/cel/values/value.ts";
import {
  checkRequired,
  credentialOf,
  groupsOf,
  usernameOf,
  type ClaimMapping,
  type Claims,
} from "./claim-mapping.ts";

/** One of them is set; undefined: nothing is mapped. */
type Source =
  | { readonly claim: string; readonly prefix: string }
  | { readonly expression: ClaimExpression }
  | undefined;

interface Rule {
  readonly expression: ClaimExpression;
  /** "": a text with the expression. */
  readonly message: string;
}

export interface MappingRules {
  readonly username: NonNullable<Source>;
  readonly groups: Source;
  readonly uid: Source;
  readonly extra: readonly {
    readonly key: string;
    readonly expression: ClaimExpression;
  }[];
  /** Claim → the text that it must have. */
  readonly requiredClaims: Readonly<Record<string, string>>;
  readonly claimRules: readonly Rule[];
  readonly userRules: readonly Rule[];
}

export interface ClaimExpression {
  readonly text: string;
  readonly program: Program;
  /** Whether it selects that claim by name. */
  selects(claim: string): boolean;
}

export interface ExpressionCompiler {
  /** What is wrong with an expression, as the reference says it, instead of the compiled one. */
  compile(
    text: string,
    variable: "claims" | "user",
    result: "any" | "bool",
  ): ClaimExpression | { readonly problem: string };
}

export async function loadExpressionCompiler(): Promise<ExpressionCompiler> {
  const [
    { compile },
    { Environment },
    declared,
    { parse },
    { Issues },
    { descendants },
  ] = await Promise.all([
    import("../../../api/cel/program.ts"),
    import("../../../api/cel/environment.ts"),
    import("../../../api/cel/schemas/declared-type.ts"),
    import("../../../api/cel/syntax/parser.ts"),
    import("../../../api/cel/syntax/issues.ts"),
    import("../../../api/cel/syntax/tree.ts"),
  ]);
  const { mapDeclared, listDeclared, stringDeclared, dynDeclared } = declared;
  const texts = listDeclared(stringDeclared());
  const environmentOf = (
    variables: Readonly<Record<string, DeclaredType>>,
  ): Environment => new Environment({ variables, expressions: "stored" });
  const environments = {
    claims: environmentOf({ claims: mapDeclared(dynDeclared) }),
    user: environmentOf({
      user: declared.objectDeclared(
        "kubernetes.UserInfo",
        new Map(
          Object.entries({
            username: stringDeclared(),
            uid: stringDeclared(),
            groups: texts,
            extra: mapDeclared(texts),
          }).map(([jsonName, reader]) => [jsonName, { jsonName, reader }]),
        ),
      ),
    }),
  };
  return {
    compile(text, variable, result) {
      const environment = environments[variable];
      const compiled = compile(text, environment);
      if (!compiled.ok)
        return {
          problem: `compilation failed: ${compiled.issues.toString()}`,
        };
      const { program } = compiled;
      if (result === "bool" && program.resultType.kind !== "bool")
        return { problem: "must evaluate to bool" };
      const root = parse(text, environment.macros, new Issues(text))!;
      return {
        text,
        program,
        selects: (claim) =>
          [...descendants(root)].some((node) => isClaim(node, claim)),
      };
    },
  };
}

/** `claims.name`, `has(claims.name)` or `claims.?name`. */
function isClaim(node: Node, name: string): boolean {
  const isClaims = (each: Node | undefined): boolean =>
    each?.kind === "ident" && each.name === "claims";
  if (node.kind === "select")
    return node.field === name && isClaims(node.operand);
  const [operand, field] = node.kind === "call" ? node.args : [];
  return (
    node.kind === "call" &&
    node.name === "_?._" &&
    isClaims(operand) &&
    field?.kind === "literal" &&
    field.value === name
  );
}

export function expressionMapping(rules: MappingRules): ClaimMapping {
  const { groups: source } = rules;
  return {
    groupsClaim: source && "claim" in source ? source.claim : undefined,
    async userOf(claims) {
      const name = await usernameBy(rules.username, claims);
      const groups = await groupsBy(source, claims);
      const uid = await uidBy(rules.uid, claims);
      const extra = credentialOf(claims);
      for (const { key, expression } of rules.extra) {
        const values = textsOf(
          await evaluate(expression, { claims }, "extra claim"),
          `extra claim expression: ${expression.text}`,
        );
        if (values.length > 0) extra[key] = values;
      }
      checkRequired(claims, rules.requiredClaims);
      await fulfil(rules.claimRules, { claims }, "claim validation expression");
      const user: UserInfo = {
        name,
        groups,
        extra,
        ...(uid === "" ? {} : { uid }),
      };
      await fulfil(
        rules.userRules,
        {
          user: {
            username: name,
            ...(groups.length > 0 ? { groups } : {}),
            ...(uid === "" ? {} : { uid }),
            ...(Object.keys(extra).length > 0 ? { extra } : {}),
          },
        },
        "user info validation rule",
      );
      return user;
    },
  };
}

async function usernameBy(
  source: NonNullable<Source>,
  claims: Claims,
): Promise<string> {
  if ("claim" in source)
    return source.prefix + usernameOf(claims, source.claim);
  const name = await evaluate(source.expression, { claims }, "username claim");
  if (typeof name !== "string")
    throw new Error(
      "oidc: error evaluating username claim expression: username claim expression must return a string",
    );
  if (name === "")
    throw new Error("oidc: empty username via CEL expression is not allowed");
  return name;
}

async function groupsBy(source: Source, claims: Claims): Promise<string[]> {
  if (!source) return [];
  if ("claim" in source)
    return groupsOf(claims, source.claim).map((each) => source.prefix + each);
  return textsOf(
    await evaluate(source.expression, { claims }, "group claim"),
    "group claim expression",
  );
}

async function uidBy(source: Source, claims: Claims): Promise<string> {
  if (!source) return "";
  const uid =
    "claim" in source
      ? claims[source.claim]
      : await evaluate(source.expression, { claims }, "uid claim");
  if (typeof uid === "string") return uid;
  throw new Error(
    "claim" in source
      ? `oidc: parse uid claim ${JSON.stringify(source.claim)}: it is missing or no text`
      : "oidc: error evaluating uid claim expression: uid claim expression must return a string",
  );
}

/** Rejects unless every rule is true. */
async function fulfil(
  rules: readonly Rule[],
  variables: Readonly<Record<string, unknown>>,
  what: string,
): Promise<void> {
  for (const { expression, message } of rules) {
    const value = await evaluate(expression, variables, what, "");
    if (value !== true)
      throw new Error(
        `oidc: error evaluating ${what}: validation expression '${expression.text}' failed: ${message}`,
      );
  }
}

async function evaluate(
  { program, text }: ClaimExpression,
  variables: Readonly<Record<string, unknown>>,
  what: string,
  suffix = " expression",
): Promise<Value> {
  const outcome = await program.evaluateAsync(variables);
  if (outcome.kind === "value") return outcome.value;
  throw new Error(
    `oidc: error evaluating ${what}${suffix}: expression '${text}' resulted in error: ${outcome.message}`,
  );
}

/** A text, or a list of them; empty ones and null are none. Throws Error. */
function textsOf(value: Value, what: string): string[] {
  if (typeof value === "string") return value === "" ? [] : [value];
  if (value === null) return [];
  const list = listOf(value);
  if (!list?.every((each) => typeof each === "string"))
    throw new Error(
      `oidc: error evaluating ${what}: expression must return a string or a list of strings`,
    );
  return list.filter((each) => each !== "");
}

function listOf(value: Value): unknown[] | undefined {
  const list = value as { size?: number; at?: (index: number) => unknown };
  return typeof list.at === "function" && typeof list.size === "number"
    ? Array.from({ length: list.size }, (_, index) => list.at!(index))
    : undefined;
}
