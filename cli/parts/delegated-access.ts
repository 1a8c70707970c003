// Who may use the port of a part that runs alone (controllers, scheduler): tokens are checked by TokenReviews with
// --authentication-kubeconfig, access by SubjectAccessReviews with --authorization-kubeconfig; client certificates by
// --client-ca-file. Without the two kubeconfigs tokens identify no user and only health is shown, as at the reference.
import type { Logger } from "pino";
import type { Authorizer, TokenAuthenticator } from "../../api/contracts.ts";
import type { Client } from "../../client/client.ts";
import type { OptionValues } from "../options/parse.ts";
import { clientOfKubeconfig } from "./connect.ts";
import {
  createTokenReviewer,
  tokenReviewerOf,
} from "../../client/access/token-reviewer.ts";
import {
  createWebhookAuthorizer,
  reviewerOf,
} from "../../client/access/access-reviewer.ts";

interface DelegatedAccess {
  readonly tokens?: TokenAuthenticator;
  readonly authorizer?: Authorizer;
  /** Of --authentication-kubeconfig. */
  readonly reviewer?: Client;
  close(): Promise<void>;
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
          reviewer: authentication,
          tokens: createTokenReviewer({
            review: tokenReviewerOf(authentication),
            ttlMs: values.number("authentication-token-webhook-cache-ttl"),
          }),
        }
      : {}),
    ...(authorization
      ? {
          authorizer: createWebhookAuthorizer({
            review: reviewerOf(authorization),
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
