// What a version of a kind of custom resources takes from its schema: reading, defaults, validation, and the form that
// server-side apply asks for. Made of the JSON of a definition; nothing is parsed before it is first asked for, so that a
// thousand definitions without a request cost nothing at the start.
import type { FieldError } from "../errors.ts";
import type { JsonObject } from "../patch/json-value.ts";
import { finish, timed, type Steps } from "../queueing/steps.ts";
import type { ObjectSchema } from "../schema.ts";
import type { JSONSchemaProps } from "../types/apiextensions-v1.ts";
import { settingDefaults } from "./defaulting.ts";
import { embeddedProblems, type MetadataCheck } from "./embedded.ts";
import { duplicateProblems } from "./list-types.ts";
import { objectSchemaOf, type KindNames } from "./object-schema.ts";
import { rulesOf } from "./prepare.ts";
import type { RuleTimes } from "./rule-times.ts";
import type { RuleValidator } from "./rules/rule-validator.ts";
import { Structural } from "./structural.ts";
import { ValueValidator } from "./values/value-validator.ts";

interface CustomSchemaOptions extends KindNames {
  /** `spec.preserveUnknownFields` of the definition: unknown fields are kept. Default false. */
  readonly preserveUnknownFields?: boolean;
  /** Validates the metadata of embedded resources. */
  readonly checkMetadata: MetadataCheck;
  /** Absent: rules are not timed. */
  readonly ruleTimes?: RuleTimes;
}

const ignore = (): void => undefined;

/** Problems after which rules are not run. */
const misshapen: ReadonlySet<FieldError["type"]> = new Set([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);
const notChecked: FieldError = {
  type: "FieldValueInvalid",
  field: "<nil>",
  detail:
    'Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/** `prepareSchemas` has been awaited before anything is validated. */
export class CustomSchema {
  readonly #read: () => JSONSchemaProps | undefined;
  #structural: Structural | undefined;
  #object: ObjectSchema | undefined;
  #validator: ValueValidator | undefined;
  #statusValidator: ValueValidator | undefined;
  #rules: RuleValidator | undefined;

  /** @param source of a definition's version; read when the schema is first used */
  constructor(
    source: () => JSONSchemaProps | undefined,
    private readonly options: CustomSchemaOptions,
  ) {
    this.#read = source;
  }

  get structural(): Structural {
    return (this.#structural ??= new Structural(this.#read() ?? {}));
  }

  /** Reads a large schema before it is first used. */
  *prepare(): Steps<Structural> {
    return (this.#structural ??= yield* Structural.inSteps(this.#read() ?? {}));
  }

  /** For decoding (its `conform` prunes and notes unknown fields), patches and field ownership. */
  get objectSchema(): ObjectSchema {
    return (this.#object ??= objectSchemaOf(
      this.structural,
      this.options,
      !(this.options.preserveUnknownFields ?? false),
    ));
  }

  /**
   * Of an object that was sent, and of one that was stored before a default was added. Changes it in place. Undefined:
   * there are none; else the bytes of JSON that were added. Throws ApiError 500 for more than a store takes.
   */
  settingDefaults(object: object): Steps<number> | undefined {
    const { structural } = this;
    return structural.hasDefaultBelow
      ? settingDefaults(object, structural)
      : undefined;
  }

  /** The same at once. */
  setDefaults(object: object): void {
    const steps = this.settingDefaults(object);
    if (steps) finish(steps);
  }

  /**
   * All problems but those of the object's own metadata, in the reference's order. @param old of an update; unchanged
   * parts that were already invalid are then accepted. @param ofScale problems of the scale subresource's paths, which
   * have their place among the others. @param warn takes the problems of rules that are accepted. Values and rules pause.
   */
  *validate(
    object: Readonly<JsonObject>,
    old?: Readonly<JsonObject>,
    ofScale: readonly FieldError[] = [],
    warn: (text: string) => void = ignore,
  ): Steps<FieldError[]> {
    const { structural } = this;
    this.#validator ??= new ValueValidator(structural.source);
    const problems = [
      ...(yield* this.#validator.validate(
        object,
        undefined,
        old && { value: old, schema: structural },
      )),
      ...ofScale,
      ...(yield* embeddedProblems(
        object,
        structural,
        this.options.checkMetadata,
      )),
      ...(yield* this.#duplicates(object, old)),
    ];
    return yield* this.#withRules(problems, object, old, warn);
  }

  /** Of a write to the status subresource. */
  *validateStatus(
    object: Readonly<JsonObject>,
    old: Readonly<JsonObject>,
    ofScale: readonly FieldError[] = [],
    warn: (text: string) => void = ignore,
  ): Steps<FieldError[]> {
    const problems = [
      ...(yield* this.#statusProblems(object, old)),
      ...ofScale,
      ...(yield* this.#duplicates(object, old)),
    ];
    return yield* this.#withRules(problems, object, old, warn);
  }

  /** Rules are run on what has the shape that they expect. */
  *#withRules(
    problems: FieldError[],
    object: Readonly<JsonObject>,
    older: Readonly<JsonObject> | undefined,
    warn: (text: string) => void,
  ): Steps<FieldError[]> {
    if (!this.structural.hasRuleBelow) return problems;
    if (problems.some(({ type }) => misshapen.has(type)))
      return [...problems, notChecked];
    const rules = (this.#rules ??= rulesOf(this.structural, true)!);
    const { ruleTimes } = this.options;
    const { problems: found } = yield* timed(
      rules.validate(object, {
        base: "",
        onCompiled: ruleTimes?.compiled,
        ...(older ? { older, warn } : {}),
      }),
      ruleTimes?.evaluated,
    );
    return [...problems, ...found];
  }

  *#statusProblems(
    object: Readonly<JsonObject>,
    old: Readonly<JsonObject>,
  ): Steps<FieldError[]> {
    const schema = this.structural.properties?.get("status");
    const { status } = object;
    if (!schema || status === undefined) return [];
    this.#statusValidator ??= new ValueValidator(schema.source);
    return yield* this.#statusValidator.validate(
      status,
      "status",
      old["status"] === undefined
        ? undefined
        : { value: old["status"], schema },
    );
  }

  /** Lists that had duplicates before may keep them. */
  *#duplicates(
    object: Readonly<JsonObject>,
    old: Readonly<JsonObject> | undefined,
  ): Steps<FieldError[]> {
    const problems = yield* duplicateProblems(object, this.structural);
    return problems.length > 0 &&
      old &&
      (yield* duplicateProblems(old, this.structural)).length > 0
      ? []
      : problems;
  }
}
