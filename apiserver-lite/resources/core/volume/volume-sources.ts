// The sources a volume can have: of each the fields it can't do without and what else can be wrong with it. For pods and
// for PersistentVolumes, which have most kinds in common.
import type { FieldError } from "../../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../../api/field-errors.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
} from "../../../../api/names.ts";
import type {
  PersistentVolumeSpec,
  Volume,
} from "../../../../api/types/core-v1.ts";
import { oneOf } from "../../field-checks.ts";
import {
  validateNoBacksteps,
  validateRelativePath,
} from "../container/container-environment.ts";

type Problems = FieldError[];
/** What a PersistentVolume says beside its source. */
export const notSources = [
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
] as const;
type AllSources = Omit<Volume, "name"> &
  Omit<PersistentVolumeSpec, (typeof notSources)[number]>;
export type SourceKind = keyof AllSources;

/** Fields that may not be empty, in the order in which they are asked for. */
const requiredFields: Partial<Record<SourceKind, readonly string[]>> = {
  awsElasticBlockStore: ["volumeID"],
  azureDisk: ["diskName", "diskURI"],
  azureFile: ["secretName", "shareName"],
  cephfs: ["monitors"],
  cinder: ["volumeID"],
  flexVolume: ["driver"],
  gcePersistentDisk: ["pdName"],
  gitRepo: ["repository"],
  glusterfs: ["endpoints", "path"],
  hostPath: ["path"],
  iscsi: ["targetPortal", "iqn"],
  local: ["path"],
  nfs: ["server", "path"],
  persistentVolumeClaim: ["claimName"],
  photonPersistentDisk: ["pdID"],
  portworxVolume: ["volumeID"],
  rbd: ["monitors", "image"],
  scaleIO: ["gateway", "system", "volumeName"],
  storageos: ["volumeName"],
  vsphereVolume: ["volumePath"],
};

const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];
const hostAndPort = /^([^:[\]]*|\[[^[\]]*\]):[^:[\]]*$/;
const quobyteRegistry =
  "must be a host:port pair or multiple pairs separated by commas";
const initiatorForms: Readonly<Record<string, RegExp>> = {
  iqn: /^iqn\.\d{4}-\d{2}\.([a-z0-9.-]+)(:([^,;*&$|\s]+))?$/i,
  eui: /^eui\.[0-9a-f]{16}$/i,
  naa: /^naa\.[0-9a-f]{32}$/i,
};
const diskUris = {
  Managed:
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
  others:
    "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd",
};

function inRange(
  field: string,
  value: number | undefined,
  text: string,
): Problems {
  return value !== undefined && (value < 0 || value > 255)
    ? [fieldErrors.invalid(field, value, text)]
    : [];
}

const lunRange = "must be between 0 and 255, inclusive";
const partitionRange = "must be between 1 and 255, inclusive";

function initiator(field: string, name: string): Problems {
  const form = initiatorForms[name.slice(0, 3)];
  if (!form)
    return [
      fieldErrors.invalid(
        field,
        name,
        "must be valid format starting with iqn, eui, or naa",
      ),
    ];
  return form.test(name)
    ? []
    : [fieldErrors.invalid(field, name, "must be valid format")];
}

/** A reference to a secret; PersistentVolumes, which have no namespace, name that too. */
function secretReference(
  field: string,
  reference: { name?: string; namespace?: string } | undefined,
  persistent: boolean,
): Problems {
  if (!reference) return [];
  const parts = persistent
    ? (["name", "namespace"] as const)
    : (["name"] as const);
  return parts
    .filter((part) => !reference[part])
    .map((part) => fieldErrors.required(`${field}.${part}`));
}

function validateDriverName(field: string, driver: string): Problems {
  return [
    ...(driver ? [] : [fieldErrors.required(field)]),
    ...(driver.length > 63 ? [fieldErrors.tooLong(field, 63)] : []),
    ...invalidEach(field, driver, dnsSubdomainProblems(driver.toLowerCase())),
  ];
}

