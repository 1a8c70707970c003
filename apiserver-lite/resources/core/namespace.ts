// Namespaces: the "kubernetes" finalizer in spec, the phase, and the finalize subresource through which the namespace
// controller lets go. Deletion turns the phase to Terminating; the registry keeps the object while spec.finalizers or
// metadata.finalizers remain.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  nameRule,
  qualifiedNameProblems,
} from "../../../api/names.ts";
import type { Namespace } from "../../../api/types/core-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../strategy.ts";

const nameLabel = "kubernetes.io/metadata.name";

const securityPrefix = "pod-security.kubernetes.io/";
const levels = ["privileged", "baseline", "restricted"];

/** Labels that say how pods are judged must be understood. */
function podSecurityLabels(
  labels: Readonly<Record<string, string>> | undefined,
): FieldError[] {
  return ["enforce", "audit", "warn"].flatMap((mode) => {
    const rules: [string, (value: string) => boolean, string][] = [
      [
        `${securityPrefix}${mode}`,
        (value) => levels.includes(value),
        `must be one of ${levels.join(", ")}`,
      ],
      [
        `${securityPrefix}${mode}-version`,
        (value) => /^(latest|v1\.(0|[1-9][0-9]*))$/.test(value),
        'must be "latest" or "v1.x"',
      ],
    ];
    return rules.flatMap(([key, good, text]) => {
      const value = labels?.[key];
      return value === undefined || good(value)
        ? []
        : [fieldErrors.invalid(`metadata.labels[${key}]`, value, text)];
    });
  });
}

const asNamespace = (object: Readonly<AnyObject>): Namespace =>
  object as unknown as Namespace;

/** `fieldOf`: what each of them is called in problems. */
function validateFinalizers(
  object: Readonly<AnyObject>,
  fieldOf: (index: number) => string,
): FieldError[] {
  const { finalizers = [] } = asNamespace(object).spec ?? {};
  return finalizers.flatMap((finalizer, index) => {
    const field = fieldOf(index);
    const problems = invalidEach(
      field,
      finalizer,
      qualifiedNameProblems(finalizer),
    );
    if (
      !finalizer.includes("/") &&
      finalizer !== "kubernetes" &&
      finalizer !== "orphan" &&
      finalizer !== "foregroundDeletion"
    ) {
      problems.push(
        fieldErrors.invalid(
          field,
          finalizer,
          "name is neither a standard finalizer name nor is it fully qualified",
        ),
      );
    }
    return problems;
  });
}

export const namespaceStrategy: ResourceStrategy = {
  countsGeneration: false,
  validateName: nameRule(dnsLabelProblems),
  setDefaults(object) {
    const namespace = asNamespace(object);
    if (
      namespace.metadata.name &&
      namespace.metadata.labels?.[nameLabel] !== namespace.metadata.name
    ) {
      namespace.metadata.labels = {
        ...namespace.metadata.labels,
        [nameLabel]: namespace.metadata.name,
      };
    }
    namespace.status = {
      ...namespace.status,
      phase: namespace.status?.phase || "Active",
    };
  },
  prepareForCreate(object) {
    const namespace = asNamespace(object);
    namespace.status = { phase: "Active" };
    namespace.spec ??= {};
    if (!namespace.spec.finalizers?.includes("kubernetes")) {
      namespace.spec.finalizers = [
        ...(namespace.spec.finalizers ?? []),
        "kubernetes",
      ];
    }
  },
  prepareForUpdate(object, old) {
    // The spec changes only through /finalize.
    asNamespace(object).spec = { ...asNamespace(old).spec };
    asNamespace(object).status = { ...asNamespace(old).status };
  },
  validate: (object) => [
    ...validateFinalizers(object, () => "spec.finalizers"),
    ...podSecurityLabels(object.metadata.labels),
  ],
  status: {
    prepareForUpdate(object, old) {
      asNamespace(object).spec = { ...asNamespace(old).spec };
    },
    validateUpdate(object) {
      const { metadata, status } = asNamespace(object);
      if (!metadata.deletionTimestamp && status?.phase !== "Active") {
        return [
          fieldErrors.invalid(
            "status.Phase",
            status?.phase ?? "",
            "may only be 'Active' if `deletionTimestamp` is empty",
          ),
        ];
      }
      if (metadata.deletionTimestamp && status?.phase !== "Terminating") {
        return [
          fieldErrors.invalid(
            "status.Phase",
            status?.phase ?? "",
            "may only be 'Terminating' if `deletionTimestamp` is not empty",
          ),
        ];
      }
      return [];
    },
  },
  withoutOrphans: "Foreground",
  isHeld: (object) => (asNamespace(object).spec?.finalizers?.length ?? 0) > 0,
  prepareForDeletion(object) {
    const namespace = asNamespace(object);
    delete namespace.metadata.deletionGracePeriodSeconds;
    namespace.status = { ...namespace.status, phase: "Terminating" };
  },
  selectableFields: (object) => {
    const phase = asNamespace(object).status?.phase ?? "";
    return { "status.phase": phase };
  },
  printRow: (object, now) => {
    const { metadata, status } = asNamespace(object);
    return [
      metadata.name,
      status?.phase ?? "",
      formatAge(metadata.creationTimestamp, now),
    ];
  },
  parts: {
    finalize: {
      // It is for the finalizers of the spec only.
      prepareForUpdate(object, old) {
        asNamespace(object).status = { ...asNamespace(old).status };
        const { finalizers } = asNamespace(object).spec ?? {};
        asNamespace(object).spec = finalizers?.length ? { finalizers } : {};
      },
      validateUpdate: (object) =>
        validateFinalizers(object, (index) => `spec.finalizers[${index}]`),
    },
  },
};
