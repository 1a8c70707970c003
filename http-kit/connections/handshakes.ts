// Connections whose TLS handshake is under way. It is not known who makes them, so they hold no place against those that are
// known: when a port is full the oldest of them goes, before a connection that is merely idle if it is slow.
import type { Socket } from "node:net";
import {
  readingHandleOf,
  type ReadingHandle,
} from "../intake/reading-handle.ts";

interface Handshake {
  readonly socket: Socket;
  readonly sinceMs: number;
}

export class Handshakes {
  /** The oldest first. By what TLS's socket and the one below it have in common. */
  readonly #underWay = new Map<ReadingHandle, Handshake>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  begin(socket: Socket): void {
    const handle = readingHandleOf(socket);
    if (!handle) return;
    this.#underWay.set(handle, { socket, sinceMs: this.now() });
    socket.once("close", () => this.#underWay.delete(handle));
  }

  /** @param socket TLS's, or the one below */
  done(socket: Socket): void {
    const handle = readingHandleOf(socket);
    if (handle) this.#underWay.delete(handle);
  }

  /** Ends the one that was begun first. False: none has lasted so long. */
  endOldest(leastMs: number): boolean {
    for (const [handle, { socket, sinceMs }] of this.#underWay) {
      if (this.now() - sinceMs < leastMs) return false;
      this.#underWay.delete(handle);
      socket.destroy();
      return true;
    }
    return false;
  }
}