function validateCsi(
  field: string,
  csi: NonNullable<AllSources["csi"]>,
  persistent: boolean,
): Problems {
  const problems = validateDriverName(`${field}.driver`, csi.driver ?? "");
  if (!persistent) {
    const { name } = csi.nodePublishSecretRef ?? {};
    if (csi.nodePublishSecretRef && !name)
      problems.push(fieldErrors.required(`${field}.nodePublishSecretRef.name`));
    return name
      ? [
          ...problems,
          ...invalidEach(`${field}.name`, name, dnsSubdomainProblems(name)),
        ]
      : problems;
  }
  if (!csi.volumeHandle)
    problems.push(fieldErrors.required(`${field}.volumeHandle`));
  for (const part of [
    "controllerPublishSecretRef",
    "controllerExpandSecretRef",
    "nodePublishSecretRef",
    "nodeExpandSecretRef",
  ] as const) {
    const reference: { name?: string; namespace?: string } | undefined =
      csi[part];
    if (!reference) continue;
    const { name, namespace } = reference;
    const path = `${field}.${part}`;
    problems.push(
      ...(name
        ? invalidEach(`${path}.name`, name, dnsSubdomainProblems(name))
        : [fieldErrors.required(`${path}.name`)]),
      ...(namespace
        ? invalidEach(
            `${path}.namespace`,
            namespace,
            dnsLabelProblems(namespace),
          )
        : [fieldErrors.required(`${path}.namespace`)]),
    );
  }
  return problems;
}

type Checks = {
  [Kind in SourceKind]?: (
    field: string,
    source: NonNullable<AllSources[Kind]>,
    persistent: boolean,
  ) => Problems;
};

