// Validation of a pod's volumes: each has a name of its own and exactly one source. What PersistentVolumes have too is in
// volume-sources.ts; here are the sources made of files.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
} from "../../../../api/names.ts";
import { parseQuantity } from "../../../../api/quantity.ts";
import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  PersistentVolumeClaimTemplate,
  ProjectedVolumeSource,
  Volume,
} from "../../../../api/types/core-v1.ts";
import { joined, labels, ofEach, oneOf } from "../../field-checks.ts";
import { validateAnnotations } from "../../object-meta.ts";
import {
  validateFilePath,
  type Volumes,
} from "../container/container-environment.ts";
import {
  validateFieldRef,
  validateResourceFieldRef,
} from "../container/downward-fields.ts";
import { validateClaimSpec } from "./persistent-volume-claim.ts";
import { validateToken, validateTrustBundle } from "./projected-identities.ts";
import { validateSource, type SourceKind } from "./volume-sources.ts";

type Problems = FieldError[];

/** All kinds, in the order in which the reference looks at them: all but the first one found are one too many. */
const kinds = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
] as const satisfies SourceKind[];

/** Kinds whose problems the reference reports under another name than the field's. */
const reportedAs: Readonly<Record<string, string>> = {
  gcePersistentDisk: "persistentDisk",
};
const surplusReportedAs: Readonly<Record<string, string>> = {
  cephfs: "cephFS",
  downwardAPI: "downwarAPI",
};

function validateMode(field: string, mode: number | undefined): Problems {
  return mode !== undefined && (mode < 0 || mode > 0o777)
    ? [
        fieldErrors.invalid(
          field,
          mode,
          "must be a number between 0 and 0777 (octal), both inclusive",
        ),
      ]
    : [];
}

function validateItem(field: string, item: KeyToPath): Problems {
  return joined(
    item.key ? [] : [fieldErrors.required(`${field}.key`)],
    item.path ? [] : [fieldErrors.required(`${field}.path`)],
    validateFilePath(`${field}.path`, item.path ?? ""),
    validateMode(`${field}.mode`, item.mode),
  );
}

const validateItems = (
  field: string,
  items: readonly KeyToPath[] | undefined,
): Problems =>
  ofEach(items, (item, index) => validateItem(`${field}[${index}]`, item));

/** The reference names the volume, not the file. */
function validateDownwardFile(
  field: string,
  file: DownwardAPIVolumeFile,
): Problems {
  const { path = "", fieldRef, resourceFieldRef } = file;
  const problems = [
    ...(path ? [] : [fieldErrors.required(`${field}.path`)]),
    ...validateFilePath(`${field}.path`, path),
  ];
  if (fieldRef) {
    problems.push(...validateFieldRef(`${field}.fieldRef`, fieldRef, "file"));
    if (resourceFieldRef)
      problems.push(
        fieldErrors.invalid(
          field,
          "resource",
          "fieldRef and resourceFieldRef can not be specified simultaneously",
        ),
      );
  } else if (resourceFieldRef)
    problems.push(
      ...validateResourceFieldRef(
        `${field}.resourceFieldRef`,
        resourceFieldRef,
        "file",
      ),
    );
  else
    problems.push(
      fieldErrors.required(
        field,
        "one of fieldRef and resourceFieldRef is required",
      ),
    );
  return [...problems, ...validateMode(`${field}.mode`, file.mode)];
}

