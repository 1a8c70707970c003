// A small HTTP port without authentication: health, readiness and metrics of a part of the network, as its users expect them.
// Each path has one answer; nothing is read from a request beyond its line and headers, and all of it is bounded.
import { createServer, type Server } from "node:http";

export interface PlainAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** @param path without the query. Undefined: there is nothing of that path. */
type PlainAnswers = (path: string) => PlainAnswer | undefined;

export const plainText = (status: number, body: string): PlainAnswer => ({
  status,
  type: "text/plain; charset=utf-8",
  body,
});

/** Rejects when the address is taken. */
export function openPlainPort(
  host: string,
  port: number,
  answer: PlainAnswers,
): Promise<Server> {
  const server = createServer((request, response) => {
    const { method = "GET", url = "/" } = request;
    const found =
      method === "GET" || method === "HEAD"
        ? (answer(url.split("?", 1)[0]!) ??
          plainText(404, "404 page not found\n"))
        : plainText(405, "method not allowed\n");
    response.writeHead(found.status, {
      "content-type": found.type,
      "x-content-type-options": "nosniff",
    });
    response.end(method === "HEAD" ? undefined : found.body);
  });
  server.headersTimeout = 5000;
  server.requestTimeout = 5000;
  server.maxConnections = 256;
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      server.on("error", () => undefined);
      resolve(server);
    });
  });
}

export function closePlainPort(server: Server): void {
  server.close();
  server.closeAllConnections();
}
