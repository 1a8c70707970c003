// Validation of PersistentVolumes' specs: modes, capacity and one source, and the same of a volume within a
// VolumeAttachment.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import { asGo } from "../../../../api/go-syntax.ts";
import { dnsSubdomainProblems } from "../../../../api/names.ts";
import {
  canonicalQuantity,
  parseQuantity,
  quantityValue,
} from "../../../../api/quantity.ts";
import type { PersistentVolumeSpec } from "../../../../api/types/core-v1.ts";
import { oneOf } from "../../field-checks.ts";
import { validateNodeSelector } from "../pod/scheduling-validation.ts";
import { validateSource, type SourceKind } from "./volume-sources.ts";

const accessModes = [
  "ReadOnlyMany",
  "ReadWriteMany",
  "ReadWriteOnce",
  "ReadWriteOncePod",
];
const volumeModes = ["Block", "Filesystem"];

/** An empty mode is none of them. */
export function volumeModeProblems(
  field: string,
  mode: string | undefined,
): FieldError[] {
  return mode === undefined || volumeModes.includes(mode)
    ? []
    : [fieldErrors.notSupported(field, mode, volumeModes)];
}

/** Modes there are, and ReadWriteOncePod only alone. */
export function accessModeProblems(
  field: string,
  modes: readonly string[],
): FieldError[] {
  const problems = modes.flatMap((mode) =>
    accessModes.includes(mode)
      ? []
      : [fieldErrors.notSupported(field, mode, accessModes)],
  );
  const shared = modes.some(
    (mode) => mode !== "ReadWriteOncePod" && accessModes.includes(mode),
  );
  if (modes.includes("ReadWriteOncePod") && shared)
    problems.push(
      fieldErrors.forbidden(
        field,
        "may not use ReadWriteOncePod with other access modes",
      ),
    );
  return problems;
}

/** In the order in which the reference looks at them: all but the first found are one too many. */
const sourceOrder = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
] as const satisfies SourceKind[];

function validateCapacity(
  field: string,
  capacity: Readonly<Record<string, string>> | undefined,
): FieldError[] {
  const names = Object.keys(capacity ?? {});
  const problems: FieldError[] = [];
  if (names.length === 0) problems.push(fieldErrors.required(field));
  if (names.length !== 1 || names[0] !== "storage")
    problems.push(
      fieldErrors.notSupported(field, asGo("core.ResourceList", capacity), [
        "storage",
      ]),
    );
  for (const [name, value] of Object.entries(capacity ?? {})) {
    const path = `${field}[${name}]`;
    problems.push(...validateAmount(path, value));
    if (parseQuantity(value).nano <= 0n)
      problems.push(
        fieldErrors.invalid(
          path,
          canonicalQuantity(value),
          "must be greater than zero",
        ),
      );
  }
  return problems;
}

/** An amount there can be: not negative. */
export function validateAmount(field: string, value: string): FieldError[] {
  return parseQuantity(value).nano < 0n
    ? [
        fieldErrors.invalid(
          field,
          quantityValue(value),
          "must be a valid resource quantity",
        ),
      ]
    : [];
}

function validateSources(
  field: string,
  spec: PersistentVolumeSpec,
): FieldError[] {
  const [first, ...surplus] = sourceOrder.filter((kind) => spec[kind]);
  if (!first)
    return [fieldErrors.required(field, "must specify a volume type")];
  const validated = (kind: (typeof sourceOrder)[number]): FieldError[] =>
    validateSource(
      `${field}.${kind === "gcePersistentDisk" ? "persistentDisk" : kind}`,
      kind,
      spec[kind]!,
      true,
    );
  return [
    ...validated(first),
    ...(first === "local" && !spec.nodeAffinity
      ? [
          fieldErrors.required(
            `${field}.nodeAffinity`,
            "Local volume requires node affinity",
          ),
        ]
      : []),
    ...surplus.flatMap((kind) =>
      // The reference forgets to count it.
      kind === "flexVolume"
        ? validated(kind)
        : [
            fieldErrors.forbidden(
              `${field}.${kind === "cephfs" ? "cephFS" : kind}`,
              "may not specify more than 1 volume type",
            ),
          ],
    ),
  ];
}

/** What a volume within a VolumeAttachment may not say, and that it is a driver's. */
function inlineProblems(
  field: string,
  spec: PersistentVolumeSpec,
): FieldError[] {
  const context = "in the context of inline volumes";
  const forbidden = (
    name: string,
    isSet: boolean,
    text = "may not be specified",
  ): FieldError[] =>
    isSet
      ? [fieldErrors.forbidden(`${field}.${name}`, `${text} ${context}`)]
      : [];
  const { persistentVolumeReclaimPolicy: policy, volumeMode } = spec;
  return [
    ...forbidden("claimRef", spec.claimRef !== undefined),
    ...forbidden("capacity", Object.keys(spec.capacity ?? {}).length > 0),
    ...(spec.csi
      ? []
      : [
          fieldErrors.required(
            `${field}.csi`,
            `has to be specified ${context}`,
          ),
        ]),
    ...forbidden(
      "persistentVolumeReclaimPolicy",
      Boolean(policy) && policy !== "Retain",
      "may only be Retain",
    ),
    ...forbidden("nodeAffinity", spec.nodeAffinity !== undefined),
    ...forbidden("storageClassName", Boolean(spec.storageClassName)),
    ...forbidden(
      "volumeMode",
      volumeMode !== undefined && volumeMode !== "Filesystem",
      "may not specify volumeMode other than Filesystem",
    ),
  ];
}

function modeProblems(
  field: string,
  modes: readonly string[] = [],
): FieldError[] {
  const path = `${field}.accessModes`;
  return [
    ...(modes.length > 0 ? [] : [fieldErrors.required(path)]),
    ...accessModeProblems(path, modes),
  ];
}

/** The spec of a volume within a VolumeAttachment. */
export function validateInlineVolume(
  field: string,
  spec: PersistentVolumeSpec,
): FieldError[] {
  return [
    ...inlineProblems(field, spec),
    ...modeProblems(field, spec.accessModes),
    ...validateSources(field, spec),
  ];
}

/** The spec of a PersistentVolume. */
export function validateVolume(spec: PersistentVolumeSpec): FieldError[] {
  const { nodeAffinity, hostPath, storageClassName: className } = spec;
  const policy = spec.persistentVolumeReclaimPolicy;
  const policyField = "spec.persistentVolumeReclaimPolicy";
  return [
    ...modeProblems("spec", spec.accessModes),
    ...validateCapacity("spec.capacity", spec.capacity),
    ...oneOf(policyField, policy, ["Delete", "Recycle", "Retain"]),
    ...(!nodeAffinity
      ? []
      : nodeAffinity.required
        ? validateNodeSelector(
            "spec.nodeAffinity.required",
            nodeAffinity.required,
          )
        : [
            fieldErrors.required(
              "spec.nodeAffinity.required",
              "must specify required node constraints",
            ),
          ]),
    ...validateSources("spec", spec),
    ...(policy === "Recycle" && hostPath && /^\/+$/.test(hostPath.path)
      ? [
          fieldErrors.forbidden(
            policyField,
            "may not be 'recycle' for a hostPath mount of '/'",
          ),
        ]
      : []),
    ...(className
      ? invalidEach(
          "spec.storageClassName",
          className,
          dnsSubdomainProblems(className),
        )
      : []),
    ...volumeModeProblems("spec.volumeMode", spec.volumeMode),
  ];
}
