// An attach of input and outputs. containerd stops reading the client's input as soon as one of the outputs has ended, and
// gives nothing more of the other output from then on: what a program writes as it ends is lost when its error output was
// seen to end first (seen with 1.6, mostly when containerd is held up just then). Not so where the container's input ends
// with its first client, nor with a terminal. So such an attach is two of the runtime's: one of the outputs, opened first,
// and one of the input. As in a single one, the end of the client's input ends it, and the container goes on.
import { PassThrough, type Readable } from "node:stream";
import type { StreamOptions, StreamSession } from "../../runtime.ts";

/** Opens one attach of the runtime's. */
type OpenAttach = (streams: StreamOptions) => Promise<StreamSession>;

export async function openAttach(
  open: OpenAttach,
  { stdinOnce, ...streams }: StreamOptions,
): Promise<StreamSession> {
  const { stdin, stdout, stderr, tty } = streams;
  if (!stdin || !stdout || !stderr || tty || stdinOnce)
    return await open(streams);
  const outputs = await open({ ...streams, stdin: false });
  outputs.exit.catch(() => undefined);
  try {
    const input = await open({ ...streams, stdout: false, stderr: false });
    return joined(input, outputs);
  } catch (error) {
    outputs.close();
    throw error;
  }
}

function joined(input: StreamSession, outputs: StreamSession): StreamSession {
  const stdout = detachable(outputs.stdout!);
  const stderr = detachable(outputs.stderr!);
  const stdin = input.stdin!;
  const endInput = (): void => input.close();
  outputs.exit.then(endInput, endInput);
  const detached = input.exit.then((code) => {
    // The program has ended, and its outputs may still be coming.
    if (!stdin.writableEnded) return outputs.exit;
    stdout.detach();
    stderr.detach();
    outputs.close();
    return code;
  });
  return {
    stdin,
    stdout: stdout.stream,
    stderr: stderr.stream,
    resize: () => undefined,
    exit: Promise.race([detached, outputs.exit]),
    close() {
      input.close();
      outputs.close();
    },
  };
}

/** Hands the source on until it ends, breaks or is let go of. */
function detachable(source: Readable): {
  stream: Readable;
  detach: () => void;
} {
  const stream = new PassThrough();
  source.once("error", (error) => stream.destroy(error));
  // One that breaks off without an error never says "end".
  source.once("close", () => stream.end());
  source.pipe(stream);
  return {
    stream,
    detach() {
      source.unpipe(stream);
      stream.end();
    },
  };
}
