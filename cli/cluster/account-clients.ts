// --use-service-account-credentials in `orbit server`: the controllers' clients in this process, each as the service
// account that it also is over HTTP. Its requests are authorized; nothing is asked before the account is there.
import {
  authorizedTransport,
  type ApiServer,
} from "../../apiserver-lite/index.ts";
import type { Authorizer, UserInfo } from "../../api/contracts.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/create-client.ts";
import type { Transport } from "../../client/transport.ts";
import {
  accountUserName,
  ensureAccount,
} from "../parts/controllers/account-clients.ts";
import type { ClusterContext } from "./cluster-context.ts";

const groups = [
  "system:serviceaccounts",
  "system:serviceaccounts:kube-system",
  "system:authenticated",
];

/** @param manager makes the accounts */
export function inProcessAccountClients(
  { api, clock, logger }: Pick<ClusterContext, "api" | "clock" | "logger">,
  manager: Client,
): (account: string) => Client {
  return (account) =>
    createClient(
      new AccountTransport(
        api.server,
        api.security.authorizer,
        manager,
        account,
      ),
      { clock, logger },
    );
}

class AccountTransport implements Transport {
  #ready: Promise<Transport> | undefined;

  constructor(
    private readonly server: ApiServer,
    private readonly authorizer: Authorizer,
    private readonly manager: Client,
    private readonly account: string,
  ) {}

  async request(...request: Parameters<Transport["request"]>) {
    return (await this.#transport()).request(...request);
  }

  async raw(...request: Parameters<Transport["raw"]>) {
    return (await this.#transport()).raw(...request);
  }

  watch(): never {
    throw new Error("informers are the manager's");
  }

  async close(): Promise<void> {
    const transport = await this.#ready?.catch(() => undefined);
    await transport?.close();
  }

  #transport(): Promise<Transport> {
    // What failed is tried again with the next request.
    this.#ready ??= this.#open().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  async #open(): Promise<Transport> {
    const { metadata } = await ensureAccount(this.manager, this.account);
    const name = accountUserName(this.account);
    const user: UserInfo = {
      name,
      ...(metadata.uid ? { uid: metadata.uid } : {}),
      groups,
      extra: {},
    };
    return authorizedTransport(
      this.server.transport(user, name),
      user,
      this.authorizer,
    );
  }
}