/** What is looked at beyond `requiredFields`. */
const checks: Checks = {
  awsElasticBlockStore: (field, { partition }) =>
    inRange(`${field}.partition`, partition, partitionRange),
  azureDisk(field, { kind, cachingMode, diskURI = "" }) {
    const uri = `${field}.diskURI`;
    const managed = kind === "Managed";
    const wanted = managed ? diskUris.Managed : diskUris.others;
    const fits = diskURI.startsWith(managed ? "/subscriptions/" : "https://");
    return [
      ...oneOf(`${field}.cachingMode`, cachingMode, [
        "None",
        "ReadOnly",
        "ReadWrite",
      ]),
      ...oneOf(`${field}.kind`, kind, ["Dedicated", "Managed", "Shared"]),
      ...(fits ? [] : [fieldErrors.notSupported(uri, diskURI, [wanted])]),
    ];
  },
  azureFile: (field, source) =>
    (source as { secretNamespace?: string }).secretNamespace === ""
      ? [fieldErrors.required(`${field}.secretNamespace`)]
      : [],
  cinder: (field, { secretRef }, persistent) =>
    secretReference(`${field}.secretRef`, secretRef, persistent),
  csi: validateCsi,
  fc(field, { targetWWNs = [], wwids = [], lun }) {
    const names = `${field}.targetWWNs`;
    if (targetWWNs.length === 0)
      return wwids.length > 0
        ? []
        : [
            fieldErrors.required(
              names,
              "must specify either targetWWNs or wwids, but not both",
            ),
          ];
    return [
      ...(wwids.length > 0
        ? [
            fieldErrors.invalid(
              names,
              targetWWNs,
              "targetWWNs and wwids can not be specified simultaneously",
            ),
          ]
        : []),
      ...(lun === undefined
        ? [
            fieldErrors.required(
              `${field}.lun`,
              "lun is required if targetWWNs is specified",
            ),
          ]
        : inRange(`${field}.lun`, lun, lunRange)),
    ];
  },
  flexVolume: (field, { options }) =>
    Object.keys(options ?? {})
      .filter((key) =>
        /\.(kubernetes|k8s)\.io$/.test(
          `.${key.includes("/") ? key.slice(0, key.indexOf("/")) : key}`.toLowerCase(),
        ),
      )
      .map((key) =>
        fieldErrors.invalid(
          `${field}.options[${key}]`,
          key,
          "kubernetes.io and k8s.io namespaces are reserved",
        ),
      ),
  flocker(field, { datasetName, datasetUUID }) {
    if (!datasetName && !datasetUUID)
      return [
        fieldErrors.required(
          field,
          "one of datasetName and datasetUUID is required",
        ),
      ];
    return [
      ...(datasetName && datasetUUID
        ? [
            fieldErrors.invalid(
              field,
              "resource",
              "datasetName and datasetUUID can not be specified simultaneously",
            ),
          ]
        : []),
      ...(datasetName?.includes("/")
        ? [
            fieldErrors.invalid(
              `${field}.datasetName`,
              datasetName,
              "must not contain '/'",
            ),
          ]
        : []),
    ];
  },
  gcePersistentDisk: (field, { partition }) =>
    inRange(`${field}.partition`, partition, partitionRange),
  gitRepo: (field, { directory = "" }) =>
    validateRelativePath(`${field}.directory`, directory),
  glusterfs(field, source) {
    const name = (source as { endpointsNamespace?: string }).endpointsNamespace;
    const empty =
      "if the endpointnamespace is set, it must be a valid namespace name";
    const problems = name ? dnsLabelProblems(name) : [empty];
    return name === undefined
      ? []
      : invalidEach(`${field}.endpointsNamespace`, name, problems);
  },
  hostPath: (field, { path, type }) =>
    path
      ? [
          ...validateNoBacksteps(`${field}.path`, path),
          ...oneOf(`${field}.type`, type, hostPathTypes),
        ]
      : [],
  iscsi(field, source) {
    const { iqn, lun, initiatorName } = source;
    const secured = source.chapAuthDiscovery || source.chapAuthSession;
    return [
      ...(iqn ? initiator(`${field}.iqn`, iqn) : []),
      ...inRange(`${field}.lun`, lun, lunRange),
      ...(secured && !source.secretRef
        ? [fieldErrors.required(`${field}.secretRef`)]
        : []),
      ...(initiatorName === undefined
        ? []
        : initiator(`${field}.initiatorname`, initiatorName)),
    ];
  },
  local: (field, { path }) =>
    path ? validateNoBacksteps(`${field}.path`, path) : [],
  nfs: (field, { path = "" }) =>
    path.startsWith("/")
      ? []
      : [
          fieldErrors.invalid(
            `${field}.path`,
            path,
            "must be an absolute path",
          ),
        ],
  quobyte(field, { registry, tenant, volume }) {
    const problems: Problems = [];
    if (!registry)
      problems.push(fieldErrors.required(`${field}.registry`, quobyteRegistry));
    else if ((tenant?.length ?? 0) > 64)
      problems.push(
        fieldErrors.required(
          `${field}.tenant`,
          "must be a UUID and may not exceed a length of 64 characters",
        ),
      );
    else
      for (const pair of registry.split(","))
        if (!hostAndPort.test(pair))
          problems.push(
            fieldErrors.invalid(`${field}.registry`, registry, quobyteRegistry),
          );
    return volume
      ? problems
      : [...problems, fieldErrors.required(`${field}.volume`)];
  },
  storageos: (field, source, persistent) => {
    const { volumeName, volumeNamespace } = source;
    return [
      ...(volumeName
        ? invalidEach(
            `${field}.volumeName`,
            volumeName,
            dnsLabelProblems(volumeName),
          )
        : []),
      ...(volumeNamespace
        ? invalidEach(
            `${field}.volumeNamespace`,
            volumeNamespace,
            dnsLabelProblems(volumeNamespace),
          )
        : []),
      ...secretReference(`${field}.secretRef`, source.secretRef, persistent),
    ];
  },
};

const isEmpty = (value: unknown): boolean =>
  !value || (Array.isArray(value) && value.length === 0);

/** Problems of one source; `field` is the source's own. */
export function validateSource(
  field: string,
  kind: SourceKind,
  source: object,
  persistent: boolean,
): Problems {
  const values = source as Record<string, unknown>;
  const check = checks[kind] as
    | ((field: string, source: object, persistent: boolean) => Problems)
    | undefined;
  return [
    ...(requiredFields[kind] ?? [])
      .filter((name) => isEmpty(values[name]))
      .map((name) => fieldErrors.required(`${field}.${name}`)),
    ...(check?.(field, source, persistent) ?? []),
  ];
}
