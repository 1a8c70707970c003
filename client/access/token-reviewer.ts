// Bearer tokens checked by TokenReviews, of an API server or a webhook. Good answers are kept for the configured time, so
// that a revoked token is good that much longer at most; bad ones only where the caller says so.
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { TokenAuthenticator, UserInfo } from "../../api/contracts.ts";
import type { TokenReview } from "../../api/types/authentication-v1.ts";
import type { Client } from "../client.ts";
import { tokenReviews } from "../resources.ts";

type TokenReviewer = (
  spec: TokenReview["spec"],
) => Promise<TokenReview["status"]>;

interface TokenReviewerOptions {
  review: TokenReviewer;
  ttlMs: number;
  /** Asked for when the caller names none; none: the reviewer's own. */
  audiences?: readonly string[];
  /** Bad tokens are remembered too; default false. */
  keepBad?: boolean;
}

export const tokenReviewerOf =
  (client: Client): TokenReviewer =>
  async (spec) =>
    (
      await client.resource(tokenReviews).create({
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        metadata: { name: "" },
        spec,
      } as TokenReview)
    ).status;

function userOf(
  status: TokenReview["status"],
  asked: readonly string[],
): UserInfo | undefined {
  if (!status?.authenticated || !status.user?.username) return undefined;
  // A reviewer that knows of audiences names those the token is good for.
  const { user, audiences = [] } = status;
  if (
    asked.length > 0 &&
    audiences.length > 0 &&
    !audiences.some((each) => asked.includes(each))
  )
    return undefined;
  return {
    name: user.username!,
    groups: user.groups ?? [],
    extra: user.extra ?? {},
    ...(user.uid ? { uid: user.uid } : {}),
  };
}

export function createTokenReviewer({
  review,
  ttlMs,
  audiences: ownAudiences = [],
  keepBad = false,
}: TokenReviewerOptions): TokenAuthenticator {
  const known = new LRUCache<string, { user: UserInfo | undefined }>({
    max: 1024,
    ttl: Math.max(1, ttlMs),
  });
  return {
    async authenticateToken(token, audiences = ownAudiences) {
      const key = createHash("sha256")
        .update(JSON.stringify([token, audiences]))
        .digest("base64");
      const before = ttlMs > 0 ? known.get(key) : undefined;
      if (before) return before.user;
      const user = userOf(
        await review({
          token,
          ...(audiences.length > 0 ? { audiences: [...audiences] } : {}),
        }),
        audiences,
      );
      if (user || keepBad) known.set(key, { user });
      return user;
    },
  };
}
