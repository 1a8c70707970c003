// Encodings, shapes, discovery, health and the errors of paths.
import { gunzipSync } from "node:zlib";
import { decodeProtobuf } from "../../../api/codec/protobuf.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type Json,
  type TestServer,
} from "./support.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    featureGates: { CBORServingAndStorage: true },
  });
  await server.call(
    "POST",
    configMaps,
    configMap("a", { data: { key: "value" } }),
  );
});
afterAll(() => server.stop());

const get = (path: string, accept: string) =>
  server.call("GET", path, undefined, { accept });

test.each([
  ["application/json", "application/json"],
  ["*/*", "application/json"],
  ["application/yaml", "application/yaml"],
  ["text/html, application/yaml;q=0.5, */*;q=0.1", "application/yaml"],
  ["application/json;q=0.2, application/yaml;q=0.9", "application/yaml"],
  [
    "application/vnd.kubernetes.protobuf",
    "application/vnd.kubernetes.protobuf",
  ],
  ["application/vnd.orbit.protobuf", "application/vnd.orbit.protobuf"],
  ["application/cbor", "application/cbor"],
  ["application/x-none, application/json", "application/json"],
])("%s is answered with %s", async (accept, type) => {
  for (const path of [configMaps, `${configMaps}/a`, `${configMaps}/none`]) {
    const answer = await get(path, accept);
    expect(answer.headers.get("content-type")).toBe(type);
    expect(answer.status).toBe(path.endsWith("none") ? 404 : 200);
  }
});

test("nothing acceptable is a 406", async () => {
  const answer = await get(configMaps, "text/html");
  expect(answer.status).toBe(406);
  expect(answer.body["reason"]).toBe("NotAcceptable");
  expect(answer.body["message"]).toMatch(
    /^406: Not Acceptable\n\nAvailable representations: application\/json/,
  );
});

