// Priority and fairness of a running server: levels and schemas in effect, what is refused, what holds a seat, what is shown.
import { once } from "node:events";
import * as net from "node:net";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import {
  configMap,
  configMaps,
  startTestServer,
  type Json,
  type TestServer,
} from "./support.ts";

/** What waits for a seat, or for its client to read, waits by it. */
const clock = new FakeClock();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    clock,
    maxRequestsInFlight: 40,
    maxMutatingRequestsInFlight: 20,
    requestTimeoutMs: 16_000,
  });
});
afterAll(() => server.stop());

const group = "/apis/flowcontrol.apiserver.k8s.io/v1";
const as = (user: string) => ({ "impersonate-user": user });

const levelOf = (name: string, shares: number, queuing?: object) => ({
  kind: "PriorityLevelConfiguration",
  apiVersion: "flowcontrol.apiserver.k8s.io/v1",
  metadata: { name },
  spec: {
    type: "Limited",
    limited: {
      nominalConcurrencyShares: shares,
      lendablePercent: 0,
      borrowingLimitPercent: 0,
      limitResponse: queuing ? { type: "Queue", queuing } : { type: "Reject" },
    },
  },
});
const schemaOf = (name: string, level: string, user: string) => ({
  kind: "FlowSchema",
  apiVersion: "flowcontrol.apiserver.k8s.io/v1",
  metadata: { name },
  spec: {
    matchingPrecedence: 20,
    priorityLevelConfiguration: { name: level },
    distinguisherMethod: { type: "ByUser" },
    rules: [
      {
        subjects: [{ kind: "User", user: { name: user } }],
        resourceRules: [
          {
            verbs: ["*"],
            apiGroups: ["*"],
            resources: ["*"],
            clusterScope: true,
            namespaces: ["*"],
          },
        ],
      },
    ],
  },
});

/** A level for one user, which is taken away again. */
async function withLevel(
  name: string,
  shares: number,
  queuing: object | undefined,
  run: () => Promise<void>,
): Promise<void> {
  const made = [
    await server.call(
      "POST",
      `${group}/prioritylevelconfigurations`,
      levelOf(name, shares, queuing),
    ),
    await server.call(
      "POST",
      `${group}/flowschemas`,
      schemaOf(name, name, name),
    ),
  ];
  expect(made.map(({ status }) => status)).toEqual([201, 201]);
  try {
    await run();
  } finally {
    await server.call("DELETE", `${group}/flowschemas/${name}`);
    await server.call("DELETE", `${group}/prioritylevelconfigurations/${name}`);
  }
}

async function metric(name: string, ...labels: string[]): Promise<number> {
  const { text } = await server.call("GET", "/metrics");
  const line = text
    .split("\n")
    .find(
      (one) =>
        one.startsWith(`apiserver_flowcontrol_${name}{`) &&
        labels.every((label) => one.includes(label)),
    );
  return line ? Number(line.slice(line.lastIndexOf(" "))) : NaN;
}

/** Conditions are written after a while. */
const isDangling = (name: string, status: string): Promise<boolean> =>
  eventually(async () => {
    await clock.advanceAsync(1_000);
    return (await condition(name))?.status === status;
  });

const condition = async (name: string): Promise<Json> => {
  const { body } = await server.call("GET", `${group}/flowschemas/${name}`);
  return body.status?.conditions?.[0];
};

