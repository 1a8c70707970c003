// The directory below which this node keeps volumes of the built-in class (api/objects/volumes/local-path.ts): the Node names it,
// the first mount makes a volume's own directory, and one whose PersistentVolume is gone is removed. Only root can pass the
// directory, so no other user of the host reads what pods write.
// A directory is removed only when the API server says that the volume does not exist: an error of any kind keeps it.
import { mkdir, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";
import { isNotFound } from "../../../api/errors.ts";
import type { Client } from "../../../client/client.ts";
import { persistentVolumes } from "../../../client/resources.ts";
import { mountsBelow } from "../files/mounts.ts";
import { ensurePrivateDirectory } from "../files/private-directories.ts";
import { ensureVolumeDirectory } from "../files/volume-directory.ts";

interface LocalPathOptions {
  readonly directory: string;
  readonly client: Client | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A pod of this node has it mounted. */
  readonly inUse: (path: string) => boolean;
}

const sweepEveryMs = 10_000;
/** As the controllers name volumes; nothing else in the directory is touched. */
const volumeName = /^pvc-[0-9a-f-]{1,64}$/;

export class LocalPathDirectories {
  readonly #options: LocalPathOptions;
  #timer: Timer | undefined;
  #sweeping: Promise<void> | undefined;
  #stopped = false;

  constructor(options: LocalPathOptions) {
    this.#options = options;
  }

  start(): void {
    if (!this.#options.client || this.#stopped) return;
    this.#timer = this.#options.clock.after(sweepEveryMs, () => {
      void this.sweep().finally(() => this.start());
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#sweeping;
  }

  /** Is it the path of a volume of the built-in class? */
  owns(path: string): boolean {
    return (
      dirname(path) === this.#options.directory &&
      volumeName.test(basename(path))
    );
  }

  /** Every user of the pod may write to a new volume; one that is there keeps its rights. */
  async make(path: string): Promise<void> {
    await ensurePrivateDirectory(this.#options.directory);
    const made = await mkdir(path).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
        return false;
      },
    );
    if (made) await ensureVolumeDirectory(path, 0o777);
  }

  /** Removes directories of volumes that are gone. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((error: unknown) =>
        this.#options.logger.warn(
          { err: error },
          "can't remove directories of volumes that are gone",
        ),
      )
      .finally(() => (this.#sweeping = undefined));
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    const { directory, client, logger, inUse } = this.#options;
    const names = await readdir(directory).catch((): string[] => []);
    for (const name of names) {
      const path = join(directory, name);
      if (this.#stopped || !client) return;
      if (!this.owns(path) || inUse(path)) continue;
      if (!(await isGone(client, name))) continue;
      // What an administrator mounted there is not the volume's.
      if ((await mountsBelow(path)).length > 0) continue;
      await rm(path, { recursive: true, force: true });
      logger.info({ volume: name }, "removed the directory of a volume");
    }
  }
}

async function isGone(client: Client, name: string): Promise<boolean> {
  try {
    await client.resource(persistentVolumes).get(name);
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}
