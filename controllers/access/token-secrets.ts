// Secrets of type kubernetes.io/service-account-token: whose they are.
import type { Secret, ServiceAccount } from "../../api/types/core-v1.ts";

export const tokenSecretType = "kubernetes.io/service-account-token";
export const accountNameKey = "kubernetes.io/service-account.name";
export const accountUidKey = "kubernetes.io/service-account.uid";

/** The name of the account and, once the Secret is filled, its uid. */
export function accountOf({ metadata }: Secret): { name: string; uid: string } {
  const { annotations = {} } = metadata;
  return {
    name: annotations[accountNameKey] ?? "",
    uid: annotations[accountUidKey] ?? "",
  };
}

/** Is the account the one that the Secret names? One of the same name that was made later is not. */
export function isAccountOf(
  account: ServiceAccount | undefined,
  named: { name: string; uid: string },
): account is ServiceAccount {
  return (
    account?.metadata.name === named.name &&
    (named.uid === "" || named.uid === account.metadata.uid)
  );
}
