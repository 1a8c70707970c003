// Protobuf by table: known bytes, defaults, maps, packed lists, unknown fields, and bytes nobody should send.
import * as protobuf from "protobufjs";
import {
  createBoundedWireCodec,
  MalformedMessage,
  createWireCodec,
  type WireTable,
} from "../../../grpc/wire.ts";
import criTable from "../../../cri/containerd/cri-v1.json";
import { containerdMessages } from "../../../cri/containerd/services.ts";
import { etcdMessages } from "../../../storage/etcd/messages.ts";

const table: WireTable = {
  Inner: [["value", 1, "int64", 0]],
  M: [
    ["name", 1, "string", 0],
    ["count", 2, "int32", 0],
    ["flag", 3, "bool", 0],
    ["numbers", 4, "int64", 1],
    ["inner", 5, "Inner", 0],
    ["list", 6, "Inner", 1],
    ["labels", 7, "string", 2],
    ["bytes", 8, "bytes", 0],
    ["big", 9, "uint64", 0],
    ["exact", 10, "int64-text", 0],
  ],
};
const codec = createWireCodec(table);
const empty = {
  name: "",
  count: 0,
  flag: false,
  numbers: [],
  list: [],
  labels: {},
  bytes: Buffer.alloc(0),
  big: 0,
  exact: "0",
};

test.each([
  [{ name: "a" }, "0a0161"],
  [{ count: -1 }, "10ffffffffffffffffff01"],
  [{ numbers: [1, 300] }, "220301ac02"],
  [{ inner: {} }, "2a00"],
  [{ inner: { value: 5 } }, "2a020805"],
  [{ list: [{ value: 1 }, {}] }, "320208013200"],
  [{ labels: { k: "v" } }, "3a060a016b120176"],
  [{ exact: "-9223372036854775808" }, "5080808080808080808001"],
  [{ exact: "7587889262183000001" }, "50c1cfac9bcea2e6a669"],
  [{ count: 0, name: "", flag: false }, ""],
])("%j is %s and back", (value, hex) => {
  expect(codec.encode("M", value).toString("hex")).toBe(hex);
  const decoded = codec.decode("M", Buffer.from(hex, "hex"));
  const withDefaults = { ...empty, ...value } as Record<string, unknown>;
  if ("inner" in value) withDefaults["inner"] = { value: 0, ...value.inner };
  if ("list" in value)
    withDefaults["list"] = value.list!.map((item) => ({ value: 0, ...item }));
  expect(decoded).toEqual(withDefaults);
});

test("unknown fields are skipped, unpacked lists are read", () => {
  expect(
    codec.decode(
      "M",
      Buffer.from("f80101" + "2001" + "2002" + "0a0161", "hex"),
    ),
  ).toEqual({ ...empty, name: "a", numbers: [1, 2] });
});

test("a map key can't reach the prototype", () => {
  const bytes = codec.encode("M", {
    labels: JSON.parse('{"__proto__": "x"}') as object,
  });
  const { labels } = codec.decode("M", bytes) as {
    labels: Record<string, string>;
  };
  expect(Object.keys(labels)).toEqual(["__proto__"]);
  expect(Object.getPrototypeOf(labels)).toBe(Object.prototype);
});

test.each(["0a05", "0aff", "2aff01", "ff", "3a7f0a", "0a80808080808080808080"])(
  "malformed %s throws",
  (hex) => {
    expect(() => codec.decode("M", Buffer.from(hex, "hex"))).toThrow(
      MalformedMessage,
    );
  },
);

test.each([
  ["empty messages of a list", "3200"],
  ["entries of a map", "3a00"],
  ["empty texts", "0a00"],
  ["unknown fields", "7800"],
])("an untrusted peer's million %s are refused", (_what, hex) => {
  const bounded = createBoundedWireCodec(1000, table);
  const field = Buffer.from(hex, "hex");
  expect(() =>
    bounded.decode("M", Buffer.alloc(field.length * 1_000_000, field)),
  ).toThrow("message has more than 1000 fields");
});

test("the bound of an untrusted peer's message counts what is nested and packed, for each message anew", () => {
  const bounded = createBoundedWireCodec(6, table);
  const fits = Buffer.from("32020801" + "220301ac02", "hex");
  const packed = Buffer.from("2207" + "01".repeat(7), "hex");
  const nested = Buffer.from("320c" + "0801".repeat(6), "hex");
  for (let times = 0; times < 3; times++)
    expect(bounded.decode("M", fits)["numbers"]).toEqual([1, 300]);
  expect(() => bounded.decode("M", packed)).toThrow("more than 6 fields");
  expect(() => bounded.decode("M", nested)).toThrow("more than 6 fields");
});

test("every message of the committed tables is complete", () => {
  const all = {
    ...(criTable.messages as unknown as WireTable),
    ...containerdMessages,
    ...etcdMessages,
  };
  const scalars = new Set([
    "string",
    "bytes",
    "bool",
    "int32",
    "int64",
    "int64-text",
    "uint32",
    "uint64",
    "double",
  ]);
  for (const [message, rows] of Object.entries(all)) {
    for (const [field, , type] of rows)
      expect([message, field, scalars.has(type) || type in all]).toEqual([
        message,
        field,
        true,
      ]);
    expect(new Set(rows.map(([, number]) => number)).size).toBe(rows.length);
  }
});

test("agrees with protobufjs's own codec on a CRI message", () => {
  const root = protobuf.Root.fromJSON({
    nested: {
      Id: { fields: { value: { type: "int64", id: 1 } } },
      Metadata: {
        fields: {
          name: { type: "string", id: 1 },
          uid: { type: "string", id: 2 },
          namespace: { type: "string", id: 3 },
          attempt: { type: "uint32", id: 4 },
        },
      },
      Sandbox: {
        fields: {
          id: { type: "string", id: 1 },
          metadata: { type: "Metadata", id: 2 },
          state: { type: "int32", id: 3 },
          created_at: { type: "int64", id: 4 },
          labels: {
            keyType: "string",
            type: "string",
            id: 5,
          } as protobuf.IMapField,
        },
      },
    },
  });
  const type = root.lookupType("Sandbox");
  const value = {
    id: "abc",
    metadata: { name: "n", uid: "u", namespace: "ns", attempt: 3 },
    state: 1,
    created_at: 1_700_000_000_000_000_000,
    labels: { a: "1", b: "2" },
  };
  const cri = createWireCodec(criTable.messages as unknown as WireTable);
  expect(cri.encode("PodSandbox", value)).toEqual(
    Buffer.from(type.encode(type.fromObject(value)).finish()),
  );
});
