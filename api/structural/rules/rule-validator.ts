// Runs the rules of a schema on an object: each on the part whose schema has it, with the part it comes from for rules about
// changes. One budget is shared by all rules of an object; when it is spent the object is refused.
// Validation is made of steps of well below a millisecond, or of as long as one operation of an expression takes.
// Invariants: rules of a part are compiled when a value of it is first met; parts without rules below are not visited.
import type { Program } from "../../cel/program.ts";
import { perCallLimit } from "../../cel/program.ts";
import { escapeName } from "../../cel/schemas/escaping.ts";
import { Optional } from "../../cel/values/value.ts";
import type { FieldError } from "../../errors.ts";
import { fieldErrors } from "../../field-errors.ts";
import { isJsonObject, type JsonObject } from "../../patch/json-value.ts";
import { timed, type Steps } from "../../queueing/steps.ts";
import type { ValidationRule } from "../../types/apiextensions-v1.ts";
import type { Structural } from "../structural.ts";
import {
  isUnchanged,
  olderField,
  olderItems,
  type Older,
} from "../values/correlation.ts";
import {
  compileRules,
  declaredType,
  declaringType,
  type CompiledRule,
} from "./compiled-rules.ts";
import { messageOf, nameOf, problemFor } from "./rule-problems.ts";

/** The reference's budget of one object. */
export const objectBudget = 10_000_000;
const maxMessageBytes = 5 * 1024;
/** Of one step, where evaluations have no steps of their own: some 0.3 ms. */
const stepCost = 5000;
/** What an evaluation takes beside its cost. */
const evaluationCost = 50;

/** What a part comes from: for rules about changes, and to accept what was wrong before. */
interface Before {
  /** Undefined: it is new, or can't be found. */
  readonly value: unknown;
  /** The part's own origin. */
  readonly part: Older | undefined;
  /** That of the nearest part around it that has one. */
  readonly around: Older | undefined;
  readonly aroundValue: unknown;
}

const newPart: Before = {
  value: undefined,
  part: undefined,
  around: undefined,
  aroundValue: undefined,
};

interface RuleRun {
  /** @param base the field of the value; "" for a whole object */
  readonly base: string;
  /** The version before, of an update. */
  readonly older?: unknown;
  /** Accept what fails and has not changed; the text becomes a warning. */
  readonly warn?: (text: string) => void;
  readonly onCompiled?: ((seconds: number) => void) | undefined;
}

class Budget {
  left: number;
  problems: FieldError[] = [];
  #stepLeft = stepCost;

  constructor(
    budget: number,
    readonly warn: RuleRun["warn"],
    readonly onCompiled: RuleRun["onCompiled"],
  ) {
    this.left = budget;
  }

  /** After an evaluation: has this step been long enough? */
  endsStep(cost: number): boolean {
    this.#stepLeft -= cost + evaluationCost;
    if (this.#stepLeft > 0) return false;
    this.#stepLeft = stepCost;
    return true;
  }
}

/** Undefined: it has no rules. @param isRoot a resource, own or embedded */
export function ruleValidatorOf(
  schema: Structural,
  isRoot: boolean,
): RuleValidator | undefined {
  return schema.hasRuleBelow ? new RuleValidator(schema, isRoot) : undefined;
}

export class RuleValidator {
  readonly #schema: Structural;
  readonly #isRoot: boolean;
  #rules: readonly CompiledRule[] | undefined;
  #fields: Map<string, RuleValidator | undefined> | undefined;
  #values: RuleValidator | undefined;
  #items: RuleValidator | undefined;

  constructor(schema: Structural, isRoot: boolean) {
    this.#schema = schema;
    this.#isRoot = isRoot;
  }

  /** All problems, and what is left of the budget: less than 0 when it is spent. */
  *validate(
    value: unknown,
    { base, older, warn, onCompiled }: RuleRun,
    budget = objectBudget,
  ): Steps<{ problems: FieldError[]; left: number }> {
    const run = new Budget(budget, warn, onCompiled);
    const part =
      older === undefined ? undefined : { value: older, schema: this.#schema };
    yield* this.#part(
      value,
      {
        value: older,
        // Only an update accepts what was wrong before.
        part: warn ? part : undefined,
        around: undefined,
        aroundValue: undefined,
      },
      base,
      run,
    );
    return { problems: run.problems, left: run.left };
  }

