// The Gateway API on the ingress's proxy: definitions that come and go, listeners, routes, references, and statuses.
import * as path from "node:path";
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import type { KubeObject } from "../../../api/object.ts";
import { machineAddresses } from "../../../cli/parts/addresses.ts";
import {
  customResourceDefinitions,
  endpointSlices,
  namespaces,
  nodes,
  secrets,
  services,
} from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import {
  gatewayClasses,
  gateways,
  httpRoutes,
  referenceGrants,
  type Condition,
  type Gateway,
  type HttpRouteRule,
} from "../../../network/ingress/gateway/objects.ts";
import { IngressController } from "../../../network/ingress/ingress-controller.ts";
import { bundleProgram } from "../../support/bundle-program.ts";
import { crd } from "../../support/definitions.ts";
import { eventually } from "../../support/eventually.ts";
import { freePorts } from "../../support/free-port.ts";
import {
  echo,
  request,
  startBackend,
  type Reply,
  type TestBackend,
} from "../../support/ingress-proxy.ts";
import { registerNode } from "../../support/register-node.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";

const tempDirectory = useTempDirectories();
const [address = "127.0.0.1"] = machineAddresses();

let cluster: Cluster;
let controller: IngressController;
let workerFile: string;
let port: number;
let otherPort: number;
const backends: TestBackend[] = [];

const definitions = [
  { plural: "gatewayclasses", kind: "GatewayClass", scope: "Cluster" as const },
  { plural: "gateways", kind: "Gateway" },
  { plural: "httproutes", kind: "HTTPRoute" },
  { plural: "referencegrants", kind: "ReferenceGrant" },
];

/** The real ones have schemas; what is read of the objects is what those let through. */
async function install(each: (typeof definitions)[number]): Promise<void> {
  const definition = crd({
    ...each,
    group: "gateway.networking.k8s.io",
    version: { subresources: { status: {} } },
  });
  await cluster.client.resource(customResourceDefinitions).create({
    ...definition,
    metadata: {
      ...definition.metadata,
      annotations: { "api-approved.kubernetes.io": "unapproved, for a test" },
    },
  } as never);
}

beforeAll(async () => {
  workerFile = path.join(tempDirectory(), "ingress-worker.cjs");
  await bundleProgram(
    path.join(__dirname, "../../../network/ingress/ingress-worker.ts"),
    workerFile,
  );
  [port, otherPort] = (await freePorts(2)) as [number, number];
  cluster = await startCluster({ controllers: false, scheduler: false });
  await registerNode(cluster.client, "here", "192.0.2.1");
  for (const name of ["team", "other"])
    await cluster.client.resource(namespaces).create({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels: { kind: name } },
      spec: {},
    });
  controller = new IngressController({
    client: cluster.client,
    nodeName: "here",
    address: "127.0.0.1",
    trustedProxies: [],
    graceMs: 500,
    clock: systemClock,
    logger: pino({ level: "silent" }),
    workerFile,
  });
  await controller.start();
  for (const each of definitions) await install(each);
  await service("team", "web");
  await service("team", "second");
  await service("other", "far");
});

afterAll(async () => {
  await controller.stop();
  await cluster.stop();
  for (const each of backends) each.close();
});

async function service(namespace: string, name: string): Promise<TestBackend> {
  const backend = await startBackend(echo(name), "0.0.0.0");
  backends.push(backend);
  await cluster.client.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace },
    spec: { ports: [{ name: "http", port: 80 }] },
  });
  await cluster.client.resource(endpointSlices).create({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `${name}-1`,
      namespace,
      labels: { "kubernetes.io/service-name": name },
    },
    addressType: "IPv4",
    endpoints: [{ addresses: [address] }],
    ports: [{ name: "http", port: backend.port }],
  });
  return backend;
}

const object = (kind: string, name: string, namespace: string, spec: object) =>
  ({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind,
    metadata: { name, namespace },
    spec,
  }) as KubeObject;

