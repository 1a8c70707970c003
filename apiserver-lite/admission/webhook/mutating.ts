// MutatingAdmissionWebhook: webhooks one after the other, each given the object as those before it left it, and its patch
// applied at once. When a webhook or, after it, a plug-in changed the object, those with reinvocationPolicy IfNeeded that
// were called before are called a second time, and no more.
import { parseForeignJson } from "../../../client/webhook/foreign-json.ts";
import { JsonSyntaxError } from "../../../api/codec/json-text.ts";
import { ApiError, errors } from "../../../api/errors.ts";
import type { Pause } from "../../../api/queueing/steps.ts";
import type { AnyObject } from "../../../api/object.ts";
import { sameJson } from "../../../api/objects/json-equality.ts";
import {
  applyJsonPatch,
  parseJsonPatch,
} from "../../../api/patch/json-patch.ts";
import { copyJson, isJsonObject } from "../../../api/patch/json-value.ts";
import type { ClusterState } from "../../resources/state.ts";
import type { StrategyContext } from "../../resources/strategy.ts";
import { configuresAdmission } from "../matching/request-matcher.ts";
import type {
  AdmissionAttributes,
  AdmissionPlugin,
  ServedResource,
} from "../plugin.ts";
import { noObjectText } from "../../webhook-client/review-envelope.ts";
import type { Answer } from "./answer.ts";
import { CallFailure, callWebhook, type Shown } from "./call.ts";
import { meetsConditions } from "./conditions.ts";
import { outcomeOf, type WebhookSurroundings } from "./outcome.ts";
import { WebhookList, type Webhook } from "./webhook.ts";

/** Of one request, over both rounds. */
interface Rounds {
  /** Called, and to be called again when the object changes. */
  readonly reinvocable: Set<string>;
  readonly again: Set<string>;
  /** The object after the first round. */
  left: unknown;
}

const annotationPrefix = "mutation.webhook.admission.k8s.io/";

export class MutatingWebhooks implements AdmissionPlugin {
  readonly name = "MutatingAdmissionWebhook";
  /** Patched objects get all defaults here. */
  readonly writesWhole = true;
  readonly #webhooks: WebhookList;
  readonly #rounds = new WeakMap<AdmissionAttributes, Rounds>();

  constructor(
    state: ClusterState,
    private readonly surroundings: WebhookSurroundings,
  ) {
    this.#webhooks = new WebhookList(state, "mutatingwebhookconfigurations");
  }

  admit(
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): Promise<void> | void {
    const webhooks = this.#webhooks.all();
    if (webhooks.length === 0 || configuresAdmission(attributes)) return;
    return this.#admit(webhooks, attributes, context);
  }

  async #admit(
    webhooks: readonly Webhook[],
    attributes: AdmissionAttributes,
    context: StrategyContext,
  ): Promise<void> {
    const rounds = this.#roundsOf(attributes);
    const pause = context.pauses();
    for (const [index, webhook] of webhooks.entries()) {
      const place = webhook.matcher.match(attributes, context);
      if (!place) continue;
      const shown = await this.#shown(attributes, place);
      if (
        !(await meetsConditions(
          this.surroundings,
          webhook,
          "admit",
          attributes,
          shown,
          pause,
        ))
      )
        continue;
      // One that did not match in the first round is not called in the second.
      if (attributes.round === 1 && !rounds.again.has(webhook.id)) continue;
      const key = `round_${attributes.round}_index_${index}`;
      const changed = await outcomeOf(
        this.surroundings,
        {
          webhook,
          step: "admit",
          operation: attributes.operation,
          failedOpenKey: `failed-open.${annotationPrefix}${key}`,
          context,
        },
        () => this.#call(webhook, attributes, shown, context, key),
      );
      if (changed) {
        attributes.reinvoke = true;
        askAgain(rounds);
      }
      if (webhook.spec.reinvocationPolicy === "IfNeeded")
        rounds.reinvocable.add(webhook.id);
    }
    if (attributes.round === 0 && attributes.reinvoke)
      rounds.left = attributes.object && copyJson(attributes.object);
  }

  #roundsOf(attributes: AdmissionAttributes): Rounds {
    const known = this.#rounds.get(attributes);
    if (!known) {
      const rounds = {
        reinvocable: new Set<string>(),
        again: new Set<string>(),
        left: undefined,
      };
      this.#rounds.set(attributes, rounds);
      return rounds;
    }
    // The plug-ins of the second round changed it.
    if (!sameJson(known.left, attributes.object)) askAgain(known);
    return known;
  }

  async #shown(
    { versions, object, oldObject }: AdmissionAttributes,
    place: ServedResource,
  ): Promise<Shown> {
    return {
      place,
      object: object && (await versions.to(object, place.kind)),
      oldObject: oldObject && (await versions.to(oldObject, place.kind)),
    };
  }

  /** Did it change the object? */
  async #call(
    webhook: Webhook,
    attributes: AdmissionAttributes,
    shown: Shown,
    context: StrategyContext,
    key: string,
  ): Promise<boolean> {
    const { versions, object } = attributes;
    const { name, configuration } = webhook;
    let mutated = false;
    try {
      const answer = await callWebhook(
        this.surroundings.clients,
        webhook,
        attributes,
        shown,
        context,
        true,
      );
      const patched = await patchedObject(
        webhook,
        answer,
        shown.object,
        context.pauses(),
      );
      if (!patched) return false;
      const next = await versions.from(patched.object, shown.place.kind);
      mutated = !sameJson(object, next);
      attributes.object = next;
      context.annotate(
        `patch.webhook.admission.k8s.io/${key}`,
        () =>
          JSON.stringify({
            configuration,
            webhook: name,
            patch: patched.patch,
            patchType: answer.patchType,
          }),
        "Request",
      );
      return mutated;
    } finally {
      context.annotate(
        `${annotationPrefix}${key}`,
        JSON.stringify({ configuration, webhook: name, mutated }),
      );
    }
  }
}

function askAgain({ reinvocable, again }: Rounds): void {
  for (const id of reinvocable) again.add(id);
  reinvocable.clear();
}

/** Undefined: there is nothing to change. Rejects with ApiError 500, CallFailure. */
async function patchedObject(
  { name }: Webhook,
  { patch, patchType }: Answer,
  object: Readonly<AnyObject> | undefined,
  pause: Pause,
): Promise<
  { readonly object: AnyObject; readonly patch: unknown } | undefined
> {
  if (patch === undefined) return undefined;
  const document = await parsePatch(patch, pause);
  try {
    const parsed = parseJsonPatch(document, false);
    if (parsed.operations.length === 0) return undefined;
    if (!object)
      throw errors.internal(
        `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
      );
    if (patchType !== "JSONPatch")
      throw new CallFailure(
        name,
        `unsupported patch type ${JSON.stringify(patchType)}`,
        400,
      );
    const patched = applyJsonPatch<unknown>(object, parsed);
    if (!isJsonObject(patched)) throw errors.internal(noObjectText(patched));
    return { object: patched as AnyObject, patch: document };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code === 500) throw error;
    const { cause } = error;
    throw errors.internal(
      cause instanceof Error ? cause.message : error.message,
    );
  }
}

/** Rejects with ApiError 500. */
async function parsePatch(bytes: Buffer, pause: Pause): Promise<unknown> {
  try {
    return await parseForeignJson(bytes, pause);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw errors.internal(error.message);
    const [first = ""] = bytes.toString("utf8", 0, 1024).trimStart();
    throw errors.internal(
      `invalid character '${first}' looking for beginning of value`,
    );
  }
}
