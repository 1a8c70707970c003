// --egress-selector-config-file on the API server's real port: which connections leave by which proxy, that nothing leaves
// another way when a proxy refuses, and what is refused of the file.
import * as https from "node:https";
import * as path from "node:path";
import { eventually } from "../../support/eventually.ts";
import {
  startConnectProxy,
  type ConnectProxy,
} from "../../support/connect-proxy.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import {
  configuration,
  startWebhookServer,
  validating,
} from "../../support/webhooks.ts";
import { openPort } from "./part-ports.ts";
import {
  askPort,
  authorityNamed,
  certificateOf,
  fileIn,
  serveOnLoopback,
  useStopped,
} from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();
const file = fileIn(directories);
const authority = authorityNamed("remote-ca");
const serving = certificateOf(authority, "remote", [], {
  ipAddresses: ["127.0.0.1"],
});

const selector = (selections: readonly object[], version = "v1beta1"): string =>
  file(
    JSON.stringify({
      apiVersion: `apiserver.k8s.io/${version}`,
      kind: "EgressSelectorConfiguration",
      egressSelections: selections,
    }),
  );
const byProxy = (name: string, transport: object): object => ({
  name,
  connection: { proxyProtocol: "HTTPConnect", transport },
});
const over = (proxy: ConnectProxy): object => ({
  tcp: { url: `http://127.0.0.1:${proxy.port}` },
});

async function startProxy(): Promise<ConnectProxy> {
  const proxy = await startConnectProxy();
  open.push(proxy);
  return proxy;
}

async function start(...argv: string[]) {
  const tokens = file('admin,admin,1,"system:masters"\n');
  const port = await openPort("apiserver", directories(), [
    `--token-auth-file=${tokens}`,
    "--authorization-mode=RBAC",
    ...argv,
  ]);
  open.push(port);
  return (method: string, target: string, body?: object, token = "admin") =>
    askPort(port.port, method, target, { token, ...(body ? { body } : {}) });
}

/** An HTTPS server of JSON; counts its requests. */
async function remote(
  answer: object,
): Promise<{ port: number; seen: () => number }> {
  let seen = 0;
  const server = https.createServer(
    { cert: serving.certificate, key: serving.key },
    (request, response) => {
      seen++;
      request.resume();
      response.end(JSON.stringify(answer));
    },
  );
  return { port: await serveOnLoopback(server, open), seen: () => seen };
}

const refuse = (proxy: ConnectProxy): void => {
  proxy.answer = (socket) => socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
};

test("webhooks at URLs and of tokens leave by controlplane, and not at all when it refuses", async () => {
  const proxy = await startProxy();
  const tokens = await remote({
    ...{ apiVersion: "authentication.k8s.io/v1", kind: "TokenReview" },
    status: { authenticated: true, user: { username: "jane" } },
  });
  const server = `https://127.0.0.1:${tokens.port}`;
  const kubeconfig = file(
    JSON.stringify({
      ...{ apiVersion: "v1", kind: "Config", "current-context": "c" },
      clusters: [
        {
          name: "c",
          cluster: {
            server,
            "certificate-authority-data": Buffer.from(
              authority.certificate,
            ).toString("base64"),
          },
        },
      ],
      users: [{ name: "u", user: {} }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    }),
  );
  const hooks = await startWebhookServer();
  open.push({ stop: () => hooks.close() });
  const ask = await start(
    `--egress-selector-config-file=${selector([byProxy("ControlPlane", over(proxy))])}`,
    `--authentication-token-webhook-config-file=${kubeconfig}`,
    "--authentication-token-webhook-cache-ttl=0s",
  );
  const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  expect((await ask("POST", reviews, {}, "jane")).code).toBe(201);
  expect(proxy.asked).toEqual([`127.0.0.1:${tokens.port}`]);
  await ask(
    "POST",
    validating,
    configuration("Validating", "v", hooks, { "/v": {} }),
  );
  const configMaps = "/api/v1/namespaces/default/configmaps";
  const create = (name: string) =>
    ask("POST", configMaps, {
      ...{ apiVersion: "v1", kind: "ConfigMap", metadata: { name } },
    });
  let made = 0;
  await eventually(async () => {
    await create(`c${made++}`);
    return hooks.seen.length > 0;
  });
  expect(proxy.asked).toContain(new URL(hooks.https.url).host);

  refuse(proxy);
  const fresh = await start(
    `--egress-selector-config-file=${selector([byProxy("controlplane", over(proxy))])}`,
    `--authentication-token-webhook-config-file=${kubeconfig}`,
  );
  const before = tokens.seen();
  expect((await fresh("POST", reviews, {}, "jane")).code).toBe(401);
  expect(tokens.seen()).toBe(before);
});

test.each([[true], [false]])(
  "requests to agents leave by cluster; allowed: %s",
  async (allowed) => {
    const proxy = await startProxy();
    const agent = await remote({ hello: "agent" });
    proxy.leadsTo = agent.port;
    if (!allowed) refuse(proxy);
    const ask = await start(
      `--egress-selector-config-file=${selector([byProxy("cluster", over(proxy))])}`,
    );
    const status = {
      addresses: [{ type: "InternalIP", address: "192.0.2.7" }],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    };
    const node = {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name: "n" },
      status,
    };
    expect((await ask("POST", "/api/v1/nodes", node)).code).toBe(201);
    const answer = await ask("GET", "/api/v1/nodes/n/proxy/healthz");
    expect(proxy.asked).toEqual(["192.0.2.7:10250"]);
    expect(agent.seen()).toBe(allowed ? 1 : 0);
    if (allowed)
      expect(answer).toEqual({ code: 200, body: { hello: "agent" } });
    else expect(answer.code).toBeGreaterThanOrEqual(500);
  },
);

