// The audit log: which requests the policy records, the events' form, stages of watches, refused and impersonated
// requests, buffering and rotation.
import * as fs from "node:fs";
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import * as path from "node:path";
import pino from "pino";
import { systemClock } from "../../../api/clock.ts";
import type { UserInfo } from "../../../api/contracts.ts";
import type { ApiError } from "../../../api/errors.ts";
import {
  AuditLog,
  type AuditLogOptions,
} from "../../../apiserver-lite/audit/audit-log.ts";
import { AuditBatch } from "../../../apiserver-lite/audit/audit-batch.ts";
import type { AuditEvent } from "../../../apiserver-lite/audit/audit-event.ts";
import {
  lenientSink,
  truncatingSink,
} from "../../../apiserver-lite/audit/audit-sinks.ts";
import { AuditWebhook } from "../../../apiserver-lite/audit/audit-webhook.ts";
import { Auditor } from "../../../apiserver-lite/audit/auditor.ts";
import {
  auditDecision,
  checkAuditPolicy,
  type AuditRule,
} from "../../../apiserver-lite/audit/policy.ts";
import { parseRequest } from "../../../apiserver-lite/request/request-info.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type Json,
  type TestServer,
} from "./support.ts";

const tempDirectory = useTempDirectories();
const servers: TestServer[] = [];
const stops: (() => void)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) stop();
  for (const server of servers.splice(0)) await server.stop();
});

const policyOf = (rules: unknown[], omitStages?: string[]) =>
  checkAuditPolicy({
    kind: "Policy",
    apiVersion: "audit.k8s.io/v1",
    rules,
    ...(omitStages ? { omitStages } : {}),
  });

async function start(
  rules: unknown[],
  omitStages?: string[],
  parts: Parameters<typeof startTestServer>[0] = {},
): Promise<TestServer & { events: AuditEvent[] }> {
  const events: AuditEvent[] = [];
  const auditor = new Auditor(
    policyOf(rules, omitStages),
    {
      write: (told) => events.push(...told) > 0,
      close: () => undefined,
    },
    systemClock,
  );
  const server = await startTestServer({ auditor, ...parts });
  servers.push(server);
  // Without the server's own requests of its start.
  events.length = 0;
  return { ...server, events };
}

const configMapResource = { group: "", version: "v1", resource: "configmaps" };
const tester: UserInfo = {
  name: "system:anonymous",
  groups: ["system:unauthenticated"],
  extra: {},
};

it("tells of this process's own requests as of those over HTTP", async () => {
  const told = async (within: boolean): Promise<Json[]> => {
    const { server, call, events } = await start([
      { level: "RequestResponse" },
    ]);
    const transport = server.transport(tester, "node");
    const where = { resource: configMapResource, namespace: "default" };
    const merge = { "content-type": "application/merge-patch+json" };
    if (within) {
      await transport.request({
        ...{ verb: "create", ...where },
        body: configMap("a"),
      });
      await transport.request({
        ...{ verb: "patch", ...where, name: "a" },
        patch: { type: "merge", body: { data: { b: "2" } } },
        query: { fieldManager: "m" },
      });
      await transport
        .request({ verb: "get", ...where, name: "none" })
        .catch(() => undefined);
      await transport.request({ verb: "delete", ...where, name: "a" });
    } else {
      await call("POST", configMaps, configMap("a"));
      await call(
        "PATCH",
        `${configMaps}/a?fieldManager=m`,
        { data: { b: "2" } },
        merge,
      );
      await call("GET", `${configMaps}/none`);
      await call("DELETE", `${configMaps}/a`);
    }
    await transport.close();
    const random = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|T[\d:.]+Z/g;
    return JSON.parse(
      JSON.stringify(events).replace(random, "<random>"),
    ) as Json[];
  };
  const within = await told(true);
  expect(within.map(({ verb }) => verb)).toEqual(
    ["create", "patch", "get", "delete"].flatMap((verb) => [verb, verb]),
  );
  expect(within).toEqual(
    (await told(false)).map((event: Json) => ({
      ...event,
      userAgent: "node",
    })),
  );
});

