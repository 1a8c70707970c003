// What a definition's rules (`x-kubernetes-validations`) may be: their form, whether they compile, and what running them
// on the largest object could cost, for each rule and for all of a version.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import { isJsonObject } from "../../../api/patch/json-value.ts";
import type { DeclaredType } from "../../../api/cel/schemas/declared-type.ts";
import { escapeName } from "../../../api/cel/schemas/escaping.ts";
import {
  compileRules,
  declaredType,
  type CompiledRule,
} from "../../../api/structural/rules/compiled-rules.ts";
import {
  FieldPathError,
  findField,
} from "../../../api/structural/rules/field-path.ts";
import type { Structural } from "../../../api/structural/structural.ts";
import type { Steps } from "../../../api/queueing/steps.ts";
import type { JSONSchemaProps } from "../../../api/types/apiextensions-v1.ts";
import { ruleSyntax } from "./schema-syntax.ts";

/** Of one rule. */
const maxRuleCost = 10_000_000;
/** Of all rules of a version. */
const maxTotalCost = 100_000_000;
/** The largest request: it bounds how often a part can be repeated. */
const maxRequestBytes = 3 * 1024 * 1024;
const maxCost = 2 ** 64;
const reasons = [
  "FieldValueDuplicate",
  "FieldValueForbidden",
  "FieldValueInvalid",
  "FieldValueRequired",
];

/** Costs of all rules of a version; the most expensive ones are named when they are too high together. */
export class TotalCost {
  #total = 0;
  #most: { field: string; cost: number }[] = [];

  add(field: string, cost: number): void {
    this.#total = Math.min(this.#total + cost, maxCost);
    if (cost < maxTotalCost / 100) return;
    this.#most.push({ field, cost });
    this.#most.sort((a, b) => b.cost - a.cost);
    this.#most.length = Math.min(this.#most.length, 4);
  }

  problems(field: string): FieldError[] {
    if (this.#total <= maxTotalCost) return [];
    return [
      ...this.#most.map((each) =>
        fieldErrors.forbidden(
          each.field,
          "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
        ),
      ),
      fieldErrors.forbidden(
        field,
        costText(
          "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema",
          this.#total,
          maxTotalCost,
        ),
      ),
    ];
  }
}

interface ScopeRules {
  readonly total: TotalCost;
  /** Costs of single rules were accepted before. */
  readonly unchanged: boolean;
}

/** Nodes of a schema that are looked at in one step. */
const nodesPerStep = 128;

/** A schema that rules can be compiled for, with the type that they see. */
export class RuleScope {
  #made = false;
  #type: DeclaredType | undefined;

  /** @param cardinality how many values of it there can be in an object; undefined: no limit is set */
  private constructor(
    readonly schema: Structural,
    readonly isRoot: boolean,
    readonly cardinality: number | undefined,
    readonly rules: ScopeRules,
    /** From the type of the schema around it, when that has one. */
    private readonly typeFromAround?: () => DeclaredType | undefined,
  ) {}

  static root(schema: Structural, rules: ScopeRules): RuleScope {
    return new RuleScope(schema, true, 1, rules);
  }

  /** Undefined: expressions can't see it. Types of parts are taken from the whole, not made again. */
  get type(): DeclaredType | undefined {
    if (!this.#made) {
      this.#type =
        this.typeFromAround?.() ?? declaredType(this.schema, this.isRoot);
      this.#made = true;
    }
    return this.#type;
  }

  /** Makes the type, for the schemas below to take theirs from. */
  prepare(): void {
    this.#type ??= this.type;
  }

