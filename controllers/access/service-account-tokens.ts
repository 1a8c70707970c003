// Fills Secrets of type kubernetes.io/service-account-token: a token without an end, the cluster's authority, the
// namespace. Those of an account that is not there are deleted, and an account no longer names a Secret that is gone.
// Follows the reference's serviceaccount-token controller; nothing makes such Secrets by itself.
import type { Secret, ServiceAccount } from "../../api/types/core-v1.ts";
import { isConflict, isNotFound } from "../../api/errors.ts";
import { secrets, serviceAccounts } from "../../client/resources.ts";
import type { Controller, ControllerContext } from "../context.ts";
import { Reconciler } from "../reconciler.ts";
import {
  accountNameKey,
  accountOf,
  accountUidKey,
  isAccountOf,
  tokenSecretType,
} from "./token-secrets.ts";

interface Named {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly account: { readonly name: string; readonly uid: string };
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** What the token says; it has no times. */
const claimsOf = (account: ServiceAccount, secret: Secret): object => {
  const { name, namespace = "", uid = "" } = account.metadata;
  const own = "kubernetes.io/serviceaccount";
  return {
    iss: "kubernetes/serviceaccount",
    [`${own}/namespace`]: namespace,
    [`${own}/secret.name`]: secret.metadata.name,
    [`${own}/service-account.name`]: name,
    [`${own}/service-account.uid`]: uid,
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
};

/** @param signer makes a JSON web token of claims */
export function createServiceAccountTokenController(
  context: ControllerContext,
  signer: { sign(claims: object): string },
): Controller {
  const { client, options } = context;
  const { rootCa } = options;
  const accounts = client.resource(serviceAccounts);
  const tokenSecrets = client.resource(secrets);
  const accountInformer = client.informer(serviceAccounts);
  const secretInformer = client.informer(secrets, {
    fieldSelector: `type=${tokenSecretType}`,
    indexes: {
      account: (secret) => [
        `${secret.metadata.namespace}/${accountOf(secret).name}`,
      ],
    },
  });
  const reconciler = new Reconciler({
    name: "serviceaccount-token-controller",
    context,
    concurrency: options.concurrentServiceaccountTokenSyncs,
    reconcile: (key) => reconcile(JSON.parse(key) as Named),
  });

  async function reconcile(named: Named): Promise<void> {
    const { namespace, name, uid } = named;
    const secret = secretInformer.lister.get(name, namespace);
    if (secret?.metadata.uid !== uid) return forget(named);
    const cached = accountInformer.lister.get(named.account.name, namespace);
    // A Secret may be seen before its account.
    const account = isAccountOf(cached, named.account)
      ? cached
      : await accounts
          .get(named.account.name, namespace)
          .catch((error: unknown) => {
            if (isNotFound(error)) return undefined;
            throw error;
          });
    if (isAccountOf(account, named.account)) return fill(account, secret);
    await tokenSecrets
      .delete(name, namespace, { preconditions: { uid } })
      .catch(ignoreGone);
  }

  async function fill(account: ServiceAccount, seen: Secret): Promise<void> {
    if (Object.keys(missing(seen)).length === 0) return;
    const { name, namespace = "" } = seen.metadata;
    const live = await tokenSecrets.get(name, namespace);
    // Its change comes as an event.
    if (live.metadata.resourceVersion !== seen.metadata.resourceVersion) return;
    const data = { ...live.data, ...missing(live) };
    if (!live.data?.["token"])
      data["token"] = base64(signer.sign(claimsOf(account, live)));
    const annotations = {
      ...live.metadata.annotations,
      [accountNameKey]: account.metadata.name,
      [accountUidKey]: account.metadata.uid ?? "",
    };
    await tokenSecrets
      .update({ ...live, metadata: { ...live.metadata, annotations }, data })
      .catch(ignoreGone);
  }

  /** Data that the Secret lacks; the token is "" here. */
  function missing({ data = {}, metadata }: Secret): Record<string, string> {
    const authority = rootCa === undefined ? undefined : base64(rootCa);
    return {
      ...(authority !== undefined && data["ca.crt"] !== authority
        ? { "ca.crt": authority }
        : {}),
      ...(data["namespace"]
        ? {}
        : { namespace: base64(metadata.namespace ?? "") }),
      ...(data["token"] ? {} : { token: "" }),
    };
  }

  /** Takes the Secret that is gone off its account's list. */
  async function forget({ namespace, name, account }: Named): Promise<void> {
    const cached = accountInformer.lister.get(account.name, namespace);
    if (!isAccountOf(cached, account)) return;
    const live = await accounts.get(account.name, namespace);
    const kept = live.secrets?.filter((each) => each.name !== name) ?? [];
    if (!isAccountOf(live, account) || kept.length === live.secrets?.length)
      return;
    if (live.secrets) await accounts.update({ ...live, secrets: kept });
  }

  const add = (secret: Secret): void => {
    const { name, namespace = "", uid = "" } = secret.metadata;
    const named: Named = { namespace, name, uid, account: accountOf(secret) };
    if (named.account.name !== "") reconciler.queue.add(JSON.stringify(named));
  };
  const addThoseOf = ({ metadata }: ServiceAccount): void =>
    secretInformer.lister
      .byIndex("account", `${metadata.namespace}/${metadata.name}`)
      .forEach(add);
  return reconciler
    .watchAll(secretInformer, add)
    .watch(accountInformer, { onDelete: addThoseOf });
}

/** It was changed or deleted meanwhile: an event follows, or nothing is left to do. */
function ignoreGone(error: unknown): void {
  if (!isNotFound(error) && !isConflict(error)) throw error;
}
