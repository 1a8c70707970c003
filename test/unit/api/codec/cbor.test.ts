import {
  cborListParts,
  decodeCbor,
  encodeCbor,
  encodeCborEvent,
  parseCbor,
} from "../../../../api/codec/cbor.ts";
import { ApiError } from "../../../../api/errors.ts";
import { schemaFor } from "../../../../api/schema.ts";
import { CborSequenceDecoder } from "../../../support/stream-decoders.ts";

const pod = schemaFor("", "v1", "Pod")!;
const value = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "a", generation: 5_000_000_000, labels: { é: "ü" } },
  list: [
    0,
    -1,
    23,
    24,
    255,
    256,
    65536,
    -500,
    1.5,
    true,
    false,
    null,
    "",
    [],
    {},
  ],
};

test("round trip", () => {
  expect(parseCbor(encodeCbor(value)).value).toEqual(value);
});

test("strings and bytes as the reference writes them, numbers in their shortest form", () => {
  const secret = {
    data: { a: "AAECAw==" },
    apiVersion: "v1",
    kind: "Secret",
    other: [1.5, 0.1, 1e20, 3.4028234663852886e38, -0.5, 65504, 2 ** -24],
  };
  const hex = (text: string): string => Buffer.from(text).toString("hex");
  expect(encodeCbor(secret).toString("hex")).toBe(
    [
      `d9d9f7a444${hex("kind")}46${hex("Secret")}4a${hex("apiVersion")}42${hex("v1")}`,
      `44${hex("data")}a14161d64400010203`,
      `45${hex("other")}87f93e00fb3fb999999999999afb4415af1d78b58c40`,
      "fa7f7ffffff9b80019ffe0f90001",
    ].join(""),
  );
  expect(parseCbor(encodeCbor(secret)).value).toEqual(secret);
});

test("items of lists leave out what they are", () => {
  const item = encodeCbor({ kind: "Pod", apiVersion: "v1", metadata: {} });
  const list = Buffer.concat([
    ...cborListParts("v1", "PodList", {}, 2, [item, item]),
  ] as Uint8Array[]);
  expect(parseCbor(list).value).toEqual({
    kind: "PodList",
    apiVersion: "v1",
    metadata: {},
    items: [{ metadata: {} }, { metadata: {} }],
  });
});

test.each([
  ["byte strings as keys and values", "a14161426162", { a: "ab" }],
  ["bytes for base64", "a16161d6426869", { a: "aGk=" }],
  [
    "indefinite lengths",
    "bf61619f0102ff61627f61786179ffff",
    { a: [1, 2], b: "xy" },
  ],
  ["half float", "a16161f93e00", { a: 1.5 }],
  ["time", "a16161c1 1a514b67b0", { a: "2013-03-21T20:04:00Z" }],
  ["prototype key", "a1695f5f70726f746f5f5f01", JSON.parse('{"__proto__":1}')],
])("reads %s", (_name, hex, expected) => {
  expect(parseCbor(Buffer.from(hex.replaceAll(" ", ""), "hex")).value).toEqual(
    expected,
  );
});

test("strict decoding", () => {
  const body = encodeCbor({ metadata: { name: "x", nmae: 1 } });
  const { object, problems } = decodeCbor(body, pod);
  expect(problems).toEqual(['unknown field "metadata.nmae"']);
  expect(object).toMatchObject({ metadata: { name: "x" } });
  expect(
    decodeCbor(Buffer.from("a2646b696e646161646b696e646162", "hex"), pod)
      .problems,
  ).toEqual(['duplicate field "kind"']);
});

test("lists and sequences", () => {
  const items = [{ metadata: { name: "a" } }, { metadata: { name: "b" } }];
  const bytes = Buffer.concat([
    ...cborListParts(
      "v1",
      "PodList",
      { resourceVersion: "1" },
      items.length,
      items.map(encodeCbor),
    ),
  ] as Uint8Array[]);
  expect(parseCbor(bytes).value).toEqual({
    apiVersion: "v1",
    kind: "PodList",
    metadata: { resourceVersion: "1" },
    items,
  });
  const decoder = new CborSequenceDecoder();
  const stream = Buffer.concat([
    encodeCborEvent("ADDED", encodeCbor(items[0])),
    encodeCborEvent("DELETED", encodeCbor(items[1])),
  ]);
  const events = [...stream].flatMap((byte) =>
    decoder.push(Uint8Array.of(byte)),
  );
  expect(events).toEqual([
    { type: "ADDED", object: items[0] },
    { type: "DELETED", object: items[1] },
  ]);
});

test.each([
  ["empty", ""],
  ["truncated", "a1616"],
  ["trailing bytes", "a000"],
  ["huge array", "9b00000000ffffffff"],
  ["huge string", "7b00ffffffffffffff"],
  ["huge map", "bb00ffffffffffffff"],
  ["cyclic reference tags", "d81c81d81d00"],
  ["NaN", "a16161f97e00"],
  ["number as key", "a10102"],
  ["lone break", "ff"],
  ["invalid UTF-8", "a1616161ff"],
  ["deep", "81".repeat(5000)],
  ["a list", "80"],
])("bad input is a 400: %s", (_name, hex) => {
  expect(() => decodeCbor(Buffer.from(hex, "hex"), pod)).toThrow(ApiError);
});
