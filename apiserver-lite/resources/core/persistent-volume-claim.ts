// PersistentVolumeClaims: the spec is settled once written, but for the storage asked of a bound claim, which may grow.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { dnsSubdomainProblems } from "../../../api/names.ts";
import {
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
} from "../../../api/quantity.ts";
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
} from "../../../api/types/core-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { agreeBut, labelSelector, oneOf } from "../field-checks.ts";
import {
  accessModeProblems,
  accessModesText,
  volumeModes,
} from "./persistent-volume.ts";

const asClaim = (object: Readonly<AnyObject>): PersistentVolumeClaim =>
  object as unknown as PersistentVolumeClaim;
const storageOf = (claim: PersistentVolumeClaim): string | undefined =>
  claim.spec?.resources?.requests?.["storage"];

/** For claims and for the templates of claims in pods. */
export function validateClaimSpec(
  field: string,
  spec: PersistentVolumeClaimSpec,
): FieldError[] {
  const modes = spec.accessModes ?? [];
  const modesField = `${field}.accessModes`;
  const problems: FieldError[] = [
    ...(modes.length > 0
      ? []
      : [
          fieldErrors.required(
            modesField,
            "at least 1 access mode is required",
          ),
        ]),
    ...labelSelector(`${field}.selector`, spec.selector),
    ...accessModeProblems(modesField, modes),
  ];
  const storageField = `${field}.resources[storage]`;
  const storage = spec.resources?.requests?.["storage"];
  if (storage === undefined) problems.push(fieldErrors.required(storageField));
  else if (parseQuantity(storage).nano <= 0n)
    problems.push(
      fieldErrors.invalid(
        storageField,
        canonicalQuantity(storage),
        "must be greater than zero",
      ),
    );
  const className = spec.storageClassName;
  return [
    ...problems,
    ...(className
      ? invalidEach(
          `${field}.storageClassName`,
          className,
          dnsSubdomainProblems(className),
        )
      : []),
    ...oneOf(`${field}.volumeMode`, spec.volumeMode, volumeModes),
  ];
}

export const persistentVolumeClaimStrategy: ResourceStrategy = {
  countsGeneration: false,
  prepareForCreate(object) {
    asClaim(object).status = { phase: "Pending" };
  },
  prepareForUpdate(object, old) {
    asClaim(object).status = { ...asClaim(old).status };
  },
  validate: (object) => validateClaimSpec("spec", asClaim(object).spec ?? {}),
  validateUpdate(object, old) {
    const [claim, was] = [asClaim(object), asClaim(old)];
    const bound = was.status?.phase === "Bound";
    // The binder names the volume of a claim that had none.
    const free = [
      "resources.requests.storage",
      "volumeAttributesClassName",
      ...(was.spec?.volumeName ? [] : ["volumeName"]),
    ];
    const grown = bound ? free : free.slice(1);
    const problems: FieldError[] = [];
    if (!agreeBut(claim.spec ?? {}, was.spec ?? {}, grown)) {
      problems.push(
        fieldErrors.forbidden(
          "spec",
          "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
        ),
      );
    }
    const [now, before] = [storageOf(claim), storageOf(was)];
    if (
      now !== undefined &&
      before !== undefined &&
      compareQuantities(now, before) < 0
    ) {
      const allocated = was.status?.capacity?.["storage"];
      if (allocated === undefined || compareQuantities(now, allocated) <= 0) {
        problems.push(
          fieldErrors.forbidden(
            "spec.resources.requests.storage",
            "field can not be less than status.capacity",
          ),
        );
      }
    }
    return problems;
  },
  status: {
    prepareForUpdate(object, old) {
      asClaim(object).spec = { ...asClaim(old).spec };
    },
  },
  printRow: (object, now) => {
    const { metadata, spec = {}, status } = asClaim(object);
    const bound = Boolean(spec.volumeName);
    return [
      metadata.name,
      metadata.deletionTimestamp ? "Terminating" : (status?.phase ?? ""),
      spec.volumeName ?? "",
      bound ? (status?.capacity?.["storage"] ?? "") : "",
      bound ? accessModesText(status?.accessModes) : "",
      metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ??
        spec.storageClassName ??
        "",
      spec.volumeAttributesClassName || "<unset>",
      formatAge(metadata.creationTimestamp, now),
      spec.volumeMode ?? "<unset>",
    ];
  },
};
