// exec and attach over SPDY streams, server side. The client opens a stream per header `streamtype`: error, and of
// stdin, stdout, stderr and (version 3 on, with a terminal) resize what it asked for.
import type { Duplex } from "node:stream";
import type { Clock } from "../clock.ts";
import type { TerminalDimensions } from "../contracts.ts";
import { parseTerminalSize } from "./channel-protocol.ts";
import { encodeStatus } from "./exit-status.ts";
import type {
  RemoteCommandConnection,
  RemoteCommandOptions,
} from "./remote-command-server.ts";
import { createSpdySession } from "./spdy-session.ts";
import type { SpdyStream } from "./spdy-stream.ts";

/** How long a client may take to open its streams; the reference's. */
const streamCreationTimeoutMs = 30_000;
/** A finished connection that the client does not close is dropped after this. */
const lingerMs = 5_000;
/** A terminal size longer than this is no size. */
const maxResizeBytes = 4096;
/** Of sizes that come at once only the last count: clients send two to have a screen drawn again. */
const maxSizes = 4;

function wantedTypes(
  options: RemoteCommandOptions,
  protocol: string,
): Set<string> {
  const types = new Set(["error"]);
  if (options.stdin) types.add("stdin");
  if (options.stdout) types.add("stdout");
  if (options.stderr && !options.tty) types.add("stderr");
  if (options.tty && (protocol.startsWith("v3.") || protocol.startsWith("v4.")))
    types.add("resize");
  return types;
}

/** Sizes come as JSON texts one after the other, each ended by the object's brace. */
function readSizes(
  stream: SpdyStream,
  listener: (size: TerminalDimensions) => void,
): void {
  let text = "";
  stream.on("data", (chunk: Buffer) => {
    const parts = (text + chunk.toString("latin1")).split("}");
    text = parts.pop()!;
    for (const part of parts.slice(-maxSizes)) {
      const size = parseTerminalSize(`${part}}`);
      if (size !== undefined) listener(size);
    }
    if (text.length > maxResizeBytes) text = "";
  });
}

/** Resolves when the client opened all its streams; rejects (and drops the connection) when it does not in 30 s. */
export async function acceptSpdyRemoteCommand(
  duplex: Duplex,
  options: RemoteCommandOptions,
  protocol: string,
  clock: Clock,
): Promise<RemoteCommandConnection> {
  const streams = new Map<string, SpdyStream>();
  const wanted = wantedTypes(options, protocol);
  let complete: () => void;
  const all = new Promise<void>((resolve) => (complete = resolve));
  const session = createSpdySession(duplex, {
    side: "server",
    onStream(stream) {
      const type = stream.headers["streamtype"] ?? "";
      if (!wanted.has(type) || streams.has(type)) return false;
      streams.set(type, stream);
      if (streams.size === wanted.size) complete();
      return true;
    },
  });
  const closed = session.closed.catch(() => undefined);
  let timedOut: () => void;
  const timer = clock.after(streamCreationTimeoutMs, () => timedOut());
  const ready = await Promise.race([
    all.then(() => true),
    closed.then(() => false),
    new Promise<boolean>((resolve) => (timedOut = () => resolve(false))),
  ]);
  timer.cancel();
  if (!ready) {
    session.destroy();
    throw new Error("timed out waiting for client to create streams");
  }

  const error = streams.get("error")!;
  const stdin = streams.get("stdin");
  const stdout = streams.get("stdout");
  const stderr = streams.get("stderr");
  const resize = streams.get("resize");
  // Data that the client has no reason to send is read and dropped, so that it can't hold up the rest.
  for (const stream of [error, stdout, stderr]) stream?.resume();
  return {
    ...(stdin === undefined ? {} : { stdin }),
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
    closed,
    onResize(listener) {
      if (resize !== undefined) readSizes(resize, listener);
    },
    async finish(status) {
      const bytes = encodeStatus(status, protocol.startsWith("v4."));
      await new Promise<void>((resolve) => error.end(bytes, resolve));
      // Go's client may drop what it has not handed on yet when the connection ends, so the client is let go first:
      // it has every stream's end, and closes when it is through.
      const linger = clock.after(lingerMs, () => {
        session.close();
        session.destroy();
      });
      await closed;
      linger.cancel();
    },
  };
}
