// Webhook configurations: rows and identity; the webhooks are checked one by one.
import { fieldErrors } from "../../../api/field-errors.ts";
import type { ValidatingWebhookConfiguration } from "../../../api/types/admissionregistration-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { Upgrade } from "../strategy.ts";
import { strategyOf } from "../typed.ts";
import { validateWebhook } from "./webhook-validation.ts";

/** Of objects that servers of the years before wrote. */
const fromBeta: Upgrade = (configuration) => {
  for (const webhook of configuration.webhooks ?? []) {
    webhook.admissionReviewVersions ??= ["v1beta1"];
    webhook.failurePolicy ??= "Ignore";
    webhook.matchPolicy ??= "Exact";
    webhook.sideEffects ??= "Unknown";
    webhook.timeoutSeconds ??= 30;
  }
};

/** For the validating and the mutating kind. */
export const webhookConfigurationStrategy =
  strategyOf<ValidatingWebhookConfiguration>({
    upgrades: { "admissionregistration.k8s.io/v1beta1": fromBeta },
    allowUnconditionalUpdate: false,
    anyFinalizer: true,
    validate(object) {
      const seen = new Set<string>();
      return (object.webhooks ?? []).flatMap((webhook, index) => {
        const field = `webhooks[${index}]`;
        const problems = validateWebhook(field, webhook);
        if (webhook.name && seen.has(webhook.name))
          problems.push(fieldErrors.duplicate(`${field}.name`, webhook.name));
        seen.add(webhook.name);
        return problems;
      });
    },
    printRow: (object, now) => {
      const { metadata, webhooks } = object;
      return [
        metadata.name,
        webhooks?.length ?? 0,
        formatAge(metadata.creationTimestamp, now),
      ];
    },
  });
