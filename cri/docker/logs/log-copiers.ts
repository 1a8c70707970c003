// The logs of this agent's containers in the daemon: a copier for each that runs. What other agents and other programs run
// in the same daemon is left alone: only containers started here, and those of `isOwn`, are copied.
import type { Readable } from "node:stream";
import * as fs from "node:fs/promises";
import type { Logger } from "pino";
import type { Clock } from "../../../api/clock.ts";
import { within } from "../../deadline.ts";
import type { ContainerLogs } from "../../logs/container-logs.ts";
import { createLogFiles } from "../../logs/log-files.ts";
import { LogCopier } from "./log-copier.ts";
import { positionFile } from "./log-position.ts";

/** How long a reader waits for the copy of a log that may grow as fast as it is copied. */
const readPatienceMs = 1_000;

interface LogCopiersOptions {
  clock: Clock;
  logger: Logger;
}

export class LogCopiers {
  readonly #options: LogCopiersOptions;
  readonly #copiers = new Map<string, Promise<LogCopier | undefined>>();
  /** Where the log of a container lies, for its position to be removed. */
  readonly #paths = new Map<string, string>();
  readonly logs: ContainerLogs;

  constructor(options: LogCopiersOptions) {
    this.#options = options;
    this.logs = this.#containerLogs();
  }

  /** Copies from now on. Idempotent. Never rejects: a container without its log is better than none. */
  async begin(
    id: string,
    logPath: string,
    rootDirectory: string,
  ): Promise<void> {
    if (logPath === "" || this.#copiers.has(id)) return;
    const { clock, logger } = this.#options;
    const opening = (async () => {
      const source = `${rootDirectory}/containers/${id}/${id}-json.log`;
      const copier = new LogCopier({ source, logPath, clock, logger });
      try {
        if (!(await copier.open())) return undefined;
        copier.follow();
        return copier;
      } catch (error) {
        logger.warn(
          { err: error, file: logPath },
          "a container's log can't be copied",
        );
        return undefined;
      }
    })();
    this.#copiers.set(id, opening);
    this.#paths.set(id, logPath);
    await opening;
  }

  copies(id: string): boolean {
    return this.#copiers.has(id);
  }

  /** The container has ended: resolves when all of its log is copied. Never rejects. */
  async finish(id: string): Promise<void> {
    const opening = this.#copiers.get(id);
    if (!opening) return;
    await (
      await opening
    )
      ?.finish()
      .catch((error: unknown) =>
        this.#options.logger.warn(
          { err: error },
          "the end of a log is not copied",
        ),
      );
    this.#copiers.delete(id);
  }

  /** The container is removed. */
  async forget(id: string): Promise<void> {
    await this.finish(id);
    const path = this.#paths.get(id);
    if (path !== undefined)
      await fs.rm(positionFile(path), { force: true }).catch(() => undefined);
    this.#paths.delete(id);
  }

  async close(): Promise<void> {
    await Promise.all(
      [...this.#copiers.values()].map(async (opening) =>
        (await opening)?.close().catch(() => undefined),
      ),
    );
    this.#copiers.clear();
  }

  async #drain(id: string): Promise<void> {
    await (await this.#copiers.get(id))?.drain().catch(() => undefined);
  }

  #containerLogs(): ContainerLogs {
    const { clock, logger } = this.#options;
    const files = createLogFiles({
      reopen: async (id) => {
        await (await this.#copiers.get(id))?.reopen();
      },
      // An exit may be seen before the end of the log is copied.
      complete: (id, mayWrite) =>
        mayWrite
          ? within(clock, readPatienceMs, this.#drain(id)).catch(
              () => undefined,
            )
          : this.#drain(id),
      clock,
      logger,
    });
    return {
      open: (container, options): Readable =>
        files.open(container, {
          ...options,
          // A reader that follows waits for the copier too.
          isRunning: () => options.isRunning() || this.copies(container.id),
        }),
      tail: (container, maxLines, maxCharacters) =>
        files.tail(container, maxLines, maxCharacters),
      sizeBytes: (container) => files.sizeBytes(container),
      renew: async (container) => {
        const copier = await this.#copiers.get(container.id);
        await copier?.rotate(() => files.renew(container));
      },
      rotate: async (container, maxFiles) => {
        const copier = await this.#copiers.get(container.id);
        const rotate = (): Promise<void> => files.rotate(container, maxFiles);
        await (copier ? copier.rotate(rotate) : rotate());
      },
    };
  }
}
