// The docker configuration files of the node: what `docker login` of root writes, and a file of the agent's own in its root
// directory. They are read again when five minutes have passed, as at the reference.
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import {
  parseDockerConfig,
  type RegistryCredentials,
} from "./docker-config.ts";
import type { NodeCredentials } from "./image-credentials.ts";

const lifetimeMs = 300_000;

interface DockerConfigFilesOptions {
  /** The agent's root directory; its file comes first. */
  readonly rootDirectory: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The first file that is there and readable counts. */
export class DockerConfigFiles implements NodeCredentials {
  #kept: { atMs: number; found: Promise<RegistryCredentials[]> } | undefined;

  constructor(private readonly options: DockerConfigFilesOptions) {}

  find(): Promise<readonly RegistryCredentials[]> {
    const nowMs = this.options.clock.monotonic();
    if (!this.#kept || nowMs - this.#kept.atMs >= lifetimeMs)
      this.#kept = { atMs: nowMs, found: this.#read() };
    return this.#kept.found;
  }

  async #read(): Promise<RegistryCredentials[]> {
    const directories = [
      this.options.rootDirectory,
      path.join(homedir(), ".docker"),
      "/.docker",
    ];
    for (const [file, form] of [
      ...directories.map(
        (directory) =>
          [path.join(directory, "config.json"), "config.json"] as const,
      ),
      ...[this.options.rootDirectory, homedir(), "/"].map(
        (directory) =>
          [path.join(directory, ".dockercfg"), ".dockercfg"] as const,
      ),
    ]) {
      try {
        return parseDockerConfig(await readFile(file, "utf8"), form);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT")
          this.options.logger.warn(
            { file, problem: (error as Error).message },
            "credentials of registries can't be read",
          );
      }
    }
    return [];
  }
}
