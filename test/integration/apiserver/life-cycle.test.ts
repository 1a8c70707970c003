// Limits and life cycle on real sockets: request timeouts, the order of a shutdown, grace after the start, GOAWAY,
// profiling and the debug socket.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as fs from "node:fs";
import { connect, type ClientHttp2Session } from "node:http2";
import { request } from "node:http";
import * as path from "node:path";
import type { AdmissionPlugin } from "../../../apiserver-lite/admission/plugin.ts";
import { createThrottle } from "../../../apiserver-lite/proxy/throttle.ts";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import { freePort } from "../../support/free-port.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";
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

async function start(
  options: Parameters<typeof startTestServer>[0],
): Promise<TestServer> {
  const server = await startTestServer(options);
  servers.push(server);
  return server;
}

/** Writes wait until they are let go. */
function gate(): {
  plugin: AdmissionPlugin;
  open: () => void;
  /** Resolves when a write waits. */
  reached: Promise<void>;
} {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let reach = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  return {
    open,
    reached,
    plugin: {
      name: "Gate",
      validate({ name }: { name: string }) {
        if (!name.startsWith("slow")) return undefined;
        reach();
        return opened;
      },
    } as unknown as AdmissionPlugin,
  };
}

describe("request timeouts", () => {
  it.each([
    ["the server's", { requestTimeoutMs: 100 }, ""],
    ["the request's", {}, "?timeout=100ms"],
    [
      "the server's when the request's is longer",
      { requestTimeoutMs: 100 },
      "?timeout=1h",
    ],
  ])("ends a request after %s", async (_name, options, query) => {
    const { plugin, open, reached } = gate();
    const clock = new FakeClock();
    const { call } = await start({
      ...options,
      clock,
      parts: () => ({ admission: [plugin] }),
    });
    let over = false;
    const asking = call("POST", configMaps + query, configMap("slow"));
    void asking.then(() => (over = true));
    await reached;
    clock.advance(99);
    expect((await call("GET", configMaps)).status).toBe(200);
    expect(over).toBe(false);
    clock.advance(1);
    const answer = await asking;
    expect(answer.status).toBe(504);
    expect(answer.body).toMatchObject({
      kind: "Status",
      status: "Failure",
      reason: "Timeout",
      message: "Timeout: request did not complete within the allotted timeout",
      code: 504,
    });
    open();
    // The connection and the server are as good as before.
    await eventually(async () => {
      const { status } = await call("GET", `${configMaps}/slow`);
      return status === 200;
    });
  });

  it("leaves watches alone", async () => {
    const clock = new FakeClock();
    const { call, watch } = await start({ clock, requestTimeoutMs: 400 });
    const reader = await watch(`${configMaps}?watch=1&timeout=50ms`);
    await clock.advanceAsync(500);
    const { status } = await call("POST", configMaps, configMap("late"));
    expect(status).toBe(201);
    expect(await reader.take(1)).toEqual(["ADDED late"]);
    reader.close();
  });

  it("refuses a timeout that is no duration", async () => {
    const { call } = await start({});
    const { status, body } = await call("GET", `${configMaps}?timeout=soon`);
    expect(status).toBe(400);
    expect(body.message).toBe(
      'invalid timeout specified in the request URL - time: invalid duration "soon"',
    );
  });
});