  *#part(
    value: unknown,
    before: Before,
    field: string,
    run: Budget,
  ): Steps<void> {
    if (value === null || value === undefined) return;
    if (this.#schema.rules.length > 0)
      yield* this.#check(value, before, field, run);
    if (run.left < 0) return;
    if (Array.isArray(value)) yield* this.#inItems(value, before, field, run);
    else if (isJsonObject(value))
      yield* this.#inFields(value, before, field, run);
  }

  *#inItems(
    list: readonly unknown[],
    before: Before,
    field: string,
    run: Budget,
  ): Steps<void> {
    const { items } = this.#schema;
    if (!items?.hasRuleBelow) return;
    const validator = (this.#items ??= new RuleValidator(
      items,
      items.embedded,
    ));
    const itemOf =
      before.value === undefined
        ? undefined
        : olderItems({ value: before.value, schema: this.#schema });
    for (const [index, item] of list.entries()) {
      const was = itemOf?.(item);
      yield* validator.#part(
        item,
        belowOf(list, before, was?.value, before.part && was),
        `${field}[${index}]`,
        run,
      );
      if (run.left < 0) return;
    }
  }

  *#inFields(
    object: JsonObject,
    before: Before,
    field: string,
    run: Budget,
  ): Steps<void> {
    const { properties, values } = this.#schema;
    for (const name of Object.keys(object)) {
      const named = properties?.has(name) ?? false;
      if (!named && !values?.hasRuleBelow) continue;
      const below = this.#field(name);
      if (!below) continue;
      const was =
        isJsonObject(before.value) && Object.hasOwn(before.value, name)
          ? before.value[name]
          : undefined;
      const isEnvelope =
        !before.around && (name === "apiVersion" || name === "kind");
      yield* below.#part(
        object[name],
        isEnvelope
          ? { ...newPart, value: was }
          : belowOf(
              object,
              before,
              was,
              before.part && olderField(before.part, name),
            ),
        named
          ? field === ""
            ? name
            : `${field}.${name}`
          : `${field}[${name}]`,
        run,
      );
      if (run.left < 0) return;
    }
  }

  /** Fields whose type expressions do not see have no rules. */
  #field(name: string): RuleValidator | undefined {
    const { properties, values } = this.#schema;
    const schema = properties?.get(name);
    if (!schema)
      return values?.hasRuleBelow
        ? (this.#values ??= new RuleValidator(values, values.embedded))
        : undefined;
    if (!schema.hasRuleBelow) return undefined;
    this.#fields ??= new Map();
    if (!this.#fields.has(name)) {
      const seen =
        escapeName(name) === undefined ||
        declaredType(schema, schema.embedded) !== undefined;
      this.#fields.set(
        name,
        seen ? new RuleValidator(schema, schema.embedded) : undefined,
      );
    }
    return this.#fields.get(name);
  }

  *#check(
    value: unknown,
    before: Before,
    field: string,
    run: Budget,
  ): Steps<void> {
    this.#rules ??= yield* timed(this.#compile(), run.onCompiled);
    const { type } = this.#schema;
    const shown = shownField(field);
    if (run.left <= 0) return spend(run, shown, type);
    const older = before.value ?? undefined;
    const plain =
      older === undefined ? { self: value } : { self: value, oldSelf: older };
    for (const compiled of this.#rules) {
      const { rule, program, problem, usesOldSelf } = compiled;
      if (problem !== undefined)
        run.problems.push(
          fieldErrors.invalid(shown, type, `rule compile error: ${problem}`),
        );
      if (!program) continue;
      const optional = rule.optionalOldSelf ?? false;
      if (usesOldSelf && older === undefined && !optional) continue;
      const variables =
        optional && older === undefined
          ? { self: value, oldSelf: Optional.none }
          : plain;
      const outcome = yield* program.evaluateInSteps(variables, perCallLimit);
      if (run.endsStep(outcome.cost)) yield;
      if (outcome.cost > run.left) return spend(run, shown, type);
      run.left -= outcome.cost;
      if (outcome.kind === "exceeded") {
        run.problems.push(
          fieldErrors.invalid(
            shown,
            type,
            `'${outcome.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${nameOf(rule)}`,
          ),
        );
        run.left = -1;
        return;
      }
      if (outcome.kind === "error")
        run.problems.push(
          fieldErrors.invalid(
            shown,
            type,
            outcome.message.startsWith("no such overload")
              ? `'${outcome.message}': call arguments did not match a supported operator, function or macro signature for rule: ${nameOf(rule)}`
              : `${outcome.message} evaluating rule: ${nameOf(rule)}`,
          ),
        );
      else if (outcome.value !== true) {
        yield* this.#failed(compiled, plain, value, before, field, run);
        if (run.left < 0) return;
      }
    }
  }

  *#compile(): Steps<readonly CompiledRule[]> {
    const type = yield* declaringType(this.#schema, this.#isRoot);
    if (type) return yield* compileRules(this.#schema, type);
    return this.#schema.rules.slice(0, 1).map((rule) => ({
      rule,
      program: undefined,
      problem: "failed to convert to declType for CEL validation rules",
      usesOldSelf: false,
      message: undefined,
      messageProblem: undefined,
      fieldPath: "",
    }));
  }

  *#failed(
    { rule, usesOldSelf, message, fieldPath }: CompiledRule,
    variables: Readonly<Record<string, unknown>>,
    value: unknown,
    before: Before,
    field: string,
    run: Budget,
  ): Steps<void> {
    const { type } = this.#schema;
    const at = fieldPath === "" ? shownField(field) : below(field, fieldPath);
    const add = (problem: FieldError): void => {
      if (!usesOldSelf && run.warn && isAccepted(value, before))
        run.warn(`${problem.field}: ${problem.detail}`);
      else run.problems.push(problem);
    };
    const text = message && (yield* messageText(message, rule, variables, run));
    if (text && "problem" in text)
      add(fieldErrors.invalid(at, type, text.problem));
    else add(problemFor(at, type, text?.text ?? messageOf(rule), rule.reason));
  }
}

