// Upgraded connections that are passed on byte for byte, in both directions, until one side ends. All of them end with
// close().
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { createThrottle } from "./throttle.ts";

/** A client's connection, and what was read beyond its request. */
interface ClientSide {
  readonly socket: Duplex;
  readonly head: Buffer;
}

export class Tunnels {
  readonly #open = new Set<Duplex>();

  /** @param maxBytesPerSecond of each connection in each direction; 0: no limit */
  constructor(private readonly maxBytesPerSecond = 0) {}

  /** Hands the backend's answer, a switch of protocols, to the client, and passes on all that follows. */
  join(
    { socket, head }: ClientSide,
    answer: IncomingMessage,
    backend: Duplex,
    backendHead: Buffer,
  ): void {
    const lines = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`];
    for (let i = 0; i < answer.rawHeaders.length; i += 2)
      lines.push(`${answer.rawHeaders[i]}: ${answer.rawHeaders[i + 1]}`);
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    if (backendHead.length > 0) socket.write(backendHead);
    if (head.length > 0) backend.write(head);
    this.#pass(socket, backend);
    this.#pass(backend, socket);
  }

  close(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #pass(from: Duplex, to: Duplex): void {
    this.#open.add(from);
    from.on("error", () => to.destroy());
    const throttle =
      this.maxBytesPerSecond > 0
        ? createThrottle(this.maxBytesPerSecond)
        : undefined;
    from.once("close", () => {
      this.#open.delete(from);
      // The throttle sends the data that it still holds, then ends the other side.
      if (throttle && from.readableEnded) return;
      if (!to.destroyed) to.end();
      if (from.readableEnded) return;
      to.destroy();
    });
    if (throttle) {
      to.once("close", () => throttle.destroy());
      from.pipe(throttle).pipe(to);
    } else from.pipe(to);
  }
}