describe("shutdown", () => {
  it("serves on, not ready, during the delay", async () => {
    const clock = new FakeClock();
    const { server, call } = await start({ clock, shutdownDelayMs: 2500 });
    const stopped = server.stop();
    expect((await call("GET", "/readyz")).status).toBe(500);
    expect((await call("GET", "/readyz?verbose")).text).toContain(
      "[-]shutdown failed: reason withheld",
    );
    for (const path of ["/livez", "/healthz"])
      expect((await call("GET", path)).status).toBe(200);
    expect((await call("POST", configMaps, configMap("a"))).status).toBe(201);
    await clock.advanceAsync(2499);
    expect((await call("GET", "/livez")).status).toBe(200);
    await clock.advanceAsync(1);
    await stopped;
  });

  it("names what is done at the start as the reference does", async () => {
    const { call } = await start({});
    for (const path of ["/healthz", "/livez", "/readyz"]) {
      const { text } = await call("GET", `${path}?verbose`);
      for (const name of [
        "poststarthook/start-apiserver-admission-initializer",
        "poststarthook/crd-informer-synced",
        "poststarthook/apiservice-openapi-controller",
        "autoregister-completion",
      ])
        expect(text).toContain(`[+]${name} ok\n`);
    }
    const one = await call("GET", "/readyz/autoregister-completion");
    expect([one.status, one.text]).toEqual([200, "ok"]);
  });

  it("answers 429 until what is in flight has finished", async () => {
    const { plugin, open } = gate();
    const { server, call } = await start({
      shutdownSendRetryAfter: true,
      parts: () => ({ admission: [plugin] }),
    });
    const slow = call("POST", configMaps, configMap("slow"));
    await eventually(async () => {
      const { text } = await call("GET", "/metrics");
      return /inflight_requests\{[^}]*mutating"[^}]*\} 1/.test(text);
    });
    const stopped = server.stop();
    const refused = await call("GET", configMaps);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("retry-after")).toBe("5");
    expect(refused.headers.get("connection")).toBe("close");
    expect((await call("GET", "/livez")).status).toBe(200);
    open();
    expect((await slow).status).toBe(201);
    await stopped;
  });

  it("does not wait for bodies that do not come, and answers what it has received", async () => {
    const { plugin, open } = gate();
    const { server, call } = await start({
      shutdownGraceMs: 60_000,
      parts: () => ({ admission: [plugin] }),
    });
    const slow = call("POST", configMaps, configMap("slow"));
    const half = request({
      port: server.port,
      host: "127.0.0.1",
      path: configMaps,
      method: "POST",
      headers: { "content-type": "application/json", "content-length": 500 },
    });
    half.write('{"a');
    const answered = new Promise<number>((resolve, reject) => {
      half.once("response", ({ statusCode }) => resolve(statusCode!));
      half.once("error", reject);
    });
    await eventually(async () => {
      const { text } = await call("GET", "/metrics");
      return /inflight_requests\{[^}]*mutating"[^}]*\} 1/.test(text);
    });
    const startedMs = performance.now();
    const stopped = server.stop();
    expect(await answered).toBe(503);
    open();
    expect((await slow).status).toBe(201);
    await stopped;
    expect(performance.now() - startedMs).toBeLessThan(20_000);
  });

  it("ends watches at once, or over their grace period", async () => {
    for (const [shutdownWatchGraceMs, least] of [
      [0, 0],
      [500, 300],
    ] as const) {
      const clock = new FakeClock();
      const { server, watch } = await start({ clock, shutdownWatchGraceMs });
      const readers = await Promise.all(
        Array.from({ length: 4 }, () => watch("/api/v1/nodes?watch=1")),
      );
      let ended = 0;
      for (const reader of readers)
        void reader.next().then((frame) => (ended += frame ? 0 : 1));
      const startedMs = clock.monotonic();
      const stopped = server.stop();
      await eventually(async () => {
        if (shutdownWatchGraceMs > 0) await clock.advanceAsync(10);
        return ended === readers.length;
      });
      expect(clock.monotonic() - startedMs).toBeGreaterThanOrEqual(least);
      clock.advance(shutdownWatchGraceMs);
      await stopped;
    }
  });
});

it("does not fail /livez for hooks within the grace period", async () => {
  for (const [livezGraceMs, status] of [
    [0, 500],
    [60_000, 200],
  ] as const) {
    const port = await freePort();
    let seen: number[] = [];
    await start({
      livezGraceMs,
      port,
      parts: () => ({
        bootstrap: async () => {
          seen = await Promise.all(
            ["/livez", "/readyz"].map(
              async (path) =>
                (await fetch(`http://127.0.0.1:${port}${path}`)).status,
            ),
          );
        },
      }),
    });
    expect(seen).toEqual([status, 500]);
  }
});

it("asks HTTP/2 clients to connect anew", async () => {
  const validity = { nowMs: Date.now(), validityMs: YEAR_MS };
  const authority = createCertificateAuthority({
    subject: { commonName: "ca" },
    ...validity,
  });
  const serving = issueCertificate(authority, {
    subject: { commonName: "server" },
    ipAddresses: ["127.0.0.1"],
    usages: ["server auth"],
    ...validity,
  });
  const { server } = await start({
    goawayChance: 1,
    tls: { cert: serving.certificate, key: serving.key },
  });
  const session: ClientHttp2Session = connect(
    `https://127.0.0.1:${server.port}`,
    { rejectUnauthorized: false },
  );
  const away = new Promise((resolve) => session.once("goaway", resolve));
  const stream = session.request({ ":path": "/version" });
  const status = await new Promise((resolve) =>
    stream.once("response", (headers) => resolve(headers[":status"])),
  );
  stream.resume();
  expect(status).toBe(200);
  expect(await away).toBe(0);
  session.destroy();
});

it("tells clients whose certificates it takes", async () => {
  const validity = { nowMs: Date.now(), validityMs: YEAR_MS };
  const authority = createCertificateAuthority({
    subject: { commonName: "clients-of-this-server" },
    ...validity,
  });
  const { certificate, key } = issueCertificate(authority, {
    subject: { commonName: "server" },
    usages: ["server auth"],
    ...validity,
  });
  const tls = { cert: certificate, key, clientCa: authority.certificate };
  const { server } = await start({ tls });
  const told = async () => {
    const { stdout } = await promisify(execFile)("sh", [
      "-c",
      `openssl s_client -connect 127.0.0.1:${server.port} </dev/null 2>&1; true`,
    ]);
    return /Acceptable client certificate CA names\n(.*)\n/.exec(stdout)?.[1];
  };
  expect(await told()).toMatch(/clients-of-this-server$/);
  server.reloadCertificate(tls);
  expect(await told()).toMatch(/clients-of-this-server$/);
});

