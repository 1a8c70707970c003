// Lists and watches of many objects: the same in every encoding as object by object, of one revision though they leave in
// slices, and the loop answers others meanwhile.
import { randomBytes } from "node:crypto";
import * as http from "node:http";
import { once } from "node:events";
import { decodeCbor } from "../../../api/codec/cbor.ts";
import { decodeProtobuf } from "../../../api/codec/protobuf.ts";
import { parseYamlBody } from "../../../api/codec/yaml.ts";
import type { AnyObject } from "../../../api/object.ts";
import { superuser } from "../../../apiserver-lite/server.ts";
import { Compressor } from "../../../apiserver-lite/serving/lists/compression.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type Json,
  type TestServer,
} from "./support.ts";

const count = 3000;
const nameOf = (index: number): string =>
  `map-${String(index).padStart(5, "0")}`;
const names = Array.from({ length: count }, (_, index) => nameOf(index));
const padding = "päyload ".repeat(100);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    featureGates: { CBORServingAndStorage: true },
  });
  const transport = server.server.transport(superuser);
  const resource = { group: "", version: "v1", resource: "configmaps" };
  await Promise.all(
    names.map((name, index) =>
      transport.request({
        verb: "create",
        resource,
        namespace: "default",
        body: configMap(name, {
          metadata: { name, labels: { part: String(index % 10) } },
          data: { padding, index: String(index) },
        }) as AnyObject,
      }),
    ),
  );
});
afterAll(() => server.stop());

async function bytesOf(
  path: string,
  headers: Record<string, string>,
): Promise<{ bytes: Buffer; headers: Headers }> {
  const response = await fetch(server.url + path, { headers });
  expect(response.status).toBe(200);
  return {
    bytes: Buffer.from(await response.arrayBuffer()),
    headers: response.headers,
  };
}

/** The next list is of another revision. */
async function moveRevision(): Promise<void> {
  await fetch(server.url + configMaps, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(configMap("moved")),
  });
  await fetch(`${server.url}${configMaps}/moved`, { method: "DELETE" });
}

const itemsOf = (list: Json): [string, string, string][] =>
  list.items.map((item: Json) => [
    item.metadata.name,
    item.data?.index,
    item.data?.padding,
  ]);
const expectedItems = names.map((name, index) => [
  name,
  String(index),
  padding,
]);

