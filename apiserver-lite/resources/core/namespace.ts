// Namespaces: the "kubernetes" finalizer in spec, the phase, and the finalize subresource through which the namespace
// controller lets go. Deletion turns the phase to Terminating; the registry keeps the object while spec.finalizers or
// metadata.finalizers remain.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  nameRule,
  qualifiedNameProblems,
} from "../../../api/names.ts";
import type { Namespace } from "../../../api/types/core-v1.ts";
import { formatAge } from "../../printing/age.ts";
import { strategyOf } from "../typed.ts";

const nameLabel = "kubernetes.io/metadata.name";

const securityPrefix = "pod-security.kubernetes.io/";
const levels = ["privileged", "baseline", "restricted"];

/** Pod security labels must have known values. */
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

/** `fieldOf`: what each of them is called in problems. */
function validateFinalizers(
  object: Readonly<Namespace>,
  fieldOf: (index: number) => string,
): FieldError[] {
  const { finalizers = [] } = object.spec ?? {};
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

export const namespaceStrategy = strategyOf<Namespace>({
  countsGeneration: false,
  validateName: nameRule(dnsLabelProblems),
  setDefaults(namespace) {
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
  prepareForCreate(namespace) {
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
    object.spec = { ...old.spec };
    object.status = { ...old.status };
  },
  validate: (object) => [
    ...validateFinalizers(object, () => "spec.finalizers"),
    ...podSecurityLabels(object.metadata.labels),
  ],
  status: {
    prepareForUpdate(object, old) {
      object.spec = { ...old.spec };
    },
    validateUpdate(object) {
      const { metadata, status } = object;
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
  isHeld: (object) => (object.spec?.finalizers?.length ?? 0) > 0,
  prepareForDeletion(namespace) {
    delete namespace.metadata.deletionGracePeriodSeconds;
    namespace.status = { ...namespace.status, phase: "Terminating" };
  },
  selectableFields: (object) => {
    const phase = object.status?.phase ?? "";
    return { "status.phase": phase };
  },
  printRow: (object, now) => {
    const { metadata, status } = object;
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
        object.status = { ...old.status };
        const { finalizers } = object.spec ?? {};
        object.spec = finalizers?.length ? { finalizers } : {};
      },
      validateUpdate: (object) =>
        validateFinalizers(object, (index) => `spec.finalizers[${index}]`),
    },
  },
});
