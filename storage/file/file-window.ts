// Reads a large file through a window of one chunk, so that no more of it than a chunk (or the largest piece asked for) is
// in memory. Positions may go back, at the cost of reading again.
import type { OpenFile } from "./file-system.ts";

export const WINDOW_BYTES = 1024 * 1024;

export class FileWindow {
  readonly #file: OpenFile;
  readonly #end: number;
  readonly #chunkBytes: number;
  #chunk: Buffer | undefined;
  #view: Buffer = Buffer.alloc(0);
  #viewAt = 0;

  /** @param end nothing at or behind this position is read */
  constructor(file: OpenFile, end: number, chunkBytes = WINDOW_BYTES) {
    this.#file = file;
    this.#end = end;
    this.#chunkBytes = chunkBytes;
  }

  /** The bytes from a position on, if the window holds all of them already. Valid until the next `read`. */
  held(position: number, bytes: number): Buffer | undefined {
    const from = position - this.#viewAt;
    const to = from + bytes;
    return from >= 0 && to <= this.#view.length
      ? this.#view.subarray(from, to)
      : undefined;
  }

  /** The same, read when needed; fewer bytes only at the end. Valid until the next call. */
  async read(position: number, bytes: number): Promise<Buffer> {
    const wanted = Math.max(0, Math.min(bytes, this.#end - position));
    const held = this.held(position, wanted);
    if (held) return held;
    const into =
      wanted > this.#chunkBytes
        ? Buffer.allocUnsafeSlow(wanted)
        : (this.#chunk ??= Buffer.allocUnsafeSlow(this.#chunkBytes));
    const size = Math.min(into.length, this.#end - position);
    this.#view = Buffer.alloc(0);
    let done = 0;
    while (done < size) {
      const read = await this.#file.read(
        into.subarray(done, size),
        position + done,
      );
      if (read === 0) break;
      done += read;
    }
    this.#view = into.subarray(0, done);
    this.#viewAt = position;
    return this.#view.subarray(0, wanted);
  }
}
