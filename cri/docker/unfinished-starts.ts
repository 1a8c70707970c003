// Containers whose start began and whose values the agent writes itself (cgroup-values.ts) are not known to be written: a file
// each, so that the next agent holds those to them that run. Values of others stay as they are: they may have been changed since.
// Invariant: the file is there before the daemon starts the container, and goes when its values are written.
import { readdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { makeDirectory } from "../directories.ts";

export class UnfinishedStarts {
  constructor(private readonly directory: string) {}

  async begin(id: string): Promise<void> {
    await makeDirectory(this.directory, 0o700);
    await writeFile(this.#file(id), "");
  }

  async end(id: string): Promise<void> {
    await rm(this.#file(id), { force: true });
  }

  ids(): Promise<string[]> {
    return readdir(this.directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw error;
    });
  }

  #file(id: string): string {
    return join(this.directory, basename(id));
  }
}
