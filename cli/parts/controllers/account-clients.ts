// --use-service-account-credentials: each controller asks the API server as a service account of its own in kube-system, by
// tokens that the manager requests for it. As at the reference a token is for an hour, the next one is requested when a
// fifth of its time is left, and an account that is not there is made.
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import { isAlreadyExists, isNotFound } from "../../../api/errors.ts";
import type { ServiceAccount } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { createClient } from "../../../client/create-client.ts";
import type { TokenSource } from "../../../client/credentials.ts";
import {
  createHttpTransport,
  type HttpTransportOptions,
} from "../../../client/http-transport.ts";
import type { Transport } from "../../../client/transport.ts";
import { serviceAccounts } from "../../../client/resources.ts";

const namespace = "kube-system";
const expirationSeconds = 3600;
/** What clocks that disagree leave at least. */
const shortestMs = 600_000;
/** The part of a token's time in which it is used. */
const usedPart = 0.8;

export const accountUserName = (account: string): string =>
  `system:serviceaccount:${namespace}:${account}`;

/** Finds or makes a controller's account. */
export async function ensureAccount(
  client: Client,
  name: string,
): Promise<ServiceAccount> {
  const resource = client.resource(serviceAccounts);
  try {
    return await resource.get(name, namespace);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return resource
    .create({ metadata: { name, namespace } })
    .catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
      return resource.get(name, namespace);
    });
}

interface TokenRequest {
  readonly status?: { token: string; expirationTimestamp: string };
}

/** One request at a time: callers that need a token wait for the same one. */
class AccountTokens implements TokenSource {
  #current: { text: string; untilMs: number } | undefined;
  #requested: Promise<string> | undefined;

  constructor(
    private readonly client: Client,
    private readonly account: string,
    private readonly clock: Clock,
  ) {}

  token(): Promise<string> {
    const current = this.#current;
    if (current && this.clock.monotonic() < current.untilMs)
      return Promise.resolve(current.text);
    return (this.#requested ??= this.#request().finally(
      () => (this.#requested = undefined),
    ));
  }

  refused(token: string): void {
    if (this.#current?.text === token) this.#current = undefined;
  }

  async #request(): Promise<string> {
    await ensureAccount(this.client, this.account);
    const { status } = await this.client
      .resource(serviceAccounts)
      .createSubresource<object, TokenRequest>(
        this.account,
        namespace,
        "token",
        {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenRequest",
          spec: { expirationSeconds },
        },
      );
    if (!status?.token)
      throw new Error(`no token was given to ${accountUserName(this.account)}`);
    const lifetimeMs = Math.max(
      shortestMs,
      Date.parse(status.expirationTimestamp) - this.clock.now(),
    );
    this.#current = {
      text: status.token,
      untilMs: this.clock.monotonic() + lifetimeMs * usedPart,
    };
    return status.token;
  }
}

/** @param connection the manager's, of which only its own credentials are left out */
export function accountClients(
  client: Client,
  connection: HttpTransportOptions,
  environment: { clock: Clock; logger: Logger },
  open: (options: HttpTransportOptions) => Transport = createHttpTransport,
): (account: string) => Client {
  const { server, tls = {}, rateLimit, contentType, logger } = connection;
  const { ca, serverName, insecureSkipVerify } = tls;
  return (account) =>
    createClient(
      open({
        server,
        tls: {
          ...(ca ? { ca } : {}),
          ...(serverName ? { serverName } : {}),
          ...(insecureSkipVerify ? { insecureSkipVerify } : {}),
        },
        ...(rateLimit ? { rateLimit } : {}),
        ...(contentType ? { contentType } : {}),
        ...(logger ? { logger } : {}),
        userAgent: `orbit/${accountUserName(account)}`,
        tokenSource: new AccountTokens(client, account, environment.clock),
      }),
      environment,
    );
}
