// grpc.health.v1.Health/Check without generated code, on a connection of its own: a request of one string field, an answer of
// one enum field. The server is a pod's: what it sends is bounded, and afterwards the socket is gone, whether or not the
// server ever closes its end. (A client of grpc-js keeps the descriptor of a connection that the server leaves half open.)
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import type { ProbeOutcome } from "./probe-outcome.ts";

const serving = 1;
const statusNames = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
const unimplemented = 12;
const deadlineExceeded = 4;
/** Of the connection, and of it the answer. */
const maxReadBytes = 1 << 20;
const maxAnswerBytes = 4096;
const checkReadEveryMs = 100;

/** What a call ended with: the message, or a status and what the server says. */
type Answer =
  | { readonly message: Buffer }
  | { readonly code: number | undefined; readonly text: string };

export async function checkGrpcHealth(
  host: string,
  port: number,
  service: string,
  timeoutMs: number,
): Promise<ProbeOutcome> {
  const answer = await call(host, port, encodeRequest(service), timeoutMs);
  if ("message" in answer) {
    const status = decodeStatus(answer.message);
    return status === serving
      ? { verdict: "success", output: "service healthy" }
      : {
          verdict: "failure",
          output: `service unhealthy (responded with "${statusNames[status] ?? status}")`,
        };
  }
  const { code, text } = answer;
  const why: Record<number, string> = {
    [unimplemented]: `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${text}`,
    [deadlineExceeded]: `timeout: health rpc did not complete within ${timeoutMs / 1000}s`,
  };
  return {
    verdict: "failure",
    output: why[code ?? 0] ?? `error: health rpc probe failed: ${text}`,
  };
}

/** Never rejects. */
function call(
  host: string,
  port: number,
  request: Buffer,
  timeoutMs: number,
): Promise<Answer> {
  const authority = host.includes(":")
    ? `[${host}]:${port}`
    : `${host}:${port}`;
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const session = connectHttp2(`http://${authority}`, {
      createConnection: () => socket,
      settings: { enablePush: false },
    });
    const finish = (answer: Answer): void => {
      clearTimeout(late);
      clearInterval(reading);
      session.destroy();
      socket.destroy();
      resolve(answer);
    };
    const fail = (text: string): void => finish({ code: undefined, text });
    const late = setTimeout(
      () => finish({ code: deadlineExceeded, text: "" }),
      timeoutMs,
    );
    const reading = setInterval(() => {
      if (socket.bytesRead > maxReadBytes) fail("the server sends without end");
    }, checkReadEveryMs);
    const stream = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Check",
      "content-type": "application/grpc",
      "user-agent": "kube-probe/1.32",
      "grpc-timeout": `${Math.ceil(timeoutMs)}m`,
      te: "trailers",
    });
    const body: Buffer[] = [];
    let size = 0;
    let code: number | undefined;
    let text = "";
    const readStatus = (headers: Record<string, unknown>): void => {
      const [status, message] = [
        headers["grpc-status"],
        headers["grpc-message"],
      ];
      if (typeof status === "string") code = Number(status);
      if (typeof message === "string") text = unescaped(message);
    };
    stream.on("response", (headers) => {
      readStatus(headers);
      const status = headers[":status"];
      if (status !== 200 && code === undefined)
        fail(`unexpected HTTP status code received from server: ${status}`);
    });
    stream.on("trailers", readStatus);
    stream.on("data", (chunk: Buffer) => {
      body.push(chunk);
      size += chunk.length;
      if (size > maxAnswerBytes) fail("the answer is too long");
    });
    stream.on("end", () => {
      if (code !== 0)
        return finish({ code, text: text || "the server sent no status" });
      // A byte that names compression, four of the length.
      finish({ message: Buffer.concat(body).subarray(5) });
    });
    stream.on("error", ({ message }) => fail(message));
    session.on("error", ({ message }: Error) => fail(message));
    stream.on("close", () =>
      fail(`the stream ended with code ${stream.rstCode}`),
    );
    session.on("close", () => fail("the connection was closed"));
    const head = Buffer.alloc(5);
    head.writeUInt32BE(request.length, 1);
    stream.end(Buffer.concat([head, request]));
  });
}

/** Percent-encoded, as the protocol has it. */
function unescaped(message: string): string {
  try {
    return decodeURIComponent(message);
  } catch {
    return message;
  }
}

/** Field 1, length-delimited. */
function encodeRequest(service: string): Buffer {
  const text = Buffer.from(service);
  if (text.length === 0) return Buffer.alloc(0);
  const length: number[] = [];
  for (let rest = text.length; ; rest >>>= 7) {
    if (rest < 0x80) {
      length.push(rest);
      break;
    }
    length.push((rest & 0x7f) | 0x80);
  }
  return Buffer.concat([Buffer.from([0x0a, ...length]), text]);
}

/** Field 1, varint; an absent field is 0. */
function decodeStatus(bytes: Buffer): number {
  return bytes[0] === 0x08 ? (bytes[1] ?? 0) : 0;
}
