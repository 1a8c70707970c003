// Leases: written all the time, always against a known version.
import type { Lease } from "../../../api/types/coordination-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";
import { nonNegative, positive } from "../field-checks.ts";

/** Fields of features that are off. Deleting what is not there would cost the object its shape. */
function dropGated({ spec }: Lease): void {
  if (spec?.strategy !== undefined) delete spec.strategy;
  if (spec?.preferredHolder !== undefined) delete spec.preferredHolder;
}

export const leaseStrategy = strategyOf<Lease>({
  countsGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  anyFinalizer: true,
  prepareForCreate: dropGated,
  prepareForUpdate: dropGated,
  validate(object) {
    const { spec } = object;
    return [
      ...positive("spec.leaseDurationSeconds", spec?.leaseDurationSeconds),
      ...nonNegative("spec.leaseTransitions", spec?.leaseTransitions),
    ];
  },
  printRow: (object, now) => {
    const { metadata, spec } = object;
    return [
      metadata.name,
      spec?.holderIdentity ?? "",
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});
