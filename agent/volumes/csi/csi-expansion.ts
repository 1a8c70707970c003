// The node's part of making a volume larger: when the volume has more than its claim reports, or the driver's resizer
// waits for the node, the driver grows the file system, and the claim's status says so.
import {
  compareQuantities,
  parseQuantity,
  quantityValue,
} from "../../../api/quantity.ts";
import type { PersistentVolumeClaim } from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { persistentVolumeClaims } from "../../../client/resources.ts";
import { VolumeFailure, type VolumeRequest } from "../volume-plugin.ts";
import type { CsiDriver } from "./csi-driver.ts";
import type { ExpandRequest } from "./csi-protocol.ts";

interface ExpansionContext {
  readonly client: Client;
  readonly driver: Pick<CsiDriver, "expand">;
  readonly request: VolumeRequest;
}

/** Resolves to whether it was grown. */
export async function expandOnNode(
  { client, driver, request }: ExpansionContext,
  arguments_: () => Promise<Omit<ExpandRequest, "capacity_range">>,
): Promise<boolean> {
  const { claim, persistentVolume } = request;
  const wanted = persistentVolume?.spec?.capacity?.["storage"];
  const known = claim?.status?.capacity?.["storage"];
  if (!claim || wanted === undefined || known === undefined) return false;
  const { allocatedResourceStatuses: asked } = claim.status ?? {};
  // Claims of an earlier version have the new capacity already, and were never grown.
  const isPending = asked?.["storage"] === "NodeResizePending";
  if (compareQuantities(wanted, known) <= 0 && !isPending) return false;
  try {
    await driver.expand({
      ...(await arguments_()),
      capacity_range: {
        required_bytes: quantityValue(parseQuantity(wanted)),
      },
    });
  } catch (error) {
    throw new VolumeFailure(
      "MountVolume.NodeExpandVolume",
      persistentVolume!.metadata.name,
      (error as Error).message,
    );
  }
  await client
    .resource(persistentVolumeClaims)
    .updateStatus(grown(claim, wanted));
  return true;
}

const passing = new Set(["Resizing", "FileSystemResizePending"]);

function grown(
  claim: PersistentVolumeClaim,
  storage: string,
): PersistentVolumeClaim {
  const { status = {} } = claim;
  const { allocatedResourceStatuses: _, ...rest } = status;
  return {
    ...claim,
    status: {
      ...rest,
      capacity: { ...status.capacity, storage },
      ...(status.conditions
        ? {
            conditions: status.conditions.filter(
              ({ type }) => !passing.has(type),
            ),
          }
        : {}),
    },
  };
}