/** The reference prints the missing path of a whole object. */
const shownField = (field: string): string => (field === "" ? "<nil>" : field);

const below = (field: string, path: string): string =>
  field === "" || path.startsWith("[") ? field + path : `${field}.${path}`;

function belowOf(
  value: unknown,
  before: Before,
  was: unknown,
  part: Older | undefined,
): Before {
  // What can't be found keeps the nearest part that was.
  return before.part
    ? { value: was, part, around: before.part, aroundValue: value }
    : { ...before, value: was };
}

function isAccepted(
  value: unknown,
  { part, around, aroundValue }: Before,
): boolean {
  if (part) return isUnchanged(value, part);
  return around !== undefined && isUnchanged(aroundValue, around);
}

function spend(run: Budget, field: string, type: string): void {
  run.problems.push(
    fieldErrors.invalid(
      field,
      type,
      "validation failed due to running out of cost budget, no further validation rules will be run",
    ),
  );
  run.left = -1;
}

/** Undefined: the rule's own message is shown. */
function* messageText(
  program: Program,
  { messageExpression }: ValidationRule,
  variables: Readonly<Record<string, unknown>>,
  run: Budget,
): Steps<{ text: string } | { problem: string } | undefined> {
  const outcome = yield* program.evaluateInSteps(variables, perCallLimit);
  if (outcome.cost > run.left) {
    run.left = -1;
    return {
      problem:
        "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run",
    };
  }
  if (outcome.kind === "exceeded") {
    run.left = -1;
    return {
      problem: `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(messageExpression)}`,
    };
  }
  run.left -= outcome.cost;
  if (outcome.kind === "error" || typeof outcome.value !== "string")
    return undefined;
  const text = outcome.value.trim();
  return text === "" ||
    text.includes("\n") ||
    Buffer.byteLength(text) > maxMessageBytes
    ? undefined
    : { text };
}
