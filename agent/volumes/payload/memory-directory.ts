// The directory on a tmpfs for what must never be written to a disk: payloads of secrets, tokens and what the pod's object
// says. It is mounted with the first payload and goes when the agent stops and nothing is left in it.
import { readdir, rmdir } from "node:fs/promises";
import { directTurn } from "../files/file-calls.ts";
import { removalCalls, removeSmallTree } from "../files/remove-small-tree.ts";
import { removeTree } from "../files/remove-tree.ts";
import { join } from "node:path";
import { isMountPoint, unmount } from "../files/mounts.ts";
import {
  ensureMemoryDirectory,
  ensurePrivateDirectory,
} from "../files/private-directories.ts";

export class MemoryDirectory {
  readonly #path: string;
  #mounted: Promise<void> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async start(): Promise<void> {
    await ensurePrivateDirectory(this.#path);
  }

  /** Nothing in memory any more: the mount goes, so that the root directory can be removed. */
  async stop(): Promise<void> {
    if ((await this.uids()).length > 0) return;
    if (await isMountPoint(this.#path)) await unmount(this.#path);
    await rmdir(this.#path).catch(() => undefined);
  }

  /** Resolves to the volume's directory, which need not be there yet, when it would lie in memory. */
  async volumePath(uid: string, type: string, name: string): Promise<string> {
    this.#mounted ??= ensureMemoryDirectory(this.#path).catch(
      (error: unknown) => {
        this.#mounted = undefined;
        throw error;
      },
    );
    await this.#mounted;
    return join(this.podDirectory(uid), `kubernetes.io~${type}`, name);
  }

  /** Uids that have something in memory. */
  async uids(): Promise<string[]> {
    return await readdir(this.#path).catch(() => []);
  }

  /** Of a pod, whether or not it has anything in memory. */
  podDirectory(uid: string): string {
    return join(this.#path, uid);
  }

  async remove(uid: string): Promise<void> {
    const directory = this.podDirectory(uid);
    await directTurn(removalCalls);
    if (!removeSmallTree(directory)) await removeTree(directory);
  }
}
