// Calls of Docker's API on its socket, through dockerode, which is loaded on open(). One connection a call: nothing is
// kept that a restart of the daemon could break. Every failure leaves here as a RuntimeError; a call that takes longer than
// its deadline is given up with "timeout", and while the daemon is away calls fail at once with "unavailable".
import type Docker from "dockerode";
import { socketPath } from "../endpoint.ts";
import { RuntimeError, type RuntimeErrorCode } from "../runtime.ts";

export interface DockerConnection {
  open(): Promise<void>;
  close(): void;
  /** `name` is the call's, for error texts. timeoutMs 0: no deadline. */
  call<T>(
    name: string,
    work: (docker: Docker, signal: AbortSignal) => Promise<T>,
    timeoutMs?: number,
  ): Promise<T>;
  /** Aborts when the connection is closed. */
  readonly closed: AbortSignal;
}

/** What the HTTP codes of the daemon mean to callers of the runtime. */
const codes: Readonly<Record<number, RuntimeErrorCode>> = {
  400: "invalid",
  404: "not-found",
  501: "unsupported",
  503: "unavailable",
};

const unreachable = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ENOENT",
  "EPIPE",
  "EACCES",
  "ENOTSOCK",
]);

interface DaemonError extends Error {
  statusCode?: number;
  code?: string;
  json?: unknown;
}

/** The daemon's own text, without the HTTP code that the library puts before it. */
function textOf(error: DaemonError): string {
  const { json } = error;
  if (typeof json === "object" && json !== null && "message" in json)
    return String(json.message);
  return error.message.replace(/^\(HTTP code \d+\) [^-]*- /, "").trim();
}

export function toRuntimeError(error: unknown, call: string): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const failure = error as DaemonError;
  const text = textOf(failure);
  const code =
    failure.statusCode !== undefined
      ? (codes[failure.statusCode] ?? "unknown")
      : unreachable.has(failure.code ?? "") || /socket hang up/.test(text)
        ? "unavailable"
        : "unknown";
  return new RuntimeError(code, `${call}: ${text}`, {
    cause: error,
    detail: text,
  });
}

/** The HTTP code behind a RuntimeError of this connection, if one. */
export function statusCodeOf(error: unknown): number | undefined {
  const cause = error instanceof RuntimeError ? error.cause : error;
  return (cause as DaemonError | undefined)?.statusCode;
}

export async function ignoreNotFound(action: Promise<unknown>): Promise<void> {
  try {
    await action;
  } catch (error) {
    if (!(error instanceof RuntimeError) || error.code !== "not-found")
      throw error;
  }
}

export function createDockerConnection(options: {
  /** `unix:///var/run/docker.sock`, or a bare path. */
  endpoint: string;
  requestTimeoutMs: number;
}): DockerConnection {
  const path = socketPath(options.endpoint);
  let docker: Docker | undefined;
  const closing = new AbortController();

  async function call<T>(
    name: string,
    work: (docker: Docker, signal: AbortSignal) => Promise<T>,
    timeoutMs = options.requestTimeoutMs,
  ): Promise<T> {
    if (docker === undefined || closing.signal.aborted)
      throw new RuntimeError(
        "unavailable",
        "the connection to the container runtime is closed",
      );
    const giveUp = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    try {
      return await Promise.race([
        work(docker, giveUp.signal),
        new Promise<never>((_resolve, reject) => {
          if (timeoutMs === 0) return;
          timer = setTimeout(() => {
            reject(
              new RuntimeError(
                "timeout",
                `${name}: the container runtime did not answer in ${timeoutMs / 1000} s`,
              ),
            );
            giveUp.abort();
          }, timeoutMs);
          timer.unref();
        }),
      ]);
    } catch (error) {
      throw toRuntimeError(error, name);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async open() {
      if (docker !== undefined) return;
      const { default: Library } = await import("dockerode");
      // `host` given, so that DOCKER_HOST of the environment has no effect.
      docker = new Library({
        socketPath: path,
        host: undefined,
        protocol: "http",
      });
    },
    close() {
      closing.abort();
    },
    call,
    closed: closing.signal,
  };
}