test("protobuf both ways", async () => {
  const accept = { accept: "application/vnd.kubernetes.protobuf" };
  const response = await fetch(`${server.url}${configMaps}/a`, {
    headers: accept,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const object = decodeProtobuf(bytes) as { metadata: object; data: object };
  expect(object.data).toEqual({ key: "value" });
  const again = await fetch(`${server.url}${configMaps}/a`, {
    method: "PUT",
    headers: { "content-type": "application/vnd.kubernetes.protobuf" },
    body: bytes,
  });
  expect(again.status).toBe(200);
  const list = await fetch(server.url + configMaps, { headers: accept });
  const decoded = decodeProtobuf(Buffer.from(await list.arrayBuffer())) as {
    kind: string;
    items: object[];
  };
  expect(decoded.kind).toBe("ConfigMapList");
  expect(decoded.items.length).toBeGreaterThan(0);
});

test("fields of any form come back byte for byte as Go writes them", async () => {
  // Controllers of revisions compare them so: what differs they take for another template.
  const data = String.raw`{"spec":{"command":["sh","-c","a \u003e b \u0026\u0026 c \u003c d","\u2028"]}}`;
  const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
  const object = { metadata: { name: "r" }, revision: 1, data: {} };
  await server.call("POST", revisions, { ...object, data: JSON.parse(data) });
  for (const accept of [
    "application/json",
    "application/vnd.kubernetes.protobuf",
  ])
    for (const path of [revisions, `${revisions}/r`]) {
      const answer = await fetch(`${server.url}${path}`, {
        headers: { accept },
      });
      const text = Buffer.from(await answer.arrayBuffer()).toString();
      expect(text).toContain(data);
    }
});

test.each(["v1", "v1beta1"])(
  "Table and PartialObjectMetadata %s",
  async (v) => {
    const table = await get(
      configMaps,
      `application/json;as=Table;g=meta.k8s.io;v=${v},application/json`,
    );
    expect(table.body).toMatchObject({
      kind: "Table",
      apiVersion: `meta.k8s.io/${v}`,
      columnDefinitions: [{ name: "Name" }, { name: "Data" }, { name: "Age" }],
    });
    expect(table.body["rows"][0].cells[0]).toBe("a");
    expect(table.body["rows"][0].object.kind).toBe("PartialObjectMetadata");
    const whole = await get(
      `${configMaps}?includeObject=Object`,
      `application/json;as=Table;g=meta.k8s.io;v=${v}`,
    );
    expect(whole.body["rows"][0].object.kind).toBe("ConfigMap");
    const none = await get(
      `${configMaps}?includeObject=None`,
      `application/json;as=Table;g=meta.k8s.io;v=${v}`,
    );
    expect(none.body["rows"][0].object).toBeNull();
    const partial = await get(
      configMaps,
      `application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=${v}`,
    );
    expect(partial.body["kind"]).toBe("PartialObjectMetadataList");
    expect(partial.body["items"][0].data).toBeUndefined();
    expect(partial.body["items"][0].metadata.name).toBe("a");
    const one = await get(
      `${configMaps}/a`,
      `application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=${v}`,
    );
    expect(one.body["kind"]).toBe("PartialObjectMetadata");
  },
);

test("the other dialect is answered in kind", async () => {
  const table = await get(
    configMaps,
    "application/json;as=Table;g=meta.orbit.io;v=v1",
  );
  expect(table.body["apiVersion"]).toBe("meta.orbit.io/v1");
  const alias = await server.call(
    "GET",
    "/apis/discovery.orbit.io/v1/endpointslices",
  );
  expect(alias.status).toBe(200);
});

test("gzip beyond the threshold", async () => {
  await server.call(
    "POST",
    configMaps,
    configMap("big", { data: { key: "x".repeat(200_000) } }),
  );
  const { request } = await import("node:http");
  const raw = await new Promise<{ encoding: unknown; body: Buffer }>(
    (resolve, reject) => {
      request(
        server.url + configMaps,
        { headers: { "accept-encoding": "gzip" } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () =>
            resolve({
              encoding: response.headers["content-encoding"],
              body: Buffer.concat(chunks),
            }),
          );
        },
      )
        .on("error", reject)
        .end();
    },
  );
  expect(raw.encoding).toBe("gzip");
  expect(JSON.parse(gunzipSync(raw.body).toString())).toMatchObject({
    kind: "ConfigMapList",
  });
  await server.call("DELETE", `${configMaps}/big`);
});

test("pretty is asked for", async () => {
  const { text } = await server.call("GET", `${configMaps}/a?pretty=true`);
  expect(text).toContain('\n  "kind": "ConfigMap"');
});

test("YAML bodies", async () => {
  const answer = await server.call(
    "POST",
    configMaps,
    "metadata:\n  name: from-yaml\ndata:\n  a: b\n",
    { "content-type": "application/yaml" },
  );
  expect(answer.status).toBe(201);
  expect(answer.body["data"]).toEqual({ a: "b" });
});

test("watch frames of every encoding", async () => {
  for (const accept of [
    "application/vnd.kubernetes.protobuf",
    "application/cbor",
    "application/json;as=Table;g=meta.k8s.io;v=v1",
  ]) {
    const response = await fetch(
      `${server.url}${configMaps}?watch=1&timeoutSeconds=1`,
      { headers: { accept } },
    );
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
  }
});

describe("discovery", () => {
  test("plain", async () => {
    const root = await server.call("GET", "/api");
    expect(root.body).toMatchObject({ kind: "APIVersions", versions: ["v1"] });
    const groups = await server.call("GET", "/apis");
    expect(groups.body["groups"].map((g: Json) => g.name)).toContain("apps");
    const core = await server.call("GET", "/api/v1");
    expect(core.body["resources"].map((r: Json) => r.name)).toEqual(
      expect.arrayContaining(["pods", "pods/log", "namespaces/finalize"]),
    );
    expect((await server.call("GET", "/apis/none")).status).toBe(404);
    expect((await server.call("GET", "/apis/apps/v9")).status).toBe(404);
  });

  test("aggregated, with an ETag", async () => {
    const accept =
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const answer = await get("/apis", accept);
    expect(answer.headers.get("content-type")).toBe(
      "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
    );
    const etag = answer.headers.get("etag")!;
    const again = await server.call("GET", "/apis", undefined, {
      accept,
      "if-none-match": etag,
    });
    expect(again.status).toBe(304);
  });
});

test.each([
  ["GET", "/nothing", 404],
  ["GET", "/api/v1/nothings", 404],
  ["GET", "/api/v1/pods/x", 404],
  ["GET", "/api/v1/namespaces/default/pods/x/nothing", 404],
  ["POST", "/api/v1/namespaces/default/pods/x", 405],
  ["PATCH", configMaps, 405],
  ["DELETE", "/api/v1/namespaces", 405],
  ["GET", "/api/v1/namespaces/%zz/pods", 400],
  ["GET", "/version", 200],
  ["GET", "/healthz", 200],
  ["GET", "/livez/ping", 200],
  ["GET", "/livez/none", 404],
  ["GET", "/readyz?verbose&exclude=etcd", 200],
  ["GET", "/metrics", 200],
  ["GET", "/openapi/v2", 200],
  ["GET", "/openapi/v3", 200],
])("%s %s → %i", async (method, path, status) => {
  const answer = await server.call(method, path);
  expect(answer.status).toBe(status);
});