it("tells each stage of a request in the reference's form", async () => {
  const { call, events } = await start([{ level: "Metadata" }]);
  const created = await call(
    "POST",
    `${configMaps}?fieldManager=me`,
    configMap("a"),
    {
      "user-agent": "test/1",
      "audit-id": "one",
      "x-forwarded-for": "10.0.0.9",
    },
  );
  expect(created.headers.get("audit-id")).toBe("one");
  expect(events).toHaveLength(2);
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;
  expect(events[0]).toMatchObject({ stage: "RequestReceived" });
  expect(events[0]!.responseStatus).toBeUndefined();
  expect(events[1]).toEqual({
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level: "Metadata",
    auditID: "one",
    stage: "ResponseComplete",
    requestURI: `${configMaps}?fieldManager=me`,
    verb: "create",
    user: {
      username: "system:anonymous",
      groups: ["system:unauthenticated"],
    },
    sourceIPs: ["10.0.0.9", "127.0.0.1"],
    userAgent: "test/1",
    objectRef: {
      resource: "configmaps",
      namespace: "default",
      name: "a",
      apiVersion: "v1",
    },
    responseStatus: { metadata: {}, code: 201 },
    requestReceivedTimestamp: expect.stringMatching(time),
    stageTimestamp: expect.stringMatching(time),
  });
});

it("tells when a watch starts and ends, and of refused and impersonated requests", async () => {
  const { call, watch, events } = await start(
    [{ level: "None", nonResourceURLs: ["/metrics"] }, { level: "Metadata" }],
    ["RequestReceived"],
    {
      parts: () => ({
        authorizer: {
          authorize: ({ resource }: { resource: string }) => ({
            decision: resource === "secrets" ? "noOpinion" : "allow",
            reason: "because",
          }),
        } as never,
      }),
    },
  );
  const reader = await watch("/api/v1/nodes?watch=1");
  expect(events.map(({ stage }) => stage)).toEqual(["ResponseStarted"]);
  reader.close();
  await eventually(() => events.length === 2);
  expect(events[1]!.stage).toBe("ResponseComplete");
  await call("GET", "/api/v1/secrets");
  expect(events[2]).toMatchObject({
    verb: "list",
    responseStatus: { code: 403 },
    annotations: {
      "authorization.k8s.io/decision": "forbid",
      "authorization.k8s.io/reason": "because",
    },
  });
  await call("GET", "/version", undefined, { "impersonate-user": "eve" });
  expect(events[3]).toMatchObject({
    user: { username: "system:anonymous" },
    impersonatedUser: { username: "eve" },
  });
  await call("GET", "/metrics");
  expect(events).toHaveLength(4);
});

it.each<[AuditRule, string, boolean]>([
  [{ level: "Metadata", users: ["me"] }, "GET /version", true],
  [{ level: "Metadata", users: ["you"] }, "GET /version", false],
  [{ level: "Metadata", userGroups: ["g", "h"] }, "GET /version", true],
  [{ level: "Metadata", verbs: ["list"] }, "GET /api/v1/pods", true],
  [{ level: "Metadata", verbs: ["get"] }, "GET /api/v1/pods", false],
  [
    { level: "Metadata", namespaces: ["a"] },
    "GET /api/v1/namespaces/a/pods",
    true,
  ],
  [{ level: "Metadata", namespaces: ["a"] }, "GET /version", false],
  [{ level: "Metadata", resources: [{ group: "" }] }, "GET /api/v1/pods", true],
  [
    { level: "Metadata", resources: [{ group: "apps" }] },
    "GET /api/v1/pods",
    false,
  ],
  [
    { level: "Metadata", resources: [{ resources: ["pods"] }] },
    "GET /api/v1/namespaces/a/pods/p/log",
    false,
  ],
  [
    { level: "Metadata", resources: [{ resources: ["pods/*"] }] },
    "GET /api/v1/namespaces/a/pods/p/log",
    true,
  ],
  [
    { level: "Metadata", resources: [{ resources: ["*/log"] }] },
    "GET /api/v1/namespaces/a/pods/p/log",
    true,
  ],
  [
    {
      level: "Metadata",
      resources: [{ resources: ["pods"], resourceNames: ["q"] }],
    },
    "GET /api/v1/namespaces/a/pods/p",
    false,
  ],
  [{ level: "Metadata", nonResourceURLs: ["/health*"] }, "GET /healthz", true],
  [
    { level: "Metadata", nonResourceURLs: ["/health*"] },
    "GET /api/v1/pods",
    false,
  ],
])("matches %j on %s: %s", (rule, request, matches) => {
  const [method, target] = request.split(" ") as [string, string];
  const { level } = auditDecision(
    policyOf([rule]),
    parseRequest(method, target, new URLSearchParams()),
    { name: "me", groups: ["g"], extra: {} },
  );
  expect(level).toBe(matches ? "Metadata" : "None");
});

