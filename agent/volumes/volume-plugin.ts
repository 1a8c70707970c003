// The contract of a type of volumes. One file a type implements it, plugins.ts lists them; the volume manager does the
// rest: when to mount and to refresh, fsGroup, subPaths, removal of what lies in the pod's directory.
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  Volume,
} from "../../api/types/core-v1.ts";

type FieldOf<T, Field> = Field extends keyof T ? T[Field] : never;

/** A Volume of a pod and the spec of a PersistentVolume name their types by the same fields. */
export type VolumeSource = {
  readonly [
    Field in Exclude<keyof Volume, "name"> | keyof PersistentVolumeSpec
  ]?: FieldOf<Volume, Field> | FieldOf<PersistentVolumeSpec, Field>;
};

export interface VolumeRequest {
  readonly pod: Pod;
  /** Of the volume in its pod. */
  readonly name: string;
  readonly source: VolumeSource;
  /** When a claim of the pod is bound to it; `source` is its spec. */
  readonly persistentVolume?: PersistentVolume;
  readonly claim?: PersistentVolumeClaim;
  /** The pod asks for its claim read-only. */
  readonly readOnly?: boolean;
  /** An agent has set it up for this pod before: what is there has the rights that its containers gave it. */
  readonly isSetUp?: boolean;
}

/** A failure of another step than setting the volume up, or of a volume that events name otherwise than its pod does. */
export class VolumeFailure extends Error {
  constructor(
    readonly step: string,
    readonly volume: string,
    message: string,
  ) {
    super(message);
  }
}

/** Others have to do something first, such as to attach the volume: no failure yet, and soon to be asked again. */
export class VolumePending extends Error {}

/** What a volume has and uses, as /stats/summary shows it; what is absent is not known. */
export interface VolumeUsage {
  readonly availableBytes?: number;
  readonly capacityBytes?: number;
  readonly usedBytes?: number;
  readonly inodesFree?: number;
  readonly inodes?: number;
  readonly inodesUsed?: number;
  /** As a driver reports it, with the gate CSIVolumeHealth. */
  readonly condition?: {
    readonly abnormal: boolean;
    readonly message: string;
  };
}

/** By reading the directory, by asking its file system, which may be another machine's, or the type's own way. */
type UsageSource =
  | "directory"
  | "file-system"
  | "remote-file-system"
  | (() => Promise<VolumeUsage | undefined>);

export interface MountedVolume {
  /** On the host. */
  readonly path: string;
  /** The directory of the node's that is bound at `path`, and that pods may share. */
  readonly origin?: string;
  readonly readOnly: boolean;
  /** A block device of a volumeMode Block: containers get it as a device, not as a mount. */
  readonly device?: true;
  /** The runtime mounts an image in its place: there is no path. */
  readonly image?: true;
  /** The agent writes its files, no container does: places for mounts below it have to be made for the runtime. */
  readonly written?: true;
  /** How it is found out what the volume uses; absent: it is not. */
  readonly usage?: UsageSource;
  /** It was made or mounted by this call, though it may have been set up before. */
  readonly isNew?: boolean;
  /** What the manager does for the pod's fsGroup; absent: the volume's owner stays, or the type sees to it itself. */
  readonly fsGroup?: "always" | "by-policy";
  /** The group that its administrator gave it: the pod's containers are in it. */
  readonly groupId?: number;
}

export interface VolumePlugin {
  /** The field of the source that asks for this type. */
  readonly field: keyof VolumeSource;
  /** Which objects may have the field: a pod, a PersistentVolume, or both. */
  readonly serves: readonly ("pod" | "persistent")[];
  /**
   * Makes the volume ready. Idempotent: an agent that was restarted calls it for what its predecessor mounted, and gets
   * what is there. Rejects with the text for the FailedMount event, or with VolumePending, which is none.
   */
  mount(request: VolumeRequest): Promise<MountedVolume>;
  /** Brings content that follows the API up to date. Absent: a mounted volume never changes. */
  refresh?(request: VolumeRequest): Promise<void>;
  /**
   * Ends what the type has of a pod beside mounts and files in the pod's own directory, which the manager removes
   * afterwards. Idempotent; only the uid is known: the agent may have been restarted, the pod's object gone.
   */
  unmount?(uid: string): Promise<void>;
  /** Ends what the type keeps for the node as a whole and no pod uses, after a pod's volumes are gone. Idempotent. */
  released?(): Promise<void>;
}

export function servedBy(
  plugins: readonly VolumePlugin[],
  source: VolumeSource,
  where: "pod" | "persistent",
): VolumePlugin | undefined {
  return plugins.find(
    ({ field, serves }) =>
      serves.includes(where) && source[field] !== undefined,
  );
}