function validateProjected(
  field: string,
  { defaultMode, sources }: ProjectedVolumeSource,
): Problems {
  const problems = validateMode(`${field}.defaultMode`, defaultMode);
  const taken = new Set<string>();
  const take = (path: string | undefined, shown: string): void => {
    if (!path) return;
    if (taken.has(path))
      problems.push(
        fieldErrors.invalid(field, shown, "conflicting duplicate paths"),
      );
    taken.add(path);
  };
  const takeItems = (
    path: string,
    from: { name?: string; items?: KeyToPath[] } | undefined,
  ): void => {
    if (!from) return;
    const { name = "", items } = from;
    if (!name) problems.push(fieldErrors.required(`${path}.name`));
    for (let at = 0; items && at < items.length; at++) {
      problems.push(...validateItem(`${path}.items[${at}]`, items[at]!));
      take(items[at]!.path, name);
    }
  };
  for (let index = 0; sources && index < sources.length; index++) {
    const source = sources[index]!;
    const path = `${field}.sources[${index}]`;
    takeItems(`${path}.secret`, source.secret);
    takeItems(`${path}.configMap`, source.configMap);
    for (const file of source.downwardAPI?.items ?? []) {
      problems.push(...validateDownwardFile(`${path}.downwardAPI`, file));
      take(file.path, file.path);
    }
    if (source.serviceAccountToken)
      problems.push(
        ...validateToken(
          `${path}.serviceAccountToken`,
          field,
          source.serviceAccountToken,
        ),
      );
    const { clusterTrustBundle } = source;
    if (clusterTrustBundle) {
      const bundle = `${path}.clusterTrustBundlePEM`;
      problems.push(...validateTrustBundle(bundle, clusterTrustBundle));
      take(clusterTrustBundle.path, clusterTrustBundle.path);
    }
    let kindsOfSource = 0;
    for (const kind in source)
      if (source[kind as keyof typeof source]) kindsOfSource++;
    if (kindsOfSource > 1)
      problems.push(
        fieldErrors.forbidden(
          path,
          "may not specify more than 1 volume type per source",
        ),
      );
  }
  return problems;
}

/** Of a template's metadata only labels and annotations reach the claim. */
function validateClaimTemplate(
  field: string,
  { metadata, spec }: PersistentVolumeClaimTemplate,
): Problems {
  const { annotations, labels: own, ...rest } = metadata ?? {};
  return joined(
    validateAnnotations(annotations, `${field}.metadata.annotations`),
    labels(`${field}.metadata.labels`, own),
    ["name", "generateName", "namespace", "ownerReferences", "finalizers"]
      .filter((name) => name in rest)
      .map((name) =>
        fieldErrors.forbidden(`${field}.metadata.${name}`, "cannot be set"),
      ),
    validateClaimSpec(`${field}.spec`, spec ?? {}),
  );
}

type FileSources = Pick<
  Volume,
  | "emptyDir"
  | "secret"
  | "configMap"
  | "downwardAPI"
  | "projected"
  | "ephemeral"
  | "image"
>;

const fileSources: {
  [Kind in keyof FileSources]-?: (
    field: string,
    source: NonNullable<FileSources[Kind]>,
    /** False: of a template, which may be filled in later. */
    isPod: boolean,
  ) => Problems;
} = {
  emptyDir: (field, { sizeLimit }) =>
    sizeLimit !== undefined && parseQuantity(sizeLimit).nano < 0n
      ? [
          fieldErrors.forbidden(
            `${field}.sizeLimit`,
            "SizeLimit field must be a valid resource quantity",
          ),
        ]
      : [],
  secret: (field, { secretName, defaultMode, items }) => [
    ...(secretName ? [] : [fieldErrors.required(`${field}.secretName`)]),
    ...validateMode(`${field}.defaultMode`, defaultMode),
    ...validateItems(`${field}.items`, items),
  ],
  configMap: (field, { name, defaultMode, items }) => [
    ...(name ? [] : [fieldErrors.required(`${field}.name`)]),
    ...validateMode(`${field}.defaultMode`, defaultMode),
    ...validateItems(`${field}.items`, items),
  ],
  downwardAPI: (field, { defaultMode, items }) => [
    ...validateMode(`${field}.defaultMode`, defaultMode),
    ...ofEach(items, (file) => validateDownwardFile(field, file)),
  ],
  projected: validateProjected,
  ephemeral: (field, { volumeClaimTemplate: template }) =>
    template
      ? validateClaimTemplate(`${field}.volumeClaimTemplate`, template)
      : [fieldErrors.required(`${field}.volumeClaimTemplate`)],
  image: (field, { reference, pullPolicy }, isPod) =>
    joined(
      isPod && !reference ? [fieldErrors.required(`${field}.reference`)] : [],
      oneOf(
        `${field}.pullPolicy`,
        pullPolicy,
        ["Always", "IfNotPresent", "Never"],
        true,
      ),
    ),
};

