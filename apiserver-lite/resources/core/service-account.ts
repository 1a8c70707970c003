// ServiceAccounts: of their secrets the names alone are kept; the token subresource lives with the token issuer.
import type { ServiceAccount } from "../../../api/types/core-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";

const enforcing = "kubernetes.io/enforce-mountable-secrets";

/** A reference to a Secret is to one of the account's namespace. */
function keepNames(account: ServiceAccount): void {
  if (account.secrets)
    account.secrets = account.secrets.map(({ name }) =>
      name === undefined ? {} : { name },
    );
}

export const serviceAccountStrategy = strategyOf<ServiceAccount>({
  returnsDeleted: true,
  countsGeneration: false,
  prepareForCreate: keepNames,
  prepareForUpdate: keepNames,
  *warnings({ metadata }, old) {
    const isNew = !(enforcing in (old?.metadata.annotations ?? {}));
    if (isNew && enforcing in (metadata.annotations ?? {}))
      yield `metadata.annotations[${enforcing}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`;
  },
  printRow: (object, now) => {
    const { metadata, secrets } = object;
    return [
      metadata.name,
      secrets?.length ?? 0,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
