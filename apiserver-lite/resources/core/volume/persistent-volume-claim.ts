// PersistentVolumeClaims: the spec is settled once written, but for the storage asked of a bound claim, which may grow.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import { dnsSubdomainProblems } from "../../../../api/names.ts";
import {
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
} from "../../../../api/quantity.ts";
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
} from "../../../../api/types/core-v1.ts";
import { formatAge } from "../../../printing/age.ts";
import { goDifference } from "../pod/pod-update-validation.ts";
import { strategyOf } from "../../typed.ts";
import { agreeBut, immutable, labelSelector } from "../../field-checks.ts";
import { sameValue } from "../../../../api/objects/json-equality.ts";
import {
  accessModesText,
  classAnnotation,
  classAnnotationWarning,
} from "./persistent-volume.ts";
import {
  accessModeProblems,
  validateAmount,
  volumeModeProblems,
} from "./persistent-volume-validation.ts";

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
    ...volumeModeProblems(`${field}.volumeMode`, spec.volumeMode),
    ...validateDataSources(field, spec),
  ];
}

function validateDataSources(
  field: string,
  spec: PersistentVolumeClaimSpec,
): FieldError[] {
  const { dataSource, dataSourceRef } = spec;
  const problems = (["dataSource", "dataSourceRef"] as const).flatMap(
    (part) => {
      const source = spec[part];
      if (!source) return [];
      const { name, kind = "", apiGroup = "" } = source;
      const path = `${field}.${part}`;
      return [
        ...(name ? [] : [fieldErrors.required(`${path}.name`)]),
        ...(kind ? [] : [fieldErrors.required(`${path}.kind`)]),
        ...(!apiGroup && kind !== "PersistentVolumeClaim"
          ? [
              fieldErrors.invalid(
                path,
                kind,
                "must be 'PersistentVolumeClaim' when referencing the default apiGroup",
              ),
            ]
          : []),
        ...(apiGroup
          ? invalidEach(
              `${path}.apiGroup`,
              apiGroup,
              dnsSubdomainProblems(apiGroup),
            )
          : []),
      ];
    },
  );
  if (dataSource && dataSourceRef && !sameValue(dataSource, dataSourceRef))
    problems.push(
      fieldErrors.invalidShown(
        field,
        // The reference shows the path itself.
        'field.Path{name:"dataSource", index:"", parent:(*field.Path)(0xc000000000)}',
        "must match dataSourceRef",
      ),
    );
  return problems;
}

/** Sources that can be had, under both names; of the others nothing is kept. */
function joinDataSources(spec: PersistentVolumeClaimSpec): void {
  const { dataSource: source, dataSourceRef: reference } = spec;
  const possible =
    source &&
    (source.apiGroup
      ? source.apiGroup === "snapshot.storage.k8s.io" &&
        source.kind === "VolumeSnapshot"
      : source.kind === "PersistentVolumeClaim");
  if (source && !possible) delete spec.dataSource;
  if (reference?.namespace) delete spec.dataSourceRef;
  if (spec.dataSource && !spec.dataSourceRef && !reference)
    spec.dataSourceRef = { ...spec.dataSource };
  else if (spec.dataSourceRef && !source) {
    const { apiGroup, kind, name } = spec.dataSourceRef;
    spec.dataSource = { ...(apiGroup ? { apiGroup } : {}), kind, name };
  }
}

const resizeStates = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending",
];

function validateClaimStatus({
  spec,
  status,
}: PersistentVolumeClaim): FieldError[] {
  const onlyStorage = (field: string, name: string): FieldError[] =>
    name === "storage" || name.includes("/")
      ? []
      : [fieldErrors.notSupported(field, name, ["storage"])];
  const states = "status.allocatedResourceStatus";
  return [
    ...(spec?.accessModes?.length
      ? []
      : [fieldErrors.required("Spec.accessModes")]),
    ...Object.entries(status?.capacity ?? {}).flatMap(([name, value]) =>
      validateAmount(`status.capacity[${name}]`, value),
    ),
    ...Object.entries(status?.allocatedResourceStatuses ?? {}).flatMap(
      ([name, state]) => [
        ...onlyStorage(states, name),
        ...(resizeStates.includes(state)
          ? []
          : [
              {
                ...fieldErrors.notSupported(states, 0, resizeStates),
                detail: `Unsupported value: ${name}: supported values: ${resizeStates.map((one) => JSON.stringify(one)).join(", ")}`,
              },
            ]),
      ],
    ),
    ...Object.entries(status?.allocatedResources ?? {}).flatMap(
      ([name, value]) => {
        const other = onlyStorage("status.allocatedResources", name);
        return other.length > 0
          ? other
          : validateAmount(`status.allocatedResources[${name}]`, value);
      },
    ),
  ];
}

