import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type Server } from "node:http";
import {
  createServer as createTcpServer,
  type AddressInfo,
  type Socket,
  type Server as TcpServer,
} from "node:net";
import { Server as GrpcServer, ServerCredentials } from "@grpc/grpc-js";
import type { Container, Probe } from "../../../api/types/core-v1.ts";
import { inHostsFile, namesToAsk } from "../../../agent/probes/host-lookup.ts";
import { resolvePort } from "../../../agent/probes/http-get.ts";
import { runProbe } from "../../../agent/probes/run-probe.ts";
import { RuntimeError, type Runtime } from "../../../cri/runtime.ts";
import { eventually } from "../../support/eventually.ts";

let http: Server;
let tcp: TcpServer;
let grpc: GrpcServer;
let grpcPort: number;
let lastHeaders: Record<string, unknown> = {};
const container: Container = { name: "c", ports: [] };
const exec = (
  result: () => Promise<{ exitCode: number; stdout: Buffer; stderr: Buffer }>,
): Runtime => ({ execSync: result }) as unknown as Runtime;
const run = (
  probe: Probe,
  runtime = {} as Runtime,
): ReturnType<typeof runProbe> =>
  runProbe(
    runtime,
    // Of a second, a busy machine may need more.
    { timeoutSeconds: 20, ...probe },
    container,
    "id",
    "127.0.0.1",
  );

