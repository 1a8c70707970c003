// Leases: written all the time, always against a known version.
import type { AnyObject } from "../../../api/object.ts";
import type { Lease } from "../../../api/types/coordination-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../strategy.ts";
import { nonNegative, positive } from "../field-checks.ts";

const asLease = (object: Readonly<AnyObject>): Lease =>
  object as unknown as Lease;

/** Fields of features that are off. */
function dropGated(object: AnyObject): void {
  const { spec } = asLease(object);
  delete spec?.strategy;
  delete spec?.preferredHolder;
}

export const leaseStrategy: ResourceStrategy = {
  countsGeneration: false,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
  prepareForCreate: dropGated,
  prepareForUpdate: dropGated,
  validate(object) {
    const { spec } = asLease(object);
    return [
      ...positive("spec.leaseDurationSeconds", spec?.leaseDurationSeconds),
      ...nonNegative("spec.leaseTransitions", spec?.leaseTransitions),
    ];
  },
  printRow: (object, now) => {
    const { metadata, spec } = asLease(object);
    return [
      metadata.name,
      spec?.holderIdentity ?? "",
      formatAge(metadata.creationTimestamp, now),
    ];
  },
};
