// ServiceAccounts: nothing to check beyond metadata; the token subresource lives with the token issuer.
import type { ServiceAccount } from "../../../api/types/core-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";

export const serviceAccountStrategy = strategyOf<ServiceAccount>({
  returnsDeleted: true,
  countsGeneration: false,
  printRow: (object, now) => {
    const { metadata, secrets } = object;
    return [
      metadata.name,
      secrets?.length ?? 0,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
