// Wire tables of the containerd services beside CRI that are used here: events, content, images, leases, tasks.
// Field numbers are containerd's public API v1; fields never read or written are left out.
import type { GrpcMethod } from "../../grpc/channel.ts";
import type { WireTable } from "../../grpc/wire.ts";

export const containerdMessages: WireTable = {
  Any: [
    ["type_url", 1, "string", 0],
    ["value", 2, "bytes", 0],
  ],
  Timestamp: [
    ["seconds", 1, "int64", 0],
    ["nanos", 2, "int32", 0],
  ],
  Empty: [],
  // containerd.services.events.v1
  SubscribeRequest: [["filters", 1, "string", 1]],
  Envelope: [
    ["timestamp", 1, "Timestamp", 0],
    ["namespace", 2, "string", 0],
    ["topic", 3, "string", 0],
    ["event", 4, "Any", 0],
  ],
  // containerd.events
  TaskCreate: [["container_id", 1, "string", 0]],
  TaskStart: [["container_id", 1, "string", 0]],
  TaskExit: [
    ["container_id", 1, "string", 0],
    ["id", 2, "string", 0],
    ["exit_status", 4, "uint32", 0],
  ],
  TaskOOM: [["container_id", 1, "string", 0]],
  ContainerCreate: [["id", 1, "string", 0]],
  ContainerDelete: [["id", 1, "string", 0]],
  ImageEvent: [["name", 1, "string", 0]],
  // containerd.services.content.v1
  WriteContentRequest: [
    ["action", 1, "int32", 0],
    ["ref", 2, "string", 0],
    ["total", 3, "int64", 0],
    ["expected", 4, "string", 0],
    ["offset", 5, "int64", 0],
    ["data", 6, "bytes", 0],
    ["labels", 7, "string", 2],
  ],
  WriteContentResponse: [
    ["action", 1, "int32", 0],
    ["offset", 4, "int64", 0],
    ["total", 5, "int64", 0],
    ["digest", 6, "string", 0],
  ],
  ContentInfo: [
    ["digest", 1, "string", 0],
    ["size", 2, "int64", 0],
    ["labels", 5, "string", 2],
  ],
  FieldMask: [["paths", 1, "string", 1]],
  UpdateContentRequest: [
    ["info", 1, "ContentInfo", 0],
    ["update_mask", 2, "FieldMask", 0],
  ],
  UpdateContentResponse: [["info", 1, "ContentInfo", 0]],
  AbortRequest: [["ref", 1, "string", 0]],
  InfoRequest: [["digest", 1, "string", 0]],
  InfoResponse: [["info", 1, "ContentInfo", 0]],
  ReadContentRequest: [["digest", 1, "string", 0]],
  ReadContentResponse: [
    ["offset", 1, "int64", 0],
    ["data", 2, "bytes", 0],
  ],
  ListStatusesRequest: [["filters", 1, "string", 1]],
  IngestStatus: [
    ["ref", 3, "string", 0],
    ["offset", 4, "int64", 0],
    ["total", 5, "int64", 0],
  ],
  ListStatusesResponse: [["statuses", 1, "IngestStatus", 1]],
  // containerd.types and containerd.services.images.v1
  Descriptor: [
    ["media_type", 1, "string", 0],
    ["digest", 2, "string", 0],
    ["size", 3, "int64", 0],
    ["annotations", 5, "string", 2],
  ],
  StoredImage: [
    ["name", 1, "string", 0],
    ["labels", 2, "string", 2],
    ["target", 3, "Descriptor", 0],
  ],
  CreateImageRequest: [["image", 1, "StoredImage", 0]],
  CreateImageResponse: [["image", 1, "StoredImage", 0]],
  UpdateImageRequest: [
    ["image", 1, "StoredImage", 0],
    ["update_mask", 2, "FieldMask", 0],
  ],
  UpdateImageResponse: [["image", 1, "StoredImage", 0]],
  GetImageRequest: [["name", 1, "string", 0]],
  GetImageResponse: [["image", 1, "StoredImage", 0]],
  ListStoredImagesRequest: [["filters", 1, "string", 1]],
  ListStoredImagesResponse: [["images", 1, "StoredImage", 1]],
  // containerd.services.leases.v1
  CreateLeaseRequest: [
    ["id", 1, "string", 0],
    ["labels", 3, "string", 2],
  ],
  DeleteLeaseRequest: [
    ["id", 1, "string", 0],
    ["sync", 2, "bool", 0],
  ],
  // containerd.services.tasks.v1
  KillTaskRequest: [
    ["container_id", 1, "string", 0],
    ["signal", 3, "uint32", 0],
    ["all", 4, "bool", 0],
  ],
  WaitTaskRequest: [["container_id", 1, "string", 0]],
  DeleteTaskRequest: [["container_id", 1, "string", 0]],
};

/** A download, or an import. */
export interface IngestStatus {
  ref: string;
  offset: number;
  /** 0: not known. */
  total: number;
}

interface Descriptor {
  media_type: string;
  digest: string;
  size: number;
}

export interface StoredImage {
  name: string;
  labels: Record<string, string>;
  target?: Descriptor;
}

function method(
  service: string,
  call: string,
  request: string,
  response: string,
): GrpcMethod {
  return { path: `/containerd.services.${service}/${call}`, request, response };
}

export const containerdMethods = {
  subscribe: method(
    "events.v1.Events",
    "Subscribe",
    "SubscribeRequest",
    "Envelope",
  ),
  writeContent: method(
    "content.v1.Content",
    "Write",
    "WriteContentRequest",
    "WriteContentResponse",
  ),
  updateContent: method(
    "content.v1.Content",
    "Update",
    "UpdateContentRequest",
    "UpdateContentResponse",
  ),
  abortContent: method("content.v1.Content", "Abort", "AbortRequest", "Empty"),
  contentInfo: method(
    "content.v1.Content",
    "Info",
    "InfoRequest",
    "InfoResponse",
  ),
  readContent: method(
    "content.v1.Content",
    "Read",
    "ReadContentRequest",
    "ReadContentResponse",
  ),
  ingestStatuses: method(
    "content.v1.Content",
    "ListStatuses",
    "ListStatusesRequest",
    "ListStatusesResponse",
  ),
  getImage: method(
    "images.v1.Images",
    "Get",
    "GetImageRequest",
    "GetImageResponse",
  ),
  createImage: method(
    "images.v1.Images",
    "Create",
    "CreateImageRequest",
    "CreateImageResponse",
  ),
  updateImage: method(
    "images.v1.Images",
    "Update",
    "UpdateImageRequest",
    "UpdateImageResponse",
  ),
  listImages: method(
    "images.v1.Images",
    "List",
    "ListStoredImagesRequest",
    "ListStoredImagesResponse",
  ),
  createLease: method(
    "leases.v1.Leases",
    "Create",
    "CreateLeaseRequest",
    "Empty",
  ),
  deleteLease: method(
    "leases.v1.Leases",
    "Delete",
    "DeleteLeaseRequest",
    "Empty",
  ),
  killTask: method("tasks.v1.Tasks", "Kill", "KillTaskRequest", "Empty"),
  waitTask: method("tasks.v1.Tasks", "Wait", "WaitTaskRequest", "Empty"),
  deleteTask: method("tasks.v1.Tasks", "Delete", "DeleteTaskRequest", "Empty"),
} as const;
