// What every port of routes does with a request and with an offer to switch protocols, refused and served, over a real
// connection.
import * as net from "node:net";
import * as tls from "node:tls";
import pino from "pino";
import { ApiError } from "../../../api/errors.ts";
import {
  createCertificateAuthority,
  issueCertificate,
  YEAR_MS,
} from "../../../api/pki/certificate.ts";
import { HttpError } from "../../../http-kit/http-error.ts";
import { Port, type PortRequest } from "../../../http-kit/port.ts";
import { eventually } from "../../support/eventually.ts";
import { rawRequest } from "../../support/raw-request.ts";

const nowMs = Date.now();
const ca = createCertificateAuthority({ subject: { commonName: "ca" }, nowMs });
const pair = issueCertificate(ca, {
  subject: { commonName: "server" },
  usages: ["server auth"],
  ipAddresses: ["127.0.0.1"],
  validityMs: YEAR_MS,
  nowMs,
});

let port: Port | undefined;
let begun: string[];
let under: number;
let logged: string[];
const sockets: net.Socket[] = [];

type Options = ConstructorParameters<typeof Port>[0];

async function start(options: Partial<Options> = {}): Promise<void> {
  begun = [];
  logged = [];
  under = 0;
  port = new Port({
    address: "127.0.0.1",
    port: 0,
    tls: undefined,
    what: "the port",
    logger: pino({}, { write: (line: string) => void logged.push(line) }),
    routes: [
      {
        methods: ["GET"],
        pattern: "/pods/{name}",
        serve: (request) => request.json(request.parameters),
      },
      { methods: ["POST"], pattern: "/run", serve: (r) => r.text("ran") },
      {
        pattern: "/taken",
        serve: ({ exchange }) => {
          if (!exchange.upgrade) throw new HttpError(400, "no upgrade");
          exchange.switched();
          const { socket } = exchange.upgrade;
          socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n");
          socket.on("end", () => socket.end()).resume();
        },
      },
      {
        pattern: "/fails",
        serve: () => Promise.reject(new TypeError("unforeseen")),
      },
      {
        pattern: "/throws",
        serve: () => {
          throw new TypeError("unforeseen");
        },
      },
      {
        pattern: "/half",
        serve: (request) => {
          request.exchange.open(200, {}).write("half");
          throw new Error("broken");
        },
      },
    ],
    admit: ({ exchange }: PortRequest) => {
      const who = exchange.headers["x-user"];
      if (who === "nobody") throw new HttpError(401, "Unauthorized");
      if (who === "late")
        return Promise.reject(new ApiError({ code: 403, message: "not you" }));
    },
    began: (method, pattern) => {
      begun.push(`${method} ${pattern}`);
      under++;
      return () => void under--;
    },
    ...options,
  });
  await port.start();
}
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await port?.stop(0);
});

/** The whole text until the server ends the connection or switches protocols. */
async function ask(
  upgrade: string | undefined,
  path: string,
  { method = "GET", headers = {} as Record<string, string> } = {},
): Promise<{ status: number; head: string; body: string; ended: boolean }> {
  const asked = { path, method, headers, upgrade };
  return rawRequest(port!.port, asked, sockets);
}

const nobody = { headers: { "x-user": "nobody" } };

