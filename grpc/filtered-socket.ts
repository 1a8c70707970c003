// A socket whose incoming bytes are looked at before the server has them.
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

export class FilteredSocket extends Duplex {
  readonly #socket: Socket;

  /** Both ends of the socket are this stream's from now on. */
  constructor(socket: Socket, pass: (chunk: Buffer) => Buffer) {
    super();
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      const bytes = pass(chunk);
      if (bytes.length > 0 && !this.push(bytes)) socket.pause();
    });
    socket.on("end", () => this.push(null));
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(
    chunk: Buffer,
    encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    this.#socket.write(chunk, encoding, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(
    error: Error | null,
    done: (error?: Error | null) => void,
  ): void {
    this.#socket.destroy();
    done(error);
  }
}
