// The part of etcd's public gRPC API (v3) that the store uses, as protobuf definitions, and its methods.
import type { INamespace } from "protobufjs";

type FieldTuple = readonly [
  name: string,
  id: number,
  type: string,
  rule?: "repeated",
];

function message(
  fields: readonly FieldTuple[],
  oneof?: readonly string[],
): object {
  return {
    fields: Object.fromEntries(
      fields.map(([name, id, type, rule]) => [
        name,
        { id, type, ...(rule ? { rule } : {}) },
      ]),
    ),
    ...(oneof ? { oneofs: { choice: { oneof } } } : {}),
  };
}

const header: FieldTuple = ["header", 1, "ResponseHeader"];

export const etcdMessages = {
  nested: {
    ResponseHeader: message([["revision", 3, "int64"]]),
    KeyValue: message([
      ["key", 1, "bytes"],
      ["modRevision", 3, "int64"],
      ["version", 4, "int64"],
      ["value", 5, "bytes"],
      ["lease", 6, "int64"],
    ]),
    RangeRequest: message([
      ["key", 1, "bytes"],
      ["rangeEnd", 2, "bytes"],
      ["limit", 3, "int64"],
      ["revision", 4, "int64"],
      ["countOnly", 9, "bool"],
    ]),
    RangeResponse: message([
      header,
      ["kvs", 2, "KeyValue", "repeated"],
      ["more", 3, "bool"],
    ]),
    PutRequest: message([
      ["key", 1, "bytes"],
      ["value", 2, "bytes"],
      ["lease", 3, "int64"],
    ]),
    PutResponse: message([header]),
    DeleteRangeRequest: message([["key", 1, "bytes"]]),
    DeleteRangeResponse: message([header, ["deleted", 2, "int64"]]),
    RequestOp: message(
      [
        ["requestRange", 1, "RangeRequest"],
        ["requestPut", 2, "PutRequest"],
        ["requestDeleteRange", 3, "DeleteRangeRequest"],
      ],
      ["requestRange", "requestPut", "requestDeleteRange"],
    ),
    ResponseOp: message(
      [
        ["responseRange", 1, "RangeResponse"],
        ["responsePut", 2, "PutResponse"],
        ["responseDeleteRange", 3, "DeleteRangeResponse"],
      ],
      ["responseRange", "responsePut", "responseDeleteRange"],
    ),
    // result: 0 equal, 1 greater; target: 0 version, 2 revision of the last change.
    Compare: message(
      [
        ["result", 1, "int32"],
        ["target", 2, "int32"],
        ["key", 3, "bytes"],
        ["version", 4, "int64"],
        ["modRevision", 6, "int64"],
      ],
      ["version", "modRevision"],
    ),
    TxnRequest: message([
      ["compare", 1, "Compare", "repeated"],
      ["success", 2, "RequestOp", "repeated"],
      ["failure", 3, "RequestOp", "repeated"],
    ]),
    TxnResponse: message([
      header,
      ["succeeded", 2, "bool"],
      ["responses", 3, "ResponseOp", "repeated"],
    ]),
    CompactionRequest: message([["revision", 1, "int64"]]),
    CompactionResponse: message([header]),
    // type: 0 put, 1 delete.
    Event: message([
      ["type", 1, "int32"],
      ["kv", 2, "KeyValue"],
    ]),
    WatchCreateRequest: message([
      ["key", 1, "bytes"],
      ["rangeEnd", 2, "bytes"],
      ["startRevision", 3, "int64"],
      ["progressNotify", 4, "bool"],
    ]),
    WatchRequest: message(
      [["createRequest", 1, "WatchCreateRequest"]],
      ["createRequest"],
    ),
    WatchResponse: message([
      header,
      ["created", 3, "bool"],
      ["canceled", 4, "bool"],
      ["compactRevision", 5, "int64"],
      ["cancelReason", 6, "string"],
      ["events", 11, "Event", "repeated"],
    ]),
    LeaseGrantRequest: message([["TTL", 1, "int64"]]),
    LeaseGrantResponse: message([header, ["ID", 2, "int64"]]),
    StatusRequest: message([]),
    StatusResponse: message([
      header,
      ["version", 2, "string"],
      ["dbSize", 3, "int64"],
    ]),
  },
} as unknown as INamespace;

export interface Method {
  readonly path: string;
  readonly request: string;
  readonly response: string;
}

const method = (path: string, name: string, response = name): Method => ({
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
  readonly dbSize: string;
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
