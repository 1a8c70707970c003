// The client's half of exec and attach over a SPDY session whose server agreed on v4.channel.k8s.io: opens the error,
// stdin, stdout, stderr and resize streams and turns them into an ExecSession.
import type { Readable } from "node:stream";
import type { ExecSession } from "../contracts.ts";
import { formatTerminalSize } from "./channel-protocol.ts";
import { decodeStatus } from "./exit-status.ts";
import type { SpdySession } from "./spdy-session.ts";
import type { SpdyStream } from "./spdy-stream.ts";

interface RemoteCommandStreams {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** A Status or error text longer than this is cut. */
const maxErrorBytes = 1024 * 1024;

/** All of a stream's bytes up to a limit. Ends with the stream, however it ends; a duplex can still be written to. */
export async function collect(
  stream: Readable,
  limitBytes: number,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of stream.iterator({
      destroyOnReturn: false,
    }) as AsyncIterable<Buffer>) {
      if (size < limitBytes) parts.push(part.subarray(0, limitBytes - size));
      size += part.length;
    }
  } catch {
    // what came before the break is the answer
  }
  return Buffer.concat(parts);
}

export function openRemoteCommand(
  session: SpdySession,
  options: RemoteCommandStreams,
): ExecSession {
  const open = (streamtype: string): SpdyStream =>
    session.openStream({ streamtype });
  const error = open("error");
  error.end();
  const stdin = options.stdin ? open("stdin") : undefined;
  const stdout = options.stdout ? open("stdout") : undefined;
  const stderr = options.stderr && !options.tty ? open("stderr") : undefined;
  const resize = options.tty ? open("resize") : undefined;
  // Never written to by us.
  stdout?.end();
  stderr?.end();
  // The server says nothing on these, but their end has to be read for them to close.
  stdin?.resume();
  resize?.resume();

  const exit = (async () => {
    const bytes = await collect(error, maxErrorBytes);
    return decodeStatus(bytes, true);
  })();
  // Servers may wait for the client to close first.
  const ends = [stdout, stderr].map((stream) =>
    stream === undefined
      ? undefined
      : new Promise((resolve) => stream.once("close", resolve)),
  );
  void Promise.allSettled([exit, ...ends]).then(() => session.close());
  return {
    ...(stdin === undefined ? {} : { stdin }),
    ...(stdout === undefined ? {} : { stdout }),
    ...(stderr === undefined ? {} : { stderr }),
    resize(size) {
      // A slow server needs only the newest size, but sizes are rare and small.
      if (resize !== undefined && resize.writableLength < 64 * 1024)
        resize.write(formatTerminalSize(size));
    },
    exit,
    close: () => session.destroy(),
  };
}
