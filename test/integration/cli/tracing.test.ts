// --tracing-config-file on the API server's real port: the spans of requests, of writes and of webhooks at a collector,
// whose trace they join, what webhooks are shown, and what is refused of the file.
import * as path from "node:path";
import {
  configuration,
  startWebhookServer,
  validating,
} from "../../support/webhooks.ts";
import { startEtcd } from "../../support/etcd.ts";
import { eventually } from "../../support/eventually.ts";
import { SpanCollector } from "../../support/span-collector.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { openPort } from "./part-ports.ts";
import { askPort, fileIn, useStopped } from "./support.ts";

const directories = useTempDirectories();
const open = useStopped();
const file = fileIn(directories);
const configMaps = "/api/v1/namespaces/default/configmaps";
const configMap = (name: string): object => ({
  ...{ apiVersion: "v1", kind: "ConfigMap" },
  metadata: { name },
});
const trace = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";
const traceparent = `00-${trace}-${parent}-01`;

const configurationOf = (
  endpoint: string,
  rate?: number,
  version = "v1beta1",
): string =>
  file(
    JSON.stringify({
      apiVersion: `apiserver.config.k8s.io/${version}`,
      kind: "TracingConfiguration",
      endpoint,
      ...(rate === undefined ? {} : { samplingRatePerMillion: rate }),
    }),
  );

async function startCollector(): Promise<SpanCollector> {
  const collector = new SpanCollector(path.join(directories(), "otlp.sock"));
  open.push(collector);
  return collector.start();
}

type Ask = (
  method: string,
  target: string,
  options?: Parameters<typeof askPort>[3],
) => ReturnType<typeof askPort>;

/** `stop` sends what is left of the spans. */
async function start(
  ...argv: string[]
): Promise<{ ask: Ask; stop(): Promise<void> }> {
  const tokens = file('admin,admin,1,"system:masters"\njane,jane,2\n');
  const port = await openPort("apiserver", directories(), [
    `--token-auth-file=${tokens}`,
    "--authorization-mode=RBAC",
    ...argv,
  ]);
  open.push(port);
  return {
    ask: (method, target, options = {}) =>
      askPort(port.port, method, target, { token: "admin", ...options }),
    async stop() {
      open.splice(open.indexOf(port), 1);
      await port.stop();
    },
  };
}

