// Which directories of the built-in class were made without an API server, and for which pod those of generic ephemeral volumes
// are: a file each, `ROOT/local-path-owners/NAME`, that holds the pod's uid or nothing. By it an ephemeral volume is found
// whose pod went while no agent ran, and an API server that does not know a volume says nothing about it.
// Invariant: the file is there before the directory, and goes after it.
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ensurePrivateDirectory } from "../files/private-directories.ts";

export class VolumeOwners {
  readonly #directory: string;

  /** @param root where the volumes' directories are */
  constructor(root: string) {
    this.#directory = `${root}-owners`;
  }

  /** @param podUid of an ephemeral volume's pod */
  async add(name: string, podUid = ""): Promise<void> {
    await ensurePrivateDirectory(this.#directory);
    await writeFile(join(this.#directory, name), podUid);
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.#directory, name), { force: true });
  }

  async names(): Promise<ReadonlySet<string>> {
    return new Set(await readdir(this.#directory).catch(noneIfAbsent));
  }

  /** Names of ephemeral volumes with their pods' uids. */
  async ephemeral(): Promise<readonly (readonly [string, string])[]> {
    const all = await Promise.all(
      [...(await this.names())].map(
        async (name) =>
          [name, await readFile(join(this.#directory, name), "utf8")] as const,
      ),
    );
    return all.filter(([, podUid]) => podUid !== "");
  }
}

function noneIfAbsent(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT") return [];
  throw error;
}
