// How volumes of CSI drivers and their attachments are named, as controllers, agents and the drivers' own attachers do.
import { createHash } from "node:crypto";
import type { CSIPersistentVolumeSource } from "../../types/core-v1.ts";

type Handle = Pick<CSIPersistentVolumeSource, "driver" | "volumeHandle">;

/** Of the VolumeAttachment of a volume and a node: `csi-` and 64 hexadecimal digits. */
export function attachmentName(
  { driver, volumeHandle }: Handle,
  nodeName: string,
): string {
  const digest = createHash("sha256")
    .update(volumeHandle + driver + nodeName)
    .digest("hex");
  return `csi-${digest}`;
}

/** As status.volumesInUse and status.volumesAttached of Nodes name it. */
export function uniqueVolumeName({ driver, volumeHandle }: Handle): string {
  return `kubernetes.io/csi/${driver}^${volumeHandle}`;
}
