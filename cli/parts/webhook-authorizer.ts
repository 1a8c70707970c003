// Authorization of the node agent's ports by the API server (--authorization-mode=Webhook): SubjectAccessReviews, their
// answers kept for the two configured times. When the API server can't be asked the answer is no.
import { LRUCache } from "lru-cache";
import type {
  AccessAttributes,
  AccessDecision,
  Authorizer,
} from "../../api/contracts.ts";
import type { SubjectAccessReview } from "../../api/types/authorization-v1.ts";
import type { Client } from "../../client/client.ts";
import { subjectAccessReviews } from "../../client/resources.ts";

export interface WebhookAuthorizerOptions {
  client: Client;
  authorizedTtlMs: number;
  unauthorizedTtlMs: number;
}

export function createWebhookAuthorizer({
  client,
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
      const { status } = await client.resource(subjectAccessReviews).create({
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        metadata: { name: "" },
        spec,
      } as SubjectAccessReview);
      const decision: AccessDecision = {
        decision: status?.allowed
          ? "allow"
          : status?.denied
            ? "deny"
            : "no-opinion",
        reason: status?.reason ?? "",
      };
      answers.set(key, decision, {
        ttl: status?.allowed ? authorizedTtlMs : unauthorizedTtlMs,
      });
      return decision;
    },
  };
}
