// The calls of CSI v1 that a node makes of a driver: message tables by field numbers of the specification, methods, and
// the shapes of what is sent and answered.
import type { GrpcMethod } from "../../../grpc/channel.ts";
import type { WireTable } from "../../../grpc/wire.ts";

export const csiMessages: WireTable = {
  Empty: [],
  MountVolume: [
    ["fs_type", 1, "string", 0],
    ["mount_flags", 2, "string", 1],
    ["volume_mount_group", 3, "string", 0],
  ],
  BlockVolume: [],
  AccessMode: [["mode", 1, "int32", 0]],
  VolumeCapability: [
    ["block", 1, "BlockVolume", 0],
    ["mount", 2, "MountVolume", 0],
    ["access_mode", 3, "AccessMode", 0],
  ],
  Topology: [["segments", 1, "string", 2]],
  NodeGetInfoResponse: [
    ["node_id", 1, "string", 0],
    ["max_volumes_per_node", 2, "int64", 0],
    ["accessible_topology", 3, "Topology", 0],
  ],
  Rpc: [["type", 1, "int32", 0]],
  NodeCapability: [["rpc", 1, "Rpc", 0]],
  NodeGetCapabilitiesResponse: [["capabilities", 1, "NodeCapability", 1]],
  NodeStageVolumeRequest: [
    ["volume_id", 1, "string", 0],
    ["publish_context", 2, "string", 2],
    ["staging_target_path", 3, "string", 0],
    ["volume_capability", 4, "VolumeCapability", 0],
    ["secrets", 5, "string", 2],
    ["volume_context", 6, "string", 2],
  ],
  NodeUnstageVolumeRequest: [
    ["volume_id", 1, "string", 0],
    ["staging_target_path", 2, "string", 0],
  ],
  NodePublishVolumeRequest: [
    ["volume_id", 1, "string", 0],
    ["publish_context", 2, "string", 2],
    ["staging_target_path", 3, "string", 0],
    ["target_path", 4, "string", 0],
    ["volume_capability", 5, "VolumeCapability", 0],
    ["readonly", 6, "bool", 0],
    ["secrets", 7, "string", 2],
    ["volume_context", 8, "string", 2],
  ],
  NodeUnpublishVolumeRequest: [
    ["volume_id", 1, "string", 0],
    ["target_path", 2, "string", 0],
  ],
  CapacityRange: [
    ["required_bytes", 1, "int64", 0],
    ["limit_bytes", 2, "int64", 0],
  ],
  NodeExpandVolumeRequest: [
    ["volume_id", 1, "string", 0],
    ["volume_path", 2, "string", 0],
    ["capacity_range", 3, "CapacityRange", 0],
    ["staging_target_path", 4, "string", 0],
    ["volume_capability", 5, "VolumeCapability", 0],
    ["secrets", 6, "string", 2],
  ],
  NodeExpandVolumeResponse: [["capacity_bytes", 1, "int64", 0]],
  NodeGetVolumeStatsRequest: [
    ["volume_id", 1, "string", 0],
    ["volume_path", 2, "string", 0],
    ["staging_target_path", 3, "string", 0],
  ],
  VolumeUsage: [
    ["available", 1, "int64", 0],
    ["total", 2, "int64", 0],
    ["used", 3, "int64", 0],
    ["unit", 4, "int32", 0],
  ],
  VolumeCondition: [
    ["abnormal", 1, "bool", 0],
    ["message", 2, "string", 0],
  ],
  NodeGetVolumeStatsResponse: [
    ["usage", 1, "VolumeUsage", 1],
    ["volume_condition", 2, "VolumeCondition", 0],
  ],
};

const method = (
  name: string,
  request = `${name}Request`,
  response = "Empty",
): GrpcMethod => ({ path: `/csi.v1.Node/${name}`, request, response });

export const csiMethods = {
  info: method("NodeGetInfo", "Empty", "NodeGetInfoResponse"),
  capabilities: method(
    "NodeGetCapabilities",
    "Empty",
    "NodeGetCapabilitiesResponse",
  ),
  stage: method("NodeStageVolume"),
  unstage: method("NodeUnstageVolume"),
  publish: method("NodePublishVolume"),
  unpublish: method("NodeUnpublishVolume"),
  expand: method(
    "NodeExpandVolume",
    "NodeExpandVolumeRequest",
    "NodeExpandVolumeResponse",
  ),
  stats: method(
    "NodeGetVolumeStats",
    "NodeGetVolumeStatsRequest",
    "NodeGetVolumeStatsResponse",
  ),
} as const;

export const nodeCapability = {
  stageUnstage: 1,
  volumeStats: 2,
  expand: 3,
  condition: 4,
  singleNodeMultiWriter: 5,
  mountGroup: 6,
} as const;

export const usageUnit = { bytes: 1, inodes: 2 } as const;

export interface VolumeCapability {
  readonly block?: object;
  readonly mount?: {
    readonly fs_type: string;
    readonly mount_flags: readonly string[];
    readonly volume_mount_group: string;
  };
  readonly access_mode: { readonly mode: number };
}

type Texts = Readonly<Record<string, string>>;

export interface StageRequest {
  readonly volume_id: string;
  readonly publish_context: Texts;
  readonly staging_target_path: string;
  readonly volume_capability: VolumeCapability;
  readonly secrets: Texts;
  readonly volume_context: Texts;
}

export interface PublishRequest extends StageRequest {
  readonly target_path: string;
  readonly readonly: boolean;
}

export interface ExpandRequest {
  readonly volume_id: string;
  readonly volume_path: string;
  readonly capacity_range: { readonly required_bytes: number };
  readonly staging_target_path: string;
  readonly volume_capability: VolumeCapability;
  readonly secrets: Texts;
}

export interface NodeInfoAnswer {
  readonly node_id: string;
  readonly max_volumes_per_node: number;
  readonly accessible_topology?: { readonly segments: Texts };
}

export interface StatsAnswer {
  readonly usage: readonly {
    readonly available: number;
    readonly total: number;
    readonly used: number;
    /** 1: bytes, 2: inodes. */
    readonly unit: number;
  }[];
  readonly volume_condition?: {
    readonly abnormal: boolean;
    readonly message: string;
  };
}

/** The number of a claim's access mode, for drivers that separate the writers of one node and for those that do not. */
export function accessModeNumber(
  mode: string | undefined,
  separatesWriters: boolean,
): number {
  switch (mode) {
    case "ReadOnlyMany":
      return 3;
    case "ReadWriteMany":
      return 5;
    case "ReadWriteOncePod":
      return separatesWriters ? 6 : 1;
    default:
      return separatesWriters ? 7 : 1;
  }
}
