// How a definition says that its versions are converted: not at all, or by a webhook.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { dns1035Problems } from "../../../api/names.ts";
import type {
  CustomResourceConversion,
  WebhookClientConfig,
} from "../../../api/types/apiextensions-v1.ts";
import { clientProblems } from "../admissionregistration/webhook-validation.ts";
import { oneOf } from "../field-checks.ts";

const knownReviews = ["v1", "v1beta1"];

export const knowsReview = (versions: readonly string[]): boolean =>
  versions.some((version) => knownReviews.includes(version));

/**
 * Fields have the names of the reference's own type. @param knownReview one of the versions of reviews must be known
 */
export function conversionProblems(
  conversion: CustomResourceConversion | undefined,
  field: string,
  knownReview: boolean,
): FieldError[] {
  if (!conversion) return [];
  const { strategy, webhook } = conversion;
  const client = webhook?.clientConfig;
  const versions = webhook?.conversionReviewVersions ?? [];
  const problems = oneOf(
    `${field}.strategy`,
    strategy,
    ["None", "Webhook"],
    true,
  );
  const at = `${field}.webhookClientConfig`;
  if (strategy === "Webhook")
    return [
      ...problems,
      ...(client
        ? clientProblems(at, asReported(client))
        : [
            fieldErrors.required(
              at,
              "required when strategy is set to Webhook",
            ),
          ]),
      ...reviewProblems(
        versions,
        `${field}.conversionReviewVersions`,
        knownReview,
      ),
    ];
  const unwanted = (is: boolean, name: string): FieldError[] =>
    is
      ? [
          fieldErrors.forbidden(
            `${field}.${name}`,
            "should not be set when strategy is not set to Webhook",
          ),
        ]
      : [];
  return [
    ...problems,
    ...unwanted(client !== undefined, "webhookClientConfig"),
    ...unwanted(versions.length > 0, "conversionReviewVersions"),
  ];
}

/** Of a service the reference reports a missing name as a missing namespace, and the other way round. */
function asReported(client: WebhookClientConfig): WebhookClientConfig {
  const { service } = client;
  return service
    ? {
        ...client,
        service: {
          ...service,
          name: service.namespace,
          namespace: service.name,
        },
      }
    : client;
}

function reviewProblems(
  versions: readonly string[],
  field: string,
  knownReview: boolean,
): FieldError[] {
  if (versions.length === 0) return [fieldErrors.required(field)];
  const problems = versions.flatMap((version, index) =>
    versions.indexOf(version) < index
      ? [
          fieldErrors.invalid(
            `${field}[${index}]`,
            version,
            "duplicate version",
          ),
        ]
      : invalidEach(`${field}[${index}]`, version, dns1035Problems(version)),
  );
  if (knownReview && !knowsReview(versions))
    problems.push(
      fieldErrors.invalid(
        field,
        asGo("[]string", versions),
        `must include at least one of ${knownReviews.join(", ")}`,
      ),
    );
  return problems;
}
