// Validation of metadata, the same for every kind: names, labels, annotations, owners, finalizers. Called by the
// registry on every create and update, after the strategy's preparation and before its own validation.
import type { FieldError } from "../../api/errors.ts";
import {
  fieldErrors,
  invalidEach,
  shownValue,
} from "../../api/field-errors.ts";
import { asGo } from "../../api/go-syntax.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  nameRule,
  pathSegmentProblems,
  qualifiedNameProblems,
} from "../../api/names.ts";
import { managedFieldsProblems } from "../../api/patch/managed-fields.ts";
import type { KubeObject } from "../../api/object.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import { labels } from "./field-checks.ts";
import { sameValue } from "../../api/objects/json-equality.ts";

const maxAnnotationBytes = 256 * 1024;
const standardFinalizers = new Set([
  "kubernetes",
  "orphan",
  "foregroundDeletion",
]);

interface MetaRules {
  readonly namespaced: boolean;
  /** Default: a DNS subdomain. */
  readonly validateName?: (name: string, prefix: boolean) => string[];
  /** Finalizers need no domain. */
  readonly anyFinalizer?: boolean;
}

interface ReplacementRules extends Omit<MetaRules, "validateName"> {
  /** The kind is a definition's: its name says nothing. */
  readonly custom: boolean;
}

/** All problems of the metadata of an object as it is about to be stored. */
export function validateObjectMeta(
  object: Readonly<KubeObject>,
  rules: MetaRules,
): FieldError[] {
  const { metadata } = object;
  const validateName = rules.validateName ?? nameRule(dnsSubdomainProblems);
  const problems: FieldError[] = [];
  if (metadata.generateName) {
    problems.push(
      ...invalidEach(
        "metadata.generateName",
        metadata.generateName,
        validateName(metadata.generateName, true),
      ),
    );
  }
  if (!metadata.name)
    problems.push(
      fieldErrors.required("metadata.name", "name or generateName is required"),
    );
  else
    problems.push(
      ...invalidEach(
        "metadata.name",
        metadata.name,
        validateName(metadata.name, false),
      ),
    );
  if (rules.namespaced) {
    if (!metadata.namespace)
      problems.push(fieldErrors.required("metadata.namespace"));
    else
      problems.push(
        ...invalidEach(
          "metadata.namespace",
          metadata.namespace,
          dnsLabelProblems(metadata.namespace),
        ),
      );
  } else if (metadata.namespace) {
    problems.push(
      fieldErrors.forbidden("metadata.namespace", "not allowed on this type"),
    );
  }
  if ((metadata.generation ?? 0) < 0) {
    problems.push(
      fieldErrors.invalid(
        "metadata.generation",
        metadata.generation,
        "must be greater than or equal to 0",
      ),
    );
  }
  // Most objects have few of these.
  if (metadata.labels)
    problems.push(...labels("metadata.labels", metadata.labels));
  if (metadata.annotations)
    problems.push(...validateAnnotations(metadata.annotations));
  if (metadata.ownerReferences)
    problems.push(...validateOwners(metadata.ownerReferences));
  if (metadata.finalizers)
    problems.push(
      ...validateFinalizers(metadata.finalizers, rules.anyFinalizer ?? false),
    );
  if (metadata.managedFields)
    problems.push(...managedFieldsProblems(metadata.managedFields));
  return problems;
}

/** The problems of the metadata of a resource inside another one, which need not be named. */
export function embeddedMetadataProblems(
  metadata: Readonly<KubeObject["metadata"]>,
): FieldError[] {
  const name = metadata.name || "fakename";
  return validateObjectMeta(
    { metadata: { ...metadata, name } },
    {
      namespaced: Boolean(metadata.namespace),
      anyFinalizer: true,
      validateName: pathSegmentProblems,
    },
  );
}

export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  field = "metadata.annotations",
): FieldError[] {
  const problems: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    problems.push(
      ...invalidEach(field, key, qualifiedNameProblems(key.toLowerCase())),
    );
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > maxAnnotationBytes)
    problems.push(fieldErrors.tooLong(field, maxAnnotationBytes));
  return problems;
}

function validateOwners(owners: readonly OwnerReference[]): FieldError[] {
  const field = "metadata.ownerReferences";
  const problems: FieldError[] = [];
  let controller: OwnerReference | undefined;
  for (const owner of owners) {
    const parts = owner.apiVersion.split("/");
    if (!parts.at(-1) || parts.length > 2) {
      problems.push(
        fieldErrors.invalid(
          `${field}.apiVersion`,
          owner.apiVersion,
          "version must not be empty",
        ),
      );
    }
    if (!owner.kind)
      problems.push(
        fieldErrors.invalid(
          `${field}.kind`,
          owner.kind,
          "kind must not be empty",
        ),
      );
    if (!owner.name)
      problems.push(
        fieldErrors.invalid(
          `${field}.name`,
          owner.name,
          "name must not be empty",
        ),
      );
    if (!owner.uid)
      problems.push(
        fieldErrors.invalid(`${field}.uid`, owner.uid, "uid must not be empty"),
      );
    if (owner.apiVersion === "v1" && owner.kind === "Event") {
      problems.push(
        fieldErrors.invalid(
          field,
          asGo("v1.OwnerReference", owner),
          "/v1, Kind=Event is disallowed from being an owner",
        ),
      );
    }
    if (!owner.controller) continue;
    if (controller) {
      problems.push(
        fieldErrors.invalid(
          field,
          asGo("[]v1.OwnerReference", owners),
          `Only one reference can have Controller set to true. Found "true" in references for ${controller.kind}/${controller.name} and ${owner.kind}/${owner.name}`,
        ),
      );
    }
    controller ??= owner;
  }
  return problems;
}