async function route(
  name: string,
  rules: readonly HttpRouteRule[],
  more: object = {},
  namespace = "team",
): Promise<void> {
  await cluster.client.resource(httpRoutes).create(
    object("HTTPRoute", name, namespace, {
      parentRefs: [{ name: "gate", namespace: "team" }],
      rules,
      ...more,
    }) as never,
  );
}

async function ask(
  host: string,
  options: Parameters<typeof request>[1] = {},
): Promise<Reply> {
  return request(port, {
    ...options,
    headers: { ...options.headers, host },
  });
}

const answered = (host: string, status = 200, url = "/") =>
  eventually(async () => {
    const reply = await ask(host, { path: url });
    return reply.status === status ? reply : undefined;
  });

interface Echoed {
  name: string;
  url: string;
  headers: Record<string, string>;
}

const seen = ({ text }: Reply): Echoed => JSON.parse(text) as Echoed;

async function parentCondition(
  name: string,
  type: string,
  namespace = "team",
): Promise<Condition | undefined> {
  const { status } = await cluster.client
    .resource(httpRoutes)
    .get(name, namespace);
  return status?.parents?.[0]?.conditions.find((each) => each.type === type);
}

const conditionOf = (
  name: string,
  type: string,
  reason: string,
  namespace = "team",
) =>
  eventually(async () => {
    const found = await parentCondition(name, type, namespace);
    return found?.reason === reason ? found : undefined;
  });

const to = (name: string, more: object = {}) => ({ name, port: 80, ...more });

test("a Gateway and a route are served, and say so", async () => {
  await eventually(async () => {
    const own = await cluster.client.resource(gatewayClasses).get("orbit");
    return own.status?.conditions?.[0]?.status === "True";
  });
  await cluster.client.resource(gateways).create(
    object("Gateway", "gate", "team", {
      gatewayClassName: "orbit",
      listeners: [
        { name: "all", port, protocol: "HTTP" },
        {
          name: "selected",
          port: otherPort,
          protocol: "HTTP",
          hostname: "*.selected.test",
          allowedRoutes: {
            namespaces: {
              from: "Selector",
              selector: { matchLabels: { kind: "other" } },
            },
          },
        },
        { name: "tcp", port: 9, protocol: "TCP" },
      ],
    }) as never,
  );
  await route("first", [{ backendRefs: [to("web")] }], {
    hostnames: ["first.test"],
  });
  expect(seen((await answered("first.test"))!).name).toBe("web");
  expect((await ask("other.test")).status).toBe(404);
  const accepted = await conditionOf("first", "Accepted", "Accepted");
  expect(accepted).toMatchObject({ status: "True", observedGeneration: 1 });
  await conditionOf("first", "ResolvedRefs", "ResolvedRefs");
  const gateway = await eventually(async () => {
    const found = await cluster.client.resource(gateways).get("gate", "team");
    return found.status?.listeners?.[0]?.attachedRoutes === 1
      ? found
      : undefined;
  });
  const listener = (name: string) =>
    gateway!.status!.listeners!.find((each) => each.name === name)!;
  const state = (
    conditions: readonly Condition[] = [],
    type: string,
  ): string | undefined => {
    const found = conditions.find((each) => each.type === type);
    return `${found?.status} ${found?.reason}`;
  };
  expect(gateway!.status?.addresses).toEqual([
    { type: "IPAddress", value: "192.0.2.1" },
  ]);
  expect(state(gateway!.status?.conditions, "Accepted")).toBe(
    "True ListenersNotValid",
  );
  expect(state(listener("all").conditions, "Accepted")).toBe("True Accepted");
  expect(state(listener("tcp").conditions, "Accepted")).toBe(
    "False UnsupportedProtocol",
  );
  expect(listener("tcp").supportedKinds).toEqual([]);
  expect(listener("selected").attachedRoutes).toBe(0);
  await eventually(async () => {
    const { status } = await cluster.client
      .resource(gateways)
      .get("gate", "team");
    return state(status?.conditions, "Programmed") === "True Programmed";
  });
});

