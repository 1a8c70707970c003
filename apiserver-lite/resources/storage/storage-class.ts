// StorageClasses: a provisioner and parameters, settled at creation.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { qualifiedNameProblems } from "../../../api/names.ts";
import type { StorageClass } from "../../../api/types/storage-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { oneOf, sameValue } from "../field-checks.ts";

const asClass = (object: Readonly<AnyObject>): StorageClass =>
  object as unknown as StorageClass;
const defaultMarks = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

export const storageClassStrategy: ResourceStrategy = {
  countsGeneration: false,
  validate(object) {
    const { provisioner, reclaimPolicy, volumeBindingMode, parameters } =
      asClass(object);
    const problems: FieldError[] = provisioner
      ? invalidEach(
          "provisioner",
          provisioner,
          qualifiedNameProblems(provisioner.toLowerCase()),
        )
      : [fieldErrors.required("provisioner")];
    if (Object.keys(parameters ?? {}).some((key) => key === "")) {
      problems.push(
        fieldErrors.invalid("parameters", "", "field can not be empty."),
      );
    }
    problems.push(
      ...oneOf("reclaimPolicy", reclaimPolicy, ["Delete", "Retain"]),
    );
    return [
      ...problems,
      ...oneOf(
        "volumeBindingMode",
        volumeBindingMode,
        ["Immediate", "WaitForFirstConsumer"],
        true,
      ),
    ];
  },
  validateUpdate(object, old) {
    const [now, was] = [asClass(object), asClass(old)];
    const problems: FieldError[] = [];
    const settled = ["parameters", "provisioner", "reclaimPolicy"] as const;
    for (const name of settled) {
      if (!sameValue(now[name], was[name])) {
        problems.push(
          fieldErrors.forbidden(name, `updates to ${name} are forbidden.`),
        );
      }
    }
    if (!sameValue(now.volumeBindingMode, was.volumeBindingMode)) {
      problems.push(
        fieldErrors.invalid(
          "volumeBindingMode",
          now.volumeBindingMode,
          "field is immutable",
        ),
      );
    }
    return problems;
  },
  printRow: (object, now) => {
    const {
      metadata,
      provisioner,
      reclaimPolicy,
      volumeBindingMode,
      allowVolumeExpansion,
    } = asClass(object);
    const isDefault = defaultMarks.some(
      (mark) => metadata.annotations?.[mark] === "true",
    );
    return [
      isDefault ? `${metadata.name} (default)` : metadata.name,
      provisioner,
      reclaimPolicy ?? "Delete",
      volumeBindingMode ?? "Immediate",
      allowVolumeExpansion ?? false,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
};
