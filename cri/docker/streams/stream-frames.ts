// The daemon's multiplexed stream: a head of 8 bytes (which stream, 0, 0, 0, length) before each piece of output. Pieces go
// on as they come, and when a reader is slow the connection waits for it.
import type { Readable } from "node:stream";
import { RuntimeError } from "../../runtime.ts";

const headBytes = 8;

interface Sink {
  write(chunk: Buffer): boolean;
  once(event: "drain" | "close", listener: () => void): unknown;
}

interface FrameSinks {
  stdout: Sink | undefined;
  stderr: Sink | undefined;
}

/** Reads until the source ends; rejects when it breaks or is not such a stream. */
export async function readFrames(
  source: Readable,
  { stdout, stderr }: FrameSinks,
): Promise<void> {
  const head = Buffer.alloc(headBytes);
  let headFilled = 0;
  let left = 0;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    let rest = chunk;
    while (rest.length > 0) {
      if (left === 0) {
        const taken = rest.copy(head, headFilled, 0, headBytes - headFilled);
        headFilled += taken;
        rest = rest.subarray(taken);
        if (headFilled < headBytes) break;
        headFilled = 0;
        if (head[0]! > 2 || head[1] !== 0 || head[2] !== 0 || head[3] !== 0)
          throw new RuntimeError(
            "unknown",
            "the container runtime's stream is not in frames",
          );
        left = head.readUInt32BE(4);
        continue;
      }
      const piece = rest.subarray(0, left);
      rest = rest.subarray(piece.length);
      left -= piece.length;
      const sink = head[0] === 2 ? stderr : stdout;
      if (sink && !sink.write(piece)) await drained(sink);
    }
  }
}

/** A terminal has one stream, without frames. */
export async function readRaw(
  source: Readable,
  stdout: Sink | undefined,
): Promise<void> {
  for await (const chunk of source as AsyncIterable<Buffer>)
    if (stdout && !stdout.write(chunk)) await drained(stdout);
}

/** A reader that went away takes all. */
function drained(sink: Sink): Promise<void> {
  return new Promise((resolve) => {
    sink.once("drain", resolve);
    sink.once("close", resolve);
  });
}
