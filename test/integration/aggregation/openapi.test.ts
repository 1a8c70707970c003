// OpenAPI with aggregated servers: their version-3 documents by the way of the server that has them, version 2 as one.
import type { ServerResponse } from "node:http";
import { eventually } from "../../support/eventually.ts";
import type { ExtensionTestServer } from "../../support/extension-server.ts";
import type { Json, TestServer } from "../apiserver/support.ts";
import {
  apiServices,
  createService,
  register,
  startAggregator,
  startExtension,
} from "./support.ts";

let server: TestServer;
const extensions: ExtensionTestServer[] = [];
beforeAll(async () => {
  server = await startAggregator();
  await createService(server);
});
afterAll(async () => {
  await server.stop();
  for (const extension of extensions) await extension.stop();
});

const v2 = async (): Promise<Json> =>
  (await server.call("GET", "/openapi/v2")).body as Json;
const v3 = async (): Promise<Record<string, { serverRelativeURL: string }>> =>
  (await server.call("GET", "/openapi/v3")).body.paths as never;

async function extend(
  group: string,
  documents: Record<string, unknown>,
): Promise<ExtensionTestServer> {
  const extension = await startExtension(group);
  extensions.push(extension);
  extension.answer = (request, response: ServerResponse) => {
    const path = request.url!.split("?", 1)[0]!;
    if (!Object.hasOwn(documents, path)) return false;
    const document = documents[path];
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      typeof document === "string" ? document : JSON.stringify(document),
    );
    return true;
  };
  await register(server, extension, group);
  return extension;
}

test("its documents are in both indexes, and come from where they are", async () => {
  const group = "wardle.test";
  const path = `/apis/${group}/v1/flunders`;
  const podName = "io.k8s.api.core.v1.Pod";
  const get = {
    responses: { "200": { schema: { $ref: `#/definitions/${podName}` } } },
  };
  const own = `/openapi/v3/apis/${group}/v1`;
  const extension = await extend(group, {
    "/openapi/v3": {
      paths: {
        [`apis/${group}/v1`]: { serverRelativeURL: `${own}?hash=ABC` },
        "apis/apps/v1": {
          serverRelativeURL: "/openapi/v3/apis/apps/v1?hash=X",
        },
      },
    },
    [own]: { openapi: "3.0.0", info: { title: "wardle" } },
    "/openapi/v2": {
      swagger: "2.0",
      paths: { [path]: { get }, "/apis/apps/v1/stolen": { get } },
      definitions: { [podName]: { type: "string", description: "not a pod" } },
    },
  });
  const before = await v3();
  await eventually(async () => (await v3())[`apis/${group}/v1`], {
    what: "the document in the index",
  });
  const index = await v3();
  expect(index[`apis/${group}/v1`]!.serverRelativeURL).toBe(`${own}?hash=ABC`);
  expect(index["apis/apps/v1"]).toEqual(before["apis/apps/v1"]);
  const { body } = await server.call("GET", `${own}?hash=ABC`);
  expect(body.info.title).toBe("wardle");
  expect(extension.seen.map(({ url }) => url)).toContain(`${own}?hash=ABC`);

  await eventually(async () => (await v2()).paths[path]);
  const merged = await v2();
  expect(merged.paths["/apis/apps/v1/stolen"]).toBeUndefined();
  expect(merged.paths[path].get.responses["200"].schema.$ref).toBe(
    `#/definitions/${podName}_v2`,
  );
  expect(merged.definitions[podName].type).toBe("object");
  expect(merged.definitions[`${podName}_v2`].type).toBe("string");
  const protobuf = await server.call("GET", "/openapi/v2", undefined, {
    accept: "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
  });
  expect(protobuf.text).toContain(path);

  await server.call("DELETE", `${apiServices}/v1.${group}`);
  await eventually(async () => !(await v3())[`apis/${group}/v1`]);
  await eventually(async () => !(await v2()).paths[path]);
  expect((await server.call("GET", own)).status).toBe(404);
});

