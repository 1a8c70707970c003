// A client in each of the encodings that --kube-api-content-type names, against one API server: the same objects, lists,
// events and refusals, whatever travels; and what a server does not take goes as JSON.
import { createServer, type IncomingHttpHeaders } from "node:http";
import pino from "pino";
import { ApiError } from "../../../api/errors.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { ConfigMap } from "../../../api/types/core-v1.ts";
import {
  createApiServer,
  type ApiServer,
} from "../../../apiserver-lite/index.ts";
import { systemClock } from "../../../api/clock.ts";
import type { Client, ResourceRef } from "../../../client/client.ts";
import {
  contentTypes,
  type ContentType,
} from "../../../client/content/body-codec.ts";
import { createClient } from "../../../client/create-client.ts";
import { createHttpTransport } from "../../../client/http-transport.ts";
import {
  configMaps,
  deployments,
  namespaces,
  secrets,
  serviceAccounts,
} from "../../../client/resources.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import { eventually } from "../../support/eventually.ts";

const logger = pino({ level: "silent" });
const open: Client[] = [];
let server: ApiServer;
let base: string;

function clientOf(contentType: ContentType, url = base): Client {
  const client = createClient(
    createHttpTransport({ server: url, contentType }),
    { clock: systemClock, logger },
  );
  open.push(client);
  return client;
}

beforeAll(async () => {
  server = createApiServer({
    store: createMemoryStore(),
    logger,
    featureGates: { CBORServingAndStorage: true },
  });
  await server.start();
  base = `http://127.0.0.1:${server.port}`;
  const client = clientOf("application/json");
  for (const contentType of contentTypes)
    await client
      .resource(namespaces)
      .create({ metadata: { name: namespaceOf(contentType) }, spec: {} });
});
afterAll(async () => {
  for (const client of open) await client.close();
  await server.stop();
});

/** Each encoding works in a namespace of its own, so that all make the same objects. */
const namespaceOf = (contentType: ContentType): string =>
  `as-${contentType.split(/[/.]/).at(-1)!}`;

/**
 * Without what differs by namespace and time. Managed fields are ordered
 * by their second first, so two writes have another order when a second
 * ended between them.
 */
function masked(value: unknown): unknown {
  const varying = new Set(["uid", "resourceVersion", "creationTimestamp"]);
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (varying.has(key) || key === "time") return undefined;
    if (key !== "managedFields") return inner;
    const entries = (inner as object[]).map((entry) => ({
      ...entry,
      time: undefined,
    }));
    return entries.toSorted((one, other) =>
      JSON.stringify(one) < JSON.stringify(other) ? -1 : 1,
    );
  });
  return JSON.parse(
    text
      .replaceAll(/as-(json|protobuf|cbor)/g, "<namespace>")
      .replaceAll(/in record \([\da-f-]+\)/g, "in record (<uid>)"),
  );
}

async function refusal(run: Promise<unknown>): Promise<unknown> {
  const error = await run.then(
    () => new Error("not refused"),
    (caught: unknown) => caught,
  );
  if (!(error instanceof ApiError)) throw error;
  return error.status;
}

const widgets: ResourceRef = {
  group: "example.com",
  version: "v1",
  resource: "widgets",
  kind: "Widget",
  namespaced: true,
};

