// The node's part of making a volume larger: when the volume has more than its claim reports, or the driver's resizer
// waits for the node, the driver grows the file system, and the claim's status and events say so, or why not. What the
// driver calls impossible is left to its resizer, so that the user may ask for less (RecoverVolumeExpansionFailure):
//
//   allocatedResourceStatuses      | what the node does
//   NodeResizePending              | NodeResizeInProgress, then it grows the volume
//   NodeResizeInProgress           | it grows it, as it may have been killed at that
//   others, or allocatedResources  | nothing: it is the resizer's turn
//   none                           | it grows what is larger than the claim reports
//
// A volume that the pod has read-only is not grown for it.
import { formatTime, type Clock } from "../../../api/clock.ts";
import {
  findCondition,
  putCondition,
} from "../../../api/objects/conditions.ts";
import type { KubeObject } from "../../../api/object.ts";
import {
  compareQuantities,
  parseQuantity,
  quantityValue,
} from "../../../api/quantity.ts";
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimStatus,
  Pod,
} from "../../../api/types/core-v1.ts";
import type { Client } from "../../../client/client.ts";
import { persistentVolumeClaims } from "../../../client/resources.ts";
import { grpcCodes } from "../../../grpc/channel.ts";
import type { EventSink } from "../../events/pod-events.ts";
import { VolumeFailure, type VolumeRequest } from "../volume-plugin.ts";
import { CsiCallError, type CsiDriver } from "./csi-driver.ts";
import type { ExpandRequest } from "./csi-protocol.ts";

interface CsiExpansionOptions {
  readonly client: Client | undefined;
  readonly nodeName: string;
  readonly events?: EventSink | undefined;
  readonly clock: Clock;
}

/** One volume that may have to be grown. */
export interface ExpandedVolume {
  readonly uniqueName: string;
  /** The pod has it read-only. */
  readonly readOnly: boolean;
  readonly driver: Pick<CsiDriver, "expand">;
  readonly request: VolumeRequest;
  readonly arguments: () => Promise<Omit<ExpandRequest, "capacity_range">>;
}

interface Plan {
  readonly claim: PersistentVolumeClaim;
  readonly volumeName: string;
  /** A quantity. */
  readonly size: string;
  /** The resizer reports its steps in the claim's status, and reads this node's there. */
  readonly recovers: boolean;
}

const nodeError = "NodeResizeError";
/** What keeps a driver from a size, now and later. */
const infeasible: ReadonlySet<number> = new Set([
  grpcCodes.invalidArgument,
  grpcCodes.outOfRange,
  grpcCodes.notFound,
]);

export class CsiExpansion {
  readonly #options: CsiExpansionOptions;
  /** Sizes by the volume's unique name that a driver does not grow to while pods use the volume; asked again at the next mount. */
  readonly #notInUse = new Map<string, string>();
  /** Sizes by the volume's unique name that a pod does not get, as it has the volume read-only; others of its pods may. */
  readonly #readOnly = new Map<string, string>();

  constructor(options: CsiExpansionOptions) {
    this.#options = options;
  }

  /** Rejects with a VolumeFailure when the driver fails, so that no pod starts on it; one that can't while in use may. */
  async atMount(volume: ExpandedVolume): Promise<void> {
    this.#notInUse.delete(volume.uniqueName);
    const { request } = volume;
    const name = request.persistentVolume?.metadata.name ?? "";
    try {
      await this.#expand(volume);
    } catch (error) {
      const step = "MountVolume.NodeExpandVolume";
      throw new VolumeFailure(step, name, (error as Error).message);
    }
  }

