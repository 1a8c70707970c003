// The match conditions of a webhook: it is called when all hold. Conditions that fail while none is false refuse the
// request, or leave the webhook out, by its failure policy.
import { errors } from "../../../api/errors.ts";
import { started, type Pause } from "../../../api/queueing/steps.ts";
import { conditionsHold } from "../expressions/match-conditions.ts";
import { RequestAuthorizer } from "../expressions/request-authorizer.ts";
import { RequestVariables } from "../expressions/request-variables.ts";
import type { AdmissionAttributes } from "../plugin.ts";
import type { Shown } from "./call.ts";
import type { Step } from "./metrics.ts";
import type { WebhookSurroundings } from "./outcome.ts";
import type { Webhook } from "./webhook.ts";

/** Do they hold? A webhook that is left out is counted. Rejects with ApiError 403. */
export async function meetsConditions(
  { authorizer, metrics, clock }: WebhookSurroundings,
  { name, conditions, ignoresFailures }: Webhook,
  step: Step,
  attributes: AdmissionAttributes,
  { place, object, oldObject }: Shown,
  pause: Pause,
): Promise<boolean> {
  if (conditions.length === 0) return true;
  const asking = new RequestAuthorizer(authorizer);
  const { resource, operation } = attributes;
  const { conditions: counted } = metrics;
  const labels = { name, kind: "webhook", operation } as const;
  const startMs = clock.monotonic();
  for (;;) {
    const variables = new RequestVariables({
      ...{ attributes, object, oldObject },
      matched: place,
      params: undefined,
      namespaceObject: undefined,
      authorizer: asking,
    });
    const holding = started(
      conditionsHold(
        conditions,
        variables,
        new Map(),
        ignoresFailures ? "Ignore" : "Fail",
        (failures) => {
          const seconds = (clock.monotonic() - startMs) / 1000;
          counted.evaluated({ ...labels, type: step }, seconds, failures);
        },
      ),
      pause,
    );
    const held = holding instanceof Promise ? await holding : holding;
    if (asking.waits) {
      await asking.settle();
      continue;
    }
    if (typeof held !== "boolean")
      throw errors.forbidden(resource, attributes.name, held);
    const type = step === "admit" ? "admit" : "validate";
    if (!held) counted.excluded({ ...labels, type });
    return held;
  }
}
