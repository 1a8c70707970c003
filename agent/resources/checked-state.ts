// A state that must survive the agent, of this program's own form, with a checksum. A file that is damaged is set aside
// under another name and reported: the agent starts without it, as the reference does for devices and claims.
import { createHash } from "node:crypto";
import { rename } from "node:fs/promises";
import type { Logger } from "pino";
import { CheckpointFile } from "./checkpoint-file.ts";

const checksum = (data: unknown): string =>
  createHash("sha256").update(JSON.stringify(data)).digest("hex");

export class CheckedState<T> {
  readonly #file: CheckpointFile;
  readonly #logger: Logger;

  constructor(path: string, logger: Logger) {
    this.#file = new CheckpointFile(path);
    this.#logger = logger;
  }

  /** Undefined: there is none, or it is damaged. */
  async read(): Promise<T | undefined> {
    const { path } = this.#file;
    try {
      const found = await this.#file.read();
      if (found && checksum(found["data"]) !== found["checksum"])
        throw new Error("checkpoint is corrupted");
      return found?.["data"] as T | undefined;
    } catch (error) {
      const aside = `${path}.damaged`;
      this.#logger.error(
        { err: error, path, aside },
        "a checkpoint can't be read: what running pods hold is not known",
      );
      await rename(path, aside);
      return undefined;
    }
  }

  /** Resolves when this state, or a later one, is on the disk; it is read when the write begins. */
  save(state: () => T): Promise<void> {
    return this.#file.save(() => {
      const data = state();
      return { data, checksum: checksum(data) };
    });
  }
}
