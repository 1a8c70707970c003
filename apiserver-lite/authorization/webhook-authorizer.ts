// One authorization webhook: which requests it is asked about, in which version of the review, how long its answers count,
// and what follows when it gives none.
//
// Invariant: only an answer that says `allowed: true` of the asked kind allows. What can't be read, comes too late or fails
// is what `onFailure` says: a no, at once or after the authorizers behind it.
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { Authorizer } from "../../api/contracts.ts";
import { isJsonObject } from "../../api/patch/json-value.ts";
import type { SubjectAccessReview } from "../../api/types/authorization-v1.ts";
import { createWebhookAuthorizer } from "../../client/access/access-reviewer.ts";
import { askedAgain } from "../../client/webhook/asked-again.ts";
import {
  WebhookStatusError,
  WebhookTimeoutError,
} from "../../client/webhook/call-failure.ts";
import type {
  AuthorizationMetrics,
  CallResult,
} from "./authorization-metrics.ts";
import {
  reviewConditionsHold,
  type ReviewCondition,
} from "./review-conditions.ts";

export interface AuthorizationWebhookRules {
  /** In metrics and logs. */
  readonly name: string;
  /** Of the SubjectAccessReview that is sent. */
  readonly version: "v1" | "v1beta1";
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly onFailure: "no-opinion" | "deny";
  /** It is asked when all hold. */
  readonly conditions: readonly ReviewCondition[];
}

interface AuthorizationWebhookParts {
  /** The text of a 2xx answer; rejects within the call's time limit. */
  readonly post: (body: string) => Promise<string>;
  readonly metrics: AuthorizationMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Spec = SubjectAccessReview["spec"];
type Status = NonNullable<SubjectAccessReview["status"]>;

export function createAuthorizationWebhook(
  rules: AuthorizationWebhookRules,
  { post, metrics, clock, logger }: AuthorizationWebhookParts,
): Authorizer {
  const { name, version, conditions, onFailure } = rules;
  const apiVersion = `authorization.k8s.io/${version}`;
  const ask = async (spec: Spec): Promise<Status> => {
    const started = clock.now();
    const ended = (result: CallResult): void =>
      metrics.called(name, result, (clock.now() - started) / 1000);
    try {
      const answer = await post(
        JSON.stringify({
          kind: "SubjectAccessReview",
          apiVersion,
          metadata: { creationTimestamp: null },
          spec: version === "v1beta1" ? betaSpec(spec) : spec,
        }),
      );
      const status = statusOf(answer, apiVersion);
      ended("success");
      return status;
    } catch (error) {
      ended(resultOf(error));
      throw error;
    }
  };
  const review = async (spec: Spec): Promise<Status> => {
    try {
      return await askedAgain(() => ask(spec), clock);
    } catch (error) {
      if (onFailure === "no-opinion") metrics.failedOpen(name, resultOf(error));
      throw error;
    }
  };
  const matches = (spec: Spec): Promise<boolean> => {
    const started = clock.now();
    return reviewConditionsHold(conditions, spec, (result) =>
      metrics.evaluated(name, (clock.now() - started) / 1000, result),
    );
  };
  const { authorizedTtlMs, unauthorizedTtlMs } = rules;
  const reviewing = createWebhookAuthorizer({
    ...{ review, authorizedTtlMs, unauthorizedTtlMs },
    ...(conditions.length > 0 ? { matches } : {}),
  });
  return {
    async authorize(attributes) {
      try {
        return await reviewing.authorize(attributes);
      } catch (err) {
        logger.error(
          { err, webhook: name },
          "Failed to make webhook authorizer request",
        );
        const error = err instanceof Error ? err.message : String(err);
        return { decision: onFailure, reason: "", error };
      }
    },
  };
}

/** v1beta1 calls the user's groups `group`. */
const betaSpec = ({ groups, ...spec }: Spec): object => ({
  ...spec,
  group: groups,
});

function resultOf(error: unknown): CallResult {
  const late =
    error instanceof WebhookTimeoutError ||
    (error instanceof WebhookStatusError && error.statusCode === 504);
  return late ? "timeout" : "error";
}

/** What is not said counts as what was asked for, and as false. Throws Error for what is no answer to the review. */
function statusOf(answer: string, apiVersion: string): Status {
  const said: unknown = JSON.parse(answer);
  if (!isJsonObject(said)) throw new Error("the answer is no object");
  const wanted = { kind: "SubjectAccessReview", apiVersion };
  for (const [field, value] of Object.entries(wanted))
    if ((said[field] || value) !== value)
      throw new Error(
        `the answer's ${field} is ${JSON.stringify(said[field])}, not ${JSON.stringify(value)}`,
      );
  const status = said["status"] ?? {};
  if (!isJsonObject(status))
    throw new Error("the answer's status is no object");
  const typed = (field: string, type: "boolean" | "string"): unknown => {
    const value = status[field];
    if (value === undefined || value === null || typeof value === type)
      return value;
    throw new Error(`the answer's status.${field} is no ${type}`);
  };
  return {
    allowed: typed("allowed", "boolean") === true,
    denied: typed("denied", "boolean") === true,
    reason: (typed("reason", "string") ?? "") as string,
  };
}