beforeAll(async () => {
  http = createHttpServer((request, response) => {
    lastHeaders = request.headers;
    if (request.url === "/slow") return;
    if (request.url === "/away")
      response.writeHead(302, { Location: "http://elsewhere.invalid/" });
    else if (request.url === "/moved")
      response.writeHead(302, { Location: "/ok" });
    else
      response.writeHead(
        request.url === "/ok?x=1" || request.url === "/ok" ? 200 : 503,
      );
    response.end("body");
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  tcp = createTcpServer((socket) => socket.end());
  await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
  container.ports = [
    { name: "web", containerPort: (http.address() as AddressInfo).port },
  ];
  grpc = new GrpcServer();
  const identity = (bytes: Buffer): Buffer => bytes;
  grpc.register(
    "/grpc.health.v1.Health/Check",
    (call: { request: Buffer }, answer: (error: null, value: Buffer) => void) =>
      answer(null, Buffer.from(call.request.includes("bad") ? [8, 2] : [8, 1])),
    identity,
    identity,
    "unary",
  );
  grpcPort = await new Promise<number>((resolve, reject) =>
    grpc.bindAsync(
      "127.0.0.1:0",
      ServerCredentials.createInsecure(),
      (error, port) => (error ? reject(error) : resolve(port)),
    ),
  );
});
afterAll(async () => {
  http.closeAllConnections();
  http.close();
  tcp.close();
  grpc.forceShutdown();
});

test("HTTP", async () => {
  const get = (path: string): Promise<{ verdict: string; output: string }> =>
    run({
      httpGet: {
        path,
        port: "web",
        httpHeaders: [{ name: "X-A", value: "1" }],
      },
    });
  expect(await get("/ok?x=1")).toMatchObject({
    verdict: "success",
    output: "body",
  });
  expect(lastHeaders).toMatchObject({
    "user-agent": "kube-probe/1.32",
    "x-a": "1",
    connection: "close",
  });
  expect(await get("/moved")).toMatchObject({ verdict: "success" });
  expect(await get("/away")).toMatchObject({
    verdict: "success",
    warning: true,
  });
  expect(await get("/bad")).toEqual({
    verdict: "failure",
    output: "HTTP probe failed with statuscode: 503",
  });
  expect(
    await run({ httpGet: { path: "/slow", port: "web" }, timeoutSeconds: 0.1 }),
  ).toMatchObject({
    verdict: "failure",
    output: expect.stringContaining("deadline exceeded"),
  });
  expect(await run({ httpGet: { port: "none" } })).toEqual({
    verdict: "error",
    output: "couldn't find port: none",
  });
});

/** Sends one text after the other to each client, for as long as it takes them. */
async function sender(
  first: string,
  again = "",
): Promise<{ port: number; close: () => void }> {
  const clients = new Set<Socket>();
  const server = createTcpServer((socket) => {
    clients.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => {
      socket.write(first);
      const more = (): void => {
        while (socket.writable && socket.write(again));
        socket.once("drain", more);
      };
      if (again !== "") more();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}

test.each<[string, string, string, string]>([
  [
    "another protocol",
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello",
    "",
    "HTTP probe failed with statuscode: 101",
  ],
  ["preliminary answers", "HTTP/1.1 103 Early Hints\r\n\r\n", "", "1xx"],
  ["line ends", "", "\r\n", "without end"],
  [
    "the size of a chunk",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    "0",
    "without end",
  ],
  ["headers", "HTTP/1.1 200 OK\r\n", "a: b\r\n", "Header overflow"],
])(
  "HTTP from a server that sends %s without end is a failure before the time is up",
  async (_, first, unit, output) => {
    const server = await sender(
      unit === "" ? first.repeat(8) : first,
      unit.repeat(20_000),
    );
    try {
      const answer = await run({ httpGet: { port: server.port } });
      expect(answer.verdict).toBe("failure");
      expect(answer.output).toContain(output);
    } finally {
      server.close();
    }
  },
);

test("HTTP with large headers and a body that goes on", async () => {
  const server = await sender(
    `HTTP/1.1 200 OK\r\nX-Large: ${"x".repeat(100_000)}\r\n\r\n`,
    "body".repeat(1000),
  );
  try {
    const answer = await run({ httpGet: { port: server.port } });
    expect(answer.verdict).toBe("success");
    expect(answer.output).toHaveLength(10 * 1024);
  } finally {
    server.close();
  }
});

test("one time limit holds for all redirects, and for a body", async () => {
  const server = createHttpServer((request, response) => {
    if (request.url === "/drip") return void response.write("a");
    setTimeout(() => {
      response.writeHead(302, { Location: "/again" });
      response.end();
    }, 400);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    for (const [path, while_] of [
      ["/", "Client.Timeout exceeded while awaiting headers"],
      ["/drip", "Client.Timeout or context cancellation while reading body"],
    ] as const) {
      const begunMs = performance.now();
      const answer = await run({ httpGet: { path, port }, timeoutSeconds: 1 });
      expect(answer).toMatchObject({
        verdict: "failure",
        output: expect.stringContaining(while_) as unknown,
      });
      // Ten redirects would take 4 s.
      expect(performance.now() - begunMs).toBeLessThan(3000);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("names are those of the hosts file, else asked for as resolv.conf says", async () => {
  const hosts = "127.0.0.1 localhost # here\n::1\tip6-localhost Localhost.\n";
  expect(inHostsFile(hosts, "localhost")).toEqual([
    { address: "127.0.0.1", family: 4 },
    { address: "::1", family: 6 },
  ]);
  expect(inHostsFile(hosts, "here")).toEqual([]);
  const settings = "search a.example b.example.\noptions ndots:2\n";
  expect(namesToAsk(settings, "web")).toEqual([
    ...["web.a.example", "web.b.example", "web"],
  ]);
  expect(namesToAsk(settings, "web.x.y")[0]).toBe("web.x.y");
  expect(namesToAsk(settings, "web.")).toEqual(["web."]);
  const { port } = tcp.address() as AddressInfo;
  expect(await run({ tcpSocket: { host: "localhost", port } })).toMatchObject({
    verdict: "success",
  });
});

test("TCP", async () => {
  const port = (tcp.address() as AddressInfo).port;
  expect(await run({ tcpSocket: { port } })).toMatchObject({
    verdict: "success",
  });
  expect(await run({ tcpSocket: { port: 1 } })).toEqual({
    verdict: "failure",
    output: "dial tcp 127.0.0.1:1: connect: connection refused",
  });
});

test("gRPC", async () => {
  expect(await run({ grpc: { port: grpcPort } })).toMatchObject({
    verdict: "success",
  });
  expect(await run({ grpc: { port: grpcPort, service: "bad" } })).toEqual({
    verdict: "failure",
    output: 'service unhealthy (responded with "NOT_SERVING")',
  });
  const none = { port: (http.address() as AddressInfo).port };
  for (const [at, why] of [
    [{ port: 1 }, "ECONNREFUSED"],
    // It speaks HTTP/1.1 alone.
    [none, ""],
  ] as const)
    expect(await run({ grpc: at, timeoutSeconds: 2 })).toEqual({
      verdict: "failure",
      output: expect.stringContaining(why) as unknown,
    });
});

/** A server that keeps its end of each connection open, and sends the same without end; "": nothing. */
async function grpcSender(again: Buffer): Promise<{
  port: number;
  /** The ports of its clients. */
  peers: () => number[];
  close: () => void;
}> {
  const clients = new Set<Socket>();
  const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
    clients.add(socket);
    socket.on("error", () => undefined);
    socket.resume();
    socket.write(frame(4));
    const more = (): void => {
      while (socket.writable && socket.write(again));
      socket.once("drain", more);
    };
    if (again.length > 0) more();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    peers: () => [...clients].map(({ remotePort = 0 }) => remotePort),
    close: () => {
      server.close();
      for (const client of clients) client.destroy();
    },
  };
}

/** Of HTTP/2. */
function frame(type: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  return Buffer.concat([head, payload]);
}

test.each<[string, Buffer]>([
  ["frames of a type that is not known", frame(0x55, Buffer.alloc(16_000))],
  ["settings", frame(4)],
  ["pings", frame(6, Buffer.alloc(8))],
])(
  "gRPC from a server that floods with %s is a failure at once",
  async (_, flood) => {
    const server = await grpcSender(
      Buffer.concat(Array.from({ length: 100 }, () => flood)),
    );
    try {
      const answer = await run({ grpc: { port: server.port } });
      expect(answer.verdict).toBe("failure");
      expect(answer.output).not.toContain("timeout");
    } finally {
      server.close();
    }
  },
);

/** Local ports of TCP sockets that a process has, as the kernel knows them. */
function portsInUse(): Set<number> {
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1);
  return new Set(
    lines.flatMap((line) => {
      const fields = line.trim().split(/\s+/);
      const [own = "", inode = "0"] = [fields[1], fields[9]];
      // One that no process has any more waits for its end without an inode.
      return inode === "0" ? [] : [parseInt(own.split(":")[1] ?? "", 16)];
    }),
  );
}

test("gRPC to a server that never closes its end leaves no socket", async () => {
  const server = await grpcSender(Buffer.alloc(0));
  try {
    for (let round = 1; round <= 3; round++)
      expect(
        await run({ grpc: { port: server.port }, timeoutSeconds: 0.3 }),
      ).toEqual({
        verdict: "failure",
        output: "timeout: health rpc did not complete within 0.3s",
      });
    expect(server.peers()).toHaveLength(3);
    await eventually(() => {
      const used = portsInUse();
      return !server.peers().some((port) => used.has(port));
    });
  } finally {
    server.close();
  }
});

test("exec", async () => {
  const result =
    (exitCode: number, text: string) =>
    (): Promise<{ exitCode: number; stdout: Buffer; stderr: Buffer }> =>
      Promise.resolve({
        exitCode,
        stdout: Buffer.from(text),
        stderr: Buffer.alloc(0),
      });
  const probe = { exec: { command: ["a", "b"] } };
  expect(await run(probe, exec(result(0, "fine")))).toEqual({
    verdict: "success",
    output: "fine",
  });
  expect(await run(probe, exec(result(1, "no")))).toEqual({
    verdict: "failure",
    output: "no",
  });
  expect(
    await run(
      probe,
      exec(() => Promise.reject(new RuntimeError("timeout", "t"))),
    ),
  ).toEqual({ verdict: "failure", output: 'command "a b" timed out' });
  expect(
    await run(
      probe,
      exec(() => Promise.reject(new RuntimeError("unavailable", "gone"))),
    ),
  ).toEqual({
    verdict: "error",
    output: "rpc error: code = Unavailable desc = gone",
  });
});

test("the command of a probe has the container's variables", async () => {
  const commands: string[][] = [];
  const runtime = {
    execSync: (_id: string, command: string[]) => {
      commands.push(command);
      return Promise.resolve({
        exitCode: 0,
        stdout: Buffer.alloc(0),
        stderr: Buffer.alloc(0),
      });
    },
  } as unknown as Runtime;
  const command = ["$(PORT)", "$$(PORT)", "$(date)", "<$(FROM)>"];
  const env = [
    { name: "PORT", value: "80" },
    { name: "FROM", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  ];
  await runProbe(runtime, { exec: { command } }, { name: "c", env }, "id", "");
  expect(commands).toEqual([["80", "$(PORT)", "$(date)", "<>"]]);
});

test("what the runtime can't answer is asked three times", async () => {
  let asked = 0;
  const lost = new RuntimeError("unavailable", "gone");
  const probe = { exec: { command: ["a"] } };
  const after = (failures: number): Runtime =>
    exec(() =>
      asked++ < failures
        ? Promise.reject(lost)
        : Promise.resolve({
            exitCode: 0,
            stdout: Buffer.alloc(0),
            stderr: Buffer.alloc(0),
          }),
    );
  expect(await run(probe, after(2))).toMatchObject({ verdict: "success" });
  expect(asked).toBe(3);
  asked = 0;
  expect(await run(probe, after(9))).toMatchObject({ verdict: "error" });
  expect(asked).toBe(3);
});

test("ports by name and number", () => {
  expect(resolvePort("8080", container)).toBe(8080);
  expect(() => resolvePort("x", container)).toThrow("couldn't find port: x");
  expect(() => resolvePort(70_000, container)).toThrow(
    "invalid port number: 70000",
  );
});
