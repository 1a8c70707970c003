// The fault proxy for Docker's API: one HTTP/1.1 request a connection. A call is named by its method and its path without
// version and identifiers: `POST /containers/{id}/start`. Events, and what takes the connection over, are carried as they are.
import * as http from "node:http";
import * as net from "node:net";
import * as path from "node:path";
import { unavailable, type Fault, type FaultProxy } from "./fault-proxy.ts";

export async function startDockerFaultProxy(
  endpoint: string,
  directory: string,
): Promise<FaultProxy> {
  const target = endpoint.replace(/^unix:\/\//, "");
  const socket = path.join(directory, "faulty", "docker.sock");
  const calls = new Map<string, number>();
  const connections = new Set<net.Socket>();
  let total = 0;
  const proxy: FaultProxy = {
    endpoint: `unix://${socket}`,
    faults: () => ({ kind: "none" }),
    calls,
    cut() {
      for (const each of connections) each.destroy();
    },
    async close() {
      proxy.cut();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  const server = http.createServer((request, response) => {
    const name = nameOf(request);
    calls.set(name, (calls.get(name) ?? 0) + 1);
    const fault: Fault =
      name === "GET /events" ? { kind: "none" } : proxy.faults(name, total++);
    carry(target, request, response, fault);
  });
  server.on("connection", (connection) => {
    connections.add(connection);
    connection.on("close", () => connections.delete(connection));
    connection.on("error", () => undefined);
  });
  server.on("upgrade", (request, connection: net.Socket, head) => {
    const daemon = net.connect(target);
    const headers = request.rawHeaders
      .flatMap((word, n, all) => (n % 2 ? [] : [`${word}: ${all[n + 1]}`]))
      .join("\r\n");
    daemon.write(
      `${request.method} ${request.url} HTTP/1.1\r\n${headers}\r\n\r\n`,
    );
    daemon.write(head);
    daemon.on("error", () => connection.destroy());
    connection.on("error", () => daemon.destroy());
    daemon.pipe(connection).pipe(daemon);
  });
  const { mkdir } = await import("node:fs/promises");
  await mkdir(path.dirname(socket), { recursive: true });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return proxy;
}

function nameOf({ method, url = "" }: http.IncomingMessage): string {
  const { pathname } = new URL(url, "http://docker");
  return `${method} ${pathname
    .replace(/^\/v\d[\d.]*/, "")
    .replace(
      /^(\/(?:containers|exec|images))\/(?!json$|create$)[^/]+/,
      "$1/{id}",
    )}`;
}

function fail(response: http.ServerResponse, code: number): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(code === unavailable ? 503 : 500, {
    "content-type": "application/json",
  });
  response.end(JSON.stringify({ message: "spoiled by the test" }));
}

function carry(
  target: string,
  request: http.IncomingMessage,
  response: http.ServerResponse,
  fault: Fault,
): void {
  if (fault.kind === "silent") return void request.resume();
  if (fault.kind === "error" && !fault.done) {
    request.resume();
    return fail(response, fault.code);
  }
  if (fault.kind === "cut" && !fault.done) return void request.socket.destroy();
  const call = http.request({
    socketPath: target,
    method: request.method,
    path: request.url,
    headers: request.headers,
  });
  call.on("error", () => fail(response, unavailable));
  request.pipe(call);
  if (fault.kind === "none") {
    response.on("close", () => call.destroy());
    call.on("response", (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      response.flushHeaders();
      answer.pipe(response);
    });
    return;
  }
  // The daemon is to finish, whatever becomes of the one who asked.
  call.on("response", (answer) => {
    const chunks: Buffer[] = [];
    answer.on("data", (chunk: Buffer) => chunks.push(chunk));
    answer.on("end", () => {
      if (fault.kind === "error") return fail(response, fault.code);
      if (fault.kind === "cut") return void request.socket.destroy();
      setTimeout(() => {
        if (response.destroyed) return;
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        response.end(Buffer.concat(chunks));
      }, fault.delayMs);
    });
  });
}