test("matches by path, method, header and parameter", async () => {
  await route(
    "matches",
    [
      {
        matches: [{ path: { type: "PathPrefix", value: "/a" } }],
        backendRefs: [to("web")],
      },
      {
        matches: [
          {
            path: { type: "PathPrefix", value: "/a" },
            headers: [{ name: "X-Version", value: "2" }],
          },
          { path: { type: "PathPrefix", value: "/a" }, method: "POST" },
          {
            path: { type: "RegularExpression", value: "/r[0-9]+" },
            queryParams: [{ name: "q", value: "1" }],
          },
        ],
        backendRefs: [to("second")],
      },
    ],
    { hostnames: ["matches.test"] },
  );
  await answered("matches.test", 200, "/a/x");
  const name = async (
    url: string,
    options: Parameters<typeof request>[1] = {},
  ): Promise<string> => {
    const reply = await ask("matches.test", { path: url, ...options });
    return reply.status === 200 ? seen(reply).name : String(reply.status);
  };
  expect(await name("/a")).toBe("web");
  expect(await name("/ab")).toBe("404");
  expect(await name("/a", { headers: { "x-version": "2" } })).toBe("second");
  expect(await name("/a", { method: "POST" })).toBe("second");
  expect(await name("/r12?q=1")).toBe("second");
  expect(await name("/r12")).toBe("404");
});

test("filters change headers, paths and hosts, redirect and mirror", async () => {
  const mirrored: string[] = [];
  const mirror = await service("team", "mirror");
  mirror.server.on("request", (incoming) => mirrored.push(incoming.url ?? ""));
  await route(
    "filters",
    [
      {
        matches: [{ path: { type: "PathPrefix", value: "/headers" } }],
        filters: [
          {
            type: "RequestHeaderModifier",
            requestHeaderModifier: {
              set: [{ name: "X-Set", value: "new" }],
              add: [{ name: "X-Add", value: "2" }],
              remove: ["X-Gone"],
            },
          },
          {
            type: "ResponseHeaderModifier",
            responseHeaderModifier: {
              set: [{ name: "content-type", value: "text/own" }],
            },
          },
        ],
        backendRefs: [to("web")],
      },
      {
        matches: [{ path: { type: "PathPrefix", value: "/rewrite" } }],
        filters: [
          {
            type: "URLRewrite",
            urlRewrite: {
              hostname: "inside.test",
              path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/to/" },
            },
          },
        ],
        backendRefs: [to("web")],
      },
      {
        matches: [{ path: { type: "PathPrefix", value: "/redirect" } }],
        filters: [
          {
            type: "RequestRedirect",
            requestRedirect: {
              scheme: "https",
              hostname: "away.test",
              statusCode: 301,
              path: { type: "ReplacePrefixMatch", replacePrefixMatch: "/" },
            },
          },
        ],
      },
      {
        matches: [{ path: { type: "PathPrefix", value: "/mirror" } }],
        filters: [
          {
            type: "RequestMirror",
            requestMirror: { backendRef: to("mirror") },
          },
        ],
        backendRefs: [to("web")],
      },
    ],
    { hostnames: ["filters.test"] },
  );
  await answered("filters.test", 200, "/headers");
  const reply = await ask("filters.test", {
    path: "/headers",
    headers: { "x-set": "old", "x-add": "1", "x-gone": "1" },
  });
  expect(reply.headers["content-type"]).toBe("text/own");
  expect(seen(reply).headers).toMatchObject({
    "x-set": "new",
    "x-add": "1, 2",
  });
  expect(seen(reply).headers["x-gone"]).toBeUndefined();
  const rewritten = seen(await ask("filters.test", { path: "/rewrite/a?b" }));
  expect(rewritten.url).toBe("/to/a?b");
  expect(rewritten.headers["host"]).toBe("inside.test");
  const redirect = await ask("filters.test", { path: "/redirect/a?b" });
  expect([redirect.status, redirect.headers.location]).toEqual([
    301,
    "https://away.test/a?b",
  ]);
  const body = "x".repeat(100_000);
  const own = await ask("filters.test", {
    path: "/mirror/1",
    method: "POST",
    body,
  });
  expect((JSON.parse(own.text) as { body: string }).body).toBe(body);
  await eventually(() => mirrored.includes("/mirror/1"));
});

