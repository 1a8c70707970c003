// The life of a long-running orbit process: signals, failures nobody caught, readiness to systemd, exit codes.
// First SIGTERM or SIGINT: stop cleanly and exit 0. A second one: exit at once with 130 (143 for SIGTERM). An error that
// nobody caught is logged with its stack and counted; the process goes on, as it ends only by intent.
import { spawn } from "node:child_process";
import type { Logger } from "pino";
import { systemClock, type Clock, type Timer } from "../api/clock.ts";

/** Something composed that can be ended. */
export interface Stoppable {
  stop(): Promise<void>;
}

/** Errors that reached the top of the process since it started; shown in /metrics. */
export interface FailureCount {
  uncaught: number;
}

/**
 * Tells systemd (sd_notify). Node has no datagram unix sockets, so systemd's own small tool carries the message; it
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

/** Keeps systemd's watchdog quiet at half its period while the event loop turns. Returns the way to end it. */
export function startWatchdog(
  logger: Logger,
  clock: Clock = systemClock,
): () => void {
  const periodMs = Number(process.env.WATCHDOG_USEC ?? 0) / 1000 / 2;
  if (!(periodMs > 0)) return () => undefined;
  let timer: Timer | undefined;
  const beat = (): void => {
    notifySystemd("WATCHDOG=1", logger);
    timer = clock.after(periodMs, beat);
  };
  beat();
  return () => timer?.cancel();
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
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}
