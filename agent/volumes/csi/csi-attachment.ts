// Whether the controllers have attached a volume to this node, and what its driver's attacher has to say to the node about
// it (the publish context).
import { attachmentName } from "../../../api/objects/volumes/csi-names.ts";
import type { Clock } from "../../../api/clock.ts";
import { isNotFound } from "../../../api/errors.ts";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { nodes, volumeAttachments } from "../../../client/resources.ts";
import { VolumePending } from "../volume-plugin.ts";
import type { CsiVolume } from "./csi-volume.ts";

/** From the pod's scheduling on; after it an event says why the pod does not start, as at the reference. */
const patienceMs = 123_000;

interface AttachmentContext {
  readonly client: Client;
  readonly nodeName: string;
  readonly clock: Clock;
}

/** Rejects while it is not attached, in the time that this takes with VolumePending; the pod's worker asks again. */
export async function publishContext(
  { client, nodeName, clock }: AttachmentContext,
  volume: CsiVolume,
  pod: Pod,
): Promise<Readonly<Record<string, string>>> {
  const waitedMs = clock.now() - scheduledAtMs(pod);
  const notYet = (message: string): Error =>
    waitedMs < patienceMs ? new VolumePending(message) : new Error(message);
  const { status } = await client.resource(nodes).get(nodeName);
  const isListed = status?.volumesAttached?.some(
    ({ name }) => name === volume.uniqueName,
  );
  if (!isListed)
    throw notYet(
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
  const { attached, attachError, attachmentMetadata } = attachment.status ?? {};
  if (!attached && attachError?.message) throw new Error(attachError.message);
  if (!attached)
    throw notYet(
      `volume attachment is being created for volume ${volume.handle}`,
    );
  return attachmentMetadata ?? {};
}

/** 0 for a pod without such a time. */
function scheduledAtMs({ metadata, status }: Pod): number {
  const scheduled = status?.conditions?.find(
    ({ type }) => type === "PodScheduled",
  );
  const time = scheduled?.lastTransitionTime ?? metadata.creationTimestamp;
  return time === undefined ? 0 : Date.parse(time);
}
