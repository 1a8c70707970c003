// Expressions of policies and match conditions: the environment of each place, and compilation with the type that a
// place wants. Texts are the reference's, as clients see them when they write a policy.
import { authorizerVariables } from "../cel/functions/authorizer.ts";
import { compile, type Program } from "../cel/program.ts";
import { Environment } from "../cel/environment.ts";
import {
  boolType,
  dynType,
  formatType,
  listType,
  mapType,
  nullType,
  sameType,
  stringType,
  type CelType,
} from "../cel/checking/types.ts";
import {
  dynDeclared,
  objectDeclared,
  type DeclaredField,
  type DeclaredType,
} from "../cel/schemas/declared-type.ts";
import { patchFunctions, patchMessages } from "./patch-types.ts";
import { namespaceType, requestType } from "./request-type.ts";

interface Surroundings {
  /** Of the object and the old one; default dyn. */
  readonly object?: DeclaredType;
  /** The type of the parameters; undefined: the policy has none. */
  readonly params?: DeclaredType | undefined;
  readonly authorizer: boolean;
  /** Types of the policy's variables by name; undefined: there is no `variables`. */
  readonly variables?: ReadonlyMap<string, CelType> | undefined;
  /** Can the expression make objects and JSON patches? */
  readonly makesPatches?: boolean;
}

/** The result types that a place takes; undefined: any. */
export type Wanted = readonly CelType[] | undefined;

export const wantsBool: Wanted = [boolType];
export const wantsText: Wanted = [stringType];
export const wantsTextOrNull: Wanted = [stringType, nullType];

export type CompiledExpression =
  | { readonly ok: true; readonly program: Program }
  /** `compilation failed: ERROR: <input>:1:1: …` or `must evaluate to bool but got string`. */
  | {
      readonly ok: false;
      readonly problem: string;
      /** The expression is well typed, and can't be evaluated all the same. */
      readonly internal?: boolean;
    };

/** The type of a variable's value as other expressions see it: objects and types of libraries are dyn. */
export function variableType(type: CelType): CelType {
  switch (type.kind) {
    case "list":
      return listType(variableType(type.parameters[0] ?? dynType));
    case "map":
      return mapType(
        variableType(type.parameters[0] ?? dynType),
        variableType(type.parameters[1] ?? dynType),
      );
    case "object":
    case "opaque":
    case "type":
    case "error":
    case "param":
      return dynType;
    default:
      return type;
  }
}

/** Values that are computed when they are first used have no JSON to be read: they come as values. */
const computed = (type: CelType): DeclaredField => ({
  jsonName: "",
  reader: { ...dynDeclared, type },
});

export function environmentOf({
  object = dynDeclared,
  params,
  authorizer,
  variables,
  makesPatches,
}: Surroundings): Environment {
  return new Environment({
    ...(makesPatches
      ? { messages: patchMessages, functions: patchFunctions }
      : {}),
    variables: {
      object,
      oldObject: object,
      namespaceObject: namespaceType,
      request: requestType,
      ...(params ? { params } : {}),
      ...(authorizer ? authorizerVariables : {}),
      ...(variables
        ? {
            variables: objectDeclared(
              "kubernetes.variables",
              new Map(
                [...variables].map(([name, type]) => [name, computed(type)]),
              ),
            ),
          }
        : {}),
    },
  });
}

export function compileExpression(
  expression: string,
  environment: Environment,
  wanted: Wanted,
): CompiledExpression {
  const compiled = compile(expression, environment);
  if (!compiled.ok && !compiled.resultType)
    return {
      ok: false,
      problem: `compilation failed: ${compiled.issues.toString()}`,
    };
  const type = compiled.ok ? compiled.program.resultType : compiled.resultType!;
  if (wanted && !wanted.some((each) => sameType(each, type)))
    return { ok: false, problem: mistyped(wanted, type) };
  return compiled.ok
    ? { ok: true, program: compiled.program }
    : { ok: false, problem: compiled.issues.toString(), internal: true };
}

/** `must evaluate to bool but got int` */
function mistyped(wanted: readonly CelType[], found: CelType): string {
  const names = wanted.map((each) =>
    each.parameters.length === 0 ? each.name : formatType(each),
  );
  const what = names.length === 1 ? names[0] : `one of [${names.join(" ")}]`;
  return `must evaluate to ${what} but got ${formatType(found)}`;
}
