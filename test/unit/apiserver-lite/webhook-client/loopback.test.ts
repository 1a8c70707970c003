import * as tls from "node:tls";
import type { AddressInfo } from "node:net";
import { systemClock } from "../../../../api/clock.ts";
import { Loopback } from "../../../../apiserver-lite/webhook-client/loopback.ts";
import { WebhookClients } from "../../../../apiserver-lite/webhook-client/webhook-clients.ts";
import {
  startHttpsServer,
  type TestHttpsServer,
} from "../../../support/https-server.ts";
import { FakeState } from "../fake-state.ts";

const at = (address: string, port = 6443): Loopback =>
  new Loopback({ address, port: () => port });

function userOf(
  loopback: Loopback,
  authorization: string,
  remoteAddress: string,
): string | undefined {
  return loopback.authenticate({
    headers: { authorization },
    exchange: { headerValues: () => [] },
    path: "/",
    clientCertificate: undefined,
    remoteAddress,
  })?.user.name;
}

test("its own token makes it the server itself, from this machine alone", () => {
  const loopback = at("192.0.2.7");
  const bearer = `Bearer ${loopback.credentials().token}`;
  for (const remote of ["127.0.0.1", "::ffff:127.0.0.1", "::1", "192.0.2.7"])
    expect(userOf(loopback, bearer, remote)).toBe("system:apiserver");
  for (const remote of ["192.0.2.8", "::ffff:192.0.2.8", "", "localhost"])
    expect(userOf(loopback, bearer, remote)).toBeUndefined();
});

test("nothing else is its token", () => {
  const loopback = at("127.0.0.1");
  const { token } = loopback.credentials();
  const other = at("127.0.0.1").credentials().token;
  expect(other).not.toBe(token);
  expect(Buffer.from(token, "base64url").length).toBe(32);
  const wrong = [
    "",
    "Bearer ",
    `Bearer ${other}`,
    `Bearer ${token.slice(1)}`,
    `Bearer ${token} `,
    `Basic  ${token}`,
    `Bearer ${token.slice(0, -1)}é`,
    `Bearer ${"\u{1f600}".repeat(token.length / 2)}x`,
    token,
  ];
  for (const header of wrong)
    expect(userOf(loopback, header, "127.0.0.1")).toBeUndefined();
});

test.each([
  ["0.0.0.0", "127.0.0.1"],
  ["", "127.0.0.1"],
  ["::", "::1"],
  ["192.0.2.7", "192.0.2.7"],
])("a server bound to %j is called at %s", (address, host) => {
  expect(at(address).place()).toEqual({ host, port: 6443 });
});

test("a port that is not open yet is no place", () => {
  expect(() => at("127.0.0.1", 0).place()).toThrow("not open yet");
});

test("the certificate is there once somebody calls, and for its name alone", () => {
  const loopback = at("127.0.0.1");
  expect(loopback.contextOf("apiserver-loopback-client")).toBeUndefined();
  loopback.credentials();
  expect(loopback.contextOf("apiserver-loopback-client")).toBeDefined();
  expect(loopback.contextOf("kubernetes.default.svc")).toBeUndefined();
});

describe("a stranger at the own port", () => {
  let stranger: TestHttpsServer;
  const asked: (string | undefined)[] = [];
  beforeAll(async () => {
    stranger = await startHttpsServer(
      (_, { headers }) => {
        asked.push(headers.authorization);
        return {};
      },
      { dnsNames: ["apiserver-loopback-client", "kubernetes.default.svc"] },
    );
  });
  afterAll(() => stranger.close());

  const service = { namespace: "default", name: "kubernetes" };
  const url = "https://kubernetes.default.svc";

  test.each([
    ["a service", { service }],
    ["a service with its port", { service: { ...service, port: 443 } }],
    ["a URL", { url: `${url}/x` }],
    ["a URL with its port", { url: `${url}:443/x` }],
    ["a URL in capitals", { url: "https://KUBERNETES.default.svc/x" }],
  ])("is not trusted by %s whose caBundle is its own", async (_, config) => {
    const clients = new WebhookClients({
      state: new FakeState(),
      clock: systemClock,
      loopback: at("127.0.0.1", stranger.port),
      credentials: () => ({ token: "of the kubeconfig" }),
    });
    const { caBundle } = stranger;
    await expect(
      clients.post({ ...config, caBundle }, "{}", { timeoutMs: 5000 }),
    ).rejects.toThrow("tls: failed to verify certificate");
    clients.close();
    expect(asked).toEqual([]);
  });

  test("other places get other credentials", async () => {
    const state = new FakeState();
    const loopback = at("127.0.0.1", stranger.port);
    const shown: string[] = [];
    const clients = new WebhookClients({
      ...{ state, loopback },
      clock: systemClock,
      credentials: (place) => {
        shown.push(place);
        return {};
      },
    });
    const elsewhere = [
      { service: { ...service, port: 6443 } },
      { service: { ...service, namespace: "other" } },
      { service: { ...service, name: "kubernetes.default.svc" } },
      { url: `${url}:6443/x` },
      { url: "https://kubernetes.default.svc.:443/x" },
      { url: "https://kubernetes.default.svc.cluster.local/x" },
      { url: "https://kubernetes.default/x" },
    ];
    for (const config of elsewhere)
      await expect(
        clients.post(config, "{}", { timeoutMs: 5000 }),
      ).rejects.toThrow(/Post/);
    clients.close();
    expect(shown.length).toBe(elsewhere.length);
    expect(asked).toEqual([]);
  });
});

test("its own port is trusted, whatever the configuration's caBundle says", async () => {
  const seen: string[] = [];
  const made: { loopback?: Loopback } = {};
  const server = tls.createServer({
    SNICallback: (name, callback) =>
      callback(null, made.loopback!.contextOf(name)),
  });
  server.on("secureConnection", (socket) => {
    socket.once("data", (data: Buffer) => {
      seen.push(data.toString());
      socket.end(
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
      );
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const loopback = at("127.0.0.1", (server.address() as AddressInfo).port);
  made.loopback = loopback;
  const clients = new WebhookClients({
    ...{ state: new FakeState(), clock: systemClock, loopback },
  });
  const caBundle = Buffer.from("no certificate").toString("base64");
  const path = "/apis/hooks.example.com/v1/reviews";
  const service = { namespace: "default", name: "kubernetes", path };
  await clients.post({ service, caBundle }, "{}", { timeoutMs: 5000 });
  expect(seen[0]).toContain(`POST ${path}?timeout=5s HTTP/1.1`);
  expect(seen[0]).toContain("host: kubernetes.default.svc");
  expect(seen[0]).toContain(
    `authorization: Bearer ${loopback.credentials().token}`,
  );
  clients.close();
  await new Promise((done) => server.close(done));
});
