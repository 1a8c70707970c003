// The rules of one schema (`x-kubernetes-validations`), compiled: what each is about (`self`, `oldSelf`), what it costs at
// most, and why it can't be used.
import { optionalType } from "../../cel/checking/types.ts";
import { Environment } from "../../cel/environment.ts";
import { compile, type Program } from "../../cel/program.ts";
import type { DeclaredType } from "../../cel/schemas/declared-type.ts";
import {
  typeOfSchema,
  typingSchema,
  type JsonSchema,
} from "../../cel/schemas/from-json-schema.ts";
import { boolType, sameType, stringType } from "../../cel/checking/types.ts";
import { Optional } from "../../cel/values/value.ts";
import type { Steps } from "../../queueing/steps.ts";
import type { ValidationRule } from "../../types/apiextensions-v1.ts";
import type { Structural } from "../structural.ts";
import { FieldPathError, findField } from "./field-path.ts";

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Undefined: it says nothing, or can't be used. */
  readonly program: Program | undefined;
  /** Why it can't be used. */
  readonly problem: string | undefined;
  readonly usesOldSelf: boolean;
  readonly message: Program | undefined;
  readonly messageProblem: string | undefined;
  /** Normal form of the rule's field path, "" without one. */
  readonly fieldPath: string;
}

/** The type that expressions see; undefined: they do not see it. @param isRoot a resource, own or embedded */
export function declaredType(
  { source }: Structural,
  isRoot: boolean,
): DeclaredType | undefined {
  return typeOfSchema(source as JsonSchema, "selfType", isRoot);
}

/** The same in steps. */
export function declaringType(
  { source }: Structural,
  isRoot: boolean,
): Steps<DeclaredType | undefined> {
  return typingSchema(source as JsonSchema, "selfType", isRoot);
}

export function* compileRules(
  schema: Structural,
  type: DeclaredType,
): Steps<CompiledRule[]> {
  const environments = new Environments(type);
  const compiled: CompiledRule[] = [];
  for (const rule of schema.rules) {
    compiled.push(compileRule(rule, schema, environments));
    yield;
  }
  return compiled;
}

/** Made when a rule first needs them. */
class Environments {
  #alone: Environment | undefined;
  #plain: Environment | undefined;
  #optional: Environment | undefined;

  constructor(private readonly self: DeclaredType) {}

  of({ optionalOldSelf }: ValidationRule): Environment {
    const { self } = this;
    return optionalOldSelf
      ? (this.#optional ??= new Environment({
          variables: { self, oldSelf: optional(self) },
        }))
      : (this.#plain ??= new Environment({
          variables: { self, oldSelf: self },
        }));
  }

  /** Does a rule that compiles mention the older value? */
  usesOldSelf({ rule }: ValidationRule): boolean {
    if (!rule.includes("oldSelf")) return false;
    const { self } = this;
    this.#alone ??= new Environment({ variables: { self } });
    return !compile(rule, this.#alone).ok;
  }
}

/** Undefined is no value. */
function optional(type: DeclaredType): DeclaredType {
  return {
    type: optionalType(type.type),
    maxElements: type.maxElements,
    minSerializedSize: type.minSerializedSize,
    read(raw) {
      const value = type.read(raw);
      return new Optional(value as ConstructorParameters<typeof Optional>[0]);
    },
  };
}

const nothing: Omit<CompiledRule, "rule"> = {
  program: undefined,
  problem: undefined,
  usesOldSelf: false,
  message: undefined,
  messageProblem: undefined,
  fieldPath: "",
};

function compileRule(
  rule: ValidationRule,
  schema: Structural,
  environments: Environments,
): CompiledRule {
  if (rule.rule.trim() === "") return { rule, ...nothing };
  const environment = environments.of(rule);
  const compiled = compile(rule.rule, environment);
  if (!compiled.ok) {
    const problem = `compilation failed: ${compiled.issues.toString()}`;
    return { rule, ...nothing, problem };
  }
  const { program } = compiled;
  if (!sameType(program.resultType, boolType))
    return {
      rule,
      ...nothing,
      problem: "cel expression must evaluate to a bool",
    };
  return {
    rule,
    program,
    problem: undefined,
    usesOldSelf: environments.usesOldSelf(rule),
    ...compileMessage(rule, environment),
    fieldPath: normalPath(rule, schema),
  };
}

function compileMessage(
  { messageExpression }: ValidationRule,
  environment: Environment,
): Pick<CompiledRule, "message" | "messageProblem"> {
  if (!messageExpression)
    return { message: undefined, messageProblem: undefined };
  const compiled = compile(messageExpression, environment);
  if (!compiled.ok)
    return {
      message: undefined,
      messageProblem: `messageExpression compilation failed: ${compiled.issues.toString()}`,
    };
  const { program } = compiled;
  return sameType(program.resultType, stringType)
    ? { message: program, messageProblem: undefined }
    : {
        message: undefined,
        messageProblem: "messageExpression must evaluate to a string",
      };
}

function normalPath({ fieldPath }: ValidationRule, schema: Structural): string {
  if (!fieldPath) return "";
  try {
    return findField(fieldPath, schema).path;
  } catch (error) {
    if (!(error instanceof FieldPathError)) throw error;
    return "";
  }
}
