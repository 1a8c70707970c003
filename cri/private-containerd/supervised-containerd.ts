// Keeps a private containerd running: looks once a second whether its process lives (one small read) and starts it again,
// with back-off, when it does not. Its pods live through that; the endpoint stays the same, so a Runtime on it reconnects.
import { backoffMs } from "../../api/queueing/backoff.ts";
import type { Logger } from "pino";
import { systemClock, type Clock, type Timer } from "../../api/clock.ts";
import {
  startPrivateContainerd,
  type PrivateContainerd,
  type PrivateContainerdOptions,
} from "./private-containerd.ts";

export interface SupervisedContainerd {
  readonly endpoint: string;
  readonly adopted: boolean;
  readonly cniConfigurationDirectory: string;
  /** The one of the moment. */
  readonly current: PrivateContainerd;
  /** Calls the listener whenever it was started again. */
  onRestart(listener: () => void): void;
  /** Stops looking after it; it goes on, to be adopted at the next start. */
  release(): Promise<void>;
  /** Stops looking after it and ends it; its pods go on. */
  stop(): Promise<void>;
}

/** How often to look; longer after each restart in a row. */
const looks = { baseMs: 1_000, maxMs: 30_000 };
/** One that lived this long ended by accident, not because it can't run. */
const settledMs = 60_000;

export async function superviseContainerd(
  options: PrivateContainerdOptions & { clock?: Clock; logger: Logger },
): Promise<SupervisedContainerd> {
  const { clock = systemClock, logger } = options;
  let current = await startPrivateContainerd(options);
  const { adopted } = current;
  let startedAtMs = clock.monotonic();
  let restarts = 0;
  let released = false;
  const listeners: (() => void)[] = [];
  let timer: Timer | undefined;
  let looking: Promise<void> = Promise.resolve();

  async function look(): Promise<void> {
    if (await current.alive()) {
      if (clock.monotonic() - startedAtMs > settledMs) restarts = 0;
      return;
    }
    if (released) return;
    logger.warn(
      { containerdPid: current.pid },
      "the private containerd is gone: starting it again",
    );
    try {
      current = await startPrivateContainerd(options);
      for (const listener of listeners) listener();
    } catch (error) {
      logger.error({ err: error }, "the private containerd can't be started");
    }
    startedAtMs = clock.monotonic();
    restarts++;
  }

  function schedule(): void {
    if (released) return;
    timer = clock.after(backoffMs(looks, restarts), () => {
      looking = look().catch((error: unknown) =>
        logger.error({ err: error }, "looking after containerd failed"),
      );
      void looking.then(schedule);
    });
  }
  schedule();

  async function release(): Promise<void> {
    released = true;
    timer?.cancel();
    await looking;
  }

  return {
    endpoint: current.endpoint,
    adopted,
    cniConfigurationDirectory: current.cniConfigurationDirectory,
    get current() {
      return current;
    },
    onRestart: (listener) => void listeners.push(listener),
    release,
    async stop() {
      await release();
      await current.stop();
    },
  };
}