it.each<[object, string | RegExp]>([
  [{}, /is not an audit.k8s.io\/v1 Policy/],
  [{ kind: "Policy", apiVersion: "audit.k8s.io/v1", rules: [] }, /0 rules/],
  ...(
    [
      [
        [{ level: "Everything" }, {}],
        '[rules[0].level: Unsupported value: "Everything": supported values: "Metadata", "None", "Request", "RequestResponse", rules[1].level: Required value]',
      ],
      [
        [{ level: "None", nonResourceURLs: ["x", "/a*b"], namespaces: ["n"] }],
        `[rules[0].nonResourceURLs[0]: Invalid value: "x": non-resource URL rules must begin with a '/' character, rules[0].nonResourceURLs[1]: Invalid value: "/a*b": non-resource URL wildcards '*' must be the final character of the rule, rules[0].nonResourceURLs: Invalid value: ["x","/a*b"]: rules cannot apply to both regular resources and non-resource URLs]`,
      ],
      [
        [{ level: "None", omitStages: ["Now"] }],
        'rules[0].omitStages[0]: Invalid value: "Now": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
      ],
      [
        [{ level: "None", resources: [{ resourceNames: ["n"] }] }],
        'rules[0].resources.resourceNames: Invalid value: ["n"]: using resourceNames requires at least one resource',
      ],
    ] as const
  ).map(
    ([rules, text]) =>
      [{ kind: "Policy", apiVersion: "audit.k8s.io/v1", rules }, text] as [
        object,
        string,
      ],
  ),
])("refuses the policy %j", (document, message) => {
  expect(() => checkAuditPolicy(document)).toThrow(message);
});

describe("bodies", () => {
  const body = (events: readonly AuditEvent[], stage = "ResponseComplete") =>
    events.findLast((event) => event.stage === stage) as Json;

  it("are told from their levels on, whatever their encoding was", async () => {
    const { call, events } = await start([
      { level: "Request", verbs: ["patch"] },
      { level: "RequestResponse", omitManagedFields: true },
    ]);
    await call(
      "POST",
      configMaps,
      "metadata: {generateName: g-}\ndata: {a: b}\n",
      {
        "content-type": "application/yaml",
        accept: "application/vnd.kubernetes.protobuf",
      },
    );
    expect(body(events).requestObject).toEqual({
      kind: "ConfigMap",
      apiVersion: "v1",
      metadata: { generateName: "g-" },
      data: { a: "b" },
    });
    const { responseObject, objectRef } = body(events);
    expect(objectRef.name).toBeUndefined();
    expect(responseObject.metadata.name).toMatch(/^g-/);
    expect(responseObject.metadata.managedFields).toBeUndefined();
    expect(body(events, "RequestReceived").requestObject).toBeUndefined();
    const name = responseObject.metadata.name as string;
    await call("PATCH", `${configMaps}/${name}`, '{"data":{"c":"d"}}', {
      "content-type": "application/merge-patch+json",
    });
    expect(body(events)).toMatchObject({
      requestObject: { data: { c: "d" } },
      responseStatus: { code: 200 },
    });
    expect(body(events).responseObject).toBeUndefined();
    await call("GET", `${configMaps}?limit=1`, undefined, {
      accept: "application/json;as=Table;g=meta.k8s.io;v=v1",
    });
    expect(body(events).responseObject).toMatchObject({
      kind: "Table",
      rows: [{ object: { metadata: { name } } }],
    });
    await call("GET", "/version");
    expect(body(events).responseObject).toBeUndefined();
    await call("DELETE", `${configMaps}/${name}`);
    expect(body(events).responseStatus).toMatchObject({
      status: "Success",
      details: { name, kind: "configmaps" },
      code: 200,
    });
  });

  it("of long lists and refusals are told as well", async () => {
    const { call, events } = await start([
      { level: "Metadata", verbs: ["get"] },
      { level: "RequestResponse" },
    ]);
    const text = "x".repeat(50_000);
    for (const name of ["a", "b", "c"])
      await call("POST", configMaps, configMap(name, { data: { text } }));
    const listed = await call("GET", configMaps);
    await eventually(() => body(events).verb === "list");
    expect(body(events).responseObject).toEqual(listed.body);
    await call("GET", `${configMaps}/missing`);
    expect(body(events)).toMatchObject({
      level: "Metadata",
      responseStatus: {
        status: "Failure",
        reason: "NotFound",
        message: 'configmaps "missing" not found',
        code: 404,
      },
    });
    expect(body(events).responseObject).toBeUndefined();
  });
});

