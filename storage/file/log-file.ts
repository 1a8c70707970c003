// One append-only file: frames go to its end, each durable before append resolves. A frame that failed half-way is cut
// off again, so the end of the file always is the end of the last good frame.
// Appends go through a second descriptor opened with O_DSYNC: one call on the thread pool writes and syncs, which halves
// the way of a lonely write.
import { crashPoint } from "../../api/crash-point.ts";
import { StoreError } from "../store.ts";
import type { FileSystem, OpenFile } from "./file-system.ts";
import { FRAME_HEADER_BYTES, payloadAt } from "./frame.ts";

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

  /** Resolves when durable. Rejects with a StoreError and leaves the file as it was. */
  async append(frame: Buffer): Promise<void> {
    try {
      if (this.#dirty) await this.#cut();
      this.#durable ??= await this.#handle.durable();
      this.#dirty = true;
      crashPoint("store.append.begin");
      await writeAll(this.#durable, frame, this.#bytes);
      crashPoint("store.append.durable");
      this.#dirty = false;
      this.#bytes += frame.length;
    } catch (error) {
      await this.#cut().catch(() => undefined);
      throw asStoreError(error, "can't write to the store");
    }
  }

  /** As append, but durable only after sync(). For files under construction. */
  async appendUnsynced(frame: Buffer): Promise<void> {
    await writeAll(this.#handle, frame, this.#bytes);
    this.#bytes += frame.length;
  }

  sync(): Promise<void> {
    return this.#handle.datasync();
  }

  async close(): Promise<void> {
    await this.#durable?.close();
    await this.#handle.close();
  }

  async #cut(): Promise<void> {
    await this.#handle.truncate(this.#bytes);
    await this.#handle.datasync();
    this.#dirty = false;
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

/**
 * Reads a file's frames in order and opens it for appending. What a crash tore at the very end is cut off; damage
 * before sound frames fails with StoreError "corrupt", as acknowledged writes are behind it.
 */
export async function openLog(
  fileSystem: FileSystem,
  file: string,
  onPayload: (payload: Buffer) => void,
): Promise<LogFile> {
  const handle = await fileSystem.open(file, "update");
  try {
    const content = await readWhole(handle);
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
    return new LogFile(handle, end);
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

async function readWhole(file: OpenFile): Promise<Buffer> {
  const content = Buffer.allocUnsafe(await file.size());
  let done = 0;
  while (done < content.length) {
    const bytes = await file.read(content.subarray(done), done);
    if (bytes === 0) break;
    done += bytes;
  }
  return content.subarray(0, done);
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
