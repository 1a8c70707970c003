// A connection to a port on the loopback of a network namespace that this process is not in. A short-lived child in that
// namespace connects and hands the open socket over; from then on the bytes take no way round.
import { spawn } from "node:child_process";
import * as net from "node:net";
import type { Duplex } from "node:stream";
import { findProgram } from "../../process.ts";
import { RuntimeError } from "../../runtime.ts";

const connectTimeoutMs = 30_000;

/** Runs in the child: IPv4 first, then IPv6, as programs listen on either. */
const child = `
const net = require("node:net");
const port = Number(process.argv[1]);
const attempt = (host, next) => {
  const socket = net.connect({ host, port, allowHalfOpen: true });
  socket.pause();
  socket.once("error", (error) => next(error));
  socket.once("connect", () => process.send("connected", socket, { keepOpen: false }, () => process.disconnect()));
};
attempt("127.0.0.1", (first) => attempt("::1", () => process.send({ error: first.message }, () => process.disconnect())));
`;

/** `pid` undefined: in the namespace of this process. Rejects with a text that names the port. */
export async function connectInNamespace(
  pid: number | undefined,
  port: number,
): Promise<Duplex> {
  try {
    return await (pid === undefined
      ? connectHere(port)
      : connectThere(pid, port));
  } catch (error) {
    const text = `failed to connect to localhost:${port} inside the pod's network: ${(error as Error).message}`;
    throw new RuntimeError("unknown", text, { cause: error });
  }
}

async function connectHere(port: number): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({
      host: "localhost",
      port,
      allowHalfOpen: true,
      autoSelectFamily: true,
    });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

async function connectThere(pid: number, port: number): Promise<Duplex> {
  const nsenter = await findProgram("nsenter");
  if (nsenter === undefined) throw new Error("nsenter is not installed");
  return new Promise((resolve, reject) => {
    const helper = spawn(
      nsenter,
      [
        `--net=/proc/${pid}/ns/net`,
        "--",
        process.execPath,
        "-e",
        child,
        String(port),
      ],
      { stdio: ["ignore", "ignore", "ignore", "ipc"], env: {} },
    );
    const timer = setTimeout(() => helper.kill("SIGKILL"), connectTimeoutMs);
    const end = (): void => {
      clearTimeout(timer);
    };
    helper.once("error", (error) => {
      end();
      reject(error);
    });
    helper.once("message", (message, handle) => {
      end();
      if (handle instanceof net.Socket) {
        handle.allowHalfOpen = true;
        resolve(handle);
      } else
        reject(
          new Error((message as { error?: string }).error ?? "no connection"),
        );
    });
    helper.once("exit", () => {
      end();
      // The message comes first where there is one.
      setImmediate(() => reject(new Error("no connection was made")));
    });
  });
}