test("weights divide requests, and references that lead nowhere are 500", async () => {
  await route(
    "weights",
    [
      {
        matches: [{ path: { type: "PathPrefix", value: "/split" } }],
        backendRefs: [
          to("web", { weight: 3 }),
          to("second", { weight: 1 }),
          to("missing", { weight: 0 }),
        ],
      },
      {
        matches: [{ path: { type: "PathPrefix", value: "/missing" } }],
        backendRefs: [to("missing")],
      },
    ],
    { hostnames: ["weights.test"] },
  );
  await answered("weights.test", 200, "/split");
  const counts: Record<string, number> = {};
  for (let n = 0; n < 200; n++) {
    const { name } = seen(await ask("weights.test", { path: "/split" }));
    counts[name] = (counts[name] ?? 0) + 1;
  }
  expect(counts["web"]).toBeGreaterThan(110);
  expect(counts["second"]).toBeGreaterThan(20);
  expect((await ask("weights.test", { path: "/missing" })).status).toBe(500);
  const problem = await conditionOf(
    "weights",
    "ResolvedRefs",
    "BackendNotFound",
  );
  expect(problem?.message).toContain("team/missing");
  await service("team", "missing");
  await conditionOf("weights", "ResolvedRefs", "ResolvedRefs");
  await answered("weights.test", 200, "/missing");
});

test("a backend of another namespace needs a grant", async () => {
  await route("cross", [{ backendRefs: [to("far", { namespace: "other" })] }], {
    hostnames: ["cross.test"],
  });
  await conditionOf("cross", "ResolvedRefs", "RefNotPermitted");
  await answered("cross.test", 500);
  await cluster.client.resource(referenceGrants("v1")).create(
    object("ReferenceGrant", "grant", "other", {
      from: [
        {
          group: "gateway.networking.k8s.io",
          kind: "HTTPRoute",
          namespace: "team",
        },
      ],
      to: [{ group: "", kind: "Service" }],
    }) as never,
  );
  await answered("cross.test", 200);
  await conditionOf("cross", "ResolvedRefs", "ResolvedRefs");
  await cluster.client.resource(referenceGrants("v1")).delete("grant", "other");
  await answered("cross.test", 500);
});

test("listeners take routes of the namespaces and hosts they allow", async () => {
  const backendRefs = [to("far")];
  const far = (name: string, hostname: string): Promise<void> =>
    route(name, [{ backendRefs }], { hostnames: [hostname] }, "other");
  await far("foreign", "foreign.test");
  // The listener that allows the namespace has other hosts.
  await conditionOf(
    "foreign",
    "Accepted",
    "NoMatchingListenerHostname",
    "other",
  );
  await far("selected", "a.b.selected.test");
  await conditionOf("selected", "Accepted", "Accepted", "other");
  const asked = (to: number) =>
    request(to, { headers: { host: "a.b.selected.test" } });
  await eventually(async () => (await asked(otherPort)).status === 200);
  expect((await asked(port)).status).toBe(404);
  await route("section", [{ backendRefs }], {
    parentRefs: [{ name: "gate", sectionName: "none" }],
  });
  await conditionOf("section", "Accepted", "NoMatchingParent");
  await route("own", [{ backendRefs: [to("web")] }], {
    parentRefs: [{ name: "gate", sectionName: "selected" }],
    hostnames: ["own.selected.test"],
  });
  await conditionOf("own", "Accepted", "NotAllowedByListeners");
});