describe.each([
  ["a request", undefined],
  ["WebSocket", "websocket"],
  ["SPDY", "SPDY/3.1"],
])("%s", (_kind, upgrade) => {
  test.each([
    ["a path that is served", "/pods/a%20b", {}, 200, '{"name":"a b"}'],
    ["an unknown path", "/none", {}, 404, "404 page not found\n"],
    ["another method", "/run", {}, 405, "405: Method Not Allowed"],
    ["a bad escape", "/pods/%zz", {}, 400, "bad escape in the path"],
    ["a path too long", `/${"a".repeat(33_000)}`, {}, 400, "bad path"],
    ["who is not known", "/pods/a", nobody, 401, "Unauthorized"],
    [
      "who may not, found out later",
      "/pods/a",
      { headers: { "x-user": "late" } },
      403,
      "not you",
    ],
    ["admission before routing", "/none", nobody, 401, "Unauthorized"],
    ["a handler that rejects", "/fails", {}, 500, "unforeseen"],
    ["a handler that throws", "/throws", {}, 500, "unforeseen"],
  ])("%s", async (_name, path, options, status, body) => {
    await start();
    const answer = await ask(upgrade, path, options);
    expect([answer.status, answer.body]).toEqual([status, body]);
    // Complete, so that a client can fall back to another protocol.
    expect(answer.ended).toBe(true);
    expect(answer.head).toMatch(
      new RegExp(`content-length: ${Buffer.byteLength(body)}`, "i"),
    );
    if (status === 405) expect(answer.head).toMatch(/allow: POST/i);
    expect(begun).toHaveLength(status === 200 || status === 500 ? 1 : 0);
    await eventually(() => under === 0);
    expect(
      logged.filter((line) => line.includes("a request failed")),
    ).toHaveLength(status === 500 ? 1 : 0);
  });

  test("an answer that breaks is cut off", async () => {
    await start();
    const { body } = await ask(upgrade, "/half");
    expect(body.endsWith("0\r\n\r\n")).toBe(false);
    await eventually(() => under === 0);
  });

  test("refusals take the form the port gives them", async () => {
    await start({
      refuse: (request, { code }) => request.json({ refused: code }),
    });
    const { body } = await ask(upgrade, "/none");
    expect(body).toBe('{"refused":404}');
  });
});

test.each(["websocket", "SPDY/3.1"])(
  "an offer of %s is taken",
  async (name) => {
    await start();
    const { status, ended } = await ask(name, "/taken");
    expect([status, ended]).toEqual([101, false]);
    expect((await ask(undefined, "/taken")).status).toBe(400);
  },
);

test("HEAD is GET without a body", async () => {
  await start();
  const answer = await ask(undefined, "/pods/a", { method: "HEAD" });
  expect([answer.status, answer.body]).toEqual([200, ""]);
});

test("a taken port is named", async () => {
  await start();
  const taken = port!;
  const other = new Port({
    address: "127.0.0.1",
    port: taken.port,
    tls: undefined,
    what: "the other port",
    routes: [],
    logger: pino({ level: "silent" }),
  });
  await expect(other.start()).rejects.toThrow(
    `the other port can't listen on 127.0.0.1:${taken.port}: listen EADDRINUSE`,
  );
  await other.stop(0);
});

describe("stopping", () => {
  test("waits for what is under way, and no longer than the grace", async () => {
    let finish!: () => void;
    await start({
      routes: [
        {
          pattern: "/slow",
          serve: (request) =>
            new Promise<void>((resolve) => {
              finish = () => {
                request.text("done");
                resolve();
              };
            }),
        },
      ],
    });
    const slow = ask(undefined, "/slow");
    await eventually(() => finish !== undefined);
    const stopped = port!.stop(60_000);
    finish();
    expect((await slow).body).toBe("done");
    await stopped;
  });

  test("ends what takes longer", async () => {
    await start({
      routes: [
        { pattern: "/slow", serve: () => new Promise<void>(() => undefined) },
      ],
    });
    const slow = ask(undefined, "/slow");
    await eventually(() => under === 1);
    await port!.stop(10);
    expect((await slow).status).toBeNaN();
  });

  test("does not wait for a handshake", async () => {
    await start({ tls: { cert: pair.certificate, key: pair.key } });
    const silent = net.connect(port!.port, "127.0.0.1");
    sockets.push(silent);
    const client = tls.connect({
      port: port!.port,
      host: "127.0.0.1",
      ca: ca.certificate,
    });
    sockets.push(client);
    client.on("error", () => undefined);
    await new Promise((resolve) => client.once("secureConnect", resolve));
    await port!.stop(10);
    await eventually(() => silent.destroyed || silent.readableEnded);
  });
});
