// The match conditions of a policy: it is for a request when all hold. One that is false decides, whatever failed.
import { errorList } from "./errors.ts";
import type { Steps } from "../../../api/queueing/steps.ts";
import {
  evaluateList,
  matchConditionBudget,
  OutOfBudget,
  type Evaluated,
  type PolicyExpression,
} from "./expression-list.ts";
import type { RequestVariables } from "./request-variables.ts";

export interface CompiledCondition extends PolicyExpression {
  readonly name: string;
}

/**
 * Does the policy apply? A text: why that can't be said, under the failure policy Fail.
 * @param missed called where not all hold, with how many failed
 */
export function* conditionsHold(
  conditions: readonly CompiledCondition[],
  request: RequestVariables,
  variables: ReadonlyMap<string, PolicyExpression>,
  failurePolicy: string,
  missed?: (failures: number) => void,
): Steps<boolean | string> {
  if (conditions.length === 0) return true;
  const failed = (why: string): false | string =>
    failurePolicy === "Ignore" ? false : why;
  let results: (Evaluated | undefined)[];
  try {
    ({ results } = yield* evaluateList(
      conditions,
      request,
      variables,
      matchConditionBudget,
    ));
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    missed?.(0);
    return failed(error.message);
  }
  const problems: string[] = [];
  for (const result of results) {
    if (result?.error !== undefined) problems.push(result.error);
    else if (result?.value === false) {
      missed?.(problems.length);
      return false;
    }
  }
  if (problems.length === 0) return true;
  missed?.(problems.length);
  return failed(errorList(problems));
}