test("a listener of HTTPS shows its Secret's certificate, once there is one", async () => {
  const [securePort] = (await freePorts(1)) as [number];
  await cluster.client.resource(gateways).create(
    object("Gateway", "secure", "team", {
      gatewayClassName: "orbit",
      listeners: [
        {
          name: "https",
          port: securePort,
          protocol: "HTTPS",
          hostname: "*.secure.test",
          tls: { certificateRefs: [{ name: "pair" }] },
        },
      ],
    }) as never,
  );
  await route("secure", [{ backendRefs: [to("web")] }], {
    parentRefs: [{ name: "secure" }],
  });
  const listenerReason = (type: string, reason: string) =>
    eventually(async () => {
      const { status } = await cluster.client
        .resource(gateways)
        .get("secure", "team");
      return status?.listeners?.[0]?.conditions.some(
        (each) => each.type === type && each.reason === reason,
      );
    });
  await listenerReason("ResolvedRefs", "InvalidCertificateRef");
  const nowMs = Date.now();
  const authority = createCertificateAuthority({
    subject: { commonName: "test" },
    nowMs,
  });
  const { certificate, key } = issueCertificate(authority, {
    subject: { commonName: "secure" },
    dnsNames: ["a.secure.test"],
    nowMs,
    usages: ["server auth"],
    validityMs: YEAR_MS,
  });
  await cluster.client.resource(secrets).create({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "pair", namespace: "team" },
    type: "kubernetes.io/tls",
    data: {
      "tls.crt": Buffer.from(certificate).toString("base64"),
      "tls.key": Buffer.from(key).toString("base64"),
    },
  });
  await listenerReason("Programmed", "Programmed");
  const reply = await eventually(() =>
    request(securePort, {
      tls: true,
      ca: authority.certificate,
      rejectUnauthorized: true,
      servername: "a.secure.test",
      headers: { host: "a.secure.test" },
    }),
  );
  expect(seen(reply!).headers["x-forwarded-proto"]).toBe("https");
  expect((await ask("a.secure.test")).status).toBe(404);
});

test("what is not supported is refused by name", async () => {
  await route(
    "unsupported",
    [
      {
        matches: [{ path: { type: "PathPrefix", value: "/bad" } }],
        filters: [{ type: "ExtensionRef" }],
        backendRefs: [to("web")],
      },
      {
        matches: [{ path: { type: "PathPrefix", value: "/good" } }],
        backendRefs: [to("web")],
      },
    ],
    { hostnames: ["unsupported.test"] },
  );
  await answered("unsupported.test", 200, "/good");
  expect((await ask("unsupported.test", { path: "/bad" })).status).toBe(500);
  const partly = await conditionOf(
    "unsupported",
    "PartiallyInvalid",
    "UnsupportedValue",
  );
  expect(partly?.message).toMatch(/ExtensionRef is not supported/);
  await route("pattern", [
    {
      matches: [{ path: { type: "RegularExpression", value: "(" } }],
      backendRefs: [to("web")],
    },
  ]);
  const all = await conditionOf("pattern", "Accepted", "UnsupportedValue");
  expect(all?.message).toMatch(/no expression of RE2/);
});

test("answers for pages of other origins", async () => {
  await route(
    "cors",
    [
      {
        filters: [
          {
            type: "CORS",
            cors: {
              allowOrigins: ["https://*.page.test"],
              allowMethods: ["PUT"],
              allowCredentials: true,
            },
          },
        ],
        backendRefs: [to("web")],
      },
    ],
    { hostnames: ["cors.test"] },
  );
  await answered("cors.test");
  const origin = "https://a.page.test";
  const asked = (method: string, from: string) =>
    ask("cors.test", {
      method,
      headers: { origin: from, "access-control-request-method": "PUT" },
    });
  const preflight = await asked("OPTIONS", origin);
  expect([preflight.status, preflight.text]).toEqual([200, ""]);
  expect(preflight.headers).toMatchObject({
    "access-control-allow-origin": origin,
    "access-control-allow-methods": "PUT",
    "access-control-allow-credentials": "true",
    "access-control-max-age": "5",
  });
  const read = await asked("PUT", origin);
  expect(seen(read).name).toBe("web");
  expect(read.headers["access-control-allow-origin"]).toBe(origin);
  for (const method of ["OPTIONS", "PUT"]) {
    const { headers } = await asked(method, "https://page.test");
    expect(headers["access-control-allow-origin"]).toBeUndefined();
  }
});

