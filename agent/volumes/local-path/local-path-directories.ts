// The directory below which this node keeps volumes of the built-in class (api/objects/volumes/local-path.ts): the Node names it,
// the first mount makes a volume's own directory, and one whose PersistentVolume is gone is removed. Only root can pass the
// directory, so no other user of the host reads what pods write.
// A directory is removed only when the API server says that the volume does not exist: an error of any kind keeps it, and one
// that was made without an API server stays.
// Without an API server it is removed when the volume went while this agent ran, by its reclaim policy, and did not come
// back for a minute: a manifest is soon moved, and a directory of manifests that is not there at a start says nothing. That of
// a generic ephemeral volume goes with its pod, also when that went while no agent ran.
import { mkdir, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Logger } from "pino";
import type { Clock, Timer } from "../../../api/clock.ts";
import { isNotFound } from "../../../api/errors.ts";
import type { Client } from "../../../client/client.ts";
import { persistentVolumes } from "../../../client/resources.ts";
import { mountsBelow } from "../files/mounts.ts";
import { ensurePrivateDirectory } from "../files/private-directories.ts";
import { removeTree } from "../files/remove-tree.ts";
import { ensureVolumeDirectory } from "../files/volume-directory.ts";
import { VolumeOwners } from "./volume-owners.ts";

interface LocalPathOptions {
  readonly directory: string;
  readonly client: Client | undefined;
  /** Where volumes come and go without an API server. */
  readonly local?: Client | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A pod of this node has it mounted. */
  readonly inUse: (path: string) => boolean;
}

const sweepEveryMs = 10_000;
/** How long a volume of the manifests directory is gone before its directory goes. */
const keptMs = 60_000;
/** As the controllers name volumes; nothing else in the directory is touched. */
const volumeName = /^pvc-[0-9a-f-]{1,64}$/;

export class LocalPathDirectories {
  readonly #options: LocalPathOptions;
  readonly #owners: VolumeOwners;
  #timer: Timer | undefined;
  #sweeping: Promise<void> | undefined;
  #stopped = false;
  /** Names of local volumes that went, with the monotonic time when. */
  readonly #gone = new Map<string, number>();
  #unfollow: () => void = () => undefined;

  constructor(options: LocalPathOptions) {
    this.#options = options;
    this.#owners = new VolumeOwners(options.directory);
  }

  start(): void {
    const { client, local } = this.#options;
    if (client) this.#sweepLater();
    else if (local) this.#unfollow = this.#follow(local);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unfollow();
    this.#timer?.cancel();
    await this.#sweeping;
  }

  #sweepLater(): void {
    if (this.#stopped) return;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(sweepEveryMs, () => {
      void this.sweep().finally(() => {
        if (this.#options.client || this.#gone.size > 0) this.#sweepLater();
      });
    });
  }

  #follow(local: Client): () => void {
    return local.informer(persistentVolumes).addHandler({
      onAdd: ({ metadata }) => void this.#gone.delete(metadata.name),
      onDelete: ({ metadata, spec }) => {
        if (spec?.persistentVolumeReclaimPolicy !== "Delete") return;
        if (this.owns(spec.local?.path ?? "")) this.#went(metadata.name);
      },
    });
  }

  #went(name: string): void {
    const isFirst = this.#gone.size === 0;
    this.#gone.set(name, this.#options.clock.monotonic());
    if (isFirst) this.#sweepLater();
  }

  /** Ephemeral volumes of pods that went while no agent ran go like those whose pod went while one did. */
  async releaseOthers(isKnown: (podUid: string) => boolean): Promise<void> {
    if (this.#options.client) return;
    for (const [name, podUid] of await this.#owners.ephemeral())
      if (!isKnown(podUid) && !this.#gone.has(name)) this.#went(name);
  }

  /** Is it the path of a volume of the built-in class? */
  owns(path: string): boolean {
    return (
      dirname(path) === this.#options.directory &&
      volumeName.test(basename(path))
    );
  }

  /**
   * Every user of the pod may write to a new volume; one that is there keeps its rights.
   * @param podUid of the pod with which the volume goes
   */
  async make(path: string, podUid?: string): Promise<void> {
    await ensurePrivateDirectory(this.#options.directory);
    if (!this.#options.client) await this.#owners.add(basename(path), podUid);
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
    const withoutApi = client ? await this.#owners.names() : new Set<string>();
    for (const name of names) {
      const path = join(directory, name);
      if (this.#stopped) return;
      if (!this.owns(path) || inUse(path) || withoutApi.has(name)) continue;
      if (!(client ? await isGone(client, name) : this.#isGone(name))) continue;
      // What an administrator mounted there is not the volume's.
      if ((await mountsBelow(path)).length > 0) continue;
      // It may have come back meanwhile.
      if (!client && !this.#isGone(name)) continue;
      await removeTree(path);
      await this.#owners.remove(name);
      logger.info({ volume: name }, "removed the directory of a volume");
    }
    for (const name of this.#gone.keys())
      if (this.#isGone(name) && !names.includes(name)) {
        await this.#owners.remove(name);
        this.#gone.delete(name);
      }
  }

  #isGone(name: string): boolean {
    const atMs = this.#gone.get(name);
    const { clock } = this.#options;
    return atMs !== undefined && clock.monotonic() - atMs >= keptMs;
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
