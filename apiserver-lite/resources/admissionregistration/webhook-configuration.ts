// Webhook configurations and admission policies: rows and identity; the webhooks are checked one by one.
import { fieldErrors } from "../../../api/field-errors.ts";
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "../../../api/types/admissionregistration-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import { validateWebhook } from "./webhook-validation.ts";

/** For the validating and the mutating kind. */
export const webhookConfigurationStrategy =
  strategyOf<ValidatingWebhookConfiguration>({
    allowUnconditionalUpdate: false,
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

export const admissionPolicyStrategy = strategyOf<ValidatingAdmissionPolicy>({
  allowUnconditionalUpdate: false,
  printRow: (object, now) => {
    const { metadata, spec } = object;
    const kind = spec?.paramKind
      ? `${spec.paramKind.apiVersion}/${spec.paramKind.kind}`
      : "<unset>";
    return [
      metadata.name,
      spec?.validations?.length ?? 0,
      kind,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});

export const admissionPolicyBindingStrategy =
  strategyOf<ValidatingAdmissionPolicyBinding>({
    allowUnconditionalUpdate: false,
    printRow: (object, now) => {
      const { metadata, spec } = object;
      const reference = spec?.paramRef;
      const name = reference
        ? reference.namespace
          ? `${reference.namespace}/${reference.name}`
          : `*/${reference.name}`
        : "<unset>";
      return [
        metadata.name,
        spec?.policyName ?? "",
        name,
        formatAge(metadata.creationTimestamp, now),
      ];
    },
  });
