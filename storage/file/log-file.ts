// One append-only file: frames go to its end, each durable before append resolves. A frame that failed half-way is cut
// off again, so the end of the file always is the end of the last good frame.
// Appends go through a second descriptor opened with O_DSYNC: one call on the thread pool writes and syncs, which halves
// the way of a lonely write.
import * as fs from "node:fs";
import * as path from "node:path";
import type { FileHandle } from "node:fs/promises";
import { StoreError } from "../store.ts";
import { FRAME_HEADER_BYTES, payloadAt } from "./frame.ts";

export class LogFile {
  readonly #file: string;
  readonly #handle: FileHandle;
  /** The same file with O_DSYNC; opened for the first append. */
  #durable: FileHandle | undefined;
  #bytes: number;
  /** A failed append may have left bytes behind the end that could not be cut off yet. */
  #dirty = false;

  constructor(file: string, handle: FileHandle, bytes: number) {
    this.#file = file;
    this.#handle = handle;
    this.#bytes = bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Resolves when durable. Rejects with a StoreError and leaves the file as it was. */
  async append(frame: Buffer): Promise<void> {
    try {
      if (this.#dirty) await this.#cut();
      const { fd } = (this.#durable ??= await this.#openDurable());
      this.#dirty = true;
      await writeAll(fd, frame, this.#bytes);
      this.#dirty = false;
      this.#bytes += frame.length;
    } catch (error) {
      await this.#cut().catch(() => undefined);
      throw asStoreError(error, "can't write to the store");
    }
  }

  /** As append, but durable only after sync(). For files under construction. */
  async appendUnsynced(frame: Buffer): Promise<void> {
    await writeAll(this.#handle.fd, frame, this.#bytes);
    this.#bytes += frame.length;
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  async close(): Promise<void> {
    await this.#durable?.close();
    await this.#handle.close();
  }

  /** By descriptor: the name may have been given to a newer file meanwhile, or not yet to this one. */
  #openDurable(): Promise<FileHandle> {
    const { O_WRONLY, O_DSYNC } = fs.constants;
    return fs.promises.open(
      process.platform === "linux"
        ? `/proc/self/fd/${this.#handle.fd}`
        : this.#file,
      O_WRONLY | O_DSYNC,
    );
  }

  async #cut(): Promise<void> {
    await this.#handle.truncate(this.#bytes);
    await this.#handle.datasync();
    this.#dirty = false;
  }
}

/** With the callback form: a file handle's promises cost several times more. */
function writeAll(fd: number, bytes: Buffer, position: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const from = (done: number): void =>
      fs.write(
        fd,
        bytes,
        done,
        bytes.length - done,
        position + done,
        (error, written) => {
          if (error) reject(error);
          else if (done + written < bytes.length) from(done + written);
          else resolve();
        },
      );
    from(0);
  });
}

/** Makes a new, empty file (replacing one), readable by its owner only. */
export async function createLog(file: string): Promise<LogFile> {
  return new LogFile(file, await fs.promises.open(file, "w", 0o600), 0);
}

/**
 * Reads a file's frames in order and opens it for appending. What a crash tore at the very end is cut off; damage
 * before sound frames fails with StoreError "corrupt", as acknowledged writes are behind it.
 */
export async function openLog(
  file: string,
  onPayload: (payload: Buffer) => void,
): Promise<LogFile> {
  const handle = await fs.promises.open(file, "r+");
  try {
    const content = await handle.readFile();
    let end = 0;
    for (
      let payload = payloadAt(content, end);
      payload;
      payload = payloadAt(content, end)
    ) {
      onPayload(payload);
      end += FRAME_HEADER_BYTES + payload.length;
    }
    if (end < content.length) {
      refuseDamage(file, content, end);
      await handle.truncate(end);
      await handle.datasync();
    }
    return new LogFile(file, handle, end);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Only one commit is ever in flight, so a torn frame is the last one: a sound frame behind it means damage. */
function refuseDamage(file: string, content: Buffer, badAt: number): void {
  if (badAt + FRAME_HEADER_BYTES > content.length) return;
  const next = badAt + FRAME_HEADER_BYTES + content.readUInt32BE(badAt);
  if (
    next > badAt + FRAME_HEADER_BYTES &&
    next < content.length &&
    payloadAt(content, next)
  ) {
    throw new StoreError(
      "corrupt",
      `${file} is damaged at byte ${badAt}: restore a snapshot`,
    );
  }
}

/** Makes creations, renames and removals in a directory durable. */
export async function syncDirectory(file: string): Promise<void> {
  const handle = await fs.promises.open(path.dirname(file), "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
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
