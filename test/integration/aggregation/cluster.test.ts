// Aggregated resources in a whole cluster: the extension knows the API server by what the cluster publishes for extensions,
// and controllers that look after all resources reach the extension's too, and wait where it is away.
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  configMaps,
  namespaces,
  startCluster,
  type Cluster,
} from "../../../index.ts";
import { apiServices, services } from "../../../client/resources.ts";
import { eventually } from "../../support/eventually.ts";
import {
  startExtensionServer,
  type ExtensionTestServer,
} from "../../support/extension-server.ts";

const group = "wardle.test";
const root = `/apis/${group}/v1`;

let cluster: Cluster;
let extension: ExtensionTestServer;
let away = false;
/** `namespace/name` → UID. */
const flunders = new Map<string, string>();
const deletions: string[] = [];

function answer(request: IncomingMessage, response: ServerResponse): boolean {
  if (away) {
    response.writeHead(500).end();
    return true;
  }
  const url = new URL(request.url ?? "/", "https://extension");
  const found =
    /^\/apis\/[^/]+\/v1(?:\/namespaces\/([^/]+))?\/flunders(?:\/([^/]+))?$/.exec(
      url.pathname,
    );
  if (!found || url.searchParams.has("watch")) return false;
  const [, namespace, name] = found;
  const items = [...flunders].filter(
    ([key]) =>
      (!namespace || key.startsWith(`${namespace}/`)) &&
      (!name || key.endsWith(`/${name}`)),
  );
  const object = ([key, uid]: [string, string]): object => ({
    apiVersion: `${group}/v1`,
    kind: "Flunder",
    metadata: {
      namespace: key.split("/")[0],
      name: key.split("/")[1],
      uid,
      resourceVersion: "1",
    },
  });
  if (request.method === "DELETE") {
    deletions.push(request.url ?? "");
    for (const [key] of items) flunders.delete(key);
  }
  const missing = name !== undefined && items.length === 0;
  response.writeHead(missing ? 404 : 200, {
    "content-type": "application/json",
  });
  const body = missing
    ? { kind: "Status", code: 404, reason: "NotFound", message: "none" }
    : name
      ? object(items[0]!)
      : {
          apiVersion: `${group}/v1`,
          kind: "FlunderList",
          metadata: { resourceVersion: "1" },
          items: items.map(object),
        };
  response.end(JSON.stringify(body));
  return true;
}

const available = async (status: string): Promise<void> => {
  await eventually(
    async () => {
      const { status: now } = await cluster.client
        .resource(apiServices)
        .get(`v1.${group}`);
      return now?.conditions?.[0]?.status === status;
    },
    { what: `availability ${status}` },
  );
};

/** A change of the service is a reason to look at it. */
async function leave(gone: boolean): Promise<void> {
  away = gone;
  const client = cluster.client.resource(services);
  await client.patch("extension", "default", {
    type: "merge",
    body: { metadata: { labels: { away: String(gone) } } },
  });
  await available(gone ? "False" : "True");
}

beforeAll(async () => {
  cluster = await startCluster();
  const published = await cluster.client
    .resource(configMaps)
    .get("extension-apiserver-authentication", "kube-system");
  extension = await startExtensionServer({
    frontProxyAuthority: published.data!["requestheader-client-ca-file"]!,
    group,
    service: "extension.default",
  });
  extension.answer = answer;
  await cluster.client.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "extension", namespace: "default" },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  await cluster.client.resource(apiServices).create({
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: "v1",
      groupPriorityMinimum: 2000,
      versionPriority: 10,
      caBundle: Buffer.from(extension.authority).toString("base64"),
      service: {
        namespace: "default",
        name: "extension",
        port: extension.port,
      },
    },
  });
  await available("True");
});
afterAll(async () => {
  await cluster.stop();
  await extension.stop();
});

test("the client certificate is of the published authority, and names the front proxy", async () => {
  const { body } = await cluster.client.raw("GET", `${root}/flunders`);
  expect(body).toMatchObject({ kind: "FlunderList" });
  const seen = extension.seen.find(({ url }) => url === `${root}/flunders`)!;
  expect([seen.client, seen.headers["x-remote-group"]]).toEqual([
    "front-proxy-client",
    "system:masters",
  ]);
});

test("a namespace takes the extension's objects with it, and waits while it is away", async () => {
  flunders.set("gone/a", "a").set("gone/b", "b").set("kept/c", "c");
  const client = cluster.client.resource(namespaces);
  await client.create({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "gone" },
    spec: {},
  });
  await leave(true);
  await client.delete("gone");
  const failure = await eventually(
    async () =>
      (await client.get("gone")).status?.conditions?.find(
        ({ type, status }) =>
          type === "NamespaceDeletionDiscoveryFailure" && status === "True",
      ),
    { what: "the failure of discovery" },
  );
  expect(failure).toMatchObject({
    reason: "DiscoveryFailed",
    message: `Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: ${group}/v1: stale GroupVersion discovery: ${group}/v1`,
  });
  await leave(false);
  await eventually(
    () =>
      client.get("gone").then(
        () => false,
        (error: { code?: number }) => error.code === 404,
      ),
    { what: "the end of the namespace" },
  );
  // Tried again, the same is deleted again.
  expect(deletions.length).toBeGreaterThan(0);
  for (const deletion of deletions)
    expect(deletion).toMatch(`${root}/namespaces/gone/flunders`);
  expect([...flunders.keys()]).toEqual(["kept/c"]);
});

test("dependents go when their owner there is gone, not when it can't be asked for", async () => {
  const client = cluster.client.resource(configMaps);
  const owned = (name: string, owner: string, uid: string) =>
    client.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name,
        namespace: "default",
        ownerReferences: [
          { apiVersion: `${group}/v1`, kind: "Flunder", name: owner, uid },
        ],
      },
    });
  flunders.set("default/owner", "owner-uid");
  await owned("kept", "owner", "owner-uid");
  await owned("orphan", "missing", "missing-uid");
  await eventually(
    () =>
      client.get("orphan", "default").then(
        () => false,
        (error: { code?: number }) => error.code === 404,
      ),
    { what: "the end of the orphan" },
  );
  await leave(true);
  await owned("unknown", "missing", "other-uid");
  // Of the same kind as what it is asked about after it.
  await client.create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "next",
      namespace: "default",
      ownerReferences: [
        { apiVersion: "v1", kind: "ConfigMap", name: "none", uid: "none" },
      ],
    },
  });
  await eventually(
    () =>
      client.get("next", "default").then(
        () => false,
        (error: { code?: number }) => error.code === 404,
      ),
    { what: "the end of the next one" },
  );
  await expect(client.get("unknown", "default")).resolves.toBeDefined();
  await leave(false);
  await expect(client.get("kept", "default")).resolves.toBeDefined();
});