/** What a client does in its namespace, and what it sees. */
async function session(client: Client, namespace: string): Promise<unknown[]> {
  const seen: unknown[] = [];
  const see = async (run: Promise<unknown>): Promise<void> => {
    seen.push(masked(await run));
  };
  const map: ConfigMap = {
    metadata: { name: "a", namespace, labels: { l: "x" } },
    data: { text: "é\u0000\n" },
    binaryData: { bytes: "AAH/" },
  };
  const maps = client.resource(configMaps);
  await see(maps.list({ namespace, labelSelector: "l=x" }));
  await see(maps.create(map));
  await see(maps.get("a", namespace));
  await see(maps.list({ namespace, labelSelector: "l=x" }));
  await see(refusal(maps.create(map)));
  await see(refusal(maps.get("none", namespace)));
  await see(
    refusal(maps.create({ metadata: { name: "Bad_Name", namespace } })),
  );
  await see(
    client.resource(secrets).create({
      metadata: { name: "s", namespace },
      stringData: { word: "é" },
      data: { raw: "AAECAw==" },
    }),
  );
  const template = {
    metadata: { labels: { a: "b" } },
    spec: {
      containers: [
        {
          name: "c",
          image: "i",
          resources: { limits: { cpu: "0.5", memory: "1Gi" } },
          livenessProbe: { httpGet: { port: 80, path: "/" } },
          readinessProbe: { httpGet: { port: "named", path: "/" } },
        },
      ],
    },
  };
  const apps = client.resource(deployments);
  const made = await apps.create({
    metadata: { name: "d", namespace },
    spec: {
      replicas: 0,
      paused: false,
      selector: { matchLabels: { a: "b" } },
      strategy: { rollingUpdate: { maxSurge: "10%", maxUnavailable: 0 } },
      template,
    },
  });
  seen.push(masked(made));
  const status = { ...made, status: { observedGeneration: 1, replicas: 0 } };
  await see(apps.updateStatus(status));
  await see(refusal(apps.update({ ...made, metadata: { ...made.metadata } })));
  await see(
    apps.patch("d", namespace, {
      type: "strategic",
      body: { spec: { replicas: 3 } },
    }),
  );
  await see(
    apps.patch(
      "d",
      namespace,
      {
        type: "apply",
        body: {
          apiVersion: "apps/v1",
          kind: "Deployment",
          metadata: { name: "d" },
          spec: { replicas: 4 },
        },
      },
      { fieldManager: "m", force: true },
    ),
  );
  await see(apps.getSubresource("d", namespace, "scale"));
  await see(
    apps.updateSubresource("d", namespace, "scale", {
      apiVersion: "autoscaling/v1",
      kind: "Scale",
      metadata: { name: "d", namespace },
      spec: { replicas: 1 },
    }),
  );
  await see(
    refusal(
      client
        .resource(serviceAccounts)
        .createSubresource("none", namespace, "token", {
          spec: { expirationSeconds: 600, audiences: ["x"] },
        }),
    ),
  );
  await see(
    refusal(maps.delete("a", namespace, { preconditions: { uid: "other" } })),
  );
  await maps.delete("a", namespace, { gracePeriodSeconds: 0 });
  await see(maps.list({ namespace, labelSelector: "l=x" }));
  await maps.create({ ...map, metadata: { ...map.metadata, name: "b" } });
  await maps.deleteCollection({ namespace, labelSelector: "l=x" }, {});
  await see(maps.list({ namespace, labelSelector: "l=x" }));
  await see(
    client
      .raw("GET", `/api/v1/namespaces/${namespace}/configmaps/x`)
      .catch((error: ApiError) => error.status),
  );
  return seen;
}

test("the same requests have the same answers", async () => {
  const [json, ...others] = await Promise.all(
    contentTypes.map((contentType) =>
      session(clientOf(contentType), namespaceOf(contentType)),
    ),
  );
  expect(json!.length).toBeGreaterThan(15);
  for (const seen of others) expect(seen).toEqual(json);
});

test.each(contentTypes)("an informer in %s follows", async (contentType) => {
  const namespace = namespaceOf(contentType);
  const client = clientOf(contentType);
  const seen: string[] = [];
  const objects: KubeObject[] = [];
  const note = (what: string) => (object: ConfigMap) => {
    objects.push(object);
    seen.push(`${what}${object.metadata.name}`);
  };
  const maps = client.resource(configMaps);
  const name = "followed";
  await maps.create({ metadata: { name, namespace }, data: { a: "1" } });
  const informer = client.informer(configMaps, { namespace });
  const dispose = informer.addHandler({
    onAdd: note("+"),
    onUpdate: (_old, object) => note("~")(object),
    onDelete: note("-"),
  });
  await eventually(() => seen.includes("+followed"));
  await maps.patch(name, namespace, { type: "merge", body: { data: null } });
  await eventually(() => seen.includes("~followed"));
  await maps.delete(name, namespace);
  await eventually(() => seen.includes("-followed"));
  dispose();
  expect(objects[0]).toMatchObject({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace },
  });
});

