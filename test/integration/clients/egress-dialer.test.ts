// Connections by a proxy of HTTP CONNECT over each transport, and proxies that refuse, hang, lie or are not there: the
// connection fails, within its time, and is never made another way.
import * as http from "node:http";
import * as net from "node:net";
import * as path from "node:path";
import type { Duplex } from "node:stream";
import type { AddressInfo } from "node:net";
import {
  egressDialer,
  EgressMetrics,
  type EgressProxy,
} from "../../../client/egress/egress-dialer.ts";
import { httpAgent } from "../../../client/egress/egress-agents.ts";
import { metricsText } from "../../../api/metrics/family.ts";
import { startConnectProxy } from "../../support/connect-proxy.ts";
import { useTempDirectories } from "../../support/temp-directory.ts";
import { authorityNamed, certificateOf, useStopped } from "../cli/support.ts";

const directories = useTempDirectories();
const open = useStopped();
const authority = authorityNamed("egress-ca");
const serving = certificateOf(authority, "proxy", [], {
  ipAddresses: ["127.0.0.1"],
  dnsNames: ["proxy.example.com"],
});
const client = certificateOf(authority, "apiserver", []);

/** Echoes; counts its connections. */
async function startTarget(): Promise<{ port: number; seen: () => number }> {
  let seen = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    seen++;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  });
  return { port: (server.address() as AddressInfo).port, seen: () => seen };
}

const dialerOf = (
  at: EgressProxy["at"],
  metrics = new EgressMetrics(),
  timeoutMs = 60_000,
) => egressDialer({ at }, metrics, timeoutMs);

async function echoed(socket: net.Socket): Promise<string> {
  socket.write("hello");
  const [chunk] = (await new Promise<Buffer[]>((resolve) =>
    socket.once("data", (data) => resolve([data])),
  )) as [Buffer];
  socket.destroy();
  return chunk.toString();
}

test.each([
  ["plain TCP", false, false],
  ["TLS with a client certificate", true, false],
  ["a unix socket", false, true],
])("by %s", async (_, secure, unix) => {
  const target = await startTarget();
  const socketPath = path.join(directories(), "proxy.sock");
  const proxy = await startConnectProxy({
    ...(unix ? { socketPath } : {}),
    ...(secure
      ? {
          tls: {
            cert: serving.certificate,
            key: serving.key,
            ca: authority.certificate,
            requestCert: true,
            rejectUnauthorized: true,
          },
        }
      : {}),
  });
  open.push(proxy);
  const metrics = new EgressMetrics();
  const dial = dialerOf(
    unix
      ? { socketPath }
      : {
          ...{ host: "127.0.0.1", port: proxy.port },
          tls: secure
            ? {
                ca: authority.certificate,
                cert: client.certificate,
                key: client.key,
              }
            : undefined,
        },
    metrics,
  );
  expect(await echoed(await dial("127.0.0.1", target.port))).toBe("hello");
  expect(proxy.asked).toEqual([`127.0.0.1:${target.port}`]);
  expect(metricsText(metrics.families())).toContain(
    `apiserver_egress_dialer_dial_start_total{protocol="http_connect",transport="${unix ? "uds" : "tcp"}"} 1`,
  );
});

const strange: [string, (socket: Duplex) => void, RegExp][] = [
  [
    "refuses",
    (socket) => socket.end("HTTP/1.1 503 No backend\r\n\r\n"),
    /^proxy error from 127\.0\.0\.1:\d+ while dialing 127\.0\.0\.1:\d+, code 503: 503 No backend$/,
  ],
  [
    "speaks nonsense",
    (socket) => socket.end("SSH-2.0-x\r\n\r\n"),
    /failed: malformed HTTP response$/,
  ],
  ["leaves", (socket) => socket.destroy(), /failed: |closed/],
  [
    "answers too much",
    (socket) => socket.write("HTTP/1.1 200 OK\r\n\r\nmore"),
    /unexpected 4 bytes of buffered data from CONNECT proxy/,
  ],
  [
    "never ends its header",
    (socket) => socket.write(`HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(20_000)}`),
    /failed: the header is too large$/,
  ],
  ["hangs", () => undefined, /i\/o timeout$/],
];

test.each(strange)(
  "a proxy that %s fails the connection",
  async (what, answer, problem) => {
    const target = await startTarget();
    const proxy = await startConnectProxy();
    open.push(proxy);
    proxy.answer = answer;
    const metrics = new EgressMetrics();
    const dial = dialerOf(
      { host: "127.0.0.1", port: proxy.port, tls: undefined },
      metrics,
      what === "hangs" ? 300 : undefined,
    );
    await expect(dial("127.0.0.1", target.port)).rejects.toThrow(problem);
    expect(target.seen()).toBe(0);
    expect(metricsText(metrics.families())).toContain(
      'dial_failure_count{protocol="http_connect",stage="proxy",transport="tcp"} 1',
    );
  },
);

test("a proxy that is not there, one of another authority, and one with another name fail it", async () => {
  const target = await startTarget();
  const gone = await startConnectProxy();
  const { port } = gone;
  await gone.stop();
  const tls = { ca: authority.certificate };
  await expect(
    dialerOf({ host: "127.0.0.1", port, tls: undefined })(
      "127.0.0.1",
      target.port,
    ),
  ).rejects.toThrow("ECONNREFUSED");
  await expect(
    dialerOf({ socketPath: path.join(directories(), "absent") })(
      "127.0.0.1",
      target.port,
    ),
  ).rejects.toThrow("ENOENT");
  const proxy = await startConnectProxy({
    tls: { cert: serving.certificate, key: serving.key },
  });
  open.push(proxy);
  const at = { host: "127.0.0.1", port: proxy.port, tls };
  const other = { ca: authorityNamed("other").certificate };
  await expect(
    dialerOf({ ...at, tls: other })("127.0.0.1", target.port),
  ).rejects.toThrow(/self.signed|unable to/);
  await expect(
    dialerOf({ ...at, serverName: "elsewhere.example.com" })(
      "127.0.0.1",
      target.port,
    ),
  ).rejects.toThrow("elsewhere.example.com");
  expect(proxy.asked).toEqual([]);
  expect(target.seen()).toBe(0);
  const named = dialerOf({ ...at, serverName: "proxy.example.com" });
  expect(await echoed(await named("127.0.0.1", target.port))).toBe("hello");
});

test("an IPv6 address has brackets, and a request of an agent fails with its proxy", async () => {
  const proxy = await startConnectProxy();
  open.push(proxy);
  proxy.answer = (socket) => socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  const dial = dialerOf({
    host: "127.0.0.1",
    port: proxy.port,
    tls: undefined,
  });
  await expect(dial("::1", 443)).rejects.toThrow("code 403");
  expect(proxy.asked).toEqual(["[::1]:443"]);
  const error = await new Promise<Error>((resolve) =>
    http
      .get({ host: "127.0.0.1", port: 1, agent: httpAgent(dial) })
      .once("error", resolve),
  );
  expect(error.message).toContain("code 403");
});
