// Webhook configurations and admission policies: rows and identity; the webhooks are checked one by one.
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "../../../api/types/admissionregistration-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../strategy.ts";
import { validateWebhook } from "./webhook-validation.ts";

const asConfiguration = (
  object: Readonly<AnyObject>,
): ValidatingWebhookConfiguration =>
  object as unknown as ValidatingWebhookConfiguration;

/** For the validating and the mutating kind. */
export const webhookConfigurationStrategy: ResourceStrategy = {
  allowUnconditionalUpdate: false,
  validate(object) {
    const seen = new Set<string>();
    return (asConfiguration(object).webhooks ?? []).flatMap(
      (webhook, index) => {
        const field = `webhooks[${index}]`;
        const problems = validateWebhook(field, webhook);
        if (webhook.name && seen.has(webhook.name))
          problems.push(fieldErrors.duplicate(`${field}.name`, webhook.name));
        seen.add(webhook.name);
        return problems;
      },
    );
  },
  printRow: (object, now) => {
    const { metadata, webhooks } = asConfiguration(object);
    return [
      metadata.name,
      webhooks?.length ?? 0,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
};

export const admissionPolicyStrategy: ResourceStrategy = {
  allowUnconditionalUpdate: false,
  printRow: (object, now) => {
    const { metadata, spec } = object as unknown as ValidatingAdmissionPolicy;
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
};

export const admissionPolicyBindingStrategy: ResourceStrategy = {
  allowUnconditionalUpdate: false,
  printRow: (object, now) => {
    const { metadata, spec } =
      object as unknown as ValidatingAdmissionPolicyBinding;
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
};
