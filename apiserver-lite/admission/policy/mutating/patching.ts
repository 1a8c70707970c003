// One mutation of an object: its expression is evaluated, and what it gives is merged into the object (an apply
// configuration, which must not name parts that are merged as one) or applied to it (a JSON patch).
import {
  checkTypeNames,
  configurationOf,
  jsonOf,
  UnusableValue,
  withoutNativeValues,
} from "../../../../api/admission-expressions/patch-values.ts";
import {
  MadeObject,
  MadeOperation,
} from "../../../../api/admission-expressions/patch-types.ts";
import {
  Failure,
  ListValue,
  typeOf,
  type Value,
} from "../../../../api/cel/values/value.ts";
import { ApiError } from "../../../../api/errors.ts";
import {
  apiVersionOf,
  type AnyObject,
  type GroupVersionKind,
} from "../../../../api/object.ts";
import { atomicParts } from "../../../../api/patch/atomic-parts.ts";
import {
  applyJsonPatch,
  PatchTestFailed,
  type JsonPatch,
} from "../../../../api/patch/json-patch.ts";
import { copyJson } from "../../../../api/patch/json-value.ts";
import type { PatchSchema } from "../../../../api/patch/patch-schema.ts";
import { shownKind, typedProblem } from "../../../../api/patch/typed-check.ts";
import { mergeApplied, rootField } from "../../../../api/patch/typed-value.ts";
import type { Steps } from "../../../../api/queueing/steps.ts";
import {
  evaluateList,
  OutOfBudget,
  policyBudget,
} from "../../expressions/expression-list.ts";
import type { RequestVariables } from "../../expressions/request-variables.ts";
import type {
  CompiledMutation,
  CompiledMutations,
} from "./compiled-mutations.ts";

/** The mutation can't be made: the policy's failure policy decides. The message is the reference's. */
export class MutationFailure extends Error {}

/** What the mutation's expression gives. Throws MutationFailure. */
export function* evaluateMutation(
  { expression }: CompiledMutation,
  { variables }: CompiledMutations,
  request: RequestVariables,
): Steps<Value> {
  if (!expression.compiled.ok)
    throw new MutationFailure(expression.compiled.problem);
  try {
    const { results } = yield* evaluateList(
      [expression],
      request,
      variables,
      policyBudget,
    );
    const [result] = results;
    if (result?.error !== undefined) throw new MutationFailure(result.error);
    return result!.value;
  } catch (error) {
    if (error instanceof OutOfBudget) throw new MutationFailure(error.message);
    throw error;
  }
}

/** The object as the mutation leaves it, a private copy; undefined: it leaves it alone. Throws MutationFailure. */
export function mutated(
  kind: CompiledMutation["kind"],
  given: Value,
  object: Readonly<AnyObject>,
  place: GroupVersionKind,
  schema: PatchSchema | undefined,
): AnyObject | undefined {
  try {
    return kind === "apply"
      ? applied(given, object, place, schema)
      : patched(given, object);
  } catch (error) {
    if (error instanceof UnusableValue)
      throw new MutationFailure(error.message);
    throw error;
  }
}

function applied(
  given: Value,
  object: Readonly<AnyObject>,
  place: GroupVersionKind,
  schema: PatchSchema | undefined,
): AnyObject {
  if (!(given instanceof MadeObject))
    throw new MutationFailure(
      `unsupported return type from ApplyConfiguration expression: ${typeOf(given).name}`,
    );
  checkTypeNames(given);
  const failed = (why: string): MutationFailure =>
    new MutationFailure(`error applying patch: ${why}`);
  const apiVersion = apiVersionOf(place);
  const configuration = {
    ...configurationOf(given),
    apiVersion,
    kind: place.kind,
  };
  const wrong = schema
    ? typedProblem(configuration, schema)
    : `no corresponding type for ${shownKind(apiVersion, place.kind)}`;
  if (wrong !== undefined)
    throw failed(`failed to convert patch object to typed object: ${wrong}`);
  const atomic = atomicParts(configuration, schema!);
  if (atomic.length > 0)
    throw failed(
      `invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomic.join(", ")}`,
    );
  const plain = withoutNativeValues(configuration);
  return copyJson(mergeApplied(object, plain, rootField(schema))) as AnyObject;
}

function patched(
  given: Value,
  object: Readonly<AnyObject>,
): AnyObject | undefined {
  try {
    return applyJsonPatch<AnyObject>(object as AnyObject, patchOf(given));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { cause } = error;
    if (cause instanceof PatchTestFailed) return undefined;
    const { message } = cause instanceof Error ? cause : error;
    throw new MutationFailure(`JSON Patch: ${message}`);
  }
}

function patchOf(given: Value): JsonPatch {
  if (!(given instanceof ListValue))
    throw new MutationFailure(
      "type mismatch: JSONPatchType.expression should evaluate to array",
    );
  const operations = Array.from({ length: given.size }, (_, index) => {
    const made = given.at(index);
    if (made instanceof Failure) throw new MutationFailure(made.message);
    if (!(made instanceof MadeOperation))
      throw new MutationFailure(
        "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch",
      );
    const value = made.fields.get("value");
    if (value instanceof MadeObject) checkTypeNames(value);
    return {
      op: made.text("op"),
      path: made.text("path"),
      from: made.text("from") || undefined,
      value: value === undefined ? undefined : operand(value),
    };
  });
  return { operations, unknownFields: [] };
}

function operand(value: Value): unknown {
  try {
    return jsonOf(value);
  } catch (error) {
    if (!(error instanceof UnusableValue)) throw error;
    throw new MutationFailure(
      `JSONPath valueExpression evaluated to a type that could not marshal to JSON: ${error.message}`,
    );
  }
}
