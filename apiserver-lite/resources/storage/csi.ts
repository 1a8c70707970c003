// The kinds of storage drivers: CSIDriver, CSINode, VolumeAttachment, VolumeAttributesClass, CSIStorageCapacity.
import type { FieldError } from "../../../api/errors.ts";
import { fieldErrors, invalidEach } from "../../../api/field-errors.ts";
import { asGo } from "../../../api/go-syntax.ts";
import { dnsSubdomainProblems, labelKeyProblems } from "../../../api/names.ts";
import type {
  CSIDriver,
  CSINode,
  CSINodeDriver,
  CSIStorageCapacity,
  VolumeAttachment,
} from "../../../api/types/storage-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../strategy.ts";
import { keepMetadata, keptBesideStatus } from "../status-metadata.ts";
import { nodeSelectorWarnings } from "../core/node-label-warnings.ts";
import { validateInlineVolume } from "../core/volume/persistent-volume-validation.ts";
import { strategyOf } from "../typed.ts";
import {
  exactlyOneOf,
  immutable,
  labelSelector,
  nonNegative,
  nonNegativeQuantity,
} from "../field-checks.ts";
import { sameValue } from "../../../api/objects/json-equality.ts";

const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;
const maxDriverNameBytes = 63;
const maxNodeIdLength = 256;
const maxErrorLength = 1024;
/** What the reference says the limit of an error's text is. */
const toldErrorBytes = 262_144;

function tokenProblems({ spec }: CSIDriver): FieldError[] {
  const audiences = new Set<string>();
  return (spec.tokenRequests ?? []).flatMap((request, index) => {
    const field = `spec.tokenRequests[${index}]`;
    const { audience, expirationSeconds } = request;
    if (audiences.has(audience))
      return [fieldErrors.duplicate(`${field}.audience`, audience)];
    audiences.add(audience);
    if (expirationSeconds === undefined) return [];
    const invalid = (text: string): FieldError =>
      fieldErrors.invalid(
        `${field}.expirationSeconds`,
        expirationSeconds,
        text,
      );
    if (expirationSeconds < minTokenSeconds)
      return [invalid("may not specify a duration less than 10 minutes")];
    return expirationSeconds > maxTokenSeconds
      ? [invalid("may not specify a duration larger than 2^32 seconds")]
      : [];
  });
}