it("tells of requests nobody could be found for, once", async () => {
  const { call, events } = await start([{ level: "Metadata" }], undefined, {
    anonymous: false,
  });
  await call("GET", "/api/v1/pods");
  expect(events).toEqual([
    expect.objectContaining({
      stage: "ResponseStarted",
      user: {},
      responseStatus: expect.objectContaining({
        reason: "Unauthorized",
        code: 401,
      }) as object,
    }),
  ]);
});

it("refuses what can't be recorded in strict mode only", async () => {
  let full = false;
  const failing = { write: () => !full, close: () => undefined };
  for (const [sink, status] of [
    [failing, 500],
    [lenientSink(failing), 200],
  ] as const) {
    const auditor = new Auditor(
      policyOf([{ level: "Metadata" }]),
      sink,
      systemClock,
    );
    full = false;
    const server = await startTestServer({ auditor });
    servers.push(server);
    full = true;
    const answer = await server.call("GET", "/version");
    expect(answer.status).toBe(status);
    if (status === 500)
      expect(answer.text).toBe(
        'Internal Server Error: "/version": failed to store audit event\n',
      );
    const within = await server.server
      .transport(tester)
      .request({ verb: "list", resource: configMapResource })
      .then(
        () => 200,
        (error: ApiError) => error.code,
      );
    expect(within).toBe(status);
  }
});

it("cuts events and batches that are too large", () => {
  const batches: (readonly AuditEvent[])[] = [];
  const sink = truncatingSink(
    { write: (told) => batches.push(told) > 0, close: () => undefined },
    {
      maxEventBytes: 200,
      maxBatchBytes: 250,
      logger: pino({ level: "silent" }),
    },
  );
  const event = (level: string, fields: object): AuditEvent =>
    ({ level, ...fields }) as unknown as AuditEvent;
  void sink.write([
    event("Request", { requestObject: "x".repeat(300) }),
    event("Metadata", { requestURI: "y".repeat(120) }),
    event("Metadata", { requestURI: "y".repeat(300) }),
    event("Metadata", { requestURI: "z".repeat(120) }),
  ]);
  expect(batches.map((batch) => batch.length)).toEqual([2, 1]);
  expect(batches[0]![0]).toEqual({
    level: "Request",
    annotations: { "audit.k8s.io/truncated": "true" },
  });
});

describe("the webhook", () => {
  async function receiver(answers: number[]) {
    const bodies: Json[] = [];
    const server = http.createServer((request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        bodies.push({ headers: request.headers, ...JSON.parse(text) });
        response.writeHead(answers.shift() ?? 200).end();
      });
    });
    await new Promise<void>((resolve) =>
      server.listen(0, "127.0.0.1", resolve),
    );
    stops.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const webhook = new AuditWebhook({
      connection: { server: `http://127.0.0.1:${port}/x`, token: "secret" },
      initialBackoffMs: 5,
      clock: systemClock,
      logger: pino({ level: "silent" }),
    });
    return { webhook, bodies };
  }
  const event = { auditID: "x" } as unknown as AuditEvent;

  it("gets lists of events, again when it failed", async () => {
    const { webhook, bodies } = await receiver([500, 503]);
    expect(await webhook.write([event, event])).toBe(true);
    expect(bodies).toHaveLength(3);
    expect(bodies[2]).toMatchObject({
      headers: { authorization: "Bearer secret" },
      kind: "EventList",
      apiVersion: "audit.k8s.io/v1",
      items: [{ auditID: "x" }, { auditID: "x" }],
    });
    await webhook.close();
  });

  it("is given up after five tries", async () => {
    const { webhook, bodies } = await receiver(Array<number>(9).fill(500));
    expect(await webhook.write([event])).toBe(false);
    expect(bodies).toHaveLength(5);
    await webhook.close();
  });

  it("gets batches, throttled, and the rest at the end", async () => {
    const { webhook, bodies } = await receiver([]);
    const batch = new AuditBatch(webhook, {
      bufferSize: 100,
      maxBatchSize: 3,
      maxWaitMs: 60_000,
      throttle: { qps: 0.001, burst: 2 },
      clock: systemClock,
      logger: pino({ level: "silent" }),
    });
    for (let index = 0; index < 10; index++) batch.write([event]);
    await eventually(() => bodies.length === 2);
    await batch.close();
    // The rest goes out at once: what is sent last may come first.
    expect(bodies.map(({ items }) => items.length).sort()).toEqual([
      1, 3, 3, 3,
    ]);
  });
});

