// Persistent volumes that one pod of the node has at a time (ReadWriteOncePod). The scheduler sees to it as well, but not for
// pods that name their node, nor for one that was deleted by force and whose containers still run here. A pod holds such a
// volume from before it is mounted until everything of the pod is unmounted, over restarts of the agent: its mark is an
// empty directory in the pod's own.
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { PersistentVolume } from "../../api/types/core-v1.ts";
import { makeDirectory } from "../../cri/directories.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { isThere } from "./files/is-there.ts";
import { KeyedTurns } from "./keyed-turns.ts";
import { heldVolumesDirectory, podsDirectory } from "./volume-paths.ts";

type Directories = Pick<AgentConfig, "rootDirectory" | "memoryDirectory">;

export class ExclusiveVolumes {
  readonly #config: Directories;
  readonly #turns = new KeyedTurns();

  constructor(config: Directories) {
    this.#config = config;
  }

  /** Idempotent. Rejects, with the reference's text, while another pod has the volume, or may have it. */
  async hold(uid: string, { metadata, spec }: PersistentVolume): Promise<void> {
    const modes = spec?.accessModes ?? [];
    // Of several the one that the pod means is not known.
    if (modes.length !== 1 || modes[0] !== "ReadWriteOncePod") return;
    await this.#turns.run(metadata.name, async () => {
      for (const other of await readdir(podsDirectory(this.#config)))
        if (other !== uid && (await isThere(this.#mark(other, metadata.name))))
          throw new Error(
            "volume uses the ReadWriteOncePod access mode and is already in use by another pod",
          );
      await makeDirectory(this.#mark(uid, metadata.name), 0o750);
    });
  }

  /** Nothing of the pod is mounted any more. Idempotent. */
  async release(uid: string): Promise<void> {
    const directory = heldVolumesDirectory(this.#config, uid);
    await rm(directory, { recursive: true, force: true });
  }

  #mark(uid: string, volume: string): string {
    return join(heldVolumesDirectory(this.#config, uid), volume);
  }
}