test("a schema is Dangling while its level is missing", async () => {
  expect(await condition("probes")).toEqual({
    type: "Dangling",
    status: "False",
    reason: "Found",
    lastTransitionTime: expect.any(String),
    message:
      'This FlowSchema references the PriorityLevelConfiguration object named "exempt" and it exists',
  });
  await server.call("POST", `${group}/flowschemas`, schemaOf("d", "gone", "d"));
  await isDangling("d", "True");
  expect(await condition("d")).toMatchObject({
    reason: "NotFound",
    message:
      'This FlowSchema references the PriorityLevelConfiguration object named "gone" but there is no such object',
  });
  // It is not in effect.
  const { headers } = await server.call(
    "GET",
    "/api/v1/pods",
    undefined,
    as("d"),
  );
  const { body } = await server.call(
    "GET",
    `${group}/flowschemas/global-default`,
  );
  expect(headers.get("x-kubernetes-pf-flowschema-uid")).toBe(body.metadata.uid);
  const level = levelOf("gone", 1);
  await server.call("POST", `${group}/prioritylevelconfigurations`, level);
  await isDangling("d", "False");
  await server.call("DELETE", `${group}/prioritylevelconfigurations/gone`);
  await isDangling("d", "True");
  await server.call("DELETE", `${group}/flowschemas/d`);
});