const isKind: ReadonlySet<string> = new Set(kinds);

type VolumeKind = (typeof kinds)[number];

/** The sources of a volume, in the order of `kinds`. */
function sourcesOf(volume: Volume): VolumeKind[] {
  const found: VolumeKind[] = [];
  for (const name in volume)
    if (isKind.has(name) && volume[name as VolumeKind])
      found.push(name as VolumeKind);
  return found.length < 2 ? found : kinds.filter((kind) => volume[kind]);
}

function validateOne(field: string, volume: Volume, podName: string): Problems {
  const [first, ...surplus] = sourcesOf(volume);
  if (!first)
    return [fieldErrors.required(field, "must specify a volume type")];
  const path = `${field}.${reportedAs[first] ?? first}`;
  const problems =
    first in fileSources
      ? (
          fileSources[first as keyof FileSources] as (
            field: string,
            source: unknown,
            isPod: boolean,
          ) => Problems
        )(path, volume[first], podName !== "")
      : validateSource(path, first, volume[first]!, false);
  const { iscsi } = volume;
  if (
    first === "iscsi" &&
    iscsi?.initiatorName !== undefined &&
    `${volume.name}:${iscsi.targetPortal}`.length > 64
  )
    problems.push(
      fieldErrors.invalid(
        `${field}.name`,
        volume.name,
        "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.",
      ),
    );
  if (first === "ephemeral" && podName && volume.name) {
    const claim = `${podName}-${volume.name}`;
    problems.push(
      ...invalidEach(
        `${field}.name`,
        volume.name,
        dnsSubdomainProblems(claim).map(
          (text) => `PVC name ${JSON.stringify(claim)}: ${text}`,
        ),
      ),
    );
  }
  return joined(
    problems,
    surplus.map((kind) =>
      fieldErrors.forbidden(
        `${field}.${surplusReportedAs[kind] ?? kind}`,
        "may not specify more than 1 volume type",
      ),
    ),
  );
}

/** Problems, and the volumes mounts may refer to: those without any. `podName` is empty for templates. */
export function validateVolumes(
  field: string,
  volumes: readonly Volume[] | undefined,
  podName: string,
): { problems: Problems; byName: Volumes } {
  const problems: Problems = [];
  const byName = new Map<string, Volume>();
  if (!volumes) return { problems, byName };
  const ephemeralClaims = new Set(
    volumes
      .filter(({ ephemeral }) => ephemeral && podName)
      .map(({ name }) => `${podName}-${name}`),
  );
  for (let index = 0; index < volumes.length; index++) {
    const volume = volumes[index]!;
    const path = `${field}[${index}]`;
    const name = volume.name ?? "";
    const own = validateOne(path, volume, podName);
    own.push(
      ...(name
        ? invalidEach(`${path}.name`, name, dnsLabelProblems(name))
        : [fieldErrors.required(`${path}.name`)]),
    );
    if (byName.has(name)) own.push(fieldErrors.duplicate(`${path}.name`, name));
    if (own.length === 0) byName.set(name, volume);
    problems.push(...own);
    const claim = volume.persistentVolumeClaim?.claimName;
    if (claim && ephemeralClaims.has(claim))
      problems.push(
        fieldErrors.invalid(
          `${path}.persistentVolumeClaim.claimName`,
          claim,
          "must not reference a PVC that gets created for an ephemeral volume",
        ),
      );
  }
  return { problems, byName };
}
