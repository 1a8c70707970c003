// systemd's logind as the source of shutdowns, through systemd's own programs: systemd-inhibit holds the lock (Node can't
// take the descriptor that logind hands out), busctl hears PrepareForShutdown. Both end with this process.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { makeDirectory } from "../../cri/directories.ts";
import type {
  ShutdownLock,
  ShutdownSource,
  ShutdownWatch,
} from "./shutdown-source.ts";

const service = "org.freedesktop.login1";
const object = "/org/freedesktop/login1";
const manager = "org.freedesktop.login1.Manager";
const callTimeoutMs = 10_000;

interface LogindOptions {
  /** Drop-ins of logind.conf: /etc/systemd/logind.conf.d */
  readonly configurationDirectory: string;
  /** Called before a file is made outside of the agent's directories. */
  readonly onMachineFile: (file: string) => Promise<void>;
}

export function logind(options: LogindOptions): ShutdownSource {
  return {
    async maximumDelayMs() {
      const text = await call("busctl", [
        "get-property",
        "--json=short",
        service,
        object,
        manager,
        "InhibitDelayMaxUSec",
      ]);
      return Number((JSON.parse(text) as { data: unknown }).data) / 1000;
    },

    async raiseMaximumDelay(delayMs) {
      const directory = options.configurationDirectory;
      const file = path.join(directory, "99-orbit.conf");
      await options.onMachineFile(file);
      await makeDirectory(directory);
      await fs.writeFile(
        file,
        `[Login]\nInhibitDelayMaxSec=${Math.ceil(delayMs / 1000)}\n`,
      );
      await call("systemctl", [
        "kill",
        "--signal=HUP",
        "systemd-logind.service",
      ]);
    },

    lock: takeLock,
    watch,
  };
}

async function takeLock(): Promise<ShutdownLock> {
  // It is released when cat's input ends: by release(), or because this process is gone.
  const child = spawn(
    "systemd-inhibit",
    [
      "--what=shutdown",
      "--mode=delay",
      "--who=orbit",
      "--why=Pods are ended within their grace",
      ...["sh", "-c", "echo held; exec cat"],
    ],
    { stdio: ["pipe", "pipe", "pipe"] },
  );
  child.stdin.on("error", () => undefined);
  await firstLine(child, child.stdout, "systemd-inhibit");
  return { release: () => void child.stdin.end() };
}

async function watch(
  onChange: (active: boolean) => void,
  onEnd: () => void,
): Promise<ShutdownWatch> {
  const child = spawn(
    "setpriv",
    [
      ...["--pdeathsig", "TERM", "busctl", "monitor", "--json=short"],
      `--match=type='signal',interface='${manager}',member='PrepareForShutdown'`,
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  let stopped = false;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const active = shutdownOf(line);
    if (active !== undefined && !stopped) onChange(active);
  });
  // It says that it listens on standard error.
  await firstLine(child, child.stderr, "busctl monitor");
  child.once("exit", () => {
    if (!stopped) onEnd();
  });
  return {
    stop() {
      stopped = true;
      child.kill();
    },
  };
}

/** Of a message that busctl saw; undefined: another one, such as the answers to its own calls. */
export function shutdownOf(line: string): boolean | undefined {
  try {
    const { member, payload } = JSON.parse(line) as {
      member?: unknown;
      payload?: { data?: unknown };
    };
    const [active] = (payload?.data ?? []) as unknown[];
    return member === "PrepareForShutdown" && typeof active === "boolean"
      ? active
      : undefined;
  } catch {
    return undefined;
  }
}

function firstLine(
  child: ChildProcess,
  stream: NodeJS.ReadableStream,
  name: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let complaint = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      if (complaint.length < 4096) complaint += chunk.toString("utf8");
    });
    const timer = setTimeout(() => {
      child.kill();
      reject(new Error(`${name}: no answer in ${callTimeoutMs / 1000} s`));
    }, callTimeoutMs);
    const done = (): void => clearTimeout(timer);
    stream.once("data", () => {
      done();
      resolve();
    });
    child.once("error", (error) => {
      done();
      reject(error);
    });
    child.once("exit", (code) => {
      done();
      reject(new Error(`${name}: exit ${code}: ${complaint.trim()}`));
    });
  });
}

function call(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) =>
    execFile(program, args, { timeout: callTimeoutMs }, (error, text, why) =>
      error
        ? reject(
            new Error(`${program}: ${why.trim() || error.message}`, {
              cause: error,
            }),
          )
        : resolve(text),
    ),
  );
}
