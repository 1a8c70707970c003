// The kinds of storage drivers: CSIDriver, CSINode, VolumeAttachment, VolumeAttributesClass. Validation is the schema's
// and what is settled at creation; rows are complete.
import type { AnyObject } from "../../../api/object.ts";
import type {
  CSIDriver,
  CSINode,
  VolumeAttachment,
} from "../../../api/types/storage-v1.ts";
import { formatAge } from "../../printing/age.ts";
import type { ResourceStrategy } from "../../registry/strategy.ts";
import { immutable } from "../field-checks.ts";

export const csiDriverStrategy: ResourceStrategy = {
  allowUnconditionalUpdate: false,
  printRow: (object, now) => {
    const { metadata, spec } = object as unknown as CSIDriver;
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
};

export const csiNodeStrategy: ResourceStrategy = {
  countsGeneration: false,
  allowUnconditionalUpdate: false,
  printRow: (object, now) => {
    const { metadata, spec } = object as unknown as CSINode;
    return [
      metadata.name,
      spec.drivers?.length ?? 0,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
};

const asAttachment = (object: Readonly<AnyObject>): VolumeAttachment =>
  object as unknown as VolumeAttachment;

export const volumeAttachmentStrategy: ResourceStrategy = {
  countsGeneration: false,
  allowUnconditionalUpdate: false,
  prepareForCreate(object) {
    asAttachment(object).status = { attached: false };
  },
  validateUpdate: (object, old) =>
    immutable("spec", asAttachment(object).spec, asAttachment(old).spec),
  status: {
    prepareForUpdate(object, old) {
      asAttachment(object).spec = asAttachment(old).spec;
    },
  },
  printRow: (object, now) => {
    const { metadata, spec, status } = asAttachment(object);
    return [
      metadata.name,
      spec.attacher,
      spec.source.persistentVolumeName ?? "",
      spec.nodeName,
      status?.attached ?? false,
      formatAge(metadata.creationTimestamp, now),
    ];
  },
};

export const volumeAttributesClassStrategy: ResourceStrategy = {
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