function validateFinalizers(
  finalizers: readonly string[],
  anyFinalizer: boolean,
): FieldError[] {
  const problems: FieldError[] = [];
  for (const [index, finalizer] of finalizers.entries()) {
    problems.push(
      ...invalidEach(
        "metadata.finalizers",
        finalizer,
        qualifiedNameProblems(finalizer),
      ),
    );
    if (
      !anyFinalizer &&
      !finalizer.includes("/") &&
      !standardFinalizers.has(finalizer)
    ) {
      problems.push(
        fieldErrors.invalid(
          `metadata.finalizers[${index}]`,
          finalizer,
          "name is neither a standard finalizer name nor is it fully qualified",
        ),
      );
    }
  }
  if (
    finalizers.includes("orphan") &&
    finalizers.includes("foregroundDeletion")
  ) {
    problems.push(
      fieldErrors.invalid(
        "metadata.finalizers",
        finalizers,
        "finalizer orphan and foregroundDeletion cannot be both set",
      ),
    );
  }
  return problems;
}

const immutableMeta = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
] as const;

/** Kinds that check their metadata less or more often than once more for the whole and once more for the change. */
const checksOfKinds: Readonly<
  Record<string, { whole: number; change: number }>
> = Object.fromEntries([
  ...[
    "CronJob",
    "CSIDriver",
    "CustomResourceDefinition",
    "Deployment",
    "EndpointSlice",
    "FlowSchema",
    "HorizontalPodAutoscaler",
    "Lease",
    "LimitRange",
    "MutatingWebhookConfiguration",
    "PodTemplate",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ResourceQuota",
    "StatefulSet",
    "ValidatingWebhookConfiguration",
  ].map((kind) => [kind, { whole: 1, change: 2 }] as const),
  ...["Event", "PodDisruptionBudget"].map(
    (kind) => [kind, { whole: 1, change: 1 }] as const,
  ),
  ...[
    "ClusterRole",
    "ClusterRoleBinding",
    "PersistentVolumeClaim",
    "Role",
    "RoleBinding",
  ].map((kind) => [kind, { whole: 3, change: 2 }] as const),
]);

/** All problems of the metadata of an object about to be replaced, in the order and as often as the reference finds them. */
export function validateReplacedMeta(
  object: Readonly<KubeObject>,
  old: Readonly<KubeObject>,
  rules: ReplacementRules,
): FieldError[] {
  // Field by field: what is added to a copy made by spreading takes half a microsecond.
  const whole = validateObjectMeta(object, {
    namespaced: rules.namespaced,
    anyFinalizer: rules.anyFinalizer ?? false,
    validateName: pathSegmentProblems,
  });
  const change = validateObjectMetaUpdate(object, old);
  if (whole.length > 0) change.push(...checkedParts(object.metadata));
  if (whole.length === 0 && change.length === 0) return [];
  const times = rules.custom
    ? { whole: 1, change: 2 }
    : (checksOfKinds[object.kind ?? ""] ?? { whole: 2, change: 2 });
  const [first, ...again] = Array<FieldError[]>(times.whole).fill(whole);
  return [
    ...first!,
    ...Array<FieldError[]>(times.change).fill(change).flat(),
    ...again.flat(),
  ];
}

/** What an update must not change. */
export function validateObjectMetaUpdate(
  object: Readonly<KubeObject>,
  old: Readonly<KubeObject>,
): FieldError[] {
  const problems: FieldError[] = [];
  const [meta, was] = [object.metadata, old.metadata];
  if (was.deletionTimestamp) {
    const added = (meta.finalizers ?? [])
      .filter((finalizer) => !was.finalizers?.includes(finalizer))
      .sort();
    if (added.length > 0) {
      const shown = added
        .map((finalizer) => JSON.stringify(finalizer))
        .join(", ");
      problems.push(
        fieldErrors.forbidden(
          "metadata.finalizers",
          `no new finalizers can be added if the object is being deleted, found new finalizers []string{${shown}}`,
        ),
      );
    }
  }
  if (!meta.resourceVersion) {
    problems.push(
      fieldErrors.invalid(
        "metadata.resourceVersion",
        meta.resourceVersion ?? "",
        "must be specified for an update",
      ),
    );
  }
  if ((meta.generation ?? 0) < (was.generation ?? 0)) {
    problems.push(
      fieldErrors.invalid(
        "metadata.generation",
        meta.generation ?? 0,
        "must not be decremented",
      ),
    );
  }
  for (const name of immutableMeta) {
    if (sameValue(meta[name], was[name])) continue;
    problems.push({
      type: "FieldValueInvalid",
      field: `metadata.${name}`,
      detail: `Invalid value: ${name.endsWith("Timestamp") ? goTime(meta[name] as string) : shownValue(meta[name] ?? "")}: field is immutable`,
    });
  }
  return problems;
}

/** A time as the reference prints it in such texts. */
const goTime = (time: string | undefined): string =>
  time ? `${time.replace("T", " ").replace("Z", "")} +0000 UTC` : '"null"';

function checkedParts(meta: Readonly<KubeObject["metadata"]>): FieldError[] {
  return [
    ...labels("metadata.labels", meta.labels),
    ...validateAnnotations(meta.annotations),
    ...validateOwners(meta.ownerReferences ?? []),
    ...managedFieldsProblems(meta.managedFields),
  ];
}
