import { networkInterfaces } from "node:os";
import { systemClock } from "../../../../api/clock.ts";
import {
  WebhookClients,
  WebhookConfigError,
  type WebhookClientsOptions,
} from "../../../../apiserver-lite/webhook-client/webhook-clients.ts";
import {
  startHttpsServer,
  type TestHttpsServer,
} from "../../../support/https-server.ts";
import { FakeState } from "../fake-state.ts";

/** Endpoints can't be on loopback. */
const address = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === "IPv4" && !one.internal)!.address;

let server: TestHttpsServer;
let state: FakeState;
let clients: WebhookClients;
const asked: string[] = [];

beforeAll(async () => {
  server = await startHttpsServer(
    (body, request) => {
      asked.push(
        `${request.headers.host} ${request.url} ${request.headers.authorization ?? ""}`,
      );
      return { body };
    },
    { dnsNames: ["hook.ns.svc"], ipAddresses: ["127.0.0.1"] },
  );
});
afterAll(() => server.close());

beforeEach(() => {
  asked.length = 0;
  state = new FakeState();
  open();
});
afterEach(() => clients.close());

function open(more: Partial<WebhookClientsOptions> = {}): void {
  clients = new WebhookClients({ state, clock: systemClock, ...more });
}

function service(endpoint: string, spec: object = {}): void {
  state.put("", "services", {
    metadata: { name: "hook", namespace: "ns" },
    spec: { ports: [{ name: "https", port: 443, targetPort: 8443 }], ...spec },
  });
  state.put("discovery.k8s.io", "endpointslices", {
    metadata: {
      name: "hook-1",
      namespace: "ns",
      labels: { "kubernetes.io/service-name": "hook" },
    },
    ports: [{ name: "https", port: server.port }],
    endpoints: [
      { addresses: ["203.0.113.9"], conditions: { ready: false } },
      { addresses: [endpoint], conditions: { ready: true } },
    ],
  });
}

const reference = { namespace: "ns", name: "hook", path: "/mutate" };
const call = { timeoutMs: 5000 };
const messageOf = (calling: Promise<unknown>): Promise<string> =>
  calling.then(
    () => "no failure",
    (error: Error) => error.message,
  );

test("a path goes out as the reference cleans it, so that no server redirects for it", async () => {
  service(address);
  const { caBundle } = server;
  const at = (path: string): Promise<unknown> =>
    clients.post({ service: { ...reference, path }, caBundle }, "{}", call);
  await at("//mutate//pods/");
  await at("");
  await clients.post({ url: `${server.url}//v//w/`, caBundle }, "{}", call);
  await clients.post({ url: `${server.url}/`, caBundle }, "{}", call);
  expect(asked.map((each) => each.split(" ")[1])).toEqual([
    "/mutate/pods?timeout=5s",
    "/?timeout=5s",
    "/v/w?timeout=5s",
    "/?timeout=5s",
  ]);
});

test("a service is called at a ready endpoint, by its name", async () => {
  service(address);
  const config = { service: reference, caBundle: server.caBundle };
  const before = server.connections();
  expect((await clients.post(config, "{}", call)).toString()).toBe(
    '{"body":"{}"}',
  );
  // The same place in another object: the same connection.
  await clients.post({ ...config }, "{}", call);
  expect(asked).toEqual([
    "hook.ns.svc /mutate?timeout=5s ",
    "hook.ns.svc /mutate?timeout=5s ",
  ]);
  expect(server.connections() - before).toBeLessThanOrEqual(2);
});

test("a URL is called as it is", async () => {
  const config = { url: `${server.url}/v`, caBundle: server.caBundle };
  await clients.post(config, "{}", call);
  expect(asked).toEqual([`127.0.0.1:${server.port} /v?timeout=5s `]);
});

test("credentials are those of the place", async () => {
  const places: string[] = [];
  open({
    credentials: (place) => {
      places.push(place);
      return { token: "secret" };
    },
  });
  service(address);
  const { caBundle } = server;
  await clients.post({ service: reference, caBundle }, "{}", call);
  await clients.post({ url: server.url, caBundle }, "{}", call);
  expect(places).toEqual(["hook.ns.svc:443", `127.0.0.1:${server.port}`]);
  expect(asked.every((one) => one.endsWith(" Bearer secret"))).toBe(true);
});

test("services that lead nowhere", async () => {
  const { caBundle } = server;
  const config = { service: reference, caBundle };
  const at = 'Post "https://hook.ns.svc:443/mutate?timeout=5s": ';
  expect(await messageOf(clients.post(config, "{}", call))).toBe(
    `${at}service "hook" not found`,
  );
  service(address, { ports: [{ name: "https", port: 8443 }] });
  expect(await messageOf(clients.post(config, "{}", call))).toBe(
    `${at}no service port 443 found for service "hook"`,
  );
  service(address);
  state.remove("discovery.k8s.io", "endpointslices", "ns", "hook-1");
  expect(await messageOf(clients.post(config, "{}", call))).toBe(
    `${at}no endpoints available for service "hook"`,
  );
  // An endpoint that somebody made up must not reach this machine's own ports.
  for (const local of ["127.0.0.1", "::ffff:127.0.0.1", "169.254.169.254"]) {
    service(local);
    expect(await messageOf(clients.post(config, "{}", call))).toBe(
      `${at}address not allowed`,
    );
  }
  expect(asked).toEqual([]);
});

test("an external name is dialed as it is", async () => {
  service(address, { type: "ExternalName", externalName: "nowhere.invalid" });
  expect(
    await messageOf(clients.post({ service: reference }, "{}", call)),
  ).toMatch(/: dial tcp: lookup nowhere.invalid: no such host$/);
});

test("configurations that can't be used fail before any call", async () => {
  const refused = async (config: object): Promise<string> => {
    const calling = clients.post(config, "{}", call);
    await expect(calling).rejects.toBeInstanceOf(WebhookConfigError);
    return messageOf(calling);
  };
  const neither = "webhook configuration must have either service or URL";
  expect(await refused({})).toBe(neither);
  expect(await refused({ url: "http://127.0.0.1/" })).toBe(neither);
  for (const bundle of ["junk", "-----BEGIN CERTIFICATE-----\nAAAA\n"])
    expect(
      await refused({
        url: server.url,
        caBundle: Buffer.from(bundle).toString("base64"),
      }),
    ).toBe(
      "unable to load root certificates: unable to parse bytes as PEM block",
    );
});

test("more places than pools are kept for", async () => {
  const { caBundle } = server;
  const first = { url: `${server.url}/0`, caBundle };
  await clients.post(first, "{}", call);
  for (let place = 1; place <= 200; place++)
    await messageOf(
      clients.post({ url: `https://127.0.0.1:1/${place}` }, "{}", call),
    );
  expect((await clients.post(first, "{}", call)).toString()).toBe(
    '{"body":"{}"}',
  );
});
