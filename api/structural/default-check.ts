// Are the defaults of a schema values that it would accept, with no field that it would drop? Defaults inside of metadata,
// apiVersion and kind are checked as parts of a resource that has nothing else.
import type { FieldError } from "../errors.ts";
import { fieldErrors } from "../field-errors.ts";
import {
  copyJson,
  isJsonObject,
  type JsonObject,
} from "../patch/json-value.ts";
import type { Steps } from "../queueing/steps.ts";
import { EmbeddedMismatch, unknownFields } from "./coercion.ts";
import { embeddedProblems, type MetadataCheck } from "./embedded.ts";
import { objectBudget, ruleValidatorOf } from "./rules/rule-validator.ts";
import { shownJson } from "./shown-value.ts";
import { Structural } from "./structural.ts";
import { ValueValidator } from "./values/value-validator.ts";

interface DefaultRules {
  /** False for definitions that had such defaults before. */
  readonly requirePruned: boolean;
  readonly checkMetadata: MetadataCheck;
}

/** The schema is structural. @param field its own */
export function* defaultProblems(
  schema: Structural,
  field: string,
  rules: DefaultRules,
): Steps<FieldError[]> {
  if (!schema.hasDefaultBelow && schema.default === undefined) return [];
  const check = new DefaultCheck(rules);
  yield* check.visit(asResource(schema), field, {
    resource: schema,
    steps: [],
    inEnvelope: false,
  });
  return check.problems;
}

/** Where a schema is inside of the nearest resource. */
interface Place {
  readonly resource: Structural;
  /** Names, or undefined for a list. */
  readonly steps: readonly (string | undefined)[];
  /** Inside of metadata, apiVersion or kind. */
  readonly inEnvelope: boolean;
}

const asResource = (schema: Structural): Structural =>
  schema.embedded
    ? schema
    : new Structural({
        ...schema.source,
        "x-kubernetes-embedded-resource": true,
      });

const isMeta = (name: string): boolean =>
  name === "metadata" || name === "apiVersion" || name === "kind";

class DefaultCheck {
  readonly problems: FieldError[] = [];
  #budget = objectBudget;

  constructor(private readonly rules: DefaultRules) {}

  *visit(schema: Structural, field: string, around: Place): Steps<void> {
    if (this.#budget < 0) return;
    const place = schema.embedded
      ? { resource: schema, steps: [], inEnvelope: false }
      : around;
    if (schema.default !== undefined) {
      this.problems.push(
        ...(yield* place.inEnvelope
          ? this.#inEnvelope(schema, `${field}.default`, place)
          : this.#plain(schema, `${field}.default`)),
      );
      yield;
    }
    const { items, properties } = schema;
    if (items && holdsDefaults(items))
      yield* this.visit(items, `${field}.items`, {
        ...place,
        steps: [...place.steps, undefined],
      });
    for (const [name, below] of properties ?? [])
      if (holdsDefaults(below))
        yield* this.visit(below, `${field}.properties[${name}]`, {
          resource: place.resource,
          steps: [...place.steps, name],
          inEnvelope: place.inEnvelope || (schema.embedded && isMeta(name)),
        });
  }

  *#plain(schema: Structural, field: string): Steps<FieldError[]> {
    const value = schema.default;
    const problems: FieldError[] = [];
    try {
      if (unknownFields(value, schema).length > 0 && this.rules.requirePruned)
        problems.push(
          fieldErrors.invalidShown(
            field,
            shownJson(value),
            "must not have unknown fields",
          ),
        );
    } catch (error) {
      if (!(error instanceof EmbeddedMismatch)) throw error;
      const { problem } = error;
      return [{ ...problem, field: `${field}.${problem.field}` }];
    }
    const embedded = yield* embeddedProblems(
      value,
      schema,
      this.rules.checkMetadata,
      field,
    );
    return [
      ...problems,
      ...(embedded.length > 0 ? embedded : yield* this.#values(schema, field)),
    ];
  }

  *#inEnvelope(
    schema: Structural,
    field: string,
    place: Place,
  ): Steps<FieldError[]> {
    const why = yield* this.#envelopeProblem(schema, place);
    return why === undefined
      ? yield* this.#values(schema, field)
      : [
          fieldErrors.invalidShown(
            field,
            shownJson(schema.default),
            `must result in valid metadata: ${why}`,
          ),
        ];
  }

  *#envelopeProblem(
    schema: Structural,
    place: Place,
  ): Steps<string | undefined> {
    let value: unknown = copyJson(schema.default);
    for (const step of [...place.steps].reverse())
      value = step === undefined ? [value] : { [step]: value };
    const object: JsonObject = {
      apiVersion: "validation/v1",
      kind: "Validation",
      ...(isJsonObject(value) ? value : {}),
    };
    const resource = asResource(place.resource);
    try {
      unknownFields(object, resource);
    } catch (error) {
      if (error instanceof EmbeddedMismatch) return error.message;
      throw error;
    }
    const found = yield* embeddedProblems(
      object,
      resource,
      this.rules.checkMetadata,
    );
    const texts = found.map((problem) => `${problem.field}: ${problem.detail}`);
    return texts.length > 1 ? `[${texts.join(", ")}]` : texts[0];
  }

  *#values(schema: Structural, field: string): Steps<FieldError[]> {
    const value = schema.default;
    const checked = new ValueValidator(schema.source);
    const problems = yield* checked.validate(value, field);
    if (problems.length > 0) return problems;
    const validator = ruleValidatorOf(schema, schema.embedded);
    if (!validator) return [];
    // As an update of itself, and as a new value, which rules about changes may see too.
    const same = yield* validator.validate(
      value,
      { base: field, older: value },
      this.#budget,
    );
    const fresh =
      same.problems.length > 0
        ? same
        : yield* validator.validate(value, { base: field }, this.#budget);
    this.#budget = Math.min(same.left, fresh.left);
    return fresh.problems;
  }
}

const holdsDefaults = (schema: Structural): boolean =>
  schema.default !== undefined || schema.hasDefaultBelow;
