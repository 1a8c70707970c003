// TokenReview and SelfSubjectReview: virtual resources that return the identity of a token, or of the asker.
import { formatTime } from "../../api/clock.ts";
import type { TokenAuthenticator, UserInfo } from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import type { AnyObject } from "../../api/object.ts";
import type { VirtualResource } from "../resources/strategy.ts";
import { authenticateToken } from "./create-authenticator.ts";
import { withAuthenticatedGroup } from "../../http-kit/authentication/groups.ts";

interface TokenReviewOptions {
  readonly tokens: readonly TokenAuthenticator[];
  /** The server's own audiences. */
  readonly audiences: readonly string[];
}

export function createTokenReview({
  tokens,
  audiences,
}: TokenReviewOptions): VirtualResource {
  return {
    async create(object, context) {
      const spec = (object["spec"] ?? {}) as {
        token?: string;
        audiences?: string[];
      };
      if (!spec.token)
        throw errors.badRequest(
          "token is required for TokenReview in authentication",
        );
      const asked =
        spec.audiences && spec.audiences.length > 0
          ? spec.audiences
          : audiences;
      let user: UserInfo | undefined;
      try {
        user = await authenticateToken(tokens, spec.token, asked, context);
      } catch {
        user = undefined;
      }
      const status = user
        ? {
            authenticated: true,
            user: userFields(withAuthenticatedGroup(user)),
            audiences: await acceptedAudiences(tokens, spec.token, asked),
          }
        : { user: {}, error: "invalid bearer token" };
      return { ...object, status } as AnyObject;
    },
  };
}

/** Which of the asked audiences the token is good for, each tried alone. */
async function acceptedAudiences(
  tokens: readonly TokenAuthenticator[],
  token: string,
  asked: readonly string[],
): Promise<string[]> {
  const accepted: string[] = [];
  for (const audience of asked) {
    const user = await authenticateToken(tokens, token, [audience]).catch(
      () => undefined,
    );
    if (user) accepted.push(audience);
  }
  return accepted;
}

export const selfSubjectReview: VirtualResource = {
  create: (object, { user, clock }) =>
    Promise.resolve({
      ...object,
      metadata: {
        creationTimestamp: formatTime(clock.now()),
      } as AnyObject["metadata"],
      status: { userInfo: userFields(user) },
    } as AnyObject),
};

function userFields({ name, uid, groups, extra }: UserInfo): object {
  return {
    username: name,
    ...(uid ? { uid } : {}),
    groups: [...groups],
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
  };
}
