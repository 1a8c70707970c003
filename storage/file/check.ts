// Reads a file store's log from beginning to end, with or without a server that has it open, and says what is sound.
import * as path from "node:path";
import { nodeFileSystem, type FileSystem } from "./file-system.ts";
import { inDanger, scanLog } from "./log-reader.ts";

interface DamageReport {
  readonly fromByte: number;
  readonly toByte: number;
  /** Which acknowledged writes may be in it, in words. */
  readonly inDanger: string;
}

interface LogReport {
  readonly file: string;
  /** The format's version. */
  readonly format: number;
  readonly bytes: number;
  readonly frames: number;
  /** The newest in any sound frame. */
  readonly revision: number;
  /** Live by the sound frames. */
  readonly keys: number;
  /** Behind the last sound frame: a write under way, or one that a crash tore; a start cuts it off. */
  readonly tornBytes: number;
  /** Each of them makes a start fail. */
  readonly damages: readonly DamageReport[];
}

export async function checkStoreDirectory(
  directory: string,
  fileSystem: FileSystem = nodeFileSystem,
): Promise<LogReport> {
  const file = path.join(directory, "log");
  const handle = await fileSystem.open(file, "read");
  try {
    const keys = new Set<string>();
    const { format, bytes, frames, revision, soundBytes, damages } =
      await scanLog(handle, ({ key, valueAt }) => {
        if (valueAt === undefined) keys.delete(key);
        else keys.add(key);
      });
    const lastBad = damages.at(-1)?.toByte ?? 0;
    return {
      file,
      format: format.version,
      bytes,
      frames,
      revision,
      keys: keys.size,
      tornBytes: lastBad === bytes ? 0 : bytes - soundBytes,
      damages: damages.map((damage) => ({
        fromByte: damage.fromByte,
        toByte: damage.toByte,
        inDanger: inDanger(damage),
      })),
    };
  } finally {
    await handle.close();
  }
}