function* claimWarnings({
  metadata,
  spec,
}: PersistentVolumeClaim): Iterable<string> {
  if (classAnnotation in (metadata.annotations ?? {}))
    yield classAnnotationWarning;
  yield* claimSpecWarnings("spec", spec);
}

/** @param field "spec", or where a claim's template is */
export function* claimSpecWarnings(
  field: string,
  spec: PersistentVolumeClaim["spec"],
): Iterable<string> {
  for (const part of ["requests", "limits"] as const) {
    const value = spec?.resources?.[part]?.["storage"];
    if (
      value !== undefined &&
      parseQuantity(value).nano % 1_000_000_000n !== 0n
    )
      yield `${field}.resources.${part}[storage]: fractional byte value ${JSON.stringify(canonicalQuantity(value))} is invalid, must be an integer`;
  }
}

export const persistentVolumeClaimStrategy = strategyOf<PersistentVolumeClaim>({
  returnsDeleted: true,
  countsGeneration: false,
  prepareForCreate(claim) {
    claim.status = { phase: "Pending" };
    claim.spec ??= {};
    delete claim.spec.volumeAttributesClassName;
    joinDataSources(claim.spec);
  },
  prepareForUpdate(claim, was) {
    claim.status = { ...was.status };
    claim.spec ??= {};
    if (was.spec?.volumeAttributesClassName === undefined)
      delete claim.spec.volumeAttributesClassName;
    joinDataSources(claim.spec);
  },
  validate: (object) => validateClaimSpec("spec", object.spec ?? {}),
  warnings: (object) => claimWarnings(object),
  validateUpdate(claim, was) {
    const [spec, before] = [claim.spec ?? {}, was.spec ?? {}];
    const [now, earlier] = [storageOf(claim), storageOf(was)];
    const known = was.metadata.annotations?.[classAnnotation];
    const problems: FieldError[] = immutable(
      `metadata.annotations[${classAnnotation}]`,
      claim.metadata.annotations?.[classAnnotation] ?? "",
      known ?? "",
    );
    // The binder names the volume of a claim that had none, and its class.
    const free = [
      ...(before.volumeName ? [] : ["volumeName"]),
      ...(before.storageClassName === undefined &&
      spec.storageClassName !== undefined &&
      (known === undefined || known === spec.storageClassName)
        ? ["storageClassName"]
        : []),
      ...(was.status?.phase === "Bound" ? ["resources.requests.storage"] : []),
    ];
    if (!agreeBut(spec, before, free))
      problems.push(
        fieldErrors.forbidden(
          "spec",
          `spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n${goDifference("core.PersistentVolumeClaimSpec", spec, before)}`,
        ),
      );
    if (
      now !== undefined &&
      earlier !== undefined &&
      compareQuantities(now, earlier) < 0
    ) {
      const allocated = was.status?.capacity?.["storage"] ?? "0";
      if (compareQuantities(now, allocated) <= 0)
        problems.push(
          fieldErrors.forbidden(
            "spec.resources.requests.storage",
            "field can not be less than status.capacity",
          ),
        );
    }
    return [
      ...problems,
      ...immutable("volumeMode", spec.volumeMode, before.volumeMode),
    ];
  },
  status: {
    prepareForUpdate(object, old) {
      object.spec = { ...old.spec };
    },
    validateUpdate: (object) => validateClaimStatus(object),
  },
  printRow: (object, now) => {
    const { metadata, spec = {}, status } = object;
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
});