export const csiDriverStrategy = strategyOf<CSIDriver>({
  returnsDeleted: true,
  countsGeneration: "changed",
  allowUnconditionalUpdate: false,
  validate(driver) {
    const { volumeLifecycleModes = [], fsGroupPolicy } = driver.spec;
    return [
      ...tokenProblems(driver),
      ...(fsGroupPolicy === undefined
        ? []
        : exactlyOneOf("spec.fsGroupPolicy", fsGroupPolicy, [
            "File",
            "None",
            "ReadWriteOnceWithFSType",
          ])),
      ...volumeLifecycleModes.flatMap((mode) =>
        exactlyOneOf("spec.volumeLifecycleModes", mode, [
          "Persistent",
          "Ephemeral",
        ]),
      ),
    ];
  },
  validateUpdate(object, old) {
    const [now, was] = [object.spec, old.spec];
    return [
      ...immutable(
        "spec.attachedRequired",
        now.attachRequired,
        was.attachRequired,
      ),
      ...immutable(
        "spec.volumeLifecycleModes",
        now.volumeLifecycleModes,
        was.volumeLifecycleModes,
        "[]storage.VolumeLifecycleMode",
      ),
    ];
  },
  printRow: (object, now) => {
    const { metadata, spec } = object;
    return [
      metadata.name,
      spec.attachRequired ?? true,
      spec.podInfoOnMount ?? false,
      spec.storageCapacity ?? false,
      spec.tokenRequests?.length
        ? spec.tokenRequests.map(({ audience }) => audience).join(",")
        : "<unset>",
      spec.requiresRepublish ?? false,
      spec.volumeLifecycleModes?.join(",") || "<none>",
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});

export function driverNameProblems(field: string, name: string): FieldError[] {
  return [
    ...(name ? [] : [fieldErrors.required(field)]),
    ...(Buffer.byteLength(name) > maxDriverNameBytes
      ? [fieldErrors.tooLong(field, maxDriverNameBytes)]
      : []),
    ...invalidEach(field, name, dnsSubdomainProblems(name.toLowerCase())),
  ];
}

function nodeDriverProblems(
  field: string,
  driver: CSINodeDriver,
): FieldError[] {
  const { name, nodeID, allocatable, topologyKeys = [] } = driver;
  const keys = topologyKeys.flatMap((key, index) => [
    ...(key ? [] : [fieldErrors.required(field)]),
    ...(topologyKeys.indexOf(key) < index
      ? [fieldErrors.duplicate(field, key)]
      : []),
    ...invalidEach(field, key, labelKeyProblems(key)),
  ]);
  return [
    ...driverNameProblems(`${field}.name`, name),
    ...(nodeID ? [] : [fieldErrors.required(`${field}.nodeID`)]),
    ...(nodeID.length > maxNodeIdLength
      ? [
          fieldErrors.invalid(
            `${field}.nodeID`,
            nodeID,
            `must be ${maxNodeIdLength} characters or less`,
          ),
        ]
      : []),
    ...nonNegative(`${field}.allocatable.count`, allocatable?.count),
    ...keys,
  ];
}

export const csiNodeStrategy = strategyOf<CSINode>({
  returnsDeleted: true,
  countsGeneration: false,
  allowUnconditionalUpdate: false,
  validate(object) {
    const drivers = object.spec.drivers ?? [];
    const names = new Set<string>();
    return drivers.flatMap((driver, index) => {
      const field = `spec.drivers[${index}]`;
      const problems = nodeDriverProblems(field, driver);
      if (names.has(driver.name))
        problems.push(fieldErrors.duplicate(`${field}.name`, driver.name));
      names.add(driver.name);
      return problems;
    });
  },
  validateUpdate(object, old) {
    const was = new Map(
      (old.spec.drivers ?? []).map((driver) => [driver.name, driver]),
    );
    return (object.spec.drivers ?? [])
      .filter(({ name }) => was.has(name))
      .flatMap((driver) =>
        immutable(
          "CSINodeDriver",
          driver,
          was.get(driver.name),
          "storage.CSINodeDriver",
        ),
      );
  },
  printRow: (object, now) => {
    const { metadata, spec } = object;
    return [
      metadata.name,
      spec.drivers?.length ?? 0,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});

function sourceProblems({ spec }: VolumeAttachment): FieldError[] {
  const field = "spec.source";
  const { inlineVolumeSpec, persistentVolumeName } = spec.source ?? {};
  const one =
    "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (inlineVolumeSpec && persistentVolumeName !== undefined)
    return [fieldErrors.forbidden(field, one)];
  if (inlineVolumeSpec)
    return validateInlineVolume(`${field}.inlineVolumeSpec`, inlineVolumeSpec);
  if (persistentVolumeName === undefined)
    return [fieldErrors.required(field, one)];
  return persistentVolumeName
    ? []
    : [
        fieldErrors.required(
          `${field}.persistentVolumeName`,
          "must specify non empty persistentVolumeName",
        ),
      ];
}

export const volumeAttachmentStrategy = strategyOf<VolumeAttachment>({
  returnsDeleted: true,
  countsGeneration: false,
  allowUnconditionalUpdate: false,
  prepareForCreate(object) {
    object.status = { attached: false };
  },
  validate(object) {
    const { spec } = object;
    return [
      ...(spec.attacher ? [] : [fieldErrors.required("spec.attacher")]),
      ...sourceProblems(object),
      ...invalidEach(
        "spec.nodeName",
        spec.nodeName,
        dnsSubdomainProblems(spec.nodeName),
      ),
    ];
  },
  validateCreate(object) {
    const { attacher, source } = object.spec;
    const name = source?.persistentVolumeName;
    return [
      ...driverNameProblems("spec.attacher", attacher),
      ...(name === undefined || source?.inlineVolumeSpec
        ? []
        : invalidEach(
            "spec.source.persistentVolumeName",
            name,
            dnsSubdomainProblems(name),
          )),
    ];
  },
  validateUpdate: (object, old) =>
    immutable("spec", object.spec, old.spec, "storage.VolumeAttachmentSpec"),
  status: {
    resetPaths: keptBesideStatus,
    prepareForUpdate: keepMetadata,
    validateUpdate(object) {
      const { status } = object;
      return (["attachError", "detachError"] as const)
        .filter(
          (name) => (status?.[name]?.message?.length ?? 0) > maxErrorLength,
        )
        .flatMap((name) => {
          const long = fieldErrors.tooLong(
            `status.${name}.message`,
            toldErrorBytes,
          );
          // The reference finds it twice.
          return [long, long];
        });
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = object;
    return [
      metadata.name,
      spec.attacher,
      spec.source.persistentVolumeName ?? "",
      spec.nodeName,
      status?.attached ?? false,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
});

export const volumeAttributesClassStrategy: ResourceStrategy = {
  returnsDeleted: true,
  countsGeneration: false,
  validateUpdate: (object, old) => [
    ...immutable("driverName", object["driverName"], old["driverName"]),
    ...immutable("parameters", object["parameters"], old["parameters"]),
  ],
  printRow: (object, now) => [
    object.metadata.name,
    String(object["driverName"] ?? ""),
    formatAge(object.metadata.creationTimestamp, now),
  ],
};

export const csiStorageCapacityStrategy = strategyOf<CSIStorageCapacity>({
  countsGeneration: false,
  allowUnconditionalUpdate: false,
  warnings: ({ nodeTopology = {} }) =>
    nodeSelectorWarnings("nodeTopology", nodeTopology),
  validate(object) {
    const { nodeTopology, storageClassName = "", capacity } = object;
    return [
      ...labelSelector("nodeTopology", nodeTopology),
      ...invalidEach(
        "storageClassName",
        storageClassName,
        dnsSubdomainProblems(storageClassName),
      ),
      ...(capacity === undefined
        ? []
        : nonNegativeQuantity("capacity", capacity)),
    ];
  },
  validateUpdate(now, was) {
    return [
      ...(sameValue(now.nodeTopology, was.nodeTopology)
        ? []
        : [
            fieldErrors.invalid(
              "nodeTopology",
              asGo("*v1.LabelSelector", now.nodeTopology),
              "field is immutable",
            ),
          ]),
      ...immutable(
        "storageClassName",
        now.storageClassName,
        was.storageClassName,
      ),
    ];
  },
});