test("a request's span, with its write's and its webhook's below it, in the trace of a trusted caller", async () => {
  const collector = await startCollector();
  const hooks = await startWebhookServer();
  open.push({ stop: () => hooks.close() });
  const shown: unknown[] = [];
  hooks.on["/v"] = (_request, _body, message) => {
    shown.push(message.headers["traceparent"]);
    return { allowed: true };
  };
  const server = await start(
    `--tracing-config-file=${configurationOf(collector.endpoint)}`,
  );
  const { ask } = server;
  const made = await ask("POST", validating, {
    body: configuration("Validating", "v", hooks, { "/v": {} }),
  });
  expect(made.code).toBe(201);
  await eventually(async () => {
    await ask("POST", configMaps, { body: configMap("early") });
    await ask("DELETE", `${configMaps}/early`);
    return shown.length > 0;
  });
  // Nothing samples what no caller has sampled, and webhooks hear of that.
  expect(shown[0]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
  shown.length = 0;
  const headers = { traceparent, "user-agent": "tester" };
  const created = await ask("POST", configMaps, {
    ...{ body: configMap("traced"), headers },
  });
  expect(created.code).toBe(201);
  await ask("GET", `${configMaps}/absent`, { headers });
  await ask("GET", "/readyz?verbose", { headers });
  await server.stop();
  expect(new Set(collector.spans.map((span) => span.trace))).toEqual(
    new Set([trace]),
  );
  expect(collector.resource).toEqual({
    "service.name": "apiserver",
    "service.instance.id": expect.stringMatching(/^apiserver-/),
  });
  const root = collector.named(
    "POST /api/v1/namespaces/{:namespace}/configmaps",
  )!;
  expect(root).toMatchObject({
    ...{ parent, kind: 2, error: undefined },
    attributes: {
      "http.method": "POST",
      "http.scheme": "https",
      "http.target": configMaps,
      "http.status_code": 201,
      "net.host.name": "127.0.0.1",
      "user_agent.original": "tester",
      "audit-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    },
  });
  const handler = collector.named("Create")!;
  const webhook = collector.named("Call validating webhook")!;
  const call = collector.named("HTTP POST")!;
  const write = collector.named("Create etcd3")!;
  expect(handler).toMatchObject({
    parent: root.id,
    attributes: {
      resource: "configmaps",
      namespace: "default",
      verb: "create",
    },
  });
  expect(webhook).toMatchObject({
    parent: handler.id,
    attributes: { webhook: "v.example.com", operation: "CREATE" },
  });
  expect(call).toMatchObject({ parent: webhook.id, kind: 3 });
  expect(write).toMatchObject({
    parent: handler.id,
    attributes: { key: "/registry/configmaps/default/traced" },
  });
  expect(shown).toEqual([`00-${trace}-${call.id}-01`]);
  for (const inner of [handler, webhook, call, write]) {
    expect(inner.startNano).toBeGreaterThanOrEqual(root.startNano - 1e6);
    expect(inner.endNano).toBeGreaterThanOrEqual(inner.startNano);
  }
  const missing = collector.named(
    "GET /api/v1/namespaces/{:namespace}/configmaps/{:name}",
  )!;
  expect(missing.attributes["http.status_code"]).toBe(404);
  expect(missing.error).toBeUndefined();
  expect(collector.named("Get")!.error).toContain("not found");
  expect(collector.named("GET")!.attributes["http.target"]).toBe(
    "/readyz?verbose",
  );
});

test("anybody else begins a trace of their own, linked to theirs, and the rate decides", async () => {
  const collector = await startCollector();
  const all = await start(
    `--tracing-config-file=${configurationOf(collector.endpoint, 1_000_000, "v1")}`,
  );
  const jane = { token: "jane", headers: { traceparent } };
  expect((await all.ask("GET", configMaps, jane)).code).toBe(403);
  await all.stop();
  const span = collector.spans.find(({ links }) => links.length > 0)!;
  expect(span).toMatchObject({
    name: "GET /api/v1/namespaces/{:namespace}/configmaps",
    ...{ parent: "", links: [parent] },
    attributes: { "http.status_code": 403 },
  });
  expect(span.trace).not.toBe(trace);
  // What the parts of the program do at the start is in no request.
  expect(
    collector.spans.filter(
      ({ name, parent: above }) => name === "Create" && above === "",
    ),
  ).toEqual([]);
  collector.spans.length = 0;
  const none = await start(
    `--tracing-config-file=${configurationOf(collector.endpoint, 0, "v1alpha1")}`,
  );
  await none.ask("GET", configMaps, jane);
  await none.stop();
  expect(collector.spans).toEqual([]);
});

test("calls of etcd are spans of the request", async () => {
  const collector = await startCollector();
  const etcd = await startEtcd();
  open.push({ stop: () => etcd.stop() });
  const server = await start(
    `--etcd-servers=${etcd.url}`,
    `--tracing-config-file=${configurationOf(collector.endpoint)}`,
  );
  const headers = { traceparent };
  await server.ask("POST", configMaps, { body: configMap("a"), headers });
  await server.stop();
  const write = collector.named("Create etcd3")!;
  const call = collector.named("etcdserverpb.KV/Txn")!;
  expect(call).toMatchObject({
    ...{ parent: write.id, trace, kind: 3 },
    attributes: {
      "rpc.system": "grpc",
      "rpc.service": "etcdserverpb.KV",
      "rpc.method": "Txn",
    },
  });
});

test("a collector that is not there holds no request up", async () => {
  const server = await start(
    `--tracing-config-file=${configurationOf("127.0.0.1:9", 1_000_000)}`,
  );
  for (let at = 0; at < 50; at++)
    expect(
      (await server.ask("POST", configMaps, { body: configMap(`c${at}`) }))
        .code,
    ).toBe(201);
  await server.stop();
});

test.each([
  [
    { endpoint: "https://collector:4317" },
    /endpoint: Invalid value: "https:\/\/collector:4317": unsupported scheme: https\. {2}Options are none, dns, unix, or unix-abstract\./,
  ],
  [
    { samplingRatePerMillion: -1 },
    /samplingRatePerMillion: Invalid value: -1: sampling rate must be positive/,
  ],
  [
    { samplingRatePerMillion: 1_000_001 },
    /sampling rate per million must be less than or equal to one million/,
  ],
  [{ samplingRatePerMillion: "many" }, /must be a whole number/],
  [{ rate: 1 }, /rate: unknown field/],
  [{ kind: "EgressSelectorConfiguration" }, /must be TracingConfiguration/],
])("%j is refused", async (change, problem) => {
  const config = file(
    JSON.stringify({
      apiVersion: "apiserver.config.k8s.io/v1beta1",
      kind: "TracingConfiguration",
      ...change,
    }),
  );
  await expect(start(`--tracing-config-file=${config}`)).rejects.toThrow(
    problem,
  );
});

test("a file with the gate off, and one that is not there, end the start", async () => {
  const config = configurationOf("localhost:4317");
  await expect(
    start(
      `--tracing-config-file=${config}`,
      "--feature-gates=APIServerTracing=false",
    ),
  ).rejects.toThrow(
    "APIServerTracing feature is not enabled, but tracing config file was provided",
  );
  await expect(start("--tracing-config-file=/absent/file")).rejects.toThrow(
    "--tracing-config-file: ENOENT",
  );
});
