// Exec, attach and port-forward over the one-minute, one-time URLs of containerd's streaming server: plain HTTP on the
// loopback, upgraded to SPDY/3.1 (v4.channel.k8s.io; portforward.k8s.io).
import * as http from "node:http";
import type { Duplex } from "node:stream";
import {
  collect,
  openRemoteCommand,
} from "../../../api/streaming/remote-command-client.ts";
import {
  createSpdySession,
  type SpdySession,
} from "../../../api/streaming/spdy-session.ts";
import {
  RuntimeError,
  type StreamOptions,
  type StreamSession,
} from "../../runtime.ts";

const upgradeTimeoutMs = 30_000;
const maxErrorBytes = 64 * 1024;

/**
 * What a runtime names without a scheme is HTTP (cri-dockerd: //127.0.0.1:PORT/…), as at the reference.
 * @throws RuntimeError without the URL, which lets who has it into the container
 */
function addressOf(given: string): URL {
  const text = given.startsWith("//") ? `http:${given}` : given;
  if (URL.canParse(text) && text.startsWith("http://")) return new URL(text);
  throw new RuntimeError(
    "unsupported",
    "the runtime names no address of plain HTTP for the stream",
  );
}

/** POSTs with an upgrade and resolves to the session; a refusal is a RuntimeError with the server's text. */
function upgrade(given: string, protocol: string): Promise<SpdySession> {
  return new Promise((resolve, reject) => {
    const url = addressOf(given);
    const request = http.request(url, {
      method: "POST",
      agent: false,
      timeout: upgradeTimeoutMs,
      headers: {
        Connection: "Upgrade",
        Upgrade: "SPDY/3.1",
        "X-Stream-Protocol-Version": protocol,
      },
    });
    request.on("upgrade", (response, socket, head) => {
      socket.setTimeout(0);
      socket.setNoDelay(true);
      readToTheEnd(socket);
      if (response.headers["x-stream-protocol-version"] !== protocol) {
        socket.destroy();
        reject(
          new RuntimeError(
            "unsupported",
            `the runtime's streaming server does not speak ${protocol}`,
          ),
        );
        return;
      }
      if (head.length > 0) socket.unshift(head);
      resolve(createSpdySession(socket, { side: "client" }));
    });
    request.on("response", (response) => {
      void collect(response, maxErrorBytes).then((text) =>
        reject(
          new RuntimeError(
            "unknown",
            `the runtime's streaming server answered ${response.statusCode}: ${text.toString()}`,
          ),
        ),
      );
    });
    request.on("timeout", () => request.destroy(new Error("no answer")));
    request.on("error", (error) =>
      reject(
        new RuntimeError(
          "unavailable",
          `the runtime's streaming server can't be reached: ${error.message}`,
          { cause: error },
        ),
      ),
    );
    request.end();
  });
}

/**
 * The runtime closes an exec's connection when the command ends, whatever of its input was not read; the rest of that
 * input then fails to be written. Node closes a socket at the first such failure, with the command's last output and
 * its exit unread. So bytes that can't be written are dropped here, and it is reading that finds the connection's end.
 */
export function readToTheEnd(socket: Duplex): void {
  type Done = (error?: Error | null) => void;
  const write = socket._write.bind(socket);
  const writeMany = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, done: Done) =>
    write(chunk, encoding, () => done());
  if (writeMany !== undefined)
    socket._writev = (chunks, done: Done) => writeMany(chunks, () => done());
}

export async function openExecStream(
  url: string,
  options: StreamOptions,
): Promise<StreamSession> {
  const session = await upgrade(url, "v4.channel.k8s.io");
  return openRemoteCommand(session, options);
}

/** One connection; what the runtime writes to its error stream becomes the duplex's error. */
export async function openPortForward(
  url: string,
  port: number,
): Promise<Duplex> {
  const session = await upgrade(url, "portforward.k8s.io");
  const identity = { port: String(port), requestID: "0" };
  const errorStream = session.openStream({ ...identity, streamtype: "error" });
  errorStream.end();
  const data = session.openStream({ ...identity, streamtype: "data" });
  void collect(errorStream, maxErrorBytes).then((text) => {
    if (text.length > 0)
      data.destroy(new RuntimeError("unknown", text.toString("utf8")));
  });
  data.on("close", () => session.close());
  try {
    await data.accepted;
  } catch (error) {
    session.destroy();
    throw new RuntimeError(
      "unavailable",
      "port forwarding was refused by the runtime",
      { cause: error },
    );
  }
  return data;
}
