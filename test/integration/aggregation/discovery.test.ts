// Discovery with aggregated servers: their groups in the common order, what they serve in both forms, and what clients see
// of servers that are down, hang or lie.
import type { ServerResponse } from "node:http";
import { eventually } from "../../support/eventually.ts";
import type { ExtensionTestServer } from "../../support/extension-server.ts";
import type { Json, TestServer } from "../apiserver/support.ts";
import {
  apiService,
  apiServices,
  createService,
  register,
  startAggregator,
  startExtension,
} from "./support.ts";

const accept = {
  accept:
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
};

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

async function extend(
  group: string,
  answer?: (path: string, response: ServerResponse) => boolean,
): Promise<ExtensionTestServer> {
  const extension = await startExtension(group);
  extensions.push(extension);
  if (answer)
    extension.answer = (request, response) =>
      answer(request.url ?? "", response);
  await register(server, extension, group);
  return extension;
}

async function described(group: string): Promise<Json> {
  const { body } = await server.call("GET", "/apis", undefined, accept);
  return body.items.find(({ metadata }: Json) => metadata.name === group);
}

const discovered = (group: string, freshness: string): Promise<Json> =>
  eventually(
    async () => {
      const found = await described(group);
      return found?.versions[0].freshness === freshness && found;
    },
    { what: `${group} ${freshness}` },
  );

const aggregated = (response: ServerResponse, items: object[]): true => {
  response.writeHead(200, {
    etag: '"one"',
    "content-type": accept.accept,
  });
  const kind = "APIGroupDiscoveryList";
  const apiVersion = "apidiscovery.k8s.io/v2";
  response.end(JSON.stringify({ kind, apiVersion, metadata: {}, items }));
  return true;
};

test("a server with the older lists is described as the others", async () => {
  await extend("older.test");
  const group = await discovered("older.test", "Current");
  expect(group).toEqual({
    metadata: { name: "older.test", creationTimestamp: null },
    versions: [
      {
        version: "v1",
        freshness: "Current",
        resources: [
          {
            resource: "flunders",
            responseKind: { group: "", version: "", kind: "Flunder" },
            scope: "Namespaced",
            singularResource: "flunder",
            verbs: [
              "create",
              "delete",
              "deletecollection",
              "get",
              "list",
              "watch",
            ],
            shortNames: ["fl"],
            subresources: [
              {
                subresource: "echo",
                responseKind: { group: "", version: "", kind: "Flunder" },
                verbs: ["get"],
              },
            ],
          },
        ],
      },
    ],
  });
  const { body } = await server.call("GET", "/apis/older.test");
  expect(body).toEqual({
    kind: "APIGroup",
    apiVersion: "v1",
    name: "older.test",
    versions: [{ groupVersion: "older.test/v1", version: "v1" }],
    preferredVersion: { groupVersion: "older.test/v1", version: "v1" },
  });
});

test("a server's own document is taken over, without what it may not say", async () => {
  const resource = (name: string): object => ({
    resource: name,
    responseKind: { group: "newer.test", version: "v1", kind: "Thing" },
    scope: "Cluster",
    singularResource: "thing",
    verbs: ["get"],
    invented: "<script>",
  });
  const version = (name: string) => [
    { version: "v1", resources: [resource(name)], freshness: "Stale" },
  ];
  const extension = await extend(
    "newer.test",
    (path, response) =>
      path === "/apis" &&
      aggregated(response, [
        { metadata: { name: "newer.test" }, versions: version("things") },
        { metadata: { name: "apps" }, versions: version("stolen") },
        { metadata: { name: "unasked.test" }, versions: version("stolen") },
      ]),
  );
  const group = await discovered("newer.test", "Current");
  expect(group.versions[0].resources).toEqual([
    {
      resource: "things",
      responseKind: { group: "newer.test", version: "v1", kind: "Thing" },
      scope: "Cluster",
      singularResource: "thing",
      verbs: ["get"],
    },
  ]);
  const { text } = await server.call("GET", "/apis", undefined, accept);
  expect(text).not.toMatch(/stolen|unasked|script/);
  const asked = extension.seen.find(({ url }) => url === "/apis")!;
  expect([asked.headers["x-remote-user"], asked.client]).toEqual([
    "system:kube-aggregator",
    "front-proxy-client",
  ]);
});

