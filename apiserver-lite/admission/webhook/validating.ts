// ValidatingAdmissionWebhook: all webhooks that match at once, each given the object as it is going to be stored. The
// first that refuses, in time, decides; the answers of all are awaited.
import type { AnyObject, GroupVersionKind } from "../../../api/object.ts";
import type { ClusterState } from "../../resources/state.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import { configuresAdmission } from "../matching/request-matcher.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../plugin.ts";
import { callWebhook, type Shown } from "./call.ts";
import { meetsConditions } from "./conditions.ts";
import { outcomeOf, type WebhookSurroundings } from "./outcome.ts";
import { WebhookList, type Webhook } from "./webhook.ts";

const failedOpenPrefix = "failed-open.validating.webhook.admission.k8s.io/";

type Objects = Pick<Shown, "object" | "oldObject">;

export class ValidatingWebhooks implements AdmissionPlugin {
  readonly name = "ValidatingAdmissionWebhook";
  readonly #webhooks: WebhookList;

  constructor(
    state: ClusterState,
    private readonly surroundings: WebhookSurroundings,
  ) {
    this.#webhooks = new WebhookList(state, "validatingwebhookconfigurations");
  }

  validate(
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): Promise<void> | void {
    const webhooks = this.#webhooks.all();
    if (webhooks.length === 0 || configuresAdmission(attributes)) return;
    return this.#validate(webhooks, attributes, context);
  }

  async #validate(
    webhooks: readonly Webhook[],
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): Promise<void> {
    const calls: [Webhook, Shown][] = [];
    const versions = new Map<string, Objects>();
    const pause = context.pauses();
    for (const webhook of webhooks) {
      const place = webhook.matcher.match(attributes, context);
      if (!place) continue;
      const { kind } = place;
      const key = `${kind.group}/${kind.version}/${kind.kind}`;
      let objects = versions.get(key);
      if (!objects)
        versions.set(key, (objects = await objectsIn(attributes, kind)));
      const shown = { place, ...objects };
      if (
        await meetsConditions(
          this.surroundings,
          webhook,
          "validating",
          attributes,
          shown,
          pause,
        )
      )
        calls.push([webhook, shown]);
    }
    let refusal: unknown;
    const asking = calls.map(async ([webhook, shown], index) => {
      try {
        await outcomeOf(
          this.surroundings,
          {
            webhook,
            step: "validating",
            operation: attributes.operation,
            failedOpenKey: `${failedOpenPrefix}round_0_index_${index}`,
            context,
          },
          () =>
            callWebhook(
              this.surroundings.clients,
              webhook,
              attributes,
              shown,
              context,
              false,
            ),
        );
      } catch (error) {
        refusal ??= error;
      }
    });
    await Promise.all(asking);
    if (refusal) throw refusal as Error;
  }
}

async function objectsIn(
  { versions, object, oldObject }: AdmissionAttributes,
  kind: GroupVersionKind,
): Promise<Objects> {
  const shown = (
    one: Readonly<AnyObject> | undefined,
  ): ReturnType<typeof versions.to> | undefined =>
    one && versions.to(one, kind);
  return { object: await shown(object), oldObject: await shown(oldObject) };
}