  /** A failure is an event of the pod, which goes on. */
  async whileMounted(volume: ExpandedVolume): Promise<void> {
    const { pod, persistentVolume } = volume.request;
    try {
      await this.#expand(volume);
    } catch (error) {
      this.#event(
        { ...pod, apiVersion: "v1", kind: "Pod" },
        "Warning",
        "VolumeResizeFailed",
        `NodeExpandVolume.NodeExpandVolume failed for volume "${persistentVolume?.metadata.name}" : ${(error as Error).message}`,
      );
    }
  }

  /** The volume was unstaged. */
  forget(uniqueName: string): void {
    this.#notInUse.delete(uniqueName);
    this.#readOnly.delete(uniqueName);
  }

  async #expand(volume: ExpandedVolume): Promise<void> {
    const { client, nodeName } = this.#options;
    const { request, driver, uniqueName } = volume;
    const plan = planOf(request);
    if (!client || !plan || this.#notInUse.get(uniqueName) === plan.size)
      return;
    if (volume.readOnly) {
      if (this.#readOnly.get(uniqueName) === plan.size) return;
      this.#readOnly.set(uniqueName, plan.size);
      this.#eventOfBoth(
        request.pod,
        plan.claim,
        "Warning",
        "FileSystemResizeFailed",
        `MountVolume.NodeExpandVolume failed for volume "${plan.volumeName}" requested read-only file system`,
      );
      return;
    }
    const claims = client.resource(persistentVolumeClaims);
    let { claim } = plan;
    if (plan.recovers && stateOf(claim) !== "NodeResizeInProgress")
      claim = await claims.updateStatus(
        withState(claim, "NodeResizeInProgress"),
      );
    try {
      await driver.expand({
        ...(await volume.arguments()),
        capacity_range: {
          required_bytes: quantityValue(parseQuantity(plan.size)),
        },
      });
    } catch (error) {
      const message = `Expander.NodeExpand failed to expand the volume : ${(error as Error).message}`;
      const { code, isFinal = true } =
        error instanceof CsiCallError ? error : {};
      // The driver's error counts, whatever becomes of the claim.
      if (plan.recovers && isFinal)
        await claims
          .updateStatus(this.#failed(claim, plan, code, message))
          .catch(() => undefined);
      if (code !== grpcCodes.failedPrecondition)
        throw new Error(message, { cause: error });
      this.#notInUse.set(uniqueName, plan.size);
      return;
    }
    this.#eventOfBoth(
      request.pod,
      claim,
      "Normal",
      "FileSystemResizeSuccessful",
      `MountVolume.NodeExpandVolume succeeded for volume "${plan.volumeName}" ${nodeName}`,
    );
    await claims.updateStatus(grown(claim, plan.size));
  }

  #eventOfBoth(
    pod: Pod,
    claim: PersistentVolumeClaim,
    ...said: [type: "Normal" | "Warning", reason: string, message: string]
  ): void {
    this.#event({ ...pod, apiVersion: "v1", kind: "Pod" }, ...said);
    this.#event(
      { ...claim, apiVersion: "v1", kind: "PersistentVolumeClaim" },
      ...said,
    );
  }

  #event(
    object: object,
    type: "Normal" | "Warning",
    reason: string,
    message: string,
  ): void {
    this.#options.events?.event(object as KubeObject, type, reason, message);
  }

  /** A size that is not wanted any more, and can't be had, is given up like one that is impossible. */
  #failed(
    claim: PersistentVolumeClaim,
    { size }: Plan,
    code: number | undefined,
    message: string,
  ): PersistentVolumeClaim {
    const { conditions = [] } = claim.status ?? {};
    const known = findCondition(conditions, nodeError);
    const wanted = claim.spec?.resources?.requests?.["storage"];
    const isGivenUp =
      known?.status === "True" &&
      wanted !== undefined &&
      compareQuantities(wanted, size) !== 0;
    const condition =
      known?.status === "True"
        ? known
        : {
            type: nodeError,
            status: "True" as const,
            lastTransitionTime: formatTime(this.#options.clock.now()),
            message: `failed to expand pvc with ${message}`,
          };
    const marked = {
      ...claim,
      status: {
        ...claim.status,
        conditions: putCondition(conditions, condition),
      },
    };
    return isGivenUp || (code !== undefined && infeasible.has(code))
      ? withState(marked, "NodeResizeInfeasible")
      : marked;
  }
}

/** undefined: nothing is to be grown. */
function planOf({ claim, persistentVolume }: VolumeRequest): Plan | undefined {
  const capacity = persistentVolume?.spec?.capacity?.["storage"];
  const known = claim?.status?.capacity?.["storage"];
  if (!claim || capacity === undefined || known === undefined) return undefined;
  const state = stateOf(claim);
  const allocated = claim.status?.allocatedResources;
  const recovers = state !== undefined || allocated !== undefined;
  const size = (recovers ? allocated?.["storage"] : undefined) ?? capacity;
  const isDue = recovers
    ? state === "NodeResizePending" || state === "NodeResizeInProgress"
    : compareQuantities(size, known) > 0;
  const volumeName = persistentVolume!.metadata.name;
  return isDue ? { claim, volumeName, size, recovers } : undefined;
}

function stateOf({ status }: PersistentVolumeClaim): string | undefined {
  return status?.allocatedResourceStatuses?.["storage"];
}

function withState(
  claim: PersistentVolumeClaim,
  storage: string,
): PersistentVolumeClaim {
  const { allocatedResourceStatuses } = claim.status ?? {};
  return {
    ...claim,
    status: {
      ...claim.status,
      allocatedResourceStatuses: { ...allocatedResourceStatuses, storage },
    },
  };
}

const resizeConditions: ReadonlySet<string> = new Set([
  "Resizing",
  "FileSystemResizePending",
  "ControllerResizeError",
  nodeError,
]);

function grown(
  claim: PersistentVolumeClaim,
  storage: string,
): PersistentVolumeClaim {
  const { allocatedResourceStatuses = {}, ...rest } = claim.status ?? {};
  const { storage: _, ...others } = allocatedResourceStatuses;
  const status: PersistentVolumeClaimStatus = {
    ...rest,
    capacity: { ...rest.capacity, storage },
  };
  if (Object.keys(others).length > 0) status.allocatedResourceStatuses = others;
  if (rest.conditions)
    status.conditions = rest.conditions.filter(
      ({ type }) => !resizeConditions.has(type),
    );
  return { ...claim, status };
}
