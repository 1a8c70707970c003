import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeJson } from "../../../../api/codec/json.ts";
import {
  decodeProtobuf,
  encodeProtobuf,
  encodeWatchFrame,
  listItem,
  protobufListParts,
} from "../../../../api/codec/protobuf.ts";
import { encoderOf } from "../../../../api/codec/protobuf-encode.ts";
import { decoderOf } from "../../../../api/codec/protobuf-decode.ts";
import { ApiError } from "../../../../api/errors.ts";
import { schemaFor } from "../../../../api/schema.ts";
import { messageNamed, messageNames } from "../../../../api/type-table.ts";
import { WatchFrameDecoder } from "../../../support/stream-decoders.ts";
import { WireWriter } from "../../../../api/codec/wire-writer.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

/** Decodes an object's own message, put into an envelope that names its kind. */
const decodeMessage = (
  bytes: Uint8Array,
  apiVersion: string,
  kind: string,
): unknown => {
  const envelope = WireWriter.create().uint32(10).fork();
  envelope.uint32(10).string(apiVersion).uint32(18).string(kind).ldelim();
  envelope.uint32(18).bytes(bytes);
  return decodeProtobuf(
    Buffer.concat([Buffer.from("k8s\0"), envelope.finish()]),
  );
};

const golden = join(__dirname, "../fixtures/golden");
const pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p", labels: { b: "2", a: "1" } },
  spec: {
    containers: [{ name: "c", resources: {}, ports: [{ containerPort: 80 }] }],
  },
  status: {},
};

describe.each(readdirSync(golden).filter((name) => name.endsWith(".json")))(
  "golden %s",
  (name) => {
    const json = readFileSync(join(golden, name));
    const bytes = readFileSync(join(golden, name.replace(".json", ".pb")));
    const object = JSON.parse(json.toString()) as {
      apiVersion: string;
      kind: string;
    };
    test("decodes to its JSON", () => {
      expect(decodeProtobuf(bytes)).toEqual(object);
    });
    test("encodes to its bytes", () => {
      expect(encodeProtobuf(object).equals(bytes)).toBe(true);
    });
    test("strict JSON decoding changes nothing", () => {
      const [group, version] = object.apiVersion.includes("/")
        ? object.apiVersion.split("/")
        : ["", object.apiVersion];
      const { object: decoded, problems } = decodeJson(
        json,
        schemaFor(group!, version!, object.kind),
      );
      expect(problems).toEqual([]);
      expect(decoded).toEqual(object);
      expect(JSON.parse(JSON.stringify(decoded))).toEqual(object);
    });
  },
);

test("every message of the table has a codec", () => {
  for (const name of messageNames()) {
    if (!messageNamed(name)!.onWire) continue;
    encoderOf(name);
    decoderOf(name);
  }
});

test("an unfilled object comes back in the form that JSON decoding gives", () => {
  const { object } = decodeJson(
    Buffer.from(JSON.stringify(pod)),
    schemaFor("", "v1", "Pod"),
  );
  expect(decodeProtobuf(encodeProtobuf(pod))).toEqual(object);
});

test.each([
  {
    apiVersion: "v1",
    kind: "Status",
    metadata: {},
    status: "Failure",
    message: "m",
    reason: "NotFound",
    details: { name: "x" },
    code: 404,
  },
  {
    apiVersion: "v1",
    kind: "DeleteOptions",
    gracePeriodSeconds: 0,
    propagationPolicy: "Orphan",
    dryRun: ["All"],
  },
  { apiVersion: "apps/v1", kind: "DeleteOptions", preconditions: { uid: "u" } },
  { apiVersion: "v1", kind: "ListOptions", labelSelector: "a=b", limit: 5 },
  {
    apiVersion: "meta.k8s.io/v1",
    kind: "PartialObjectMetadataList",
    metadata: { resourceVersion: "5" },
    items: [{ metadata: { name: "x" } }],
  },
  {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "x.y" },
    spec: {
      group: "y",
      names: { plural: "x", kind: "X" },
      scope: "Namespaced",
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: "object",
              properties: {
                a: { type: "array", items: { type: "string", default: "x" } },
              },
              additionalProperties: false,
              "x-kubernetes-preserve-unknown-fields": true,
            },
          },
        },
      ],
    },
    status: {
      conditions: null,
      acceptedNames: { plural: "", kind: "" },
      storedVersions: null,
    },
  },
])("round trip of $kind", (object) => {
  const expected = JSON.parse(JSON.stringify(object), (_key, value: unknown) =>
    value === null ? undefined : value,
  ) as object;
  expect(decodeProtobuf(encodeProtobuf(object))).toMatchObject(expected);
});

