// gzip of answers on the threads of libuv's pool, chunk by chunk, so that no list is in memory as a whole. At most some
// chunks of all answers are compressed at once: the pool is the store's as well, and no answer keeps a place in it while
// its client reads slowly.
import { availableParallelism } from "node:os";
import { createGzip, type Gzip } from "node:zlib";

/** A quick level: the reference's. */
const level = 1;
const chunkBytes = 64 * 1024;
/** One core is the event loop's. */
const defaultConcurrency = Math.max(1, Math.min(2, availableParallelism() - 1));

export class Compressor {
  #busy = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(private readonly concurrency = defaultConcurrency) {}

  /** A new stream; `close` it when it is not ended. */
  begin(): CompressedStream {
    return new CompressedStream(this);
  }

  /** @internal */
  async enter(): Promise<void> {
    if (this.#busy >= this.concurrency)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#busy++;
  }

  /** @internal */
  leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#busy--;
  }
}

class CompressedStream {
  readonly #gzip: Gzip;
  #made: Buffer[] = [];
  #failure: Error | undefined;

  constructor(private readonly compressor: Compressor) {
    this.#gzip = createGzip({ level, memLevel: 9, chunkSize: chunkBytes });
    this.#gzip.on("data", (bytes: Buffer) => this.#made.push(bytes));
    this.#gzip.on("error", (error) => (this.#failure = error));
  }

  /** Compresses `bytes`; resolves to what has come out by now. */
  add(bytes: Uint8Array): Promise<Buffer[]> {
    return this.#run((done) => this.#gzip.write(bytes, done));
  }

  /** What is left. */
  async end(): Promise<Buffer[]> {
    const over = new Promise<void>((resolve) =>
      this.#gzip.once("end", resolve),
    );
    const made = await this.#run((done) => this.#gzip.end(done));
    await over;
    return [...made, ...this.#take()];
  }

  close(): void {
    this.#gzip.close();
  }

  async #run(work: (done: (error?: Error | null) => void) => void) {
    await this.compressor.enter();
    try {
      await new Promise<void>((resolve, reject) =>
        work((error) => (error ? reject(error) : resolve())),
      );
      if (this.#failure) throw this.#failure;
    } finally {
      this.compressor.leave();
    }
    return this.#take();
  }

  #take(): Buffer[] {
    const made = this.#made;
    this.#made = [];
    return made;
  }
}