describe("the same in every encoding", () => {
  test.each<[string, Record<string, string>, (bytes: Buffer) => Json]>([
    [
      "JSON",
      { accept: "application/json", "accept-encoding": "identity" },
      (bytes) => JSON.parse(bytes.toString()),
    ],
    [
      "gzip",
      { accept: "application/json", "accept-encoding": "gzip" },
      (bytes) => JSON.parse(bytes.toString()),
    ],
    [
      "protobuf",
      { accept: "application/vnd.kubernetes.protobuf" },
      (bytes) => decodeProtobuf(bytes),
    ],
    [
      "CBOR",
      { accept: "application/cbor" },
      (bytes) => decodeCbor(bytes).object,
    ],
    [
      "YAML",
      { accept: "application/yaml" },
      (bytes) => parseYamlBody(bytes).value,
    ],
    [
      "pretty",
      { accept: "application/json;pretty=1" },
      (bytes) => {
        const list = JSON.parse(bytes.toString());
        expect(bytes.toString()).toBe(JSON.stringify(list, null, 2));
        return list;
      },
    ],
  ])("%s", async (name, headers, decode) => {
    // The first time, from what is kept of the items, and from what is kept of the list.
    for (let turn = 0; turn < 3; turn++) {
      const answer = await bytesOf(configMaps, headers);
      if (name === "gzip")
        expect(answer.headers.get("content-encoding")).toBe("gzip");
      const list = decode(answer.bytes);
      expect([list.kind, list.apiVersion]).toEqual(["ConfigMapList", "v1"]);
      expect(itemsOf(list)).toEqual(expectedItems);
      expect(list.items[0].kind).toBeUndefined();
    }
  });

  test("gzip of what can't be compressed, kept in several parts", async () => {
    const random = (bytes: number) => randomBytes(bytes).toString("base64");
    const path = "/api/v1/namespaces/kube-public/configmaps";
    for (let index = 0; index < 8; index++)
      await fetch(server.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(
          configMap(`random-${index}`, { data: { text: random(60_000) } }),
        ),
      });
    const headers = { "accept-encoding": "gzip" };
    const first = await bytesOf(path, headers);
    const kept = await bytesOf(path, headers);
    expect(Number(kept.headers.get("content-length"))).toBeGreaterThan(300_000);
    expect(kept.headers.get("content-encoding")).toBe("gzip");
    expect(kept.bytes.equals(first.bytes)).toBe(true);
    const list = JSON.parse(kept.bytes.toString()) as Json;
    expect(
      list.items.filter((item: Json) => item.data?.text?.length > 60_000),
    ).toHaveLength(8);
  });

  test("clients that list at once share one compression, whoever of them reads or leaves", async () => {
    const headers = { accept: "*/*", "accept-encoding": "gzip" };
    await moveRevision();
    const leaving = http.get(server.url + configMaps, { headers });
    leaving.on("error", () => undefined);
    leaving.destroy();
    await moveRevision();
    const compressions = jest.spyOn(Compressor.prototype, "begin");
    const unread = http.get(server.url + configMaps, { headers });
    unread.on("error", () => undefined);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => bytesOf(configMaps, headers)),
    );
    expect(compressions).toHaveBeenCalledTimes(1);
    compressions.mockRestore();
    unread.destroy();
    for (const { bytes } of answers)
      expect(itemsOf(JSON.parse(bytes.toString()))).toEqual(expectedItems);
  });

  test("a list too large to be shared reaches each who asks", async () => {
    const random = randomBytes(600_000).toString("base64");
    const path = "/api/v1/namespaces/kube-node-lease/configmaps";
    for (let index = 0; index < 5; index++)
      await fetch(server.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(
          configMap(`large-${index}`, { data: { text: random } }),
        ),
      });
    const headers = { "accept-encoding": "gzip" };
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => bytesOf(path, headers)),
    );
    for (const { bytes } of answers)
      expect(
        JSON.parse(bytes.toString()).items.filter(
          (item: Json) => item.data?.text === random,
        ),
      ).toHaveLength(5);
  });

  test("JSON has its length, byte by byte", async () => {
    const { bytes, headers } = await bytesOf(`${configMaps}?limit=1000`, {
      "accept-encoding": "identity",
    });
    expect(Number(headers.get("content-length"))).toBe(bytes.length);
    const list = JSON.parse(bytes.toString());
    expect(bytes.toString()).toBe(`${JSON.stringify(list)}\n`);
    const none = await bytesOf(`${configMaps}?labelSelector=part%3Dnone`, {});
    expect(JSON.parse(none.bytes.toString()).items).toEqual([]);
  });

  test.each(["application/json", "application/yaml"])(
    "tables in %s",
    async (type) => {
      for (const include of ["Metadata", "None", "Object"]) {
        const { bytes } = await bytesOf(
          `${configMaps}?includeObject=${include}`,
          { accept: `${type};as=Table;g=meta.k8s.io;v=v1` },
        );
        const table: Json = type.endsWith("json")
          ? JSON.parse(bytes.toString())
          : parseYamlBody(bytes).value;
        expect(table.columnDefinitions).toHaveLength(3);
        expect(table.rows.map((row: Json) => row.cells.slice(0, 2))).toEqual(
          names.map((name) => [name, 2]),
        );
        expect(table.rows[7].cells[2]).toMatch(/^\d+[sm]/);
        const shown = table.rows.at(-1).object;
        if (include === "None") expect(shown).toBeNull();
        else expect(shown.metadata.name).toBe(names.at(-1));
        expect(shown?.kind).toBe(
          { Metadata: "PartialObjectMetadata", Object: "ConfigMap" }[include],
        );
        expect(Boolean(shown?.data)).toBe(include === "Object");
      }
    },
  );

  test.each<[string, (bytes: Buffer) => Json]>([
    ["json", (bytes) => JSON.parse(bytes.toString())],
    ["vnd.kubernetes.protobuf", (bytes) => decodeProtobuf(bytes)],
  ])("partial objects in %s", async (type, decode) => {
    const { bytes } = await bytesOf(configMaps, {
      accept: `application/${type};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`,
    });
    const list = decode(bytes);
    expect(list.kind).toBe("PartialObjectMetadataList");
    expect(list.items.map((item: Json) => item.metadata.name)).toEqual(names);
    expect(list.items[0].data).toBeUndefined();
    const one = await bytesOf(`${configMaps}/${names[5]}`, {
      accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    });
    const single = JSON.parse(one.bytes.toString());
    expect(single.metadata).toMatchObject({
      name: names[5],
      labels: { part: "5" },
    });
    if (type === "json") expect(list.items[5]).toEqual(single);
  });
});

