// Authorization by SubjectAccessReviews, of an API server or a webhook, their answers kept for the two configured times.
// When no answer can be had the reviewer rejects: the callers take that for a no.
import { LRUCache } from "lru-cache";
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
} from "../../api/contracts.ts";
import { parseFieldSelector, parseLabelSelector } from "../../api/selectors.ts";
import type { SubjectAccessReview } from "../../api/types/authorization-v1.ts";
import type { Client } from "../client.ts";
import { subjectAccessReviews } from "../resources.ts";

type AccessReviewer = (
  spec: SubjectAccessReview["spec"],
) => Promise<SubjectAccessReview["status"]>;

type ReviewSpec = SubjectAccessReview["spec"];

interface WebhookAuthorizerOptions {
  review: AccessReviewer;
  authorizedTtlMs: number;
  unauthorizedTtlMs: number;
  /** False: the reviewer is not asked, and has no opinion. What it rejects with is passed on. */
  matches?: (spec: ReviewSpec) => Promise<boolean>;
}

/** Bytes of what the asker chooses; a longer question is asked each time, so that it can't fill the cache. */
const maxKeptQuestion = 10_000;

export const reviewerOf =
  (client: Client): AccessReviewer =>
  async (spec) =>
    (
      await client.resource(subjectAccessReviews).create({
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        metadata: { name: "" },
        spec,
      } as SubjectAccessReview)
    ).status;

export function createWebhookAuthorizer({
  review,
  authorizedTtlMs,
  unauthorizedTtlMs,
  matches,
}: WebhookAuthorizerOptions): Authorizer {
  const answers = new LRUCache<string, AccessDecision>({ max: 1024 });
  return {
    async authorize(attributes: AccessAttributes): Promise<AccessDecision> {
      const spec = specOf(attributes);
      if (matches && !(await matches(spec)))
        return { decision: "no-opinion", reason: "" };
      const key = JSON.stringify(spec);
      const known = answers.get(key);
      if (known) return known;
      const status = await review(spec);
      // Who both allows and denies has denied.
      const decision: AccessDecision = {
        decision: status?.denied
          ? "deny"
          : status?.allowed
            ? "allow"
            : "no-opinion",
        reason: status?.reason ?? "",
      };
      const ttl = status?.allowed ? authorizedTtlMs : unauthorizedTtlMs;
      // The cache takes 0 for "for ever"; the option means "not at all".
      if (ttl > 0 && chosenBytes(attributes) < maxKeptQuestion)
        answers.set(key, decision, { ttl });
      return decision;
    },
  };
}

function specOf(attributes: AccessAttributes): ReviewSpec {
  const { user, verb, path, resourceRequest } = attributes;
  return {
    user: user.name,
    groups: [...user.groups],
    ...(user.uid ? { uid: user.uid } : {}),
    extra: Object.fromEntries(
      Object.entries(user.extra).map(([key, values]) => [key, [...values]]),
    ),
    ...(resourceRequest
      ? { resourceAttributes: resourceAttributesOf(attributes) }
      : { nonResourceAttributes: { path, verb } }),
  };
}

function resourceAttributesOf(
  attributes: AccessAttributes,
): NonNullable<ReviewSpec["resourceAttributes"]> {
  const { verb, group, version, resource, subresource, namespace, name } =
    attributes;
  const fields = fieldRequirements(attributes.fieldSelector);
  const labels = labelRequirements(attributes.labelSelector);
  return {
    ...{ verb, group, version, resource, subresource, namespace, name },
    ...(fields.length > 0 ? { fieldSelector: { requirements: fields } } : {}),
    ...(labels.length > 0 ? { labelSelector: { requirements: labels } } : {}),
  };
}

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

/** A selector only narrows what is asked for: one that can't be read or expressed is left out. */
function fieldRequirements(text: string | undefined): Requirement[] {
  if (!text) return [];
  try {
    return parseFieldSelector(text).requirements.map(
      ({ field, op, value }) => ({
        key: field,
        operator: op === "=" ? "In" : "NotIn",
        values: [value],
      }),
    );
  } catch {
    return [];
  }
}

const labelOperators: Readonly<Record<string, string>> = {
  in: "In",
  "=": "In",
  "==": "In",
  notin: "NotIn",
  "!=": "NotIn",
  exists: "Exists",
  "!": "DoesNotExist",
};

function labelRequirements(text: string | undefined): Requirement[] {
  if (!text) return [];
  try {
    return parseLabelSelector(text).requirements.flatMap(
      ({ key, operator, values }) => {
        const shown = labelOperators[operator];
        if (!shown) return [];
        return values.length > 0
          ? { key, operator: shown, values: [...values] }
          : { key, operator: shown };
      },
    );
  } catch {
    return [];
  }
}

const chosenBytes = (attributes: AccessAttributes): number =>
  ["namespace", "verb", "group", "version", "resource", "subresource"]
    .concat("name", "path", "fieldSelector", "labelSelector")
    .reduce((sum, name) => {
      const text = attributes[name as "name" | "fieldSelector"] ?? "";
      return sum + Buffer.byteLength(text);
    }, 0);
