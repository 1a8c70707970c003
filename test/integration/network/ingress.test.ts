// The ingress controller between an API server and its proxy's thread: objects come and go, and requests follow.
import { once } from "node:events";
import * as net from "node:net";
import * as path from "node:path";
import * as tls from "node:tls";
import { pino } from "pino";
import { systemClock } from "../../../api/clock.ts";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import type { Ingress, IngressSpec } from "../../../api/types/networking-v1.ts";
import { machineAddresses } from "../../../cli/parts/addresses.ts";
import {
  endpointSlices,
  events,
  ingressClasses,
  ingresses,
  nodes,
  secrets,
  services,
} from "../../../client/resources.ts";
import { startCluster, type Cluster } from "../../../index.ts";
import { IngressController } from "../../../network/ingress/ingress-controller.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import { bundleProgram } from "../../support/bundle-program.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
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
const logger = pino({ level: "silent" });
const [address = "127.0.0.1"] = machineAddresses();

let cluster: Cluster;
let controller: IngressController;
let workerFile: string;
const backends: TestBackend[] = [];

const controllerOptions = () => ({
  client: cluster.client,
  nodeName: "here",
  address: "127.0.0.1",
  httpPort: 0,
  httpsPort: 0,
  trustedProxies: [],
  graceMs: 500,
  clock: systemClock,
  logger,
  workerFile,
});

beforeAll(async () => {
  workerFile = path.join(tempDirectory(), "ingress-worker.cjs");
  await bundleProgram(
    path.join(__dirname, "../../../network/ingress/ingress-worker.ts"),
    workerFile,
  );
  cluster = await startCluster({ controllers: false, scheduler: false });
  await registerNode(cluster.client, "here", "192.0.2.1");
  controller = new IngressController(controllerOptions());
  await controller.start();
  await service("web", "one");
});

afterAll(async () => {
  await controller.stop();
  await cluster.stop();
  for (const each of backends) each.close();
});

/** A Service whose endpoint is a server of this test. */
async function service(
  name: string,
  answer: string,
  more: object = {},
): Promise<TestBackend> {
  const backend = await startBackend(echo(answer), "0.0.0.0");
  backends.push(backend);
  await cluster.client.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { ports: [{ name: "http", port: 80, ...more }] },
  });
  await slice(name, backend.port);
  return backend;
}

async function slice(
  name: string,
  port: number,
  conditions: object = {},
): Promise<void> {
  await cluster.client.resource(endpointSlices).create({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: `${name}-1`,
      namespace: "default",
      labels: { "kubernetes.io/service-name": name },
    },
    addressType: "IPv4",
    endpoints: [{ addresses: [address], conditions }],
    ports: [{ name: "http", port }],
  });
}

async function ingress(
  name: string,
  spec: IngressSpec,
  annotations: Record<string, string> = {},
): Promise<Ingress> {
  return cluster.client.resource(ingresses).create({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace: "default", annotations },
    spec,
  });
}

const all = (host: string, name = "web", port: object = { number: 80 }) => ({
  host,
  http: {
    paths: [
      {
        path: "/",
        pathType: "Prefix",
        backend: { service: { name, port } },
      },
    ],
  },
});

async function ask(host: string, url = "/"): Promise<Reply> {
  return request(controller.ports.http, { path: url, headers: { host } });
}

const answers = (host: string, status: number) =>
  eventually(async () => {
    if (controller.ports.http === 0) return undefined;
    const reply = await ask(host);
    return reply.status === status ? reply : undefined;
  });

test("a cluster without Ingresses has the class and no port", async () => {
  const own = await cluster.client.resource(ingressClasses).get("orbit");
  expect(own.spec.controller).toBe("orbit.io/ingress");
  expect(own.metadata.annotations).toEqual({
    "ingressclass.kubernetes.io/is-default-class": "true",
  });
  expect(controller.ports).toEqual({ http: 0, https: 0 });
});

