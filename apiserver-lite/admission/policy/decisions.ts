// What one evaluation of a policy decides: for each validation whether it admits or denies and why, and the audit
// annotations. Failures of expressions are decided by the policy's failure policy.
import type { Steps } from "../../../api/queueing/steps.ts";
import type { CompiledPolicy } from "./compiled-policy.ts";
import {
  evaluateList,
  OutOfBudget,
  policyBudget,
  type Evaluated,
} from "../expressions/expression-list.ts";
import { conditionsHold } from "../expressions/match-conditions.ts";
import type { RequestVariables } from "../expressions/request-variables.ts";

const maxMessageBytes = 5 * 1024;

export interface Decision {
  readonly action: "admit" | "deny";
  readonly evaluation: "admit" | "deny" | "error";
  readonly message: string;
  readonly reason: string;
}

interface AnnotationResult {
  readonly key: string;
  /** Undefined: there is nothing to publish. */
  readonly value?: string;
  /** The request is refused. */
  readonly error?: string;
}

export interface PolicyResult {
  readonly decisions: readonly Decision[];
  readonly annotations: readonly AnnotationResult[];
}

const admitted: Decision = {
  action: "admit",
  evaluation: "admit",
  message: "",
  reason: "",
};

/** @param missed called where match conditions do not hold, with how many failed */
export function* evaluatePolicy(
  policy: CompiledPolicy,
  request: RequestVariables,
  missed?: (failures: number) => void,
): Steps<PolicyResult> {
  const { variables, failurePolicy } = policy;
  const failed = (message: string): Decision => ({
    action: failurePolicy === "Ignore" ? "admit" : "deny",
    evaluation: "error",
    message,
    reason: "",
  });
  const matches = yield* conditionsHold(
    policy.conditions,
    policy.conditions.length > 0 ? request.forConditions() : request,
    variables,
    failurePolicy,
    missed,
  );
  if (matches === false) return { decisions: [], annotations: [] };
  if (matches !== true)
    return { decisions: [failed(matches)], annotations: [] };
  try {
    const { results, remaining } = yield* evaluateList(
      policy.validations,
      request,
      variables,
      policyBudget,
    );
    const decisions = yield* decide(
      policy,
      request,
      results,
      remaining,
      failed,
    );
    const annotations = yield* annotationsOf(policy, request);
    return { decisions, annotations };
  } catch (error) {
    if (!(error instanceof OutOfBudget)) throw error;
    return { decisions: [failed(error.message)], annotations: [] };
  }
}

function* decide(
  policy: CompiledPolicy,
  request: RequestVariables,
  results: readonly (Evaluated | undefined)[],
  remaining: number,
  failed: (message: string) => Decision,
): Steps<Decision[]> {
  // Messages are made only where a validation does not hold: most requests need none.
  const denied = results.some(
    (result) => result?.error === undefined && result?.value !== true,
  );
  let messages: readonly (Evaluated | undefined)[] = [];
  let spent: string | undefined;
  if (denied && policy.messages.some((message) => message)) {
    try {
      ({ results: messages } = yield* evaluateList(
        policy.messages,
        request,
        policy.variables,
        remaining,
      ));
    } catch (error) {
      if (!(error instanceof OutOfBudget)) throw error;
      spent = `failed messageExpression: ${error.message}`;
    }
  }
  return results.map((result, index): Decision => {
    if (result?.error !== undefined) return failed(result.error);
    if (spent !== undefined) return failed(spent);
    if (result?.value === true) return admitted;
    const { text, message, reason } = policy.validations[index]!;
    return {
      action: "deny",
      evaluation: "deny",
      message:
        madeMessage(messages[index]) ||
        message ||
        `failed expression: ${text.trim()}`,
      reason,
    };
  });
}

/** "" for none, for one that is too long, and for one of several lines. */
function madeMessage(result: Evaluated | undefined): string {
  if (!result || result.error !== undefined) return "";
  if (typeof result.value !== "string") return "";
  const message = result.value.trim();
  return message.includes("\n") || Buffer.byteLength(message) > maxMessageBytes
    ? ""
    : message;
}

function* annotationsOf(
  policy: CompiledPolicy,
  request: RequestVariables,
): Steps<AnnotationResult[]> {
  const { annotations, variables, failurePolicy } = policy;
  if (annotations.length === 0) return [];
  const { results } = yield* evaluateList(
    annotations,
    request,
    variables,
    policyBudget,
  );
  return annotations.map(({ key }, index): AnnotationResult => {
    const result = results[index];
    if (result?.error !== undefined)
      return failurePolicy === "Ignore"
        ? { key }
        : { key, error: result.error };
    const value = typeof result?.value === "string" ? result.value.trim() : "";
    return value === "" ? { key } : { key, value };
  });
}
