// Whether the controllers have attached a volume to this node, and what its driver's attacher has to say to the node about
// it (the publish context).
import { attachmentName } from "../../../api/objects/volumes/csi-names.ts";
import { isNotFound } from "../../../api/errors.ts";
import type { Client } from "../../../client/client.ts";
import { nodes, volumeAttachments } from "../../../client/resources.ts";
import type { CsiVolume } from "./csi-volume.ts";

interface AttachmentContext {
  readonly client: Client;
  readonly nodeName: string;
}

/** Rejects while it is not attached; the pod's worker asks again. */
export async function publishContext(
  { client, nodeName }: AttachmentContext,
  volume: CsiVolume,
): Promise<Readonly<Record<string, string>>> {
  const { status } = await client.resource(nodes).get(nodeName);
  const isListed = status?.volumesAttached?.some(
    ({ name }) => name === volume.uniqueName,
  );
  if (!isListed)
    throw new Error(
      `Volume not attached according to node status for volume "${volume.name}"`,
    );
  const id = attachmentName(
    { driver: volume.driver, volumeHandle: volume.handle },
    nodeName,
  );
  const attachment = await client
    .resource(volumeAttachments)
    .get(id)
    .catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
      throw new Error(
        `volume attachment ${id} for volume ${volume.handle} is not there`,
        { cause: error },
      );
    });
  if (!attachment.status?.attached)
    throw new Error(
      attachment.status?.attachError?.message ??
        `volume attachment is being created for volume ${volume.handle}`,
    );
  return attachment.status.attachmentMetadata ?? {};
}
