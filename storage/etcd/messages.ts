// The part of etcd's public gRPC API (v3) that the store uses, as a wire table, and its methods.
import type { GrpcMethod } from "../../grpc/channel.ts";
import type { WireTable } from "../../grpc/wire.ts";

/** 64-bit numbers that have to be exact: leases use all 64 bits, and revisions are compared as they came. */
const int64 = "int64-text";

export const etcdMessages: WireTable = {
  ResponseHeader: [["revision", 3, int64, 0]],
  KeyValue: [
    ["key", 1, "bytes", 0],
    ["modRevision", 3, int64, 0],
    ["version", 4, int64, 0],
    ["value", 5, "bytes", 0],
    ["lease", 6, int64, 0],
  ],
  RangeRequest: [
    ["key", 1, "bytes", 0],
    ["rangeEnd", 2, "bytes", 0],
    ["limit", 3, "int64", 0],
    ["revision", 4, "int64", 0],
    ["countOnly", 9, "bool", 0],
  ],
  RangeResponse: [
    ["header", 1, "ResponseHeader", 0],
    ["kvs", 2, "KeyValue", 1],
    ["more", 3, "bool", 0],
  ],
  PutRequest: [
    ["key", 1, "bytes", 0],
    ["value", 2, "bytes", 0],
    ["lease", 3, int64, 0],
  ],
  PutResponse: [["header", 1, "ResponseHeader", 0]],
  DeleteRangeRequest: [["key", 1, "bytes", 0]],
  DeleteRangeResponse: [
    ["header", 1, "ResponseHeader", 0],
    ["deleted", 2, int64, 0],
  ],
  // One of them.
  RequestOp: [
    ["requestRange", 1, "RangeRequest", 0],
    ["requestPut", 2, "PutRequest", 0],
    ["requestDeleteRange", 3, "DeleteRangeRequest", 0],
  ],
  // One of them.
  ResponseOp: [
    ["responseRange", 1, "RangeResponse", 0],
    ["responsePut", 2, "PutResponse", 0],
    ["responseDeleteRange", 3, "DeleteRangeResponse", 0],
  ],
  // result: 0 equal, 1 greater; target: 0 version, 2 revision of the last change. Etcd reads an absent number as 0.
  Compare: [
    ["result", 1, "int32", 0],
    ["target", 2, "int32", 0],
    ["key", 3, "bytes", 0],
    ["version", 4, int64, 0],
    ["modRevision", 6, "int64", 0],
  ],
  TxnRequest: [
    ["compare", 1, "Compare", 1],
    ["success", 2, "RequestOp", 1],
    ["failure", 3, "RequestOp", 1],
  ],
  TxnResponse: [
    ["header", 1, "ResponseHeader", 0],
    ["succeeded", 2, "bool", 0],
    ["responses", 3, "ResponseOp", 1],
  ],
  CompactionRequest: [["revision", 1, "int64", 0]],
  CompactionResponse: [["header", 1, "ResponseHeader", 0]],
  // type: 0 put, 1 delete.
  Event: [
    ["type", 1, "int32", 0],
    ["kv", 2, "KeyValue", 0],
  ],
  WatchCreateRequest: [
    ["key", 1, "bytes", 0],
    ["rangeEnd", 2, "bytes", 0],
    ["startRevision", 3, "int64", 0],
    ["progressNotify", 4, "bool", 0],
  ],
  WatchRequest: [["createRequest", 1, "WatchCreateRequest", 0]],
  WatchResponse: [
    ["header", 1, "ResponseHeader", 0],
    ["created", 3, "bool", 0],
    ["canceled", 4, "bool", 0],
    ["compactRevision", 5, int64, 0],
    ["cancelReason", 6, "string", 0],
    ["events", 11, "Event", 1],
  ],
  LeaseGrantRequest: [["TTL", 1, "int64", 0]],
  LeaseGrantResponse: [
    ["header", 1, "ResponseHeader", 0],
    ["ID", 2, int64, 0],
  ],
  StatusRequest: [],
  StatusResponse: [
    ["header", 1, "ResponseHeader", 0],
    ["version", 2, "string", 0],
    ["dbSize", 3, "int64", 0],
  ],
};

const method = (path: string, name: string, response = name): GrpcMethod => ({
  path: `/etcdserverpb.${path}`,
  request: `${name}Request`,
  response: `${response}Response`,
});

export const methods = {
  range: method("KV/Range", "Range"),
  txn: method("KV/Txn", "Txn"),
  compact: method("KV/Compact", "Compaction"),
  watch: method("Watch/Watch", "Watch"),
  leaseGrant: method("Lease/LeaseGrant", "LeaseGrant"),
  status: method("Maintenance/Status", "Status"),
} as const;

/** 64-bit numbers arrive as text: leases do not fit a number. */
export interface KeyValue {
  readonly key: Buffer;
  readonly modRevision: string;
  readonly version: string;
  readonly value: Buffer;
}

export interface RangeResponse {
  readonly header: { revision: string };
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
}

export interface StatusResponse {
  readonly dbSize: number;
}

export interface TxnResponse {
  readonly header: { revision: string };
  readonly succeeded: boolean;
  readonly responses: readonly {
    responseRange?: RangeResponse;
    responseDeleteRange?: { deleted: string };
  }[];
}

export interface WatchResponse {
  readonly header: { revision: string };
  readonly created: boolean;
  readonly canceled: boolean;
  readonly compactRevision: string;
  readonly cancelReason: string;
  readonly events: readonly { type: number; kv: KeyValue }[];
}
