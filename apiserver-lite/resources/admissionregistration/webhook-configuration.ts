// Webhook configurations and admission policies: rows and identity; their content is checked by the schema.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingWebhookConfiguration,
} from "../../../api/types/admissionregistration-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";

const asConfiguration = (
  object: Readonly<AnyObject>,
): ValidatingWebhookConfiguration =>
  object as unknown as ValidatingWebhookConfiguration;

/** For the validating and the mutating kind. */
export const webhookConfigurationStrategy: ResourceStrategy = {
  allowUnconditionalUpdate: false,
  validate(object) {
    const problems: FieldError[] = [];
    const seen = new Set<string>();
    for (const [index, webhook] of (
      asConfiguration(object).webhooks ?? []
    ).entries()) {
      const path = `webhooks[${index}]`;
      if (webhook.name.split(".").length < 3) {
        problems.push(
          fieldErrors.invalid(
            `${path}.name`,
            webhook.name,
            "should be a domain with at least three segments separated by dots",
          ),
        );
      }
      if (seen.has(webhook.name))
        problems.push(fieldErrors.duplicate(`${path}.name`, webhook.name));
      seen.add(webhook.name);
      const { url, service } = webhook.clientConfig ?? {};
      if (Boolean(url) === Boolean(service)) {
        problems.push(
          fieldErrors.required(
            `${path}.clientConfig`,
            "exactly one of url or service is required",
          ),
        );
      }
      if (!webhook.sideEffects) {
        problems.push(
          fieldErrors.required(
            `${path}.sideEffects`,
            "must specify one of None, NoneOnDryRun",
          ),
        );
      } else if (
        webhook.sideEffects !== "None" &&
        webhook.sideEffects !== "NoneOnDryRun"
      ) {
        problems.push(
          fieldErrors.notSupported(`${path}.sideEffects`, webhook.sideEffects, [
            "None",
            "NoneOnDryRun",
          ]),
        );
      }
      const timeout = webhook.timeoutSeconds;
      if (timeout !== undefined && (timeout < 1 || timeout > 30)) {
        problems.push(
          fieldErrors.invalid(
            `${path}.timeoutSeconds`,
            timeout,
            "the timeout value must be between 1 and 30 seconds",
          ),
        );
      }
    }
    return problems;
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
