// The server's half of exec and attach: joins a client's streams, whatever carries them (SPDY streams or WebSocket
// channels), with a running ExecSession. Order at the end: all output, then the exit status, then the connection closes.
// A client that goes away closes the session; a client that half-closes stdin half-closes the process's stdin.
import type { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ExecSession, TerminalDimensions } from "../contracts.ts";
import type { Status } from "../types/meta-v1.ts";
import { exitStatus, failureStatus } from "./exit-status.ts";

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
  if (session.stdin !== undefined && connection.stdin !== undefined)
    // The process may end or close its stdin first.
    pipeline(connection.stdin, session.stdin).catch(() =>
      connection.stdin?.resume(),
    );

  const status = await session.exit.then(exitStatus, (error: unknown) =>
    failureStatus(error, what),
  );
  if (!gone) await Promise.race([Promise.all(outputs), connection.closed]);
  if (!gone) await connection.finish(status).catch(() => undefined);
  session.close();
}
