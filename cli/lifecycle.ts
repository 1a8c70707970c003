// The life of a long-running orbit process: signals, uncaught failures, readiness to systemd, exit codes.
// First SIGTERM or SIGINT: stop cleanly and exit 0. A second one: exit at once with 130 (143 for SIGTERM). An uncaught
// error is logged with its stack and counted; the process goes on, as it ends only by intent.
import { execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Logger } from "pino";
import { systemClock, type Clock, type Timer } from "../api/clock.ts";
import { Family } from "../api/metrics/family.ts";

/** Something composed that can be ended. */
export interface Stoppable {
  stop(): Promise<void>;
}

/**
 * Exit code of a failure that is neither the user's (1) nor a dependency's (2), as sysexits(3) numbers it: systemd
 * starts the service again after it, as after 2, but not after 1.
 */
export const unexpectedFailure = 70;

/** Errors that reached the top of the process since it started; shown in /metrics. */
export interface FailureCount {
  uncaught: number;
}

/**
 * Notifies systemd (sd_notify). Node has no datagram unix sockets, so systemd's own small tool carries the message; it
 * speaks in the name of its parent, so that NotifyAccess=main holds. Without systemd this does nothing.
 */
export function notifySystemd(message: string, logger: Logger): void {
  if (!process.env.NOTIFY_SOCKET) return;
  const child = spawn("systemd-notify", message.split("\n"), {
    stdio: "ignore",
  });
  child.once("error", (error) =>
    logger.warn({ err: error }, "systemd could not be notified"),
  );
}

interface WatchdogOptions {
  readonly clock?: Clock;
  /** For `systemctl status`. */
  readonly status?: () => string;
  /** Why only a new start can help: as long as there is a reason, systemd's watchdog is not kept quiet. */
  readonly fatal?: () => Error | undefined;
  readonly notify?: (message: string, logger: Logger) => void;
}

/**
 * Keeps systemd's watchdog quiet at half its period while the event loop turns and nothing fatal happened, and
 * `systemctl status` up to date. Returns a disposer.
 */
export function startWatchdog(
  logger: Logger,
  {
    clock = systemClock,
    status,
    fatal,
    notify = notifySystemd,
  }: WatchdogOptions = {},
): () => void {
  const periodMs = Number(process.env.WATCHDOG_USEC ?? 0) / 1000 / 2;
  if (!(periodMs > 0)) return () => undefined;
  let timer: Timer | undefined;
  const beat = (): void => {
    const err = fatal?.();
    if (err)
      logger.error({ err }, "only a new start can help: leaving it to systemd");
    const lines = [
      ...(err ? [] : ["WATCHDOG=1"]),
      ...(status ? [`STATUS=${err?.message ?? status()}`] : []),
    ];
    if (lines.length > 0) notify(lines.join("\n"), logger);
    timer = clock.after(periodMs, beat);
  };
  beat();
  return () => timer?.cancel();
}

export function failureMetrics({ uncaught }: FailureCount): Family {
  return new Family(
    "orbit_uncaught_errors_total",
    "counter",
    "Errors that nobody caught since the start.",
  ).add({}, uncaught);
}

export function guardProcess(logger: Logger): FailureCount {
  const count: FailureCount = { uncaught: 0 };
  const caught = (err: unknown): void => {
    count.uncaught++;
    logger.error(
      { err, uncaughtErrors: count.uncaught },
      "an error nobody caught",
    );
  };
  process.on("uncaughtException", caught);
  process.on("unhandledRejection", caught);
  // Writing to a closed pipe (a log reader that went away) must not end the server.
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
  return count;
}

/** Stops `running` at the first signal and ends the process. */
export function stopOnSignals(running: Stoppable, logger: Logger): void {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) {
      logger.warn(`${signal} again: exiting at once`);
      process.exit(signal === "SIGINT" ? 130 : 143);
    }
    stopping = true;
    logger.info(`${signal}: stopping; pods keep running`);
    notifySystemd("STOPPING=1", logger);
    running.stop().then(
      () => {
        logger.info("stopped");
        process.exit(0);
      },
      (err: unknown) => {
        logger.error({ err }, "did not stop cleanly");
        process.exit(unexpectedFailure);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

const longestRetryMs = 60_000;

/** How much longer than the unit's own pause to wait before the next start, after so many that failed in a row. */
export function retryDelayMs(restarts: number): number {
  return Math.min(longestRetryMs, 1000 * (2 ** Math.min(restarts, 10) - 1));
}

/**
 * Under systemd a start that failed for want of a dependency is tried again for ever: waits longer each time, as older
 * versions of systemd can't do it themselves. Says in the unit's status what is missing.
 */
export async function waitBeforeRestart(reason: string): Promise<void> {
  if (!process.env.NOTIFY_SOCKET) return;
  const execute = promisify(execFile);
  try {
    const cgroups = await readFile("/proc/self/cgroup", "utf8");
    const unit = /\/([^/\n]+\.service)$/m.exec(cgroups)?.[1];
    if (unit === undefined) return;
    const { stdout } = await execute("systemctl", [
      ...["show", "--property=NRestarts", "--value", unit],
    ]);
    const delayMs = retryDelayMs(Number(stdout) || 0);
    if (delayMs === 0) return;
    await execute("systemd-notify", [
      `--status=trying again in ${Math.round(delayMs / 1000)} s: ${reason}`,
    ]);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  } catch {
    // No systemctl here: the unit's own pause has to do.
  }
}
