// The server's half of exec and attach: joins a client's streams, whatever carries them (SPDY streams or WebSocket
// channels), with a running ExecSession. Order at the end: all output, then the exit status, then the connection closes.
// A client that goes away closes the session; a client that half-closes stdin half-closes the process's stdin.
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Clock, Timer } from "../clock.ts";
import type { ExecSession, TerminalDimensions } from "../contracts.ts";
import type { Status } from "../types/meta-v1.ts";
import { exitStatus, failureStatus } from "./exit-status.ts";

/** A command whose outputs have ended may leave its input unread for this long before it is given up. */
const stuckInputMs = 10_000;

export interface RemoteCommandOptions {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** A client's side of one exec or attach. */
export interface RemoteCommandConnection {
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  readonly stderr?: Writable;
  onResize(listener: (size: TerminalDimensions) => void): void;
  /** Sends the status and closes. */
  finish(status: Status): Promise<void>;
  /** Settles when the client is gone, before or after finish. */
  readonly closed: Promise<void>;
}

/**
 * Runs until the session ended or the client left. `what` is for error texts: "executing command in container",
 * "attaching to container". Never rejects.
 */
export async function serveRemoteCommand(
  connection: RemoteCommandConnection,
  session: ExecSession,
  what: string,
  clock: Clock,
): Promise<void> {
  let gone = false;
  void connection.closed.then(() => {
    gone = true;
    session.close();
  });
  connection.onResize((size) => session.resize(size));

  const outputs: Promise<void>[] = [];
  const output = (
    from: Readable | undefined,
    to: Writable | undefined,
  ): void => {
    if (from === undefined) return;
    if (to === undefined) from.resume();
    // A broken client is seen by `closed`, a broken session by its exit.
    else outputs.push(pipeline(from, to).catch(() => undefined));
  };
  output(session.stdout, connection.stdout);
  output(session.stderr, connection.stderr);
  const dropInput = passInput(connection.stdin, session.stdin);
  const stuck = watchInput(session.stdin, outputs, clock);

  const status = await Promise.race([session.exit, stuck.failed]).then(
    exitStatus,
    (error: unknown) => failureStatus(error, what),
  );
  stuck.cancel();
  dropInput();
  if (!gone) await Promise.race([Promise.all(outputs), connection.closed]);
  if (!gone) await connection.finish(status).catch(() => undefined);
  session.close();
}

/**
 * Passes the client's input on while the process takes it. The process may close its stdin or end first (`head -c 10`);
 * from then on, or from when the function given back is called, input is read and dropped: a client that is stuck in
 * writing could neither take its status nor close.
 */
function passInput(
  from: Readable | undefined,
  to: Writable | undefined,
): () => void {
  if (from === undefined) return () => undefined;
  if (to === undefined) {
    from.resume();
    return () => undefined;
  }
  const drop = (): void => {
    from.unpipe(to);
    from.resume();
  };
  to.on("error", drop);
  to.once("close", drop);
  from.pipe(to);
  return drop;
}

/**
 * `failed` rejects when the command's outputs have ended but its exit does not come and its input is not read: containerd
 * never reports the exit of a command that ended with much of its input unread, as it waits for the input to be written.
 * Without this the client would wait for ever, and what it sent be kept. A command that reads on is left alone.
 */
function watchInput(
  input: Writable | undefined,
  outputs: readonly Promise<void>[],
  clock: Clock,
): { failed: Promise<never>; cancel: () => void } {
  let timer: Timer | undefined;
  let over = input === undefined || outputs.length === 0;
  let fail!: (error: Error) => void;
  const failed = new Promise<never>((_resolve, reject) => (fail = reject));
  failed.catch(() => undefined);
  const watch = (): void => {
    timer?.cancel();
    if (over) return;
    timer = clock.after(stuckInputMs, () => {
      if (!input?.writableNeedDrain) watch();
      else
        fail(
          new Error(
            "the command's output ended, and its input is not read: the runtime does not report its exit code",
          ),
        );
    });
  };
  input?.on("drain", () => {
    if (timer !== undefined) watch();
  });
  void Promise.all(outputs).then(watch);
  return {
    failed,
    cancel: () => {
      over = true;
      timer?.cancel();
    },
  };
}
