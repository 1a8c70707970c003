// Upgraded connections that are passed on byte for byte, in both directions, until one side ends. All of them end with
// close(). Each costs two sockets for as long as its client likes, so that their number is bounded: one user gets no more
// than are free still, which leaves a place for the next one however many one of them holds.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { errors } from "../../api/errors.ts";
import { createThrottle } from "./throttle.ts";

const defaultMaxTunnels = 4096;

/** A client's connection, and what was read beyond its request. */
interface ClientSide {
  readonly socket: Duplex;
  readonly head: Buffer;
}

export class Tunnels {
  readonly #open = new Set<Duplex>();
  /** By user. */
  readonly #held = new Map<string, number>();
  #taken = 0;

  /** @param maxBytesPerSecond of each connection in each direction; 0: no limit */
  constructor(
    private readonly maxBytesPerSecond = 0,
    private readonly maxTunnels = defaultMaxTunnels,
  ) {}

  /** A place for a client's connection, which it holds until it ends. Throws ApiError 429. */
  take(user: string, socket: Duplex): void {
    if (socket.closed) return;
    const held = this.#held.get(user) ?? 0;
    if (held >= this.maxTunnels - this.#taken)
      throw errors.tooManyRequests(
        `too many upgraded connections are open, ${held} of them of user ${JSON.stringify(user)}`,
      );
    this.#held.set(user, held + 1);
    this.#taken++;
    socket.once("close", () => {
      this.#taken--;
      const left = (this.#held.get(user) ?? 1) - 1;
      if (left > 0) this.#held.set(user, left);
      else this.#held.delete(user);
    });
  }

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
