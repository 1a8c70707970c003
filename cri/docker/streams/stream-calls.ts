// What runs in a container or connects to a sandbox: exec, attach, port-forward. A connection to the daemon becomes a plain
// byte stream in both directions; ending its writing side is the end of stdin.
import type { Exec } from "dockerode";
import type { Socket } from "node:net";
import { PassThrough, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import {
  RuntimeError,
  type Runtime,
  type StreamOptions,
  type StreamSession,
} from "../../runtime.ts";
import {
  inspectContainer,
  inspectSandbox,
  type CallContext,
} from "../call-context.ts";
import { toRuntimeError, type DockerConnection } from "../connection.ts";
import { connectInNamespace } from "./port-forward.ts";
import { readFrames, readRaw } from "./stream-frames.ts";

type StreamCalls = Pick<
  Runtime,
  "execSync" | "exec" | "attach" | "portForward"
>;

const maxOutputBytes = 16 * 1024 * 1024;
/** The daemon would take Ctrl-P Ctrl-Q out of the input for a wish to detach: a sequence that is hardly ever typed. */
const detachKeys = "ctrl-^,ctrl-@,ctrl-^,ctrl-@,ctrl-_";
/** The output ends a moment before the daemon knows the exit code. */
const exitDelaysMs = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** What the daemon writes to stdout in place of the output of a command that it can't start. */
const notStarted = "OCI runtime exec failed: ";
const notStartedCodes = [126, 127];

interface StartedExec {
  exec: Exec;
  socket: Socket;
}

export function streamCalls(context: CallContext): StreamCalls {
  const { connection } = context;
  return {
    async execSync(containerId, command, timeoutMs) {
      const { exec, socket } = await startExec(
        connection,
        containerId,
        command,
        {
          stdin: false,
          stdout: true,
          stderr: true,
          tty: false,
        },
      );
      const stdout = new LimitedOutput();
      const stderr = new LimitedOutput();
      const done = readFrames(socket, { stdout, stderr }).then(() =>
        exitCodeOf(connection, exec),
      );
      try {
        const exitCode = await inTime(done, timeoutMs, command);
        const result = {
          stdout: stdout.bytes(),
          stderr: stderr.bytes(),
          exitCode,
        };
        const failure = startFailure(result.stdout.toString(), exitCode);
        if (failure) throw failure;
        return result;
      } catch (error) {
        if (error instanceof RuntimeError && error.code === "timeout")
          await killExec(connection, exec);
        throw toRuntimeError(error, "ExecSync");
      } finally {
        socket.destroy();
      }
    },

    async exec(containerId, command, options) {
      const { exec, socket } = await startExec(
        connection,
        containerId,
        command,
        options,
      );
      return openSession(socket, options, {
        // A command that ends at once has no terminal by then.
        resize: (size) => exec.resize({ h: size.height, w: size.width }),
        exitCode: () => exitCodeOf(connection, exec),
        mayFailToStart: true,
      });
    },

    async attach(containerId, options) {
      await inspectContainer(connection, containerId);
      const { container, socket } = await connection.call(
        "Attach",
        async (docker) => {
          const found = docker.getContainer(containerId);
          const stream = await found.attach({
            stream: true,
            hijack: true,
            stdin: options.stdin,
            stdout: options.stdout,
            stderr: options.stderr && !options.tty,
            detachKeys,
          });
          return { container: found, socket: stream as unknown as Socket };
        },
      );
      return openSession(socket, options, {
        resize: (size) => container.resize({ h: size.height, w: size.width }),
        exitCode: () => Promise.resolve(0),
        mayFailToStart: false,
      });
    },

    async portForward(sandboxId, port) {
      const { info, record } = await inspectSandbox(connection, sandboxId);
      if (!info.State.Running)
        throw new RuntimeError(
          "unknown",
          `sandbox container ${JSON.stringify(sandboxId)} is not running`,
        );
      return connectInNamespace(
        record.network === "node" ? undefined : info.State.Pid,
        port,
      );
    },
  };
}

async function startExec(
  connection: DockerConnection,
  containerId: string,
  command: string[],
  options: StreamOptions,
): Promise<StartedExec> {
  await inspectContainer(connection, containerId);
  const exec = await connection.call("Exec", (docker, signal) =>
    docker.getContainer(containerId).exec({
      Cmd: command,
      AttachStdin: options.stdin,
      AttachStdout: options.stdout,
      AttachStderr: options.stderr && !options.tty,
      Tty: options.tty,
      DetachKeys: detachKeys,
      abortSignal: signal,
    }),
  );
  const stream = await connection.call("Exec", () =>
    exec.start({ hijack: true, stdin: options.stdin, Tty: options.tty }),
  );
  return { exec, socket: stream as unknown as Socket };
}

async function exitCodeOf(
  connection: DockerConnection,
  exec: Exec,
): Promise<number> {
  for (const delayMs of exitDelaysMs) {
    if (delayMs > 0) await sleep(delayMs);
    const { Running, ExitCode } = await connection.call(
      "InspectExec",
      (_docker, signal) => exec.inspect({ abortSignal: signal }),
    );
    if (!Running && ExitCode !== null) return ExitCode;
  }
  throw new RuntimeError(
    "unknown",
    "the exit code of the command is not known",
  );
}

/** The daemon has no call to end a command; its process is one of this machine. */
async function killExec(
  connection: DockerConnection,
  exec: Exec,
): Promise<void> {
  try {
    const { Running, Pid } = await connection.call(
      "InspectExec",
      (_docker, signal) => exec.inspect({ abortSignal: signal }),
    );
    if (Running && Pid > 1) process.kill(Pid, "SIGKILL");
  } catch {
    // It ended, or the daemon did.
  }
}

function startFailure(
  stdout: string,
  exitCode: number,
): RuntimeError | undefined {
  if (!notStartedCodes.includes(exitCode) || !stdout.startsWith(notStarted))
    return undefined;
  const text = stdout.trim();
  return new RuntimeError("unknown", `Exec: ${text}`, { detail: text });
}

function inTime<T>(
  work: Promise<T>,
  timeoutMs: number,
  command: readonly string[],
): Promise<T> {
  if (timeoutMs <= 0) return work;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () =>
        reject(
          new RuntimeError(
            "timeout",
            `command ${JSON.stringify(command.join(" "))} timed out`,
          ),
        ),
      timeoutMs,
    );
    timer.unref();
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The beginning of an output; what is beyond the limit is dropped. */
class LimitedOutput extends Writable {
  readonly #parts: Buffer[] = [];
  #size = 0;

  override _write(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: () => void,
  ): void {
    const room = maxOutputBytes - this.#size;
    if (room > 0) this.#parts.push(chunk.subarray(0, room));
    this.#size += Math.min(room, chunk.length);
    done();
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

interface SessionPlan {
  resize: (size: { width: number; height: number }) => Promise<unknown>;
  exitCode: () => Promise<number>;
  /** The first text on stdout may be why there is no output. */
  mayFailToStart: boolean;
}

function openSession(
  socket: Socket,
  options: StreamOptions,
  plan: SessionPlan,
): StreamSession {
  const stdout = options.stdout ? new PassThrough() : undefined;
  const stderr = options.stderr && !options.tty ? new PassThrough() : undefined;
  const outputs = [stdout, stderr].filter((stream) => stream !== undefined);
  const held = plan.mayFailToStart ? new HeldStart(stdout) : undefined;
  const sinks = { stdout: held ?? stdout, stderr };
  let closed = false;
  const exit = (async () => {
    try {
      if (options.tty) await readRaw(socket, sinks.stdout);
      else await readFrames(socket, sinks);
      if (closed) throw new RuntimeError("unknown", "the session was closed");
      const code = await plan.exitCode();
      const failure = startFailure(held?.text() ?? "", code);
      if (failure) throw failure;
      held?.release();
      return code;
    } catch (error) {
      // The client's, who knows what it has called.
      const { code, detail } = toRuntimeError(error, "Exec");
      throw new RuntimeError(code, detail, { cause: error });
    } finally {
      for (const output of outputs) output.end();
      socket.destroy();
    }
  })();
  // A caller that does not wait for the exit must not bring the process down.
  exit.catch(() => undefined);
  // It breaks with the reading side.
  socket.on("error", () => undefined);
  return {
    ...(options.stdin ? { stdin: stdinOf(socket) } : {}),
    ...(stdout ? { stdout } : {}),
    ...(stderr ? { stderr } : {}),
    resize(size) {
      void plan.resize(size).catch(() => undefined);
    },
    exit,
    close() {
      closed = true;
      socket.destroy();
    },
  };
}

/** Its end half-closes the connection, whose reading side goes on. */
function stdinOf(socket: Socket): Writable {
  const stdin = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (socket.destroyed) done();
      else socket.write(chunk, () => done());
    },
    final(done) {
      if (socket.destroyed) done();
      else socket.end(() => done());
    },
    // A stdin that breaks ends what reads it too.
    destroy(error, done) {
      if (!socket.destroyed && !socket.writableEnded) socket.end();
      done(error);
    },
  });
  socket.once("close", () => stdin.destroy());
  stdin.on("error", () => undefined);
  return stdin;
}

/** Keeps an output back as long as it may be the daemon's text about a command that it could not start. */
class HeldStart {
  readonly #target: PassThrough | undefined;
  #held: Buffer[] | undefined = [];

  constructor(target: PassThrough | undefined) {
    this.#target = target;
  }

  text(): string {
    return Buffer.concat(this.#held ?? []).toString();
  }

  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const part of held ?? []) this.#target?.write(part);
  }

  write(chunk: Buffer): boolean {
    if (!this.#held) return this.#target?.write(chunk) ?? true;
    this.#held.push(Buffer.from(chunk));
    const text = this.text();
    const length = Math.min(text.length, notStarted.length);
    if (
      text.slice(0, length) !== notStarted.slice(0, length) ||
      text.length > maxHeldBytes
    )
      this.release();
    return true;
  }

  once(event: "drain" | "close", listener: () => void): void {
    this.#target?.once(event, listener);
  }
}

const maxHeldBytes = 64 * 1024;
