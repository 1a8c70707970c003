// Who may use the port of a part that runs alone (controllers, scheduler): tokens are checked by TokenReviews with
// --authentication-kubeconfig, access by SubjectAccessReviews with --authorization-kubeconfig; client certificates by
// --client-ca-file. Without the two kubeconfigs tokens are nobody's and only health is shown, as at the reference.
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type {
  Authorizer,
  TokenAuthenticator,
  UserInfo,
} from "../../api/contracts.ts";
import type { TokenReview } from "../../api/types/authentication-v1.ts";
import type { Client } from "../../client/client.ts";
import { tokenReviews } from "../../client/resources.ts";
import type { OptionValues } from "../options/parse.ts";
import { clientOfKubeconfig } from "./connect.ts";
import { createWebhookAuthorizer } from "./webhook-authorizer.ts";

export interface DelegatedAccess {
  readonly tokens?: TokenAuthenticator;
  readonly authorizer?: Authorizer;
  close(): Promise<void>;
}

/** Good tokens are asked about once a ttl; bad ones each time. */
export function createTokenReviewer(
  client: Client,
  ttlMs: number,
): TokenAuthenticator {
  const known = new LRUCache<string, UserInfo>({ max: 256, ttl: ttlMs });
  return {
    async authenticateToken(token) {
      const before = known.get(token);
      if (before) return before;
      const review = await client.resource(tokenReviews).create({
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        metadata: { name: "" },
        spec: { token },
      } as TokenReview);
      const { status } = review;
      if (!status?.authenticated || !status.user?.username) return undefined;
      const user: UserInfo = {
        name: status.user.username,
        groups: status.user.groups ?? [],
        extra: status.user.extra ?? {},
        ...(status.user.uid ? { uid: status.user.uid } : {}),
      };
      known.set(token, user);
      return user;
    },
  };
}

export async function delegatedAccess(
  values: OptionValues,
  logger: Logger,
): Promise<DelegatedAccess> {
  const clients: Client[] = [];
  const open = async (name: string): Promise<Client | undefined> => {
    const file = values.optionalText(name);
    if (!file) return undefined;
    const client = await clientOfKubeconfig(file, name, logger);
    clients.push(client);
    return client;
  };
  const authentication = await open("authentication-kubeconfig");
  const authorization = await open("authorization-kubeconfig");
  return {
    ...(authentication
      ? {
          tokens: createTokenReviewer(
            authentication,
            values.number("authentication-token-webhook-cache-ttl"),
          ),
        }
      : {}),
    ...(authorization
      ? {
          authorizer: createWebhookAuthorizer({
            client: authorization,
            authorizedTtlMs: values.number(
              "authorization-webhook-cache-authorized-ttl",
            ),
            unauthorizedTtlMs: values.number(
              "authorization-webhook-cache-unauthorized-ttl",
            ),
          }),
        }
      : {}),
    async close() {
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