test.each<[string, (response: ServerResponse) => void]>([
  ["is down", (response) => response.writeHead(503).end()],
  ["is no JSON", (response) => response.writeHead(200).end("{")],
  ["has another form", (response) => response.end('{"kind":"Pod","items":7}')],
  [
    "is megabytes long",
    (response) => response.end(`"${"x".repeat(3 * 1024 * 1024)}"`),
  ],
  ["breaks off", (response) => response.destroy()],
])("what %s is stale, and the others are as they were", async (what, fail) => {
  const group = `${what.toLowerCase().replaceAll(" ", "-")}.test`;
  // Its availability is looked at without a body: all that fails is its content.
  await extend(group, (_path, response) => {
    const { method } = response.req;
    if (method === "GET") response.statusCode = 200;
    if (response.req.headers["accept"] === undefined) response.end("{}");
    else fail(response);
    return true;
  });
  const found = await discovered(group, "Stale");
  expect(found.versions).toEqual([
    { version: "v1", resources: [], freshness: "Stale" },
  ]);
  const { body } = await server.call("GET", "/apis");
  expect(body.groups.map(({ name }: Json) => name as string)).toContain(group);
});

test("a server that hangs delays nobody", async () => {
  const hanging = await startExtension("hanging.test");
  extensions.push(hanging);
  let waiting = 0;
  hanging.answer = (request, response) => {
    if (request.url !== "/apis") return false;
    waiting++;
    response.once("close", () => waiting--);
    return true;
  };
  await register(server, hanging, "hanging.test");
  await eventually(() => waiting > 0);
  let meanwhile = false;
  await extend("prompt.test", (path) => {
    if (path === "/apis") meanwhile ||= waiting > 0;
    return false;
  });
  await discovered("prompt.test", "Current");
  expect(meanwhile).toBe(true);
  expect((await server.call("GET", "/apis")).status).toBe(200);
});

test("groups follow by priority, and go with their APIServices", async () => {
  await server.call("POST", apiServices, {
    ...apiService("first.test", 1, { groupPriorityMinimum: 19_000 }),
  });
  const names = async (aggregatedForm: boolean): Promise<string[]> => {
    const { body } = await server.call(
      "GET",
      "/apis",
      undefined,
      aggregatedForm ? accept : {},
    );
    return (aggregatedForm ? body.items : body.groups).map(
      (one: Json) => (aggregatedForm ? one.metadata.name : one.name) as string,
    ) as string[];
  };
  await eventually(async () => (await names(true)).includes("first.test"));
  for (const form of [false, true]) {
    const all = await names(form);
    expect(all.slice(0, 3)).toEqual([
      "apiregistration.k8s.io",
      "first.test",
      "apps",
    ]);
    expect(all.indexOf("older.test")).toBeGreaterThan(all.indexOf("policy"));
  }
  await server.call("DELETE", `${apiServices}/v1.first.test`);
  await eventually(async () => !(await names(true)).includes("first.test"));
  expect(await names(false)).not.toContain("first.test");
  expect((await server.call("GET", "/apis/first.test")).status).toBe(404);
});

test("a version that another server takes over is described by it", async () => {
  const extension = await startExtension("policy");
  extensions.push(extension);
  await server.call(
    "PATCH",
    `${apiServices}/v1.policy`,
    {
      spec: {
        insecureSkipTLSVerify: true,
        service: {
          namespace: "default",
          name: "extension",
          port: extension.port,
        },
      },
    },
    { "content-type": "application/merge-patch+json" },
  );
  await eventually(
    async () =>
      (await described("policy"))?.versions[0].resources[0]?.resource ===
      "flunders",
  );
  const { body } = await server.call("GET", "/apis/policy/v1");
  expect(body.resources[0].name).toBe("flunders");
  await server.call(
    "PATCH",
    `${apiServices}/v1.policy`,
    { spec: { insecureSkipTLSVerify: null, service: null } },
    { "content-type": "application/merge-patch+json" },
  );
  const local = await server.call("GET", "/apis/policy/v1");
  expect(local.body.resources[0].name).toBe("poddisruptionbudgets");
  await eventually(
    async () =>
      (await described("policy")).versions[0].resources[0].resource ===
      "poddisruptionbudgets",
  );
});
