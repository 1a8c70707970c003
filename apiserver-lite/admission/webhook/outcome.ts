// What becomes of one call for the request: counted, and by the webhook's failure policy either the request's error or
// nothing (failing open), which is logged and recorded in the audit event.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import type { Authorizer } from "../../../api/contracts.ts";
import { errors } from "../../../api/errors.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import type { WebhookClients } from "../../webhook-client/webhook-clients.ts";
import { CallFailure, Rejection } from "./call.ts";
import type { Step, WebhookMetrics } from "./metrics.ts";
import type { Webhook } from "./webhook.ts";

/** What both kinds of webhooks work with. */
export interface WebhookSurroundings {
  /** Whom match conditions ask. */
  readonly authorizer: Authorizer;
  readonly clients: WebhookClients;
  readonly metrics: WebhookMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Calling {
  readonly webhook: Webhook;
  readonly step: Step;
  readonly operation: string;
  /** Of the annotation that records failing open. */
  readonly failedOpenKey: string;
  readonly context: StrategyContext;
}

/** Undefined: the webhook failed open. Rejects with ApiError. */
export async function outcomeOf<T>(
  { metrics, clock, logger }: WebhookSurroundings,
  { webhook, step, operation, failedOpenKey, context }: Calling,
  run: () => Promise<T>,
): Promise<T | undefined> {
  const { name, ignoresFailures } = webhook;
  const call = { name, step, operation };
  const startMs = clock.monotonic();
  const count = (code: number, rejected: boolean): void =>
    metrics.called(call, {
      seconds: (clock.monotonic() - startMs) / 1000,
      code,
      rejected,
    });
  try {
    const result = await run();
    count(200, false);
    return result;
  } catch (error) {
    if (error instanceof Rejection) {
      const { code } = error.status;
      metrics.rejected(call, "no_error", code);
      count(code, true);
      throw error.status;
    }
    if (!(error instanceof CallFailure)) {
      metrics.rejected(call, "apiserver_internal_error", 0);
      count(0, true);
      throw error;
    }
    if (!ignoresFailures)
      metrics.rejected(call, "calling_webhook_error", error.code);
    count(error.code, !ignoresFailures);
    logger.warn(
      { webhook: name, err: error },
      `Failed calling webhook, failing ${ignoresFailures ? "open" : "closed"}`,
    );
    if (!ignoresFailures) throw errors.internal(error.message);
    metrics.failedOpen(call);
    context.annotate(failedOpenKey, name);
    return undefined;
  }
}