describe("the file", () => {
  const options = (file: string): AuditLogOptions => ({
    path: file,
    legacy: false,
    compress: false,
    maxBytes: 1e9,
    maxBackups: 0,
    maxAgeMs: 0,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  });
  const event = {
    stage: "ResponseComplete",
    auditID: "x",
    user: { username: "u", groups: ["g"] },
    sourceIPs: ["1.2.3.4"],
    responseStatus: { code: 200 },
    verb: "get",
    requestURI: "/x",
    requestReceivedTimestamp: "2026-11-21T03:04:23.591300Z",
  } as unknown as AuditEvent;
  const batchOptions = {
    bufferSize: 100,
    maxBatchSize: 10,
    maxWaitMs: 20,
    throttle: undefined,
    clock: systemClock,
    logger: pino({ level: "silent" }),
  };
  const linesOf = (file: string): string[] =>
    fs.readFileSync(file, "utf8").split("\n").filter(Boolean);

  it("has a line an event, private, written at once or in batches", async () => {
    const file = path.join(tempDirectory(), "log", "audit.log");
    const log = new AuditLog(options(file));
    log.write([event]);
    expect(linesOf(file).map((line) => JSON.parse(line) as object)).toEqual([
      event,
    ]);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    await log.close();
    const batched = new AuditBatch(new AuditLog(options(file)), batchOptions);
    for (let index = 0; index < 150; index++) batched.write([event]);
    expect(linesOf(file)).toHaveLength(1);
    await eventually(() => linesOf(file).length === 101);
    expect(batched.dropped).toBe(50);
    batched.write([event]);
    await batched.close();
    expect(linesOf(file)).toHaveLength(102);
    const legacy = new AuditLog({ ...options(file), legacy: true });
    legacy.write([event]);
    await legacy.close();
    expect(linesOf(file).at(-1)).toBe(
      '2026-11-21T03:04:23.5913Z AUDIT: id="x" stage="ResponseComplete" ip="1.2.3.4" method="get" user="u" groups="\\"g\\"" as="<self>" asgroups="<lookup>" user-agent="" namespace="<none>" uri="/x" response="200"',
    );
  });

  it.each([[false], [true]])(
    "has one line an event, whatever its texts have (legacy: %j)",
    async (legacy) => {
      const file = path.join(tempDirectory(), "audit.log");
      const log = new AuditLog({ ...options(file), legacy });
      const strange = `\0\r\n\v\f\x1b[2K\x1c\x7f\u2028\u2029" AUDIT: id="x`;
      const shown = {
        ...event,
        user: { username: strange, groups: [strange] },
        userAgent: strange,
        requestURI: `/${strange}`,
      };
      log.write([shown, event]);
      await log.close();
      const text = fs.readFileSync(file, "utf8");
      const ends = /\r|\n|\v|\f|\u2028|\u2029/;
      expect(text.split(ends)).toHaveLength(3);
      const [line] = text.split("\n");
      if (legacy) expect(line).toMatch(/^[\x20-\x7e]*$/);
      else expect(JSON.parse(line!)).toEqual(shown);
      expect(text.match(/ AUDIT: id="x/g) ?? []).toHaveLength(legacy ? 2 : 0);
    },
  );

  it("is rotated, and old ones go", async () => {
    const directory = tempDirectory();
    const file = path.join(directory, "audit.log");
    const log = new AuditLog({
      ...options(file),
      maxBytes: 450,
      maxBackups: 2,
      compress: true,
    });
    for (let index = 0; index < 10; index++) {
      log.write([event]);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    await log.close();
    expect(
      fs.readdirSync(directory).filter((name) => name.endsWith(".log.gz")),
    ).toHaveLength(2);
    expect(fs.readdirSync(directory)).toHaveLength(3);
    expect(fs.statSync(file).size).toBeLessThanOrEqual(450);
  });
});
