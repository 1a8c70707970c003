// One call of one webhook: its review, its answer, and what becomes of it. What comes of a failure is the caller's: it
// knows the failure policy.
import { randomUUID } from "node:crypto";
import { ApiError, errors } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import type { Status } from "../../../api/types/meta-v1.ts";
import { WebhookStatusError } from "../../../client/webhook/call-failure.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import {
  WebhookConfigError,
  type WebhookClients,
} from "../../webhook-client/webhook-clients.ts";
import type { AdmissionAttributes, ServedResource } from "../plugin.ts";
import { InvalidAnswer, readAnswer, type Answer } from "./answer.ts";
import { reviewText } from "./review.ts";
import type { Webhook } from "./webhook.ts";

/** The webhook could not be asked, or gave no answer: its failure policy decides. */
export class CallFailure extends Error {
  constructor(
    webhook: string,
    reason: string,
    /** For the metrics. */
    readonly code: number,
  ) {
    super(`failed calling webhook ${JSON.stringify(webhook)}: ${reason}`);
  }
}

/** The webhook denies the request. */
export class Rejection extends Error {
  constructor(readonly status: ApiError) {
    super(status.message);
  }
}

export interface Shown {
  readonly place: ServedResource;
  /** Both in the version of the place. */
  readonly object: Readonly<AnyObject> | undefined;
  readonly oldObject: Readonly<AnyObject> | undefined;
}

/** Rejects with CallFailure, Rejection, and ApiError 400 where a dry run would have side effects. */
export async function callWebhook(
  clients: WebhookClients,
  webhook: Webhook,
  attributes: AdmissionAttributes,
  shown: Shown,
  context: StrategyContext,
  mutating: boolean,
): Promise<Answer> {
  const { name, spec, reviewVersion } = webhook;
  if (attributes.dryRun && !withoutSideEffects.has(spec.sideEffects))
    throw errors.badRequest(
      `admission webhook ${JSON.stringify(name)} does not support dry run`,
    );
  if (!reviewVersion)
    throw new CallFailure(
      name,
      "could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)",
      400,
    );
  const uid = randomUUID();
  const body = reviewText(attributes, {
    uid,
    version: reviewVersion,
    ...shown,
  });
  const asked = { uid, version: reviewVersion, mutating };
  const { operation, resource, subresource } = attributes;
  const answer = await clients.traced(
    `Call ${mutating ? "mutating" : "validating"} webhook`,
    () => ({
      ...{ webhook: name, UID: uid, operation, subresource },
      resource: resource.resource,
    }),
    () => ask(clients, webhook, body, asked, context),
  );
  for (const [key, value] of Object.entries(answer.auditAnnotations))
    context.annotate(`${name}/${key}`, value);
  for (const warning of answer.warnings) if (warning) context.warn(warning);
  if (!answer.allowed) throw new Rejection(refusal(name, answer.status));
  return answer;
}

const withoutSideEffects: ReadonlySet<string> = new Set([
  "None",
  "NoneOnDryRun",
]);

async function ask(
  clients: WebhookClients,
  { name, spec, timeoutMs }: Webhook,
  body: string,
  asked: Parameters<typeof readAnswer>[1],
  context: StrategyContext,
): Promise<Answer> {
  try {
    const bytes = await clients.post(spec.clientConfig, body, { timeoutMs });
    return await readAnswer(bytes, asked, context.pauses());
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof InvalidAnswer)
      throw new CallFailure(
        name,
        `received invalid webhook response: ${message}`,
        503,
      );
    if (error instanceof WebhookConfigError)
      throw new CallFailure(name, `could not get REST client: ${message}`, 400);
    const code = error instanceof WebhookStatusError ? error.statusCode : 400;
    throw new CallFailure(name, `failed to call webhook: ${message}`, code);
  }
}

/** The webhook's own Status, made a refusal that names the webhook. */
function refusal(
  webhook: string,
  given: Partial<Status> | undefined,
): ApiError {
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const { code = 0, status, message, reason, details, metadata } = given ?? {};
  const why = message || reason;
  return new ApiError({
    ...(metadata ? { metadata } : {}),
    ...(details ? { details } : {}),
    ...(reason ? { reason } : {}),
    status: !status || status === "Success" ? "Failure" : status,
    message: why ? `${denied}: ${why}` : `${denied} without explanation`,
    code: code < 400 ? 400 : code,
  });
}
