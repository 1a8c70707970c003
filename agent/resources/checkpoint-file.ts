// The state files of the resource managers, in the reference's form: JSON with a checksum, so that a node can change
// between it and this agent. The checksum is FNV-1a of 32 bits over the values in a notation of their own
// (`(*state.Checkpoint){Name:(type)value …}`), which each manager writes itself.
// Invariants: the file is replaced whole; a save resolves when its state, or a later one, is on disk.
import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { makeDirectory } from "../../cri/directories.ts";
import { StartRefusal } from "../config/start-refusal.ts";

export function fnv1a32(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (const byte of Buffer.from(text))
    hash = Math.imul(hash ^ byte, 0x01_00_01_93) >>> 0;
  return hash;
}

/** Rising by code units of UTF-8, as maps are written for the checksum. */
export function sortedEntries<T>(
  map: Readonly<Record<string, T>>,
): [string, T][] {
  return Object.entries(map).sort(([a], [b]) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
}

/** Running containers may hold what the file says: an agent refuses to start rather than guess. The message says what to do. */
export class StateFileError extends StartRefusal {
  override readonly name = "StateFileError";

  /** @param manager "CPU" */
  constructor(problem: string, manager: string, path: string, cause?: unknown) {
    super(
      `${problem}, please drain this node and delete the ${manager} manager checkpoint file ${JSON.stringify(path)} before restarting the agent`,
      { cause },
    );
  }
}

export class CheckpointFile {
  readonly path: string;
  /** Of the newest state; undefined: it is on disk. */
  #wanted: (() => object) | undefined;
  #writing: Promise<void> | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** undefined: there is none. @throws Error when it can't be read or is no JSON object */
  async read(): Promise<Record<string, unknown> | undefined> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw new Error("it is no object");
    return value as Record<string, unknown>;
  }

  /** `state` is asked for when the write begins, so that saves that wait for a write become one. */
  save(state: () => object): Promise<void> {
    this.#wanted = state;
    this.#writing ??= this.#writeAll().finally(
      () => (this.#writing = undefined),
    );
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#wanted) {
      const content = JSON.stringify(this.#wanted());
      this.#wanted = undefined;
      await makeDirectory(dirname(this.path));
      const temporary = `${this.path}.tmp`;
      const file = await open(temporary, "w", 0o600);
      try {
        await file.writeFile(content);
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(temporary, this.path);
    }
  }
}
