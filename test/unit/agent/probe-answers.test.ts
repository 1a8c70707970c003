// Answers that servers of a few lines write, as Go's client takes them: an HTTP probe must not fail for their form.
import { once } from "node:events";
import * as net from "node:net";
import { httpGet } from "../../../agent/probes/http-get.ts";

async function answerTo(raw: string): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(Buffer.from(raw, "latin1")));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as net.AddressInfo;
    const { statusCode, body } = await httpGet(
      { path: "/", port },
      "127.0.0.1",
      { name: "c" },
      { timeoutMs: 10_000, userAgent: "kube-probe/1.32" },
    );
    return `${statusCode} ${body}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    server.close();
  }
}

const ok = "HTTP/1.1 200 OK\r\n";

test.each([
  ["line feeds alone", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "200 ok"],
  ["no headers", "HTTP/1.1 200 OK\n\nok", "200 ok"],
  ["a folded header", `${ok}Foo: a\r\n  b\r\n\r\nok`, "200 ok"],
  [
    "a length beside chunks",
    `${ok}Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2 \r\nok\r\n0\r\n\r\n`,
    "200 ok",
  ],
  ["too short a length", `${ok}Content-Length: 2\r\n\r\nok more`, "200 ok"],
  [
    "too short a length before the close",
    `${ok}Connection: close\r\nContent-Length: 2\r\n\r\nok more`,
    "200 ok",
  ],
  ["a body of 204", "HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nok", "204 "],
  ["a Location of 300", "HTTP/1.1 300 M\r\nLocation: /x\r\n\r\nok", "300 ok"],
  ["a Location of 304", "HTTP/1.1 304 N\r\nLocation: /x\r\n\r\n", "304 "],
])("with %s", async (_, raw, answer) => {
  expect(await answerTo(raw)).toBe(answer);
});

test.each([
  ["no status line", "hello\n", "Expected HTTP/"],
  ["no colon", `${ok}Foo\r\n\r\nok`, "Parse Error"],
  [
    "two lengths",
    `${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`,
    "Parse Error",
  ],
  ["too large a length", `${ok}Content-Length: 9\r\n\r\nok`, "unexpected EOF"],
  [
    "an unfinished chunk",
    `${ok}Transfer-Encoding: chunked\r\n\r\n9\r\nok`,
    "unexpected EOF",
  ],
  [
    "redirects without end",
    "HTTP/1.1 302 F\r\nLocation: /x\r\n\r\n",
    "stopped after 10 redirects",
  ],
])("with %s a probe fails", async (_, raw, error) => {
  expect(await answerTo(raw)).toContain(error);
});