test("an Ingress without a class is served, and says where", async () => {
  const made = await ingress("first", { rules: [all("first.test")] });
  expect(made.spec.ingressClassName).toBe("orbit");
  const reply = await answers("first.test", 200);
  expect(JSON.parse(reply!.text)).toMatchObject({ name: "one" });
  await eventually(async () => {
    const { status } = await cluster.client
      .resource(ingresses)
      .get("first", "default");
    return status?.loadBalancer?.ingress?.[0]?.ip === "192.0.2.1";
  });
  expect((await ask("other.test")).status).toBe(404);
});

test("other nodes' addresses in a status stay, those of nobody go", async () => {
  await cluster.client.resource(nodes).create({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "there" },
    spec: {},
  });
  const setAddresses = (ip: string): Promise<unknown> =>
    cluster.client.resource(nodes).patch(
      "there",
      undefined,
      {
        type: "merge",
        body: { status: { addresses: [{ type: "InternalIP", address: ip }] } },
      },
      { subresource: "status" },
    );
  await setAddresses("192.0.2.2");
  await cluster.client.resource(ingresses).patch(
    "first",
    "default",
    {
      type: "merge",
      body: {
        status: {
          loadBalancer: { ingress: [{ ip: "192.0.2.2" }, { ip: "192.0.2.9" }] },
        },
      },
    },
    { subresource: "status" },
  );
  await setAddresses("192.0.2.2");
  await cluster.client.resource(nodes).patch(
    "there",
    undefined,
    {
      type: "merge",
      body: {
        status: {
          addresses: [
            { type: "InternalIP", address: "192.0.2.2" },
            { type: "Hostname", address: "there" },
          ],
        },
      },
    },
    { subresource: "status" },
  );
  await eventually(async () => {
    const { status } = await cluster.client
      .resource(ingresses)
      .get("first", "default");
    const ips = status?.loadBalancer?.ingress?.map(({ ip }) => ip).join();
    return ips === "192.0.2.1,192.0.2.2";
  });
});

test("an Ingress of another class is left alone", async () => {
  await cluster.client.resource(ingressClasses).create({
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "other" },
    spec: { controller: "example.com/other" },
  });
  await ingress("foreign", {
    ingressClassName: "other",
    rules: [all("foreign.test")],
  });
  await ingress("after", { rules: [all("after.test")] });
  await answers("after.test", 200);
  expect((await ask("foreign.test")).status).toBe(404);
});

test("endpoints are ready ones, or else those that end and still serve", async () => {
  const backend = await startBackend(echo("ending"), "0.0.0.0");
  backends.push(backend);
  await cluster.client.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "ending", namespace: "default" },
    spec: { ports: [{ name: "http", port: 80 }] },
  });
  await slice("ending", backend.port, { ready: false });
  await ingress("ending", {
    rules: [all("ending.test", "ending", { name: "http" })],
  });
  await answers("ending.test", 503);
  const change = (conditions: object): Promise<unknown> =>
    cluster.client.resource(endpointSlices).patch("ending-1", "default", {
      type: "merge",
      body: { endpoints: [{ addresses: [address], conditions }] },
    });
  await change({ ready: false, serving: true, terminating: true });
  await answers("ending.test", 200);
  await change({ ready: false, serving: false, terminating: true });
  await answers("ending.test", 503);
});

test("a problem is an event that names it, and others are served", async () => {
  await cluster.client.resource(services).create({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "out", namespace: "default" },
    spec: { type: "ExternalName", externalName: "localhost" },
  });
  await ingress(
    "wrong",
    {
      rules: [all("wrong.test", "out")],
      tls: [{ hosts: ["wrong.test"], secretName: "missing" }],
    },
    { "ingress.orbit.io/max-body-sise": "1Mi" },
  );
  const event = await eventually(async () => {
    const { items } = await cluster.client
      .resource(events)
      .list({ namespace: "default" });
    return items.find(
      ({ involvedObject, message }) =>
        involvedObject.name === "wrong" && message?.includes("missing"),
    );
  });
  expect(event?.type).toBe("Warning");
  expect(event?.message).toMatch(/max-body-sise is not known/);
  expect((await ask("wrong.test")).status).toBe(503);
  expect((await ask("first.test")).status).toBe(200);
});

