// Every filter, for a request and for one that offers to switch protocols: over a real connection, refused and passed.
import type * as net from "node:net";
import pino from "pino";
import type { Authorizer } from "../../../../api/contracts.ts";
import { systemClock } from "../../../../api/clock.ts";
import { Auditor } from "../../../../apiserver-lite/audit/auditor.ts";
import type { AuditEvent } from "../../../../apiserver-lite/audit/audit-event.ts";
import { checkAuditPolicy } from "../../../../apiserver-lite/audit/policy.ts";
import { FlowControl } from "../../../../apiserver-lite/flow-control/flow-control.ts";
import { Limiter } from "../../../../apiserver-lite/flow-control/limiter.ts";
import { AccessMetrics } from "../../../../apiserver-lite/metrics/access-metrics.ts";
import { Front } from "../../../../apiserver-lite/front/front.ts";
import { compileOrigins } from "../../../../apiserver-lite/front/origins.ts";
import type { HttpRequest } from "../../../../apiserver-lite/serving/http-request.ts";
import { Negotiator } from "../../../../apiserver-lite/serving/negotiation.ts";
import { otherFormats } from "../../../../apiserver-lite/serving/other-formats.ts";
import { Listener } from "../../../../http-kit/listener.ts";
import { eventually } from "../../../support/eventually.ts";
import { rawRequest } from "../../../support/raw-request.ts";

/** One schema for everybody, with a uid. */
const catchAllState: ConstructorParameters<typeof FlowControl>[0]["state"] = {
  read: () => undefined,
  list: (_group, resource) =>
    resource === "flowschemas"
      ? [
          {
            metadata: { name: "catch-all", uid: "f" },
            spec: { priorityLevelConfiguration: { name: "catch-all" } },
          },
        ]
      : [],
  scan: () => [],
  onChange: () => () => undefined,
};

type FrontOptions = ConstructorParameters<typeof Front>[0];

const pods = "/api/v1/namespaces/a/pods";
const exec = `${pods}/p/exec`;

interface Observed {
  verb: string;
  status: number;
}

let listener: Listener | undefined;
let events: AuditEvent[];
let observed: Observed[];
let open: number;
const sockets: net.Socket[] = [];

/** Takes every upgrade of exec; answers all else. */
function answer(request: HttpRequest): void {
  const { upgrade } = request.exchange;
  if (!upgrade || request.info.subresource !== "exec")
    return request.respond(200, { "content-type": "text/plain" }, "served");
  upgrade.socket.write(
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n",
  );
  request.exchange.switched();
  upgrade.socket.on("end", () => upgrade.socket.end()).resume();
}

async function start(options: Partial<FrontOptions> = {}): Promise<void> {
  events = [];
  observed = [];
  open = 0;
  const logger = pino({ level: "silent" });
  const front = new Front({
    authenticators: [
      {
        authenticate: ({ headers }) => {
          if (headers["x-user"] === "bad") throw new Error("bad credential");
          if (headers["x-user"] === "late")
            return Promise.reject(new Error("bad credential"));
          const name = headers["x-user"];
          return name
            ? { user: { name: String(name), groups: [], extra: {} } }
            : undefined;
        },
      },
    ],
    anonymous: true,
    authorizer: undefined,
    access: new AccessMetrics(),
    resources: { handle: answer },
    aggregation: { route: () => undefined },
    paths: [{ path: "/livez", handle: answer }],
    limiter: new Limiter({ readOnly: 1, mutating: 1 }),
    negotiator: new Negotiator(),
    formats: otherFormats,
    logger,
    allowedOrigins: undefined,
    strictTransportSecurity: undefined,
    requestTimeoutMs: 60_000,
    clock: systemClock,
    observe: {
      began: () => {
        open++;
        return () => void open--;
      },
      finished: ({ verb }, _method, status) =>
        void observed.push({ verb, status }),
    },
    loopWatch: undefined,
    auditor: undefined,
    refusing: () => undefined,
    ...options,
  });
  listener = new Listener({
    address: "127.0.0.1",
    port: 0,
    tls: undefined,
    maxStreamsPerConnection: 1,
    goawayChance: 0,
    logger,
    handle: (exchange) => void front.handle(exchange),
  });
  await listener.listen();
}
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  listener?.destroy();
});

interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The connection was ended by the server. */
  ended: boolean;
}

interface Asked {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
}

async function ask(upgrade: string | undefined, asked: Asked): Promise<Answer> {
  const { path = exec, method = "GET", headers = {} } = asked;
  const { status, head, body, ended } = await rawRequest(
    listener!.port,
    { path, method, headers, upgrade },
    sockets,
  );
  const [, ...rest] = head.split("\r\n");
  return {
    status,
    headers: Object.fromEntries(
      rest.map((line) => {
        const colon = line.indexOf(":");
        return [
          line.slice(0, colon).toLowerCase(),
          line.slice(colon + 1).trim(),
        ];
      }),
    ),
    text: body,
    ended,
  };
}

const nobodyMay: Authorizer = {
  authorize: () => ({ decision: "no-opinion", reason: "not today" }),
};
/** Waits before it decides, as a webhook does. */
const nobodyMayLater: Authorizer = {
  authorize: () =>
    Promise.resolve({ decision: "no-opinion", reason: "not today" } as const),
};
const auditor = (
  write: (added: readonly AuditEvent[]) => boolean,
  level = "Metadata",
): Auditor =>
  new Auditor(
    checkAuditPolicy({
      apiVersion: "audit.k8s.io/v1",
      kind: "Policy",
      rules: [{ level }],
    }),
    {
      write: (added) => {
        events.push(...added);
        return write(added);
      },
      close: () => undefined,
    },
    systemClock,
  );

interface Refusal {
  filter: string;
  options?: () => Partial<FrontOptions> | Promise<Partial<FrontOptions>>;
  asked?: Asked;
  status: number;
  headers?: Record<string, string | RegExp>;
  text: RegExp;
  /** Counted in the metrics. */
  counted: boolean;
}