test("a list is assembled from encoded items", () => {
  const items = [pod, { ...pod, metadata: { name: "q" } }];
  const list = {
    apiVersion: "v1",
    kind: "PodList",
    metadata: { resourceVersion: "7" },
    items,
  };
  const encoded = items.map((item) => listItem(encodeProtobuf(item)));
  const parts = protobufListParts(
    "v1",
    "PodList",
    list.metadata,
    encoded.reduce((sum, { length }) => sum + length, 0),
    encoded,
  );
  expect(
    Buffer.concat([...parts] as Uint8Array[]).equals(encodeProtobuf(list)),
  ).toBe(true);
});

test("watch frames", () => {
  const frames = Buffer.concat([
    encodeWatchFrame("ADDED", encodeProtobuf(pod)),
    encodeWatchFrame("DELETED", encodeProtobuf(pod)),
  ]);
  const decoder = new WatchFrameDecoder();
  const events = [...frames].flatMap((byte) =>
    decoder.push(Uint8Array.of(byte)),
  );
  expect(events.map(({ type, object }) => [type, object["kind"]])).toEqual([
    ["ADDED", "Pod"],
    ["DELETED", "Pod"],
  ]);
});

describe("bad input is refused quickly", () => {
  const good = encodeProtobuf(pod);
  const lying = Buffer.concat([
    Buffer.from("6b387300", "hex"),
    Buffer.from("12ffffffff0f", "hex"),
  ]);
  const deep = (): Buffer => {
    let schema = Buffer.alloc(0);
    for (let depth = 0; depth < 3000; depth++) {
      const length: number[] = [];
      for (let rest = schema.length; ; rest = Math.floor(rest / 128)) {
        length.push(rest > 127 ? (rest % 128) + 128 : rest);
        if (rest <= 127) break;
      }
      schema = Buffer.concat([Buffer.from([0xe2, 0x01, ...length]), schema]);
    }
    return schema;
  };
  test.each<[string, () => unknown]>([
    ["empty", () => decodeProtobuf(Buffer.alloc(0))],
    ["wrong magic", () => decodeProtobuf(Buffer.from("k8x\0abc"))],
    ["JSON", () => decodeProtobuf(Buffer.from("{}"))],
    ["lying length", () => decodeProtobuf(lying)],
    [
      "unknown kind",
      () =>
        decodeProtobuf(
          Buffer.concat([
            good.subarray(0, 4),
            Buffer.from("0a060a00", "hex"),
            Buffer.from("12024e6f", "hex"),
          ]),
        ),
    ],
    ["truncated", () => decodeProtobuf(good.subarray(0, good.length - 20))],
    [
      "group wire type",
      () => decodeMessage(Buffer.from("0b", "hex"), "v1", "Pod"),
    ],
    [
      "wrong wire type",
      () => decodeMessage(Buffer.from("0801", "hex"), "v1", "Pod"),
    ],
    [
      "endless varint",
      () => decodeMessage(Buffer.alloc(100, 0xff), "v1", "Pod"),
    ],
    [
      "invalid UTF-8",
      () => decodeMessage(Buffer.from("0a030a01ff", "hex"), "v1", "Pod"),
    ],
    [
      "too many messages",
      () =>
        decodeMessage(
          Buffer.alloc(300_000, Buffer.from("1200", "hex")),
          "v1",
          "PodList",
        ),
    ],
    [
      "too deep",
      () =>
        decoderOf(
          "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
        ) &&
        decodeMessage(
          Buffer.concat([Buffer.from("12", "hex"), deep()]),
          "apiextensions.k8s.io/v1",
          "CustomResourceDefinition",
        ),
    ],
  ])("%s", (_name, decode) => {
    const cpuMs = cpuMsOf(() => expect(decode).toThrow(ApiError));
    expect(cpuMs).toBeLessThan(3000);
  });
});

test("discovery's lists of the core group have a wire form without a version", () => {
  const list = { kind: "APIResourceList", groupVersion: "v1", resources: [] };
  const envelope = encodeProtobuf(list);
  expect(envelope.toString("latin1")).toContain("APIResourceList");
  expect(envelope.toString("latin1")).toContain("v1");
});