/** A request whose answer is read when the caller says so. */
async function slowly(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ read(): Promise<string> }> {
  const request = http.get(server.url + path, { headers });
  const [response] = (await once(request, "response")) as [
    http.IncomingMessage,
  ];
  response.pause();
  return {
    async read() {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString();
    },
  };
}

test.each([
  ["JSON", "application/json"],
  ["a table", "application/json;as=Table;g=meta.k8s.io;v=v1"],
])(
  "%s that is read slowly is of one revision, whatever is written meanwhile",
  async (_name, accept) => {
    const before = (await server.call("GET", `${configMaps}?limit=1`)).body;
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => slowly(configMaps, { accept })),
    );
    // The first, the last, and one that goes and comes back.
    for (const name of [names[0]!, names.at(-1)!])
      await server.call(
        "PATCH",
        `${configMaps}/${name}`,
        { data: { index: "changed" } },
        { "content-type": "application/merge-patch+json" },
      );
    await server.call("POST", configMaps, configMap("map-99999"));
    await server.call("DELETE", `${configMaps}/map-99999`);
    for (const answer of answers) {
      const list = JSON.parse(await answer.read());
      expect(list.metadata.resourceVersion).toBe(
        before.metadata.resourceVersion,
      );
      const all: Json[] =
        list.items ?? list.rows.map(({ object }: Json) => object);
      expect(all.map(({ metadata }) => metadata.name)).toEqual(names);
      for (const { metadata } of all)
        expect(Number(metadata.resourceVersion)).toBeLessThanOrEqual(
          Number(list.metadata.resourceVersion),
        );
    }
    for (const [index, name] of [
      [0, names[0]!],
      [count - 1, names.at(-1)!],
    ] as const)
      await server.call(
        "PATCH",
        `${configMaps}/${name}`,
        { data: { index: String(index) } },
        { "content-type": "application/merge-patch+json" },
      );
  },
);

test.each([
  ["JSON", {}],
  ["a table", { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" }],
])(
  "a watch with initial events as %s: the state, its end, then what was written meanwhile",
  async (name, headers) => {
    const path = `${configMaps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=3`;
    const answer = await slowly(path, headers);
    await server.call("POST", configMaps, configMap("map-late"));
    await server.call("DELETE", `${configMaps}/map-late`);
    const frames: Json[] = (await answer.read())
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const table = name === "a table";
    const nameIn = ({ object }: Json): string =>
      (table ? object.rows[0].object : object).metadata.name;
    expect(frames.slice(0, count).map((frame) => frame.type)).toEqual(
      names.map(() => "ADDED"),
    );
    expect(frames.slice(0, count).map(nameIn)).toEqual(names);
    expect(frames[count].type).toBe("BOOKMARK");
    expect(JSON.stringify(frames[count])).toContain("initial-events-end");
    const rest = frames
      .slice(count + 1)
      .filter(({ type }) => type !== "BOOKMARK");
    expect(rest.map(({ type }) => type)).toEqual(["ADDED", "DELETED"]);
    expect(rest.map(nameIn)).toEqual(["map-late", "map-late"]);
    if (table)
      expect(
        frames.filter(({ object }) => object.columnDefinitions.length > 0),
      ).toEqual([frames[0]]);
  },
);

test("the loop answers others while lists are made", async () => {
  const accept = ["application/yaml", "application/cbor", "application/json"];
  let over = false;
  const lists = Promise.all(
    accept.map((type) => bytesOf(configMaps, { accept: type })),
  ).then(() => (over = true));
  let answered = 0;
  while (!over) {
    const { status } = await server.call("GET", `${configMaps}/${names[1]}`);
    expect(status).toBe(200);
    answered++;
  }
  await lists;
  // Made in one go, the YAML alone would let at most two through.
  expect(answered).toBeGreaterThan(10);
});
