// PersistentVolumes: capacity, access modes, one source; the source never changes.
import type { FieldError } from "../../../api/errors.ts";
import type { AnyObject } from "../../../api/object.ts";
import { fieldErrors } from "../../../api/field-errors.ts";
import type { PersistentVolume } from "../../../api/types/core-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { notSources } from "./volume-sources.ts";
import { nonNegativeQuantity, oneOf, sameValue } from "../field-checks.ts";

const asVolume = (object: Readonly<AnyObject>): PersistentVolume =>
  object as unknown as PersistentVolume;

export const accessModes = [
  "ReadOnlyMany",
  "ReadWriteMany",
  "ReadWriteOnce",
  "ReadWriteOncePod",
];
export const volumeModes = ["Block", "Filesystem"];

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

const shortModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

/** "RWO,ROX", in the reference's order. */
export function accessModesText(modes: readonly string[] | undefined): string {
  const order = [
    "ReadWriteOnce",
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOncePod",
  ];
  return order
    .filter((mode) => modes?.includes(mode))
    .map((mode) => shortModes[mode])
    .join(",");
}

function sourceOf(volume: PersistentVolume): [string, unknown][] {
  return Object.entries(volume.spec ?? {}).filter(
    ([name, value]) =>
      !(notSources as readonly string[]).includes(name) && value !== undefined,
  );
}

export const persistentVolumeStrategy: ResourceStrategy = {
  countsGeneration: false,
  prepareForCreate(object) {
    asVolume(object).status = { phase: "Pending" };
  },
  prepareForUpdate(object, old) {
    asVolume(object).status = { ...asVolume(old).status };
  },
  validate(object) {
    const volume = asVolume(object);
    const spec = volume.spec ?? {};
    const problems: FieldError[] = [];
    if (!spec.accessModes?.length)
      problems.push(fieldErrors.required("spec.accessModes"));
    for (const mode of spec.accessModes ?? [])
      problems.push(...oneOf("spec.accessModes", mode, accessModes));
    if (!spec.capacity || Object.keys(spec.capacity).length === 0)
      problems.push(fieldErrors.required("spec.capacity"));
    else if (
      !("storage" in spec.capacity) ||
      Object.keys(spec.capacity).length > 1
    ) {
      problems.push(
        fieldErrors.notSupported("spec.capacity", spec.capacity, ["storage"]),
      );
    }
    for (const [name, value] of Object.entries(spec.capacity ?? {})) {
      problems.push(...nonNegativeQuantity(`spec.capacity[${name}]`, value));
    }
    problems.push(
      ...oneOf(
        "spec.persistentVolumeReclaimPolicy",
        spec.persistentVolumeReclaimPolicy,
        ["Delete", "Recycle", "Retain"],
      ),
    );
    problems.push(
      ...oneOf("spec.volumeMode", spec.volumeMode, ["Block", "Filesystem"]),
    );
    const sources = sourceOf(volume);
    if (sources.length === 0)
      problems.push(fieldErrors.required("spec", "must specify a volume type"));
    for (const [name] of sources.slice(1)) {
      problems.push(
        fieldErrors.forbidden(
          `spec.${name}`,
          "may not specify more than 1 volume type",
        ),
      );
    }
    if (spec.local && !spec.nodeAffinity) {
      problems.push(
        fieldErrors.required(
          "metadata.annotations",
          "Local volume requires node affinity",
        ),
      );
    }
    return problems;
  },
  validateUpdate(object, old) {
    return sameValue(sourceOf(asVolume(object)), sourceOf(asVolume(old)))
      ? []
      : [
          fieldErrors.forbidden(
            "spec.persistentvolumesource",
            "spec.persistentvolumesource is immutable after creation",
          ),
        ];
  },
  status: {
    prepareForUpdate(object, old) {
      asVolume(object).spec = { ...asVolume(old).spec };
    },
  },
  printRow: (object, now) => {
    const { metadata, spec = {}, status } = asVolume(object);
    const phase = metadata.deletionTimestamp
      ? "Terminating"
      : (status?.phase ?? "");
    const claim = spec.claimRef
      ? `${spec.claimRef.namespace ?? ""}/${spec.claimRef.name ?? ""}`
      : "";
    return [
      metadata.name,
      spec.capacity?.["storage"] ?? "",
      accessModesText(spec.accessModes),
      spec.persistentVolumeReclaimPolicy ?? "",
      phase,
      claim,
      metadata.annotations?.["volume.beta.kubernetes.io/storage-class"] ??
        spec.storageClassName ??
        "",
      spec.volumeAttributesClassName || "<unset>",
      status?.reason ?? "",
      formatAge(metadata.creationTimestamp, now),
      spec.volumeMode ?? "<unset>",
    ];
  },
};