const socket = { uds: { udsName: "/run/proxy.sock" } };
test.each<[string, object[], RegExp]>([
  [
    "GRPC",
    [
      {
        name: "cluster",
        connection: { proxyProtocol: "GRPC", transport: socket },
      },
    ],
    /connections by GRPC are not implemented/,
  ],
  [
    "etcd by a proxy",
    [byProxy("etcd", socket)],
    /connections to etcd by a proxy are not implemented/,
  ],
  [
    "an unknown purpose",
    [byProxy("pods", socket)],
    /name: Unsupported value: "pods": supported values: "cluster", "controlplane", "etcd"/,
  ],
  [
    "master in v1beta1",
    [byProxy("master", socket)],
    /name: Unsupported value: "master"/,
  ],
  [
    "a purpose given twice",
    [byProxy("cluster", socket), byProxy("Cluster", socket)],
    /egressSelections\[1\]\.name: Duplicate value: "cluster"/,
  ],
  [
    "an unknown protocol",
    [{ name: "cluster", connection: { proxyProtocol: "SOCKS" } }],
    /proxyProtocol: Unsupported value: "SOCKS"/,
  ],
  [
    "direct with a transport",
    [
      {
        name: "cluster",
        connection: { proxyProtocol: "Direct", transport: socket },
      },
    ],
    /Transport config should be absent for direct connect/,
  ],
  [
    "no transport",
    [byProxy("cluster", undefined as never)],
    /transport must be set for HTTPConnect/,
  ],
  [
    "neither transport",
    [byProxy("cluster", {})],
    /One of TCP or UDS must be set/,
  ],
  [
    "both transports",
    [byProxy("cluster", { ...socket, tcp: { url: "http://a:1" } })],
    /TCP and UDS cannot both be set/,
  ],
  [
    "no socket",
    [byProxy("cluster", { uds: {} })],
    /UDSName should be present for UDS connections/,
  ],
  [
    "another scheme",
    [byProxy("cluster", { tcp: { url: "socks://a:1" } })],
    /supported connection protocols are http:\/\/ and https:\/\//,
  ],
  [
    "no port",
    [byProxy("cluster", { tcp: { url: "http://a" } })],
    /must be the proxy's host and port/,
  ],
  [
    "HTTPS without its TLS",
    [byProxy("cluster", { tcp: { url: "https://a:1" } })],
    /TLSConfig must be present when using HTTPS/,
  ],
  [
    "HTTP with TLS",
    [
      byProxy("cluster", {
        tcp: { url: "http://a:1", tlsConfig: { clientCert: "x" } },
      }),
    ],
    /TLSConfig config should not be present when using HTTP/,
  ],
  [
    "files that are not there",
    [
      byProxy("cluster", {
        tcp: {
          url: "https://a:1",
          tlsConfig: { caBundle: "/x/ca", clientCert: "/x/crt" },
        },
      }),
    ],
    /ca bundle does not exist[^]*client cert does not exist[^]*Using TLS requires clientKey/,
  ],
])("%s is refused", async (_, selections, problem) => {
  await expect(
    start(`--egress-selector-config-file=${selector(selections)}`),
  ).rejects.toThrow(problem);
});

test("spans do not leave past the proxy of controlplane", async () => {
  const config = file(
    JSON.stringify({
      apiVersion: "apiserver.config.k8s.io/v1beta1",
      kind: "TracingConfiguration",
      endpoint: "collector:4317",
    }),
  );
  await expect(
    start(
      `--egress-selector-config-file=${selector([byProxy("master", { uds: { udsName: path.join(directories(), "s") } })], "v1alpha1")}`,
      `--tracing-config-file=${config}`,
    ),
  ).rejects.toThrow("egress selection controlplane are not implemented");
});
