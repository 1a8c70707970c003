// How much containers have written into their own layers. The daemon walks the layers to answer, so it is asked seldom, in
// the background, and never longer than a small share of the time.
import type { FilesystemUsage } from "../usage.ts";
import type { CallContext } from "./call-context.ts";
import { labelFilter } from "./records.ts";

const everyMs = 15_000;
/** After a walk that took long the next one waits so many times as long. */
const restFactor = 20;

export class WritableLayers {
  readonly #context: CallContext;
  #usage = new Map<string, FilesystemUsage>();
  #nextAtMs = -Infinity;
  #walking = false;

  constructor(context: CallContext) {
    this.#context = context;
  }

  /** As of the last walk. */
  of(containerId: string): FilesystemUsage | undefined {
    return this.#usage.get(containerId);
  }

  refresh(): void {
    const { clock, logger } = this.#context;
    if (this.#walking || clock.monotonic() < this.#nextAtMs) return;
    this.#walking = true;
    const beganMs = clock.monotonic();
    this.#walk()
      .catch((error: unknown) =>
        logger.debug({ err: error }, "the writable layers can't be measured"),
      )
      .finally(() => {
        const tookMs = clock.monotonic() - beganMs;
        this.#nextAtMs =
          clock.monotonic() + Math.max(everyMs, restFactor * tookMs);
        this.#walking = false;
      });
  }

  async #walk(): Promise<void> {
    const { connection, facts } = this.#context;
    const { rootDirectory } = await facts();
    const found = await connection.call("ListContainers", (docker, signal) =>
      docker.listContainers({
        size: true,
        filters: labelFilter("container"),
        abortSignal: signal,
      }),
    );
    this.#usage = new Map(
      found.map((info) => [
        info.Id,
        {
          mountpoint: rootDirectory,
          usedBytes: (info as { SizeRw?: number }).SizeRw ?? 0,
          inodesUsed: 0,
        },
      ]),
    );
  }
}
