// A command in a container over WebSocket (v5.channel.k8s.io, v4 as the fallback): channels 0 stdin, 1 stdout, 2 stderr,
// 3 the final Status, 4 terminal size, 255 close.
import type { Readable, Writable } from "node:stream";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { CtlContext } from "../command.ts";
import { isNodeAgent } from "../node-agent.ts";
import { onRefusal, openWebSocket } from "./web-socket.ts";

export interface RemoteCommand {
  readonly verb: "exec" | "attach";
  readonly command: readonly string[];
  readonly tty: boolean;
  readonly stdin?: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Called when the connection is open; what it returns is called at the end. */
  readonly onOpen?: (resize: (size: TerminalSize) => void) => () => void;
}

interface TerminalSize {
  readonly Width: number;
  readonly Height: number;
}

/** How a command ended: with a code, or by a failure. */
type RemoteResult = { readonly code: number } | { readonly message: string };

interface FinalStatus {
  status?: string;
  message?: string;
  details?: { causes?: { reason?: string; message?: string }[] };
}

function resultOf(status: FinalStatus): RemoteResult {
  if (status.status === "Success") return { code: 0 };
  const cause = status.details?.causes?.find(
    ({ reason }) => reason === "ExitCode",
  );
  return cause?.message === undefined
    ? { message: status.message ?? "the command could not be run" }
    : { code: Number(cause.message) };
}

async function pathOf(
  context: CtlContext,
  { metadata }: Pod,
  container: string,
  { verb, command, tty, stdin }: RemoteCommand,
): Promise<string> {
  const agent = await isNodeAgent(context);
  const { name, namespace = "default" } = metadata;
  const query = new URLSearchParams();
  // The agent's own names of these parameters are others.
  const [input, output, error] = agent
    ? ["input", "output", "error"]
    : ["stdin", "stdout", "stderr"];
  const yes = agent ? "1" : "true";
  for (const word of command) query.append("command", word);
  if (!agent) query.set("container", container);
  if (stdin) query.set(input, yes);
  query.set(output, yes);
  query.set(tty ? "tty" : error, yes);
  const path = agent
    ? `/${verb}/${namespace}/${name}/${container}`
    : `/api/v1/namespaces/${namespace}/pods/${name}/${verb}`;
  return `${path}?${query.toString()}`;
}

/** Resolves at the command's end. Rejects when there is no connection, or with the server's refusal. */
export async function runRemotely(
  context: CtlContext,
  pod: Pod,
  container: string,
  remote: RemoteCommand,
): Promise<RemoteResult> {
  const { stdin, stdout, stderr } = remote;
  const socket = await openWebSocket(
    await context.http(),
    await pathOf(context, pod, container, remote),
    ["v5.channel.k8s.io", "v4.channel.k8s.io"],
  );
  const send = (channel: number, data: Buffer): void => {
    if (socket.readyState !== socket.OPEN) return;
    // A fast source waits for the connection.
    socket.send(Buffer.concat([Buffer.from([channel]), data]), () => {
      if (channel === 0) stdin?.resume();
    });
    if (channel === 0 && socket.bufferedAmount > maxUnsentBytes) stdin?.pause();
  };
  return new Promise((resolve, reject) => {
    let status: FinalStatus | undefined;
    let closed: (() => void) | undefined;
    const finish = (): void => {
      closed?.();
      stdin?.removeAllListeners("data");
      stdin?.pause();
    };
    onRefusal(socket, reject);
    socket.on("open", () => {
      closed = remote.onOpen?.((size) =>
        send(4, Buffer.from(JSON.stringify(size))),
      );
      stdin?.on("data", (chunk: Buffer) => send(0, chunk));
      stdin?.on("end", () => {
        if (
          socket.protocol === "v5.channel.k8s.io" &&
          socket.readyState === socket.OPEN
        )
          socket.send(Buffer.from([255, 0]));
      });
    });
    socket.on("message", (data: Buffer) => {
      const payload = data.subarray(1);
      const to = data[0] === 1 ? stdout : data[0] === 2 ? stderr : undefined;
      if (to && !to.write(payload)) {
        // The connection waits for a slow reader.
        socket.pause();
        to.once("drain", () => socket.resume());
      } else if (data[0] === 3 && payload.length > 0)
        status = JSON.parse(payload.toString()) as FinalStatus;
    });
    socket.on("error", (failure) => {
      finish();
      reject(failure);
    });
    socket.on("close", () => {
      finish();
      resolve(
        status ? resultOf(status) : { code: remote.verb === "attach" ? 0 : 1 },
      );
    });
  });
}

const maxUnsentBytes = 1024 * 1024;
