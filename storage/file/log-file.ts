// One append-only file: frames go to its end, each durable before append resolves. A frame that failed half-way is cut
// off again, so the end of the file always is the end of the last good frame.
// Appends go through a second descriptor opened with O_DSYNC: one call on the thread pool writes and syncs, which halves
// the way of a lonely write.
import { crashPoint } from "../../api/crash-point.ts";
import { StoreError } from "../store.ts";
import type { FileSystem, OpenFile } from "./file-system.ts";

export class LogFile {
  readonly #handle: OpenFile;
  /** The same file with O_DSYNC; opened for the first append. */
  #durable: OpenFile | undefined;
  #bytes: number;
  /** A failed append may have left bytes behind the end that could not be cut off yet. */
  #dirty = false;

  constructor(handle: OpenFile, bytes: number) {
    this.#handle = handle;
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** For reading. */
  get handle(): OpenFile {
    return this.#handle;
  }

  /** Resolves when durable. Rejects with a StoreError and leaves the file as it was. */
  async append(frame: Buffer): Promise<void> {
    try {
      if (this.#dirty) await this.cut();
      this.#durable ??= await this.#handle.durable();
      this.#dirty = true;
      crashPoint("store.append.begin");
      await writeAll(this.#durable, frame, this.#bytes);
      crashPoint("store.append.durable");
      this.#dirty = false;
      this.#bytes += frame.length;
    } catch (error) {
      await this.cut().catch(() => undefined);
      throw asStoreError(error, "can't write to the store");
    }
  }

  /** As append, but durable only after sync(). For files under construction. */
  async appendUnsynced(bytes: Buffer): Promise<void> {
    await writeAll(this.#handle, bytes, this.#bytes);
    this.#bytes += bytes.length;
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  /** Durably removes what lies behind the end. */
  async cut(): Promise<void> {
    await this.#handle.truncate(this.#bytes);
    await this.#handle.datasync();
    this.#dirty = false;
  }

  async close(): Promise<void> {
    try {
      await this.#durable?.close();
    } finally {
      await this.#handle.close();
    }
  }
}

async function writeAll(
  file: OpenFile,
  bytes: Buffer,
  position: number,
): Promise<void> {
  let done = await file.write(bytes, position);
  while (done < bytes.length)
    done += await file.write(bytes.subarray(done), position + done);
}

/** Makes a new, empty file (replacing one), readable by its owner only. */
export async function createLog(
  fileSystem: FileSystem,
  file: string,
): Promise<LogFile> {
  return new LogFile(await fileSystem.open(file, "create"), 0);
}

export function asStoreError(error: unknown, what: string): StoreError {
  if (error instanceof StoreError) return error;
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const full = ["ENOSPC", "EDQUOT", "EFBIG"].includes(code);
  const text = error instanceof Error ? error.message : String(error);
  return new StoreError(full ? "full" : "unavailable", `${what}: ${text}`, {
    cause: error,
  });
}