test("TLS with the Secret's certificate, and a redirect only where it is asked for", async () => {
  const nowMs = Date.now();
  const authority = createCertificateAuthority({
    subject: { commonName: "test" },
    nowMs,
  });
  const pair = (commonName: string): Record<string, string> => {
    const { certificate, key } = issueCertificate(authority, {
      subject: { commonName },
      dnsNames: ["tls.test"],
      nowMs,
      usages: ["server auth"],
      validityMs: YEAR_MS,
    });
    return {
      "tls.crt": Buffer.from(certificate).toString("base64"),
      "tls.key": Buffer.from(key).toString("base64"),
    };
  };
  const shown = async (): Promise<string> => {
    const socket = tls.connect({
      host: "127.0.0.1",
      port: controller.ports.https,
      servername: "tls.test",
      ca: authority.certificate,
      rejectUnauthorized: false,
    });
    await once(socket, "secureConnect");
    const name = socket.getPeerCertificate().subject.CN;
    socket.destroy();
    return String(name);
  };
  await cluster.client.resource(secrets).create({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "pair", namespace: "default" },
    type: "kubernetes.io/tls",
    data: pair("first"),
  });
  await ingress("tls", {
    rules: [all("tls.test")],
    tls: [{ hosts: ["tls.test"], secretName: "pair" }],
  });
  await eventually(async () => (await shown()) === "first");
  const plain = await answers("tls.test", 200);
  expect(plain!.status).toBe(200);
  const secure = await request(controller.ports.https, {
    tls: true,
    ca: authority.certificate,
    rejectUnauthorized: true,
    servername: "tls.test",
    headers: { host: "tls.test" },
  });
  expect(secure.status).toBe(200);
  await cluster.client.resource(secrets).patch("pair", "default", {
    type: "merge",
    body: { data: pair("second") },
  });
  await eventually(async () => (await shown()) === "second");
  await cluster.client.resource(ingresses).patch("tls", "default", {
    type: "merge",
    body: {
      metadata: { annotations: { "ingress.orbit.io/https-redirect": "true" } },
    },
  });
  await answers("tls.test", 308);
  const redirect = await ask("tls.test", "/a?b=c");
  expect(redirect.headers.location).toBe(
    `https://tls.test:${controller.ports.https}/a?b=c`,
  );
});

test("of two Ingresses for one path the older one has it, until it goes", async () => {
  await service("second", "two");
  await ingress("younger-a", { rules: [all("clash.test", "second")] });
  await ingress("younger-b", { rules: [all("clash.test", "web")] });
  const first = await answers("clash.test", 200);
  expect(JSON.parse(first!.text)).toMatchObject({ name: "two" });
  await cluster.client.resource(ingresses).delete("younger-a", "default");
  await eventually(async () => {
    const { text } = await ask("clash.test");
    return (JSON.parse(text) as { name: string }).name === "one";
  });
  await cluster.client.resource(ingresses).delete("younger-b", "default");
  await answers("clash.test", 404);
});

test("its figures are metrics", async () => {
  const text = await eventually(() => {
    const all = metricsText(controller.families());
    return all.includes('name="first"') ? all : undefined;
  });
  expect(text).toMatch(
    /orbit_ingress_requests_total\{kind="Ingress",name="first",namespace="default",status="200"\} \d/,
  );
  expect(text).toMatch(/orbit_ingress_request_duration_seconds_count \d/);
});

test("a taken port is an event, and is opened when it is free", async () => {
  const holder = net.createServer();
  // Not one of those that connections come from: it would be taken again at once.
  const port = await freePort();
  holder.listen(port, "127.0.0.1");
  await once(holder, "listening");
  const { httpsPort: _https, ...options } = controllerOptions();
  const second = new IngressController({ ...options, httpPort: port });
  await second.start();
  await eventually(async () => {
    const { items } = await cluster.client
      .resource(events)
      .list({ namespace: "default" });
    return items.some(
      ({ involvedObject, reason, message }) =>
        involvedObject.kind === "IngressClass" &&
        reason === "PortUnavailable" &&
        message?.includes("EADDRINUSE"),
    );
  });
  expect(second.ports.http).toBe(0);
  holder.close();
  await eventually(() => second.ports.http === port);
  await second.stop();
});