  field(name: string): RuleScope | undefined {
    return this.#below(this.schema.properties?.get(name), (type) => {
      const escaped = escapeName(name);
      return escaped === undefined
        ? undefined
        : type.fields?.get(escaped)?.reader;
    });
  }

  /** Of the items of a list, or the values of free keys. */
  elements(): RuleScope | undefined {
    return this.#below(
      this.schema.items ?? this.schema.values,
      (type) => type.elements,
    );
  }

  #below(
    schema: Structural | undefined,
    typeOf: (type: DeclaredType) => DeclaredType | undefined,
  ): RuleScope | undefined {
    const { cardinality, rules } = this;
    const most = mostInside(this.schema.source);
    return (
      schema &&
      new RuleScope(
        schema,
        schema.embedded,
        cardinality === undefined || most === undefined
          ? undefined
          : product(cardinality, most),
        rules,
        () => (this.#made && this.#type ? typeOf(this.#type) : undefined),
      )
    );
  }
}

/** How many parts a value can have; undefined: any number. */
function mostInside(schema: JSONSchemaProps): number | undefined {
  const bounded = (limit: number | undefined): number | undefined =>
    limit === undefined ? undefined : Math.max(0, limit);
  if (schema.type === "array") return bounded(schema.maxItems);
  const isMap =
    schema.type === "object" &&
    schema.additionalProperties !== undefined &&
    schema.additionalProperties !== null;
  return isMap ? bounded(schema.maxProperties) : 1;
}

const product = (left: number, right: number): number =>
  left === 0 || right === 0 ? 0 : Math.min(left * right, maxCost);

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

/** The form of the rules of a schema. @param scope undefined: paths of fields are not looked at */
export function ruleFormProblems(
  schema: JSONSchemaProps,
  field: string,
  scope: RuleScope | undefined,
): FieldError[] {
  const problems: FieldError[] = [];
  const rules = schema["x-kubernetes-validations"] ?? [];
  for (const [index, rule] of rules.entries()) {
    const at = `${field}.x-kubernetes-validations[${index}]`;
    const message = rule.message ?? "";
    const require = (part: string, text: string): unknown =>
      problems.push(fieldErrors.required(`${at}.${part}`, text));
    const refuse = (part: string, value: string, text: string): unknown =>
      problems.push(fieldErrors.invalid(`${at}.${part}`, value, text));
    if (!rule.rule?.trim()) require("rule", "rule is not specified");
    else if (message !== "" && message.trim() === "")
      refuse("message", message, "message must be non-empty if specified");
    else if (hasLineBreak(message.trim()))
      refuse("message", message, "message must not contain line breaks");
    else if (hasLineBreak(rule.rule.trim()) && message.trim() === "")
      require("message", "message must be specified if rule contains line breaks");
    if (rule.messageExpression && rule.messageExpression.trim() === "")
      require("messageExpression", "messageExpression must be non-empty if specified");
    if (rule.reason !== undefined && !reasons.includes(rule.reason))
      problems.push(
        fieldErrors.notSupported(`${at}.reason`, rule.reason, reasons),
      );
    const path = rule.fieldPath ?? "";
    if (path !== "" && path.trim() === "")
      refuse("fieldPath", path, "fieldPath must be non-empty if specified");
    if (hasLineBreak(path))
      refuse("fieldPath", path, "fieldPath must not contain line breaks");
    if (path !== "" && scope && !isPath(path, scope.schema))
      refuse("fieldPath", path, "fieldPath must be a valid path");
  }
  return problems;
}

function isPath(path: string, schema: Structural): boolean {
  try {
    findField(path, schema);
    return true;
  } catch (error) {
    if (error instanceof FieldPathError) return false;
    throw error;
  }
}

/**
 * The schema and all below are in order. @param uncorrelatable the part around it whose older version can't be found, if
 * there is one
 */