test.each(contentTypes)(
  "a watch in %s is refused by a Status",
  async (type) => {
    const stream = clientOf(type)
      .resource(configMaps)
      .watch({ resourceVersion: "x" });
    const reading = (async () => {
      for await (const _ of stream) throw new Error("no event expected");
    })();
    expect(await refusal(reading)).toMatchObject({ code: 400 });
  },
);

test.each(contentTypes)("custom resources in %s", async (contentType) => {
  const client = clientOf(contentType);
  const group = `${namespaceOf(contentType)}.example.com`;
  const definitions: ResourceRef = {
    group: "apiextensions.k8s.io",
    version: "v1",
    resource: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
  };
  const schema = {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      },
    },
  };
  await client.resource(definitions).create({
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "widgets", singular: "widget", kind: "Widget" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  } as unknown as KubeObject);
  const resource = client.resource({ ...widgets, group });
  const namespace = namespaceOf(contentType);
  const spec = { a: [1, { b: null }], c: 1.5, d: "x" };
  const widget = {
    apiVersion: `${group}/v1`,
    kind: "Widget",
    metadata: { name: "w", namespace },
    spec,
  } as unknown as KubeObject;
  const made = await eventually(() => resource.create(widget), {
    what: "the kind to be served",
  });
  expect(made).toMatchObject({ kind: "Widget", spec });
  expect((await resource.list({ namespace })).items).toHaveLength(1);
  const stream = resource.watch({ namespace, resourceVersion: "0" });
  for await (const event of stream) {
    expect(event).toMatchObject({ type: "ADDED", object: { spec } });
    break;
  }
  stream.close();
  await resource.delete("w", namespace, { propagationPolicy: "Background" });
  expect((await resource.list({ namespace })).items).toHaveLength(0);
});

describe("a server that knows JSON alone, or answers what it should not", () => {
  const requests: { headers: IncomingHttpHeaders; body: string }[] = [];
  let answer: { type: string; body: Buffer; code?: number };
  const far = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      requests.push({ headers: request.headers, body });
      const { "content-type": sent } = request.headers;
      if (sent && sent !== "application/json") {
        response.writeHead(415).end("unsupported");
        return;
      }
      response.writeHead(answer.code ?? 200, { "content-type": answer.type });
      response.end(answer.body);
    });
  });
  let url: string;
  beforeAll(async () => {
    // No idle connection ends under a request that is on its way to it.
    far.keepAliveTimeout = 0;
    await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(far.address() as { port: number }).port}`;
  });
  afterAll(() => far.close());
  beforeEach(() => {
    requests.length = 0;
    answer = {
      type: "application/json",
      body: Buffer.from('{"metadata":{"name":"a"}}'),
    };
  });

  test.each([
    "application/vnd.kubernetes.protobuf",
    "application/cbor",
  ] as const)("%s is sent once, then JSON", async (contentType) => {
    const maps = clientOf(contentType, url).resource(configMaps);
    const object = { metadata: { name: "a", namespace: "n" } };
    for (let round = 0; round < 2; round++)
      expect((await maps.create(object)).metadata.name).toBe("a");
    expect(requests.map(({ headers }) => headers["content-type"])).toEqual([
      contentType,
      "application/json",
      "application/json",
    ]);
    expect(requests.at(-1)!.headers.accept).toBe(
      `${contentType},application/json`,
    );
  });

  test.each([
    ["application/vnd.kubernetes.protobuf", Buffer.from("k8s\0\x0a\xff")],
    ["application/vnd.kubernetes.protobuf", Buffer.from("{}")],
    ["application/cbor", Buffer.from("9f9f9f", "hex")],
    ["application/cbor", Buffer.from("5b7fffffffffffffff", "hex")],
  ] as const)("damaged bytes of %s", async (contentType, body) => {
    answer = { type: contentType, body };
    const maps = clientOf(contentType, url).resource(configMaps);
    await expect(maps.get("a", "n")).rejects.toThrow(
      `the answer to get is not ${contentType}`,
    );
    // As the text of a refusal they are not shown.
    answer.code = 404;
    expect(await refusal(maps.get("a", "n"))).toMatchObject({
      code: 404,
      reason: "NotFound",
      message: "the server answered 404",
    });
  });
});
