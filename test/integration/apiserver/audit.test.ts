// The audit log: which requests the policy records, the events' form, stages of watches, refused and impersonated
// requests, buffering and rotation.
import * as fs from "node:fs";
import * as path from "node:path";
import pino from "pino";
import { systemClock } from "../../../api/clock.ts";
import {
  AuditLog,
  type AuditLogOptions,
} from "../../../apiserver-lite/audit/audit-log.ts";
import {
  Auditor,
  type AuditEvent,
} from "../../../apiserver-lite/audit/auditor.ts";
import {
  auditDecision,
  checkAuditPolicy,
  type AuditRule,
} from "../../../apiserver-lite/audit/policy.ts";
import { parseRequest } from "../../../apiserver-lite/http/request-info.ts";
import { eventually } from "../../support/eventually.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type TestServer,
} from "./support.ts";

const tempDirectory = useTempDirectories();
const servers: TestServer[] = [];
afterEach(async () => {
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
    { write: (event) => void events.push(event) },
    systemClock,
  );
  const server = await startTestServer({ auditor, ...parts });
  servers.push(server);
  return { ...server, events };
}

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
    { level: "Metadata", resources: [{ resourceNames: ["q"] }] },
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
    parseRequest(method, target, ""),
    { name: "me", groups: ["g"], extra: {} },
  );
  expect(level).toBe(matches ? "Metadata" : "None");
});

it.each([
  [{}, /is not an audit.k8s.io\/v1 Policy/],
  [{ kind: "Policy", apiVersion: "audit.k8s.io/v1", rules: [] }, /0 rules/],
  [
    {
      kind: "Policy",
      apiVersion: "audit.k8s.io/v1",
      rules: [{ level: "Everything" }],
    },
    /rules\[0\]\.level: Unsupported value: "Everything"/,
  ],
])("refuses the policy %j", (document, message) => {
  expect(() => checkAuditPolicy(document)).toThrow(message);
});

describe("the file", () => {
  const options = (file: string): AuditLogOptions => ({
    path: file,
    batch: false,
    legacy: false,
    bufferSize: 100,
    batchSize: 10,
    batchWaitMs: 20,
    maxBytes: 0,
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
  } as unknown as AuditEvent;
  const linesOf = (file: string): string[] =>
    fs.readFileSync(file, "utf8").split("\n").filter(Boolean);

  it("has a line an event, private, written at once or in batches", async () => {
    const file = path.join(tempDirectory(), "log", "audit.log");
    const log = new AuditLog(options(file));
    log.write(event);
    expect(linesOf(file).map((line) => JSON.parse(line) as object)).toEqual([
      event,
    ]);
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    log.close();
    const batched = new AuditLog({ ...options(file), batch: true });
    for (let index = 0; index < 150; index++) batched.write(event);
    expect(linesOf(file)).toHaveLength(1);
    await eventually(() => linesOf(file).length === 101);
    batched.write(event);
    batched.close();
    expect(linesOf(file)).toHaveLength(102);
    const legacy = new AuditLog({ ...options(file), legacy: true });
    legacy.write(event);
    legacy.close();
    expect(linesOf(file).at(-1)).toContain(
      'AUDIT: id="x" stage="ResponseComplete" ip="1.2.3.4"',
    );
  });

  it("is rotated, and old ones go", async () => {
    const directory = tempDirectory();
    const file = path.join(directory, "audit.log");
    const log = new AuditLog({
      ...options(file),
      maxBytes: 200,
      maxBackups: 2,
    });
    for (let index = 0; index < 10; index++) {
      log.write(event);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    log.close();
    expect(fs.readdirSync(directory)).toHaveLength(3);
    expect(fs.statSync(file).size).toBeLessThanOrEqual(200);
  });
});
