// Authorization by SubjectAccessReviews, of an API server or a webhook, their answers kept for the two configured times.
// When no answer can be had the reviewer rejects: the callers take that for a no.
import { LRUCache } from "lru-cache";
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
} from "../../api/contracts.ts";
import type { SubjectAccessReview } from "../../api/types/authorization-v1.ts";
import type { Client } from "../client.ts";
import { subjectAccessReviews } from "../resources.ts";

type AccessReviewer = (
  spec: SubjectAccessReview["spec"],
) => Promise<SubjectAccessReview["status"]>;

interface WebhookAuthorizerOptions {
  review: AccessReviewer;
  authorizedTtlMs: number;
  unauthorizedTtlMs: number;
}

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
}: WebhookAuthorizerOptions): Authorizer {
  const answers = new LRUCache<string, AccessDecision>({ max: 1024 });
  return {
    async authorize(attributes: AccessAttributes): Promise<AccessDecision> {
      const {
        user,
        verb,
        path,
        resourceRequest,
        group,
        version,
        resource,
        subresource,
        namespace,
        name,
      } = attributes;
      const spec: SubjectAccessReview["spec"] = {
        user: user.name,
        groups: [...user.groups],
        ...(user.uid ? { uid: user.uid } : {}),
        extra: Object.fromEntries(
          Object.entries(user.extra).map(([key, values]) => [key, [...values]]),
        ),
        ...(resourceRequest
          ? {
              resourceAttributes: {
                verb,
                group,
                version,
                resource,
                subresource,
                namespace,
                name,
              },
            }
          : { nonResourceAttributes: { path, verb } }),
      };
      const key = JSON.stringify(spec);
      const known = answers.get(key);
      if (known) return known;
      const status = await review(spec);
      const decision: AccessDecision = {
        decision: status?.allowed
          ? "allow"
          : status?.denied
            ? "deny"
            : "no-opinion",
        reason: status?.reason ?? "",
      };
      const ttl = status?.allowed ? authorizedTtlMs : unauthorizedTtlMs;
      // The cache takes 0 for "for ever"; the option means "not at all".
      if (ttl > 0) answers.set(key, decision, { ttl });
      return decision;
    },
  };
}