const refusals: Refusal[] = [
  {
    filter: "audit id",
    asked: { path: "/none", headers: { "audit-id": "mine" } },
    status: 404,
    headers: { "audit-id": "mine" },
    text: /404 page not found/,
    counted: true,
  },
  {
    filter: "request info",
    asked: { path: `${pods}/%zz/exec` },
    status: 400,
    text: /400 Bad Request/,
    counted: false,
  },
  {
    filter: "request info",
    asked: { path: `${exec}?${"a&".repeat(5000)}` },
    status: 414,
    text: /URI Too Long/,
    counted: false,
  },
  {
    filter: "shutdown refusal",
    options: () => ({ refusing: () => ({ retryAfterSeconds: 5 }) }),
    status: 429,
    headers: { "retry-after": "5", connection: "close" },
    text: /shutting down/,
    counted: false,
  },
  {
    filter: "strict transport security",
    options: () => ({ strictTransportSecurity: "max-age=1" }),
    asked: { path: "/none" },
    status: 404,
    headers: { "strict-transport-security": "max-age=1" },
    text: /404/,
    counted: true,
  },
  {
    filter: "cache control",
    asked: { path: "/none" },
    status: 404,
    headers: { "cache-control": "no-cache, private" },
    text: /404/,
    counted: true,
  },
  {
    filter: "deadline",
    asked: { path: `${pods}?timeout=soon` },
    status: 400,
    text: /invalid timeout/,
    counted: false,
  },
  {
    filter: "CORS",
    options: async () => ({
      allowedOrigins: await compileOrigins(["^https://good$"]),
    }),
    asked: { method: "OPTIONS", headers: { origin: "https://good" } },
    status: 204,
    headers: { "access-control-allow-origin": "https://good" },
    text: /^$/,
    counted: false,
  },
  {
    filter: "authentication",
    options: () => ({ anonymous: false }),
    status: 401,
    text: /Unauthorized/,
    counted: false,
  },
  {
    filter: "authentication",
    asked: { headers: { "x-user": "bad" } },
    status: 401,
    text: /Unauthorized/,
    counted: false,
  },
  {
    filter: "authentication",
    asked: { headers: { "x-user": "late" } },
    status: 401,
    text: /Unauthorized/,
    counted: false,
  },
  {
    filter: "audit",
    options: () => ({ auditor: auditor(() => false) }),
    status: 500,
    text: /failed to store audit event/,
    counted: true,
  },
  {
    filter: "impersonation",
    options: () => ({ authorizer: nobodyMay }),
    asked: { headers: { "impersonate-user": "root" } },
    status: 403,
    text: /cannot impersonate/,
    counted: true,
  },
  {
    filter: "limits",
    options: () => ({
      authorizer: nobodyMay,
      limiter: new Limiter({
        readOnly: 0,
        mutating: 0,
        flows: new FlowControl({
          state: catchAllState,
          seats: 10,
          objects: () => undefined,
          requestTimeoutMs: 1000,
        }),
      }),
    }),
    // Streams have no flow.
    asked: { path: pods },
    status: 403,
    headers: { "x-kubernetes-pf-flowschema-uid": "f" },
    text: /forbidden/,
    counted: true,
  },
  {
    filter: "limits",
    options: () => {
      const limiter = new Limiter({ readOnly: 1, mutating: 1 });
      void limiter
        .place({
          info: { path: "/", resourceRequest: false, verb: "get" } as never,
          user: { name: "other", groups: [], extra: {} },
          query: new URLSearchParams(),
          limitMs: 0,
          exchange: {
            closed: false,
            onClose: () => undefined,
            destroy: () => undefined,
          },
        })!
        .take();
      return { limiter };
    },
    // What lasts has no place; an offer of another protocol alone makes nothing last.
    asked: { path: pods },
    status: 429,
    headers: { "retry-after": "1" },
    text: /Too many requests/,
    counted: true,
  },
  {
    filter: "authorization",
    options: () => ({ authorizer: nobodyMay }),
    status: 403,
    text: /not today/,
    counted: true,
  },
  {
    filter: "authorization",
    options: () => ({ authorizer: nobodyMayLater }),
    status: 403,
    text: /not today/,
    counted: true,
  },
  {
    filter: "panic guard",
    options: () => ({
      resources: {
        handle: () => {
          throw new TypeError("unforeseen");
        },
      },
    }),
    status: 500,
    text: /unforeseen/,
    counted: true,
  },
  {
    filter: "panic guard",
    options: () => ({
      resources: { handle: () => Promise.reject(new TypeError("unforeseen")) },
    }),
    status: 500,
    text: /unforeseen/,
    counted: true,
  },
];

const kinds = [
  ["a request", undefined],
  ["WebSocket", "websocket"],
  ["SPDY", "SPDY/3.1"],
] as const;

