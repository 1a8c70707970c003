// The expressions of one policy as validation sees them: each is compiled in the environment of its place, and variables
// are known to those behind them.
import type { Environment } from "../../../api/cel/environment.ts";
import type { CelType } from "../../../api/cel/checking/types.ts";
import { dynType } from "../../../api/cel/checking/types.ts";
import { dynDeclared } from "../../../api/cel/schemas/declared-type.ts";
import {
  compileExpression,
  environmentOf,
  type CompiledExpression,
  variableType,
  wantsBool,
  wantsText,
  wantsTextOrNull,
  type Wanted,
} from "../../../api/admission-expressions/expression.ts";
import {
  wantsObject,
  wantsPatch,
} from "../../../api/admission-expressions/patch-types.ts";
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { qualifiedNameProblems } from "../../../api/names.ts";
import type {
  MatchCondition,
  Variable,
} from "../../../api/types/admissionregistration-v1.ts";

const maxMatchConditions = 64;
const identifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
const reserved = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

export class PolicyExpressions {
  readonly #variables = new Map<string, CelType>();
  readonly #withVariables: boolean;
  readonly #hasParams: boolean;
  /** By what they have beside the variables; made again when a variable is added. */
  #environments = new Map<string, Environment>();

  constructor(withVariables: boolean, hasParams: boolean) {
    this.#withVariables = withVariables;
    this.#hasParams = hasParams;
  }

  variable(field: string, { name, expression }: Variable): FieldError[] {
    const problems: FieldError[] = [];
    if (!name?.trim())
      problems.push(
        fieldErrors.required(`${field}.name`, "name is not specified"),
      );
    else if (!identifier.test(name) || reserved.has(name))
      problems.push(
        fieldErrors.invalid(
          `${field}.name`,
          name,
          "name is not a valid CEL identifier",
        ),
      );
    if (!expression?.trim())
      return [
        ...problems,
        fieldErrors.required(
          `${field}.expression`,
          "expression is not specified",
        ),
      ];
    const compiled = compileExpression(
      expression,
      this.#environment(true),
      undefined,
    );
    this.#variables.set(
      name,
      compiled.ok ? variableType(compiled.program.resultType) : dynType,
    );
    this.#environments.clear();
    return [
      ...problems,
      ...problemsOf(`${field}.expression`, expression, compiled),
    ];
  }

  bool(field: string, expression: string): FieldError[] {
    return this.#problems(field, expression, wantsBool, true);
  }

  /** Messages are made without asking the authorizer. */
  message(field: string, expression: string): FieldError[] {
    return this.#problems(field, expression, wantsText, false);
  }

  textOrNull(field: string, expression: string): FieldError[] {
    return this.#problems(
      field,
      expression,
      wantsTextOrNull,
      true,
      expression.trim(),
    );
  }

  /** What a mutation applies. */
  object(field: string, expression: string): FieldError[] {
    return this.#patchProblems(field, expression, wantsObject);
  }

  /** The operations of a mutation's JSON patch. */
  jsonPatch(field: string, expression: string): FieldError[] {
    return this.#patchProblems(field, expression, wantsPatch);
  }

  matchConditions(
    field: string,
    conditions: readonly MatchCondition[],
  ): FieldError[] {
    const environment = environmentOf({
      params: this.#hasParams ? dynDeclared : undefined,
      authorizer: true,
    });
    const seen = new Set<string>();
    const problems = conditions.flatMap(({ name, expression }, index) => {
      const path = `${field}[${index}]`;
      const twice = name !== "" && seen.has(name);
      seen.add(name);
      return [
        ...conditionProblems(`${path}.expression`, expression, environment),
        ...(name
          ? invalidEach(`${path}.name`, name, qualifiedNameProblems(name))
          : [fieldErrors.required(`${path}.name`)]),
        ...(twice ? [fieldErrors.duplicate(`${path}.name`, name)] : []),
      ];
    });
    return conditions.length > maxMatchConditions
      ? [
          fieldErrors.tooMany(field, conditions.length, maxMatchConditions),
          ...problems,
        ]
      : problems;
  }

  #patchProblems(
    field: string,
    expression: string,
    wanted: Wanted,
  ): FieldError[] {
    const text = expression.trim();
    return text === ""
      ? [fieldErrors.required(field)]
      : this.#problems(field, text, wanted, true, text, true);
  }

  #problems(
    field: string,
    expression: string,
    wanted: Wanted,
    authorizer: boolean,
    text = expression,
    makesPatches = false,
  ): FieldError[] {
    const compiled = compileExpression(
      text,
      this.#environment(authorizer, makesPatches),
      wanted,
    );
    return problemsOf(field, expression, compiled);
  }

  #environment(authorizer: boolean, makesPatches = false): Environment {
    const key = `${authorizer} ${makesPatches}`;
    let environment = this.#environments.get(key);
    if (!environment) {
      environment = environmentOf({
        params: this.#hasParams ? dynDeclared : undefined,
        ...{ authorizer, makesPatches },
        variables: this.#withVariables ? this.#variables : undefined,
      });
      this.#environments.set(key, environment);
    }
    return environment;
  }
}

function conditionProblems(
  field: string,
  expression: string | undefined,
  environment: Environment,
): FieldError[] {
  const text = expression?.trim() ?? "";
  if (text === "") return [fieldErrors.required(field)];
  const compiled = compileExpression(text, environment, wantsBool);
  return problemsOf(field, text, compiled);
}

function problemsOf(
  field: string,
  expression: string,
  compiled: CompiledExpression,
): FieldError[] {
  if (compiled.ok) return [];
  const { problem, internal } = compiled;
  return internal
    ? [fieldErrors.internal(field, problem)]
    : [fieldErrors.invalid(field, expression, problem)];
}