describe("in tables", () => {
  const cells = async (resource: string): Promise<unknown[][]> => {
    const { status, body } = await server.call(
      "GET",
      `${group}/${resource}`,
      undefined,
      { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
    );
    expect(status).toBe(200);
    return (body.rows as { cells: unknown[] }[]).map((row) => row.cells);
  };

  test("schemas come in the order in which requests are matched", async () => {
    const rows = await cells("flowschemas");
    expect(rows.slice(0, 4).map(([name]) => name)).toEqual([
      "exempt",
      "probes",
      "system-leader-election",
      "endpoint-controller",
    ]);
    expect(rows.at(-1)![0]).toBe("catch-all");
    const precedences = rows.map((row) => Number(row[2]));
    expect(precedences).toEqual([...precedences].sort((a, b) => a - b));
    // Of one precedence, by name.
    expect(rows.filter((row) => row[2] === 800).map(([name]) => name)).toEqual([
      "kube-controller-manager",
      "kube-scheduler",
    ]);
  });

  test("levels show the numbers of what is limited", async () => {
    const rows = await cells("prioritylevelconfigurations");
    const row = (name: string): unknown[] =>
      rows.find(([each]) => each === name)!.slice(1, 6);
    const none = "<none>";
    expect(row("workload-low")).toEqual(["Limited", 100, 128, 6, 50]);
    expect(row("catch-all")).toEqual(["Limited", 5, none, none, none]);
    expect(row("exempt")).toEqual(["Exempt", none, none, none, none]);
  });
});

test("a level without seats holds requests, refuses those that wait too long, and those beyond its queues", async () => {
  const queuing = { queues: 1, handSize: 1, queueLengthLimit: 2 };
  await withLevel("jail", 0, queuing, async () => {
    const held = ["", "?fieldSelector=metadata.name%3Done"].map((query) =>
      server.call("GET", `/api/v1/pods${query}`, undefined, as("jail")),
    );
    await eventually(
      async () =>
        (await metric("current_inqueue_requests", 'level="jail"')) === 2,
    );
    const { status, headers, text } = await server.call(
      "GET",
      "/api/v1/pods",
      undefined,
      as("jail"),
    );
    expect([status, text]).toEqual([
      429,
      "Too many requests, please try again later.\n",
    ]);
    expect(headers.get("retry-after")).toBe("1");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-kubernetes-pf-flowschema-uid")).toMatch(/-/);
    const dumped = await server.call(
      "GET",
      "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1",
    );
    expect(
      dumped.text.match(
        /^jail, +jail, +0, +[01], +, .* jail, +list, +\/api\/v1\/pods, /gm,
      ),
    ).toHaveLength(2);
    // The one that a list selects is its name, as at the reference.
    expect(dumped.text).toMatch(/ \/api\/v1\/pods, +, +one, +v1, +pods, +$/m);
    // A quarter of the sixteen seconds a request may take.
    await clock.advanceAsync(4_000);
    const waited = await Promise.all(held);
    expect(waited.map((one) => one.status)).toEqual([429, 429]);
    const { text: levels } = await server.call(
      "GET",
      "/debug/api_priority_and_fairness/dump_priority_levels",
    );
    expect(levels).toMatch(
      /^jail, +0, +true, +false, +0, +0, +0, +3, +0, +2$/m,
    );
    const refused = "rejected_requests_total";
    expect(await metric(refused, "jail", "time-out")).toBe(2);
    expect(await metric(refused, "jail", "queue-full")).toBe(1);
  });
});

test("the level's requests go on when it is deleted, then it is gone", async () => {
  const queuing = { queues: 2, handSize: 1, queueLengthLimit: 5 };
  let held: Promise<{ status: number }> | undefined;
  await withLevel("going", 0, queuing, async () => {
    held = server.call("GET", "/api/v1/pods", undefined, as("going"));
    await eventually(
      async () =>
        (await metric("current_inqueue_requests", 'level="going"')) === 1,
    );
  });
  const dump = async (): Promise<string> => {
    const path = "/debug/api_priority_and_fairness/dump_priority_levels";
    return (await server.call("GET", path)).text;
  };
  expect(await dump()).toMatch(/^going, +1, +false, +true, +1,/m);
  await clock.advanceAsync(4_000);
  expect((await held)?.status).toBe(429);
  await eventually(async () => !/^going/m.test(await dump()));
});

test("a half-sent body holds no seat", async () => {
  // Of the sixty seats the level has one.
  await withLevel("slow", 1, undefined, async () => {
    const sockets = Array.from({ length: 8 }, () => {
      const socket = net.connect(server.server.port, "127.0.0.1");
      socket.write(
        `POST ${configMaps} HTTP/1.1\r\nhost: x\r\nimpersonate-user: slow\r\n` +
          "content-type: application/json\r\ncontent-length: 1000\r\n\r\n{",
      );
      return socket;
    });
    try {
      const answer = await server.call(
        "POST",
        configMaps,
        configMap("quick"),
        as("slow"),
      );
      expect(answer.status).toBe(201);
      expect(await metric("current_executing_requests", 'level="slow"')).toBe(
        0,
      );
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

test("watches hold their seat until their initial events are sent", async () => {
  await withLevel("watcher", 1, undefined, async () => {
    const path = `/api/v1/namespaces/default/configmaps?watch=1`;
    const opened = await Promise.all(
      [1, 2, 3].map(async () => {
        const abort = new AbortController();
        const { status, headers, body } = await fetch(server.url + path, {
          signal: abort.signal,
          headers: as("watcher"),
        });
        return { status, headers, body, abort };
      }),
    );
    // One seat, three watches at once: who finds it taken is refused; then all are open.
    expect(opened.some(({ status }) => status === 200)).toBe(true);
    // The head of an answer comes before its initial events are sent.
    const seatIsFree = (): Promise<boolean> =>
      eventually(
        async () =>
          (await metric("current_executing_requests", 'level="watcher"')) === 0,
      );
    await seatIsFree();
    for (let at = 0; at < 5; at++) {
      const again = await server.watch(path, as("watcher"));
      expect(again.status).toBe(200);
      await seatIsFree();
      again.close();
    }
    expect(
      await metric("request_execution_seconds_count", "watcher", "watch"),
    ).toBeGreaterThanOrEqual(6);
    expect(
      opened
        .find(({ status }) => status === 200)!
        .headers.get("x-kubernetes-pf-prioritylevel-uid"),
    ).toMatch(/-/);
    for (const { abort } of opened) abort.abort();
  });
});

test("lists and watches whose clients do not read give their seats back", async () => {
  const path = "/api/v1/namespaces/large/configmaps";
  await server.call("POST", "/api/v1/namespaces", {
    metadata: { name: "large" },
  });
  for (let at = 0; at < 40; at++) {
    const { status } = await server.call(
      "POST",
      path,
      configMap(`large-${at}`, { data: { text: "x".repeat(500_000) } }),
    );
    expect(status).toBe(201);
  }
  await withLevel("deaf", 1, undefined, async () => {
    const sockets: net.Socket[] = [];
    const executing = (): Promise<number> =>
      metric("current_executing_requests", 'level="deaf"');
    try {
      // The level has one seat.
      for (const query of ["watch=1", "limit=400", "limit=39", "watch=true"]) {
        const socket = net.connect(server.server.port, "127.0.0.1");
        sockets.push(socket);
        socket.on("error", () => undefined);
        socket.write(
          `GET ${path}?${query} HTTP/1.1\r\nhost: x\r\nimpersonate-user: deaf\r\n\r\n`,
        );
        // Its answer has begun, and is not read on.
        const [begun] = (await once(socket, "data")) as [Buffer];
        socket.pause();
        expect(begun.toString()).toMatch(/^HTTP\/1.1 200 /);
        await eventually(async () => {
          await clock.advanceAsync(500);
          return (await executing()) === 0;
        });
      }
      const { status } = await server.call(
        "GET",
        `${configMaps}/none`,
        undefined,
        as("deaf"),
      );
      expect(status).toBe(404);
      for (const { destroyed } of sockets) expect(destroyed).toBe(false);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });
});

test("what is exempt is not limited, and streams have no flow", async () => {
  expect(await metric("current_limit_seats", 'level="exempt"')).toBeLessThan(
    60,
  );
  const { headers, status } = await server.call(
    "GET",
    "/api/v1/namespaces/default/pods/none/log",
    undefined,
    as("someone"),
  );
  expect(status).toBe(503);
  expect(headers.get("x-kubernetes-pf-flowschema-uid")).toBeNull();
});

test("the metrics have the reference's names", async () => {
  const { text } = await server.call("GET", "/metrics");
  const names = new Set(
    [...text.matchAll(/^# TYPE apiserver_flowcontrol_(\w+)/gm)].map(
      ([, name]) => name,
    ),
  );
  expect([...names].sort()).toEqual(
    expect.arrayContaining([
      "current_executing_requests",
      "current_executing_seats",
      "current_inqueue_requests",
      "current_inqueue_seats",
      "current_limit_seats",
      "current_r",
      "demand_seats",
      "demand_seats_average",
      "demand_seats_high_watermark",
      "demand_seats_smoothed",
      "demand_seats_stdev",
      "dispatched_requests_total",
      "lower_limit_seats",
      "nominal_limit_seats",
      "priority_level_request_utilization",
      "priority_level_seat_utilization",
      "read_vs_write_current_requests",
      "rejected_requests_total",
      "request_concurrency_in_use",
      "request_concurrency_limit",
      "request_execution_seconds",
      "request_queue_length_after_enqueue",
      "request_wait_duration_seconds",
      "seat_fair_frac",
      "target_seats",
      "upper_limit_seats",
      "watch_count_samples",
      "work_estimated_seats",
    ]),
  );
  // 5 of 245 shares of 60 seats.
  expect(await metric("nominal_limit_seats", "catch-all")).toBe(2);
  expect(await metric("nominal_limit_seats", "workload-low")).toBe(25);
  expect(await metric("lower_limit_seats", "workload-low")).toBe(2);
  expect(await metric("upper_limit_seats", "workload-low")).toBe(85);
});

test("without priority and fairness there are no flows, and the limits in flight hold", async () => {
  const plain = await startTestServer({ priorityAndFairness: false });
  try {
    const { headers } = await plain.call("GET", "/api/v1/pods");
    expect(headers.get("x-kubernetes-pf-flowschema-uid")).toBeNull();
    const dump = "/debug/api_priority_and_fairness/dump_queues";
    expect((await plain.call("GET", dump)).status).toBe(404);
    const { text } = await plain.call("GET", "/metrics");
    expect(text).not.toContain("apiserver_flowcontrol_");
    const { body } = await plain.call("GET", `${group}/flowschemas/probes`);
    expect(body.spec.matchingPrecedence).toBe(2);
    expect(body.status).toEqual({});
  } finally {
    await plain.stop();
  }
});
