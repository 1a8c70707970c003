// The body of a client's request on its way to a backend. It is read as fast as the backend takes it, ends with an error
// when it is larger than allowed, silent for too long, or cut off, and leaves the client's connection open when the
// backend wants no more of it: the client still gets its answer.
import { PassThrough, Readable } from "node:stream";

/** Bytes that wait for the reader of a copy, at most. */
const maxCopyBytes = 256 * 1024;

export class BodyTooLargeError extends Error {}
export class SlowBodyError extends Error {}

export class ClientBody extends Readable {
  #left: number;
  #attached = false;
  #timer: NodeJS.Timeout | undefined;
  readonly #copies: PassThrough[] = [];

  /** @param idleMs undefined: it may be silent for any time */
  constructor(
    private readonly source: Readable,
    maxBytes: number,
    private readonly idleMs: number | undefined,
  ) {
    super();
    this.#left = maxBytes;
  }

  /** What follows, for another reader as well; one that can't keep up loses it, and holds nothing back. */
  copy(): Readable {
    const copy = new PassThrough({ highWaterMark: maxCopyBytes });
    copy.on("error", () => undefined);
    this.#copies.push(copy);
    return copy;
  }

  override _read(): void {
    if (this.#attached) {
      this.source.resume();
      return;
    }
    this.#attached = true;
    const { source, idleMs } = this;
    source.on("data", this.#onData);
    source.once("end", this.#onEnd);
    source.once("close", this.#onClose);
    source.once("error", this.#onClose);
    if (idleMs !== undefined)
      this.#timer = setTimeout(
        () => this.destroy(new SlowBodyError("the body did not come in time")),
        idleMs,
      );
  }

  override _destroy(
    error: Error | null,
    callback: (error?: Error | null) => void,
  ): void {
    clearTimeout(this.#timer);
    const { source } = this;
    if (this.#attached) {
      source.off("data", this.#onData);
      source.off("end", this.#onEnd);
      source.off("close", this.#onClose);
    }
    for (const copy of this.#copies) if (!this.readableEnded) copy.destroy();
    // The rest is read and dropped, so that the connection can be used for the next request.
    source.resume();
    callback(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#timer?.refresh();
    this.#left -= chunk.length;
    if (this.#left < 0)
      this.destroy(new BodyTooLargeError("the body is too large"));
    else {
      for (const copy of this.#copies)
        if (!copy.destroyed && !copy.write(chunk))
          copy.destroy(new Error("the copy is not read"));
      if (!this.push(chunk)) this.source.pause();
    }
  };

  readonly #onEnd = (): void => {
    clearTimeout(this.#timer);
    for (const copy of this.#copies) copy.end();
    this.push(null);
  };

  readonly #onClose = (): void => {
    if (!this.readableEnded && !this.source.readableEnded)
      this.destroy(new Error("the client left"));
  };
}