test("a listener has the requests for its hosts, and no other one's routes do", async () => {
  await cluster.client.resource(gateways).create(
    object("Gateway", "apart", "team", {
      gatewayClassName: "orbit",
      listeners: [
        { name: "wide", port, protocol: "HTTP", hostname: "*.apart.test" },
        { name: "close", port, protocol: "HTTP", hostname: "a.apart.test" },
      ],
    }) as never,
  );
  const attach = (sectionName: string) =>
    route(
      sectionName,
      [
        {
          matches: [{ path: { value: `/${sectionName}` } }],
          backendRefs: [to("web")],
        },
      ],
      { parentRefs: [{ name: "apart", sectionName }] },
    );
  await attach("wide");
  await attach("close");
  await answered("a.apart.test", 200, "/close");
  await answered("b.apart.test", 200, "/wide");
  await answered("a.apart.test", 404, "/wide");
  await answered("b.apart.test", 404, "/close");
  await cluster.client.resource(gateways).delete("apart", "team");
});

test("a second node that serves: its address is there too, and one of the two writes", async () => {
  const ready = (name: string, address: string) =>
    cluster.client.resource(nodes).patch(
      name,
      undefined,
      {
        type: "merge",
        body: {
          status: {
            addresses: [{ type: "InternalIP", address }],
            conditions: [{ type: "Ready", status: "True", reason: "Test" }],
          },
        },
      },
      { subresource: "status" },
    );
  await registerNode(cluster.client, "there", "192.0.2.2");
  await ready("here", "192.0.2.1");
  await ready("there", "192.0.2.2");
  const second = new IngressController({
    client: cluster.client,
    nodeName: "there",
    address: "127.0.0.2",
    trustedProxies: [],
    graceMs: 100,
    clock: systemClock,
    logger: pino({ level: "silent" }),
    workerFile,
  });
  await second.start();
  const gate = () => cluster.client.resource(gateways).get("gate", "team");
  const addresses = async (): Promise<string> =>
    ((await gate()).status?.addresses ?? []).map(({ value }) => value).join();
  await eventually(async () => (await addresses()) === "192.0.2.1,192.0.2.2");
  await eventually(async () => {
    const { status } = await request(port, {
      host: "127.0.0.2",
      headers: { host: "first.test" },
    });
    return status === 200;
  });
  // Nobody writes again and again.
  const { metadata } = await gate();
  await route("later", [{ backendRefs: [to("web")] }], {
    hostnames: ["later.test"],
  });
  await answered("later.test");
  await eventually(async () => {
    const { status } = await gate();
    return status?.listeners?.[0]?.attachedRoutes !== undefined;
  });
  const writes = Number((await gate()).metadata.resourceVersion);
  expect(writes - Number(metadata.resourceVersion)).toBeLessThan(20);
  await second.stop();
  await eventually(async () => (await addresses()) === "192.0.2.1");
});

test("definitions that go take the routes with them, and bring them back", async () => {
  const client = cluster.client.resource(customResourceDefinitions);
  await client.delete("httproutes.gateway.networking.k8s.io");
  await eventually(
    async () => {
      try {
        return (await ask("first.test")).status === 404;
      } catch {
        return true;
      }
    },
    { timeoutMs: 60_000 },
  );
  await eventually(
    async () => {
      try {
        await install(definitions[2]!);
        return true;
      } catch {
        return false;
      }
    },
    { timeoutMs: 60_000 },
  );
  await eventually(async () => {
    try {
      await route("again", [{ backendRefs: [to("web")] }], {
        hostnames: ["again.test"],
      });
      return true;
    } catch {
      return false;
    }
  });
  await eventually(
    async () => {
      try {
        return (await ask("again.test")).status === 200;
      } catch {
        return false;
      }
    },
    { timeoutMs: 60_000 },
  );
  const found: Gateway = await cluster.client
    .resource(gateways)
    .get("gate", "team");
  expect(found.status?.listeners?.[0]?.attachedRoutes).toBe(1);
});