export function* ruleProblems(
  scope: RuleScope,
  field: string,
  uncorrelatable: string | undefined,
): Steps<FieldError[]> {
  yield;
  const { schema, type, cardinality, rules } = scope;
  if (!type)
    return [
      fieldErrors.internal(
        `${field}.x-kubernetes-validations`,
        "internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations",
      ),
    ];
  const repeats =
    cardinality ?? Math.floor(maxRequestBytes / (type.minSerializedSize + 1));
  const problems: FieldError[] = [];
  const compiledRules = yield* compileRules(schema, type);
  for (const [index, compiled] of compiledRules.entries()) {
    const at = `${field}.x-kubernetes-validations[${index}]`;
    problems.push(
      ...costProblems(compiled, at, repeats, rules),
      ...compileProblems(compiled, at, uncorrelatable),
    );
    yield;
  }
  return problems;
}

function costProblems(
  { program, message }: CompiledRule,
  at: string,
  repeats: number,
  { total, unchanged }: ScopeRules,
): FieldError[] {
  const problems: FieldError[] = [];
  const add = (part: string, name: string, cost: number): void => {
    if (!unchanged && cost > maxRuleCost)
      problems.push(
        fieldErrors.forbidden(
          `${at}.${part}`,
          costText(name, cost, maxRuleCost),
        ),
      );
    total.add(`${at}.${part}`, cost);
  };
  if (program)
    add(
      "rule",
      "estimated rule cost",
      product(program.estimateCost().max, repeats),
    );
  if (message)
    add(
      "messageExpression",
      "estimated messageExpression cost",
      message.estimateCost().max,
    );
  return problems;
}

function compileProblems(
  { rule, problem, messageProblem, usesOldSelf }: CompiledRule,
  at: string,
  uncorrelatable: string | undefined,
): FieldError[] {
  const problems: FieldError[] = [];
  if (problem !== undefined)
    problems.push(
      fieldErrors.invalidShown(`${at}.rule`, ruleSyntax(rule), problem),
    );
  if (messageProblem !== undefined)
    problems.push(
      fieldErrors.invalidShown(
        `${at}.messageExpression`,
        ruleSyntax(rule),
        messageProblem,
      ),
    );
  if (usesOldSelf && uncorrelatable !== undefined)
    problems.push(
      fieldErrors.invalid(
        `${at}.rule`,
        rule.rule,
        `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`,
      ),
    );
  if (!usesOldSelf && rule.optionalOldSelf !== undefined)
    problems.push(
      fieldErrors.invalid(
        `${at}.optionalOldSelf`,
        rule.optionalOldSelf,
        "may not be set if oldSelf is not used in rule",
      ),
    );
  return problems;
}

function costText(name: string, cost: number, limit: number): string {
  const times = cost / limit;
  const factor =
    times > 100
      ? "more than 100x"
      : times < 1.5
        ? `${times.toFixed(6)}x`
        : `${times.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** Does one of the schemas, or one inside it, have a part that satisfies `is`? */
export function* anySchemaHas(
  schemas: Iterable<JSONSchemaProps | undefined>,
  is: (schema: JSONSchemaProps) => boolean,
): Steps<boolean> {
  const open = [...schemas].filter((schema) => schema !== undefined);
  for (let node = open.pop(), seen = 1; node; node = open.pop(), seen++) {
    if (is(node)) return true;
    open.push(...schemasInside(node));
    if (seen % nodesPerStep === 0) yield;
  }
  return false;
}

function* schemasInside(schema: JSONSchemaProps): Iterable<JSONSchemaProps> {
  const one = (value: unknown): JSONSchemaProps[] =>
    isJsonObject(value) ? [value] : [];
  const { items, allOf = [], anyOf = [], oneOf = [], not } = schema;
  if (Array.isArray(items)) yield* items as JSONSchemaProps[];
  else yield* one(items);
  yield* allOf;
  yield* anyOf;
  yield* oneOf;
  if (not) yield not;
  yield* Object.values(schema.properties ?? {});
  yield* one(schema.additionalProperties);
  yield* Object.values(schema.patternProperties ?? {});
  yield* one(schema.additionalItems);
  yield* Object.values(schema.definitions ?? {});
  for (const inner of Object.values(schema.dependencies ?? {}))
    yield* one(inner);
}