test.each<[string, Record<string, unknown>]>([
  ["no JSON", { "/openapi/v3": "{", "/openapi/v2": "<html>" }],
  [
    "another form",
    { "/openapi/v3": { paths: 7 }, "/openapi/v2": { paths: ["x"] } },
  ],
  [
    "too much",
    {
      "/openapi/v3": { paths: {}, more: "x".repeat(2_000_000) },
      "/openapi/v2": { paths: {}, more: "x".repeat(5_000_000) },
    },
  ],
  [
    "other paths",
    {
      "/openapi/v3": {
        paths: {
          "apis/other-paths.test/v1": { serverRelativeURL: "//evil.test/x" },
        },
      },
      "/openapi/v2": { paths: {} },
    },
  ],
])(
  "a server that says %s leaves the documents as they are",
  async (what, documents) => {
    const group = `${what.toLowerCase().replaceAll(" ", "-")}.test`;
    const extension = await extend(group, documents);
    await eventually(
      () => extension.seen.some(({ url }) => url === "/openapi/v3"),
      { what: "the look at its documents" },
    );
    expect((await v3())["apis/apps/v1"]).toBeDefined();
    expect((await v3())[`apis/${group}/v1`]).toBeUndefined();
    expect((await v2()).paths["/apis/apps/v1/deployments"]).toBeDefined();
  },
);

test("a server with version 2 alone has its document in version 3", async () => {
  const group = "older.test";
  const path = `/apis/${group}/v1/things`;
  const type = "test.older.Thing";
  const $ref = `#/definitions/${type}`;
  const version2 = (description: string): object => ({
    swagger: "2.0",
    info: { title: "older", version: "1" },
    paths: {
      [path]: {
        post: {
          operationId: "createThing",
          consumes: ["application/json"],
          produces: ["application/json", "application/yaml"],
          parameters: [
            { name: "body", in: "body", required: true, schema: { $ref } },
            { $ref: "#/parameters/dryRun-1" },
          ],
          responses: {
            "201": { description: "Created", schema: { $ref } },
            "401": { description: "Unauthorized" },
          },
          "x-kubernetes-action": "post",
        },
      },
    },
    definitions: {
      [type]: {
        description,
        type: "object",
        properties: {
          other: { $ref },
          list: { type: "array", items: { $ref } },
        },
      },
    },
    parameters: {
      "dryRun-1": {
        name: "dryRun",
        in: "query",
        type: "string",
        uniqueItems: true,
      },
    },
  });
  const documents: Record<string, unknown> = {
    "/openapi/v3": "gone",
    "/openapi/v2": version2("first"),
  };
  const extension = await extend(group, documents);
  const { answer } = extension;
  extension.answer = (request, response) => {
    if (!request.url!.startsWith("/openapi/v3"))
      return answer!(request, response);
    response.writeHead(404);
    response.end();
    return true;
  };
  await eventually(async () => (await v3())[`apis/${group}/v1`], {
    what: "the document of version 3",
  });
  const { serverRelativeURL } = (await v3())[`apis/${group}/v1`]!;
  expect(serverRelativeURL).toMatch(
    new RegExp(`^/openapi/v3/apis/${group}/v1\\?hash=[0-9A-F]{128}$`),
  );
  const { status, body } = await server.call("GET", serverRelativeURL);
  expect(status).toBe(200);
  const reference = { $ref: `#/components/schemas/${type}` };
  const schema = { schema: reference };
  expect(body).toEqual({
    openapi: "3.0.0",
    info: { title: "older", version: "1" },
    paths: {
      [path]: {
        post: {
          operationId: "createThing",
          "x-kubernetes-action": "post",
          parameters: [
            {
              name: "dryRun",
              in: "query",
              schema: { type: "string", uniqueItems: true },
            },
          ],
          requestBody: {
            required: true,
            content: { "application/json": schema },
          },
          responses: {
            "201": {
              description: "Created",
              content: {
                "application/json": schema,
                "application/yaml": schema,
              },
            },
            "401": { description: "Unauthorized" },
          },
        },
      },
    },
    components: {
      schemas: {
        [type]: {
          description: "first",
          type: "object",
          properties: {
            other: reference,
            list: { type: "array", items: reference },
          },
        },
      },
    },
  });
});
