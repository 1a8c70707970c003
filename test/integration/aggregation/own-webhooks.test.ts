// Webhooks that are paths of an aggregated server and are called through this server itself, as `kubernetes.default`: as
// whom they are called, whatever the service's objects say, and that nobody else learns the token.
import * as tls from "node:tls";
import {
  startExtensionServer,
  type ExtensionTestServer,
} from "../../support/extension-server.ts";
import { eventually } from "../../support/eventually.ts";
import { startTester, type Json, type Tester } from "../conformance/support.ts";
import { apiService, apiServices } from "./support.ts";

const admission = "/apis/admissionregistration.k8s.io/v1";
const configMaps = "/api/v1/namespaces/default/configmaps";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const path = "/apis/hooks.example.com/v1/reviews";
const ownService = { namespace: "default", name: "kubernetes", path };

let tester: Tester;
let extension: ExtensionTestServer;
const reviews: Json[] = [];

beforeAll(async () => {
  tester = await startTester();
  const published = await tester.ok(
    "GET",
    "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
  );
  extension = await startExtensionServer({
    frontProxyAuthority: published.data["requestheader-client-ca-file"],
    group: "hooks.example.com",
    service: "extension.default",
  });
  extension.answer = (request, response) => {
    if (request.method !== "POST") return false;
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      const review = JSON.parse(text);
      reviews.push(review);
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(answerOf(review)));
    });
    return true;
  };
  await tester.ok("POST", "/api/v1/namespaces/default/services", {
    metadata: { name: "extension" },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  const caBundle = Buffer.from(extension.authority).toString("base64");
  const group = "hooks.example.com";
  await tester.ok(
    "POST",
    apiServices,
    apiService(group, extension.port, { caBundle }),
  );
  await eventually(
    async () => {
      const { status } = await tester.ok("GET", `${apiServices}/v1.${group}`);
      return status?.conditions?.[0]?.status === "True";
    },
    { what: "the extension is available" },
  );
});
afterAll(async () => {
  await tester.stop();
  await extension.stop();
});
afterEach(async () => {
  await tester.ok("DELETE", `${admission}/validatingwebhookconfigurations`);
  await tester.ok("DELETE", configMaps);
  reviews.length = extension.seen.length = 0;
});

function answerOf({ kind, apiVersion, request }: Json): object {
  const response =
    kind === "ConversionReview"
      ? {
          result: { status: "Success" },
          convertedObjects: request.objects.map((object: Json) => ({
            ...object,
            apiVersion: request.desiredAPIVersion,
          })),
        }
      : { allowed: false, status: { message: "not this one" } };
  return { kind, apiVersion, response: { uid: request.uid, ...response } };
}

const configure = (clientConfig: object): Promise<Json> =>
  tester.ok("POST", `${admission}/validatingwebhookconfigurations`, {
    metadata: { name: "own" },
    webhooks: [
      {
        name: "own.example.com",
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        timeoutSeconds: 30,
        clientConfig,
        matchConditions: [
          { name: "marked", expression: "object.metadata.name == 'marked'" },
        ],
        rules: [
          {
            ...{ apiGroups: [""], apiVersions: ["v1"] },
            ...{ operations: ["CREATE"], resources: ["configmaps"] },
          },
        ],
      },
    ],
  });
const create = (): ReturnType<Tester["call"]> =>
  tester.call("POST", configMaps, { metadata: { name: "marked" } });

function expectOwnIdentity(): void {
  const asked = extension.seen.filter(({ method }) => method === "POST");
  expect(asked).toHaveLength(1);
  const { client, headers } = asked[0]!;
  expect(client).toBe("front-proxy-client");
  expect(headers).toMatchObject({
    "x-remote-user": "system:apiserver",
    "x-remote-group": "system:masters",
    "user-agent": "kube-apiserver-admission",
  });
  expect(headers).not.toHaveProperty("authorization");
}

test.each([
  ["its service", { service: ownService }],
  ["its URL", { url: `https://kubernetes.default.svc${path}` }],
])("an admission webhook at %s", async (_, clientConfig) => {
  await configure(clientConfig);
  const { status, body } = await create();
  expect(body.message).toBe(
    'admission webhook "own.example.com" denied the request: not this one',
  );
  expect(status).toBe(400);
  expect(reviews[0].request.name).toBe("marked");
  expectOwnIdentity();
});

test("whoever takes over the service's objects or brings a caBundle gets nothing", async () => {
  const service = "/api/v1/namespaces/default/services/kubernetes";
  await tester.call("DELETE", service);
  const caBundle = Buffer.from(extension.authority).toString("base64");
  await configure({ service: ownService, caBundle });
  expect((await create()).status).toBe(400);
  expectOwnIdentity();
});

test("a conversion webhook", async () => {
  const version = (name: string, storage: boolean): object => ({
    ...{ name, storage, served: true },
    schema: {
      openAPIV3Schema: {
        type: "object",
        "x-kubernetes-preserve-unknown-fields": true,
      },
    },
  });
  await tester.ok("POST", definitions, {
    metadata: { name: "things.own.example.com" },
    spec: {
      group: "own.example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [version("v1", true), version("v2", false)],
      conversion: {
        strategy: "Webhook",
        webhook: {
          conversionReviewVersions: ["v1"],
          clientConfig: { service: ownService },
        },
      },
    },
  });
  const things = "/namespaces/default/things";
  await eventually(async () => {
    const { status } = await tester.call(
      "POST",
      `/apis/own.example.com/v1${things}`,
      {
        ...{ apiVersion: "own.example.com/v1", kind: "Thing" },
        metadata: { name: "one" },
      },
    );
    return status === 201;
  });
  extension.seen.length = 0;
  const read = await tester.ok("GET", `/apis/own.example.com/v2${things}/one`);
  expect(read.apiVersion).toBe("own.example.com/v2");
  expectOwnIdentity();
});

test("a path that is no webhook fails with its name", async () => {
  await configure({ service: { ...ownService, path: "/api/v1/namespaces" } });
  const { status, body } = await create();
  expect(status).toBe(500);
  expect(body.message).toContain('failed calling webhook "own.example.com"');
  expect(reviews).toEqual([]);
});

test("a stranger who asks for the loopback's name sees a certificate and stays a stranger", async () => {
  await configure({ service: ownService });
  await create();
  const { port, hostname } = new URL(tester.cluster.url);
  const socket = tls.connect({
    host: hostname,
    port: Number(port),
    servername: "apiserver-loopback-client",
    rejectUnauthorized: false,
  });
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.write(
    `GET /api/v1/nodes HTTP/1.1\r\nhost: kubernetes.default.svc\r\nauthorization: Bearer ${"A".repeat(43)}\r\nconnection: close\r\n\r\n`,
  );
  await new Promise((done) => socket.once("close", done));
  expect(text).toMatch(/^HTTP\/1\.1 401 /);
});
