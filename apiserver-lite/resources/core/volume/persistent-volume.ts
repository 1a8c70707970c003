// PersistentVolumes: capacity, access modes, one source; the source never changes.
import { formatTime } from "../../../../api/clock.ts";
import { fieldErrors } from "../../../../api/field-errors.ts";
import { asGo } from "../../../../api/go-syntax.ts";
import type { PersistentVolume } from "../../../../api/types/core-v1.ts";
import { formatAge } from "../../../printing/age.ts";
import { strategyOf } from "../../typed.ts";
import { goDifference } from "../pod/pod-update-validation.ts";
import { expressionWarnings } from "../node-label-warnings.ts";
import { validateVolume } from "./persistent-volume-validation.ts";
import { notSources, type SourceKind } from "./volume-sources.ts";
import { immutable } from "../../field-checks.ts";
import { sameValue } from "../../../../api/objects/json-equality.ts";

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

const deprecatedSources: readonly [SourceKind, string, string?][] = [
  ["cephfs", "deprecated in v1.28, non-functional in v1.31+"],
  ["photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"],
  ["scaleIO", "deprecated in v1.16, non-functional in v1.22+"],
  ["storageos", "deprecated in v1.22, non-functional in v1.25+", "storageOS"],
  ["glusterfs", "deprecated in v1.25, non-functional in v1.26+"],
  ["rbd", "deprecated in v1.28, non-functional in v1.31+"],
];

export const classAnnotation = "volume.beta.kubernetes.io/storage-class";
export const classAnnotationWarning = `metadata.annotations[${classAnnotation}]: deprecated since v1.8; use "storageClassName" attribute instead`;

const optionsAnnotation = "volume.beta.kubernetes.io/mount-options";

function* volumeWarnings({
  metadata,
  spec = {},
}: PersistentVolume): Iterable<string> {
  if (classAnnotation in (metadata.annotations ?? {}))
    yield classAnnotationWarning;
  if (optionsAnnotation in (metadata.annotations ?? {}))
    yield `metadata.annotations[${optionsAnnotation}]: deprecated since v1.31; use "mountOptions" attribute instead`;
  if (spec.persistentVolumeReclaimPolicy === "Recycle")
    yield "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  for (const [index, term] of terms.entries())
    yield* expressionWarnings(
      `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`,
      term,
    );
  for (const [kind, since, name = kind] of deprecatedSources)
    if ((spec as Record<string, unknown>)[kind]) yield `spec.${name}: ${since}`;
}

export const persistentVolumeStrategy = strategyOf<PersistentVolume>({
  returnsDeleted: true,
  countsGeneration: false,
  prepareForCreate(volume, context) {
    delete volume.spec?.volumeAttributesClassName;
    volume.status = {
      phase: "Pending",
      lastPhaseTransitionTime: formatTime(context.clock.now()),
    };
  },
  prepareForUpdate(volume, was) {
    volume.status = { ...was.status };
    if (was.spec?.volumeAttributesClassName === undefined)
      delete volume.spec?.volumeAttributesClassName;
  },
  validate: (object) => validateVolume(object.spec ?? {}),
  warnings: (object) => volumeWarnings(object),
  validateUpdate(volume, was) {
    const [sources, before] = [sourceOf(volume), sourceOf(was)].map((list) =>
      Object.fromEntries(list),
    ) as [object, object];
    const [now, earlier] = [volume.spec?.nodeAffinity, was.spec?.nodeAffinity];
    return [
      ...(sameValue(sources, before)
        ? []
        : [
            fieldErrors.forbidden(
              "spec.persistentvolumesource",
              `spec.persistentvolumesource is immutable after creation\n${goDifference("core.PersistentVolumeSource", sources, before)}`,
            ),
          ]),
      ...immutable("volumeMode", volume.spec?.volumeMode, was.spec?.volumeMode),
      ...(earlier && !sameValue(now, earlier)
        ? [
            fieldErrors.invalid(
              "nodeAffinity",
              asGo("*core.VolumeNodeAffinity", now),
              "field is immutable, except for updating from beta label to GA",
            ),
          ]
        : []),
    ];
  },
  status: {
    prepareForUpdate(volume, was, context) {
      volume.spec = { ...was.spec };
      const { status } = volume;
      if (!status) return;
      if (status.phase !== was.status?.phase)
        status.lastPhaseTransitionTime = formatTime(context.clock.now());
      else if (was.status?.lastPhaseTransitionTime)
        status.lastPhaseTransitionTime ??= was.status.lastPhaseTransitionTime;
    },
  },
  printRow: (object, now) => {
    const { metadata, spec = {}, status } = object;
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
});