describe.each(kinds)("%s", (_kind, upgrade) => {
  test.each(refusals)(
    "$filter answers $status",
    async ({ options, asked = {}, status, headers = {}, text, counted }) => {
      await start(await options?.());
      const found = await ask(upgrade, asked);
      expect({ status: found.status, text: found.text }).toEqual({
        status,
        text: expect.stringMatching(text) as string,
      });
      expect(found.headers).toMatchObject(headers);
      expect(found.headers["audit-id"]).toMatch(/./);
      // Complete, so that a client can fall back.
      expect(found.ended).toBe(true);
      if (status !== 204)
        expect(found.headers["content-length"]).toBe(
          String(Buffer.byteLength(found.text)),
        );
      await eventually(() => observed.length === (counted ? 1 : 0));
      if (counted) expect(observed[0]!.status).toBe(status);
      await eventually(() => open === 0);
    },
  );

  test("what is refused leaves its audit events", async () => {
    await start({ auditor: auditor(() => true), authorizer: nobodyMay });
    expect((await ask(upgrade, {})).status).toBe(403);
    await eventually(() => events.length === 3);
    expect(
      events.map(({ stage, responseStatus }) => [
        stage,
        (responseStatus as { code?: number } | undefined)?.code,
      ]),
    ).toEqual([
      ["RequestReceived", undefined],
      ["ResponseStarted", 403],
      ["ResponseComplete", 403],
    ]);
  });

  test("who is not known leaves one audit event", async () => {
    await start({ auditor: auditor(() => true), anonymous: false });
    expect((await ask(upgrade, {})).status).toBe(401);
    expect(events.map(({ stage }) => stage)).toEqual(["ResponseStarted"]);
  });

  test("health is answered while the server shuts down", async () => {
    await start({ refusing: () => ({ retryAfterSeconds: 5 }) });
    const { status, text } = await ask(upgrade, { path: "/livez" });
    expect([status, text]).toEqual([200, "served"]);
  });

  test("a deadline is kept, and the place until the work is done", async () => {
    let finish!: () => void;
    const limiter = new Limiter({ readOnly: 1, mutating: 1 });
    await start({
      limiter,
      requestTimeoutMs: 300,
      resources: {
        handle: () => new Promise<void>((resolve) => (finish = resolve)),
      },
    });
    expect((await ask(upgrade, { path: pods })).status).toBe(504);
    expect(limiter.inFlight.readOnly).toBe(1);
    expect(observed).toEqual([{ verb: "list", status: 504 }]);
    finish();
    await eventually(() => limiter.inFlight.readOnly === 0);
    expect(limiter.requests).toBe(0);
  });

  test("who waits for a place gets it; who goes away does not", async () => {
    const limiter = new Limiter({
      readOnly: 1,
      mutating: 1,
      queue: { length: 4, maxWaitMs: 60_000 },
    });
    const release: (() => void)[] = [];
    await start({
      limiter,
      resources: {
        handle: (request) =>
          new Promise<void>((resolve) =>
            release.push(() => {
              answer(request);
              resolve();
            }),
          ),
      },
    });
    const first = ask(upgrade, { path: pods });
    await eventually(() => release.length === 1);
    const second = ask(upgrade, { path: pods, headers: { "x-user": "b" } });
    await eventually(() => limiter.inQueue.readOnly === 1);
    void ask(upgrade, { path: pods, headers: { "x-user": "c" } });
    await eventually(() => limiter.inQueue.readOnly === 2);
    sockets[2]!.destroy();
    await eventually(() => limiter.inQueue.readOnly === 1);
    release[0]!();
    expect((await first).status).toBe(200);
    await eventually(() => release.length === 2);
    release[1]!();
    expect((await second).status).toBe(200);
    await eventually(() => limiter.inFlight.readOnly === 0);
    expect([limiter.requests, limiter.inQueue.readOnly]).toEqual([0, 0]);
    // The one that went away never ran.
    expect(release).toHaveLength(2);
  });
});

test.each(["websocket", "SPDY/3.1"])(
  "an offer of %s that is taken passes all filters, is counted and audited",
  async (upgrade) => {
    await start({ auditor: auditor(() => true) });
    const { status, ended } = await ask(upgrade, {});
    expect([status, ended]).toEqual([101, false]);
    await eventually(() => observed.length === 1);
    expect(observed).toEqual([{ verb: "get", status: 101 }]);
    expect(open).toBe(1);
    expect(events.map(({ stage }) => stage)).toEqual([
      "RequestReceived",
      "ResponseStarted",
    ]);
    sockets[0]!.destroy();
    await eventually(() => open === 0);
    await eventually(() => events.length === 3);
    expect(events[2]).toMatchObject({
      stage: "ResponseComplete",
      responseStatus: { code: 101 },
    });
  },
);

test("an offer that is not taken is answered as if it had not been made", async () => {
  await start();
  const { status, text, headers } = await ask("h2c", { path: pods });
  expect([status, text]).toEqual([200, "served"]);
  expect(headers["connection"]).toBe("close");
});