function getOn(
  socketPath: string,
  target: string,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path: target }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text }),
      );
    })
      .on("error", reject)
      .end();
  });
}

describe("profiling", () => {
  it("records the CPU and shows the heap", async () => {
    const { call } = await start({});
    const index = await call("GET", "/debug/pprof/");
    expect(index.text).toContain("/debug/pprof/profile");
    const cpu = await call("GET", "/debug/pprof/profile?seconds=0.1");
    expect(cpu.status).toBe(200);
    expect(cpu.body.nodes.length).toBeGreaterThan(0);
    const allocs = await call("GET", "/debug/pprof/allocs?seconds=0.05");
    expect(allocs.body.head).toBeDefined();
    expect((await call("GET", "/debug/pprof/goroutine")).text).toMatch(
      /active resources/,
    );
    expect((await call("GET", "/debug/pprof/nothing")).status).toBe(404);
    expect((await call("GET", "/debug/pprof/profile?seconds=x")).status).toBe(
      400,
    );
  });

  it("shows flags and status where it is asked to", async () => {
    const status = { binaryVersion: "1.32", emulationVersion: "1.31" };
    const { call } = await start({
      zpages: {
        component: "kube-apiserver",
        flags: () => ({ "etcd-prefix": "/registry" }),
        status,
      },
    });
    const accept = { accept: "text/plain" };
    const flags = await call("GET", "/flagz", undefined, accept);
    expect(flags.status).toBe(200);
    expect(flags.text).toMatch(
      /^\nkube-apiserver flags\n[^]*\netcd-prefix\W+registry\n$/,
    );
    expect((await call("GET", "/statusz", undefined, accept)).text).toMatch(
      /\nEmulation version\W+1\.31\n$/,
    );
    const json = { accept: "application/json" };
    expect((await call("GET", "/flagz", undefined, json)).status).toBe(406);
    const without = await start({});
    expect((await without.call("GET", "/flagz")).status).toBe(404);
  });

  it("is authorized, and absent when it is off", async () => {
    const denied = await start({
      parts: () => ({
        authorizer: {
          authorize: () => ({ decision: "noOpinion", reason: "" }),
        } as never,
      }),
    });
    expect((await denied.call("GET", "/debug/pprof/")).status).toBe(403);
    const off = await start({ profiling: false });
    expect((await off.call("GET", "/debug/pprof/")).status).toBe(404);
  });

  it("gives nobody what is in memory but the owner of the debug socket", async () => {
    const socketPath = path.join(tempDirectory(), "debug.sock");
    const { call } = await start({ debugSocketPath: socketPath });
    const marker = `planted-${"0123456789".repeat(4)}`;
    const made = await call("POST", "/api/v1/namespaces/default/secrets", {
      metadata: { name: "planted" },
      stringData: { [marker]: "x" },
    });
    expect(made.status).toBe(201);
    const index = await call("GET", "/debug/pprof/");
    const pages = [...index.text.matchAll(/^\/debug\/pprof\/(\w+)/gm)].map(
      ([, name]) => name!,
    );
    expect(pages).toEqual([
      "profile",
      "allocs",
      "heap",
      "goroutine",
      "threadcreate",
      "cmdline",
    ]);
    for (const page of [...pages, "heap?debug=1&x="]) {
      const given = await call("GET", `/debug/pprof/${page}?seconds=0.1`);
      expect([page, given.status]).toEqual([page, 200]);
      expect(given.text).not.toContain(marker);
    }
    const sampled = await call("GET", "/debug/pprof/heap?seconds=0.1");
    expect(sampled.body.head.callFrame.functionName).toBe("(root)");
    expect((await call("GET", "/debug/pprof/heap?debug=1")).text).toMatch(
      /^used_heap_size \d+$/m,
    );
    expect((await call("GET", "/debug/pprof/heapsnapshot")).status).toBe(404);
    const snapshot = await getOn(socketPath, "/debug/pprof/heapsnapshot");
    expect(snapshot.text).toContain(marker);
  });

  it("answers on the debug socket, its owner's only", async () => {
    const socketPath = path.join(tempDirectory(), "debug.sock");
    await start({ debugSocketPath: socketPath });
    expect(fs.statSync(socketPath).mode & 0o777).toBe(0o600);
    const get = (target: string): ReturnType<typeof getOn> =>
      getOn(socketPath, target);
    expect((await get("/debug/pprof/cmdline")).text).toContain("\0");
    expect((await get("/api/v1/secrets")).status).toBe(404);
  });
});

it("throttles a connection to its rate, with all bytes in order", async () => {
  const throttle = createThrottle(10_000);
  const sent = Buffer.alloc(4_000, "0123456789");
  const startedMs = performance.now();
  throttle.end(sent);
  const got: Buffer[] = [];
  for await (const piece of throttle as AsyncIterable<Buffer>) got.push(piece);
  expect(Buffer.concat(got).equals(sent)).toBe(true);
  expect(performance.now() - startedMs).toBeGreaterThan(250);
});
