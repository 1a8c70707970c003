// ROOT/device-plugins/kubelet_internal_checkpoint: which containers hold which devices, and which resources are known.
// Written whole beside the old one and renamed, with a checksum. A checkpoint that is damaged is set aside under another
// name and reported: the agent starts without it, as the reference does.
import { createHash } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Holding } from "./device-holdings.ts";

interface CheckpointData {
  readonly holdings: readonly Holding[];
  readonly resources: readonly string[];
}

export const checkpointName = "kubelet_internal_checkpoint";

const checksum = (data: CheckpointData): string =>
  createHash("sha256").update(JSON.stringify(data)).digest("hex");

export class DeviceCheckpoint {
  readonly #path: string;
  readonly #logger: Logger;
  #written = "";
  #writing: Promise<void> = Promise.resolve();

  constructor(directory: string, logger: Logger) {
    this.#path = join(directory, checkpointName);
    this.#logger = logger;
  }

  async read(): Promise<CheckpointData> {
    const nothing: CheckpointData = { holdings: [], resources: [] };
    let text: string;
    try {
      text = await readFile(this.#path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return nothing;
      throw error;
    }
    try {
      const { data, checksum: written } = JSON.parse(text) as {
        data: CheckpointData;
        checksum: string;
      };
      if (checksum(data) !== written)
        throw new Error("checkpoint is corrupted");
      return data;
    } catch (error) {
      const aside = `${this.#path}.damaged`;
      this.#logger.error(
        { err: error, path: this.#path, aside },
        "the checkpoint of devices can't be read: devices of running pods are not known",
      );
      await rename(this.#path, aside);
      return nothing;
    }
  }

  /** Writes come one after another; resolves when this state, or a later one, is on the disk. */
  write(data: CheckpointData): Promise<void> {
    const text = JSON.stringify({ data, checksum: checksum(data) });
    this.#writing = this.#writing
      .catch(() => undefined)
      .then(async () => {
        if (text === this.#written) return;
        const temporary = `${this.#path}.new`;
        const file = await open(temporary, "w", 0o600);
        try {
          await file.writeFile(text);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(temporary, this.#path);
        this.#written = text;
      });
    return this.#writing;
  }
}
