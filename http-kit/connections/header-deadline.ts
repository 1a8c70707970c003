// HTTP/1 connections of the TLS port that are too slow with a request's headers are cut off: Node looks after those of its
// plain server only. Nothing is listened to on the way of the bytes; what a connection has received is looked at now and
// then. Between requests a connection may be silent (the keep-alive timeout ends it).
import type { Socket } from "node:net";

interface Connection {
  /** When its headers were begun, at the latest. */
  sinceMs: number;
  /** When its last request was answered, or it was opened. */
  idleSinceMs: number;
  /** What had been received by then; -1: a first request is waited for. */
  bytes: number;
  /** Requests being answered. */
  busy: number;
}

export class HeaderDeadline {
  readonly #connections = new Map<Socket, Connection>();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly limitMs: number,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#timer = setInterval(() => this.check(), limitMs / 4);
    this.#timer.unref();
  }

  add(socket: Socket): void {
    const sinceMs = this.now();
    this.#connections.set(socket, {
      sinceMs,
      idleSinceMs: sinceMs,
      bytes: -1,
      busy: 0,
    });
    socket.once("close", () => this.#connections.delete(socket));
  }

  /** A request's headers are there; to be called back when it has been answered. */
  begin(socket: Socket): (() => void) | undefined {
    const connection = this.#connections.get(socket);
    if (!connection) return undefined;
    connection.busy++;
    return () => {
      connection.busy--;
      connection.sinceMs = connection.idleSinceMs = this.now();
      connection.bytes = socket.bytesRead;
    };
  }

  /** An upgraded connection has no more headers. */
  forget(socket: Socket): void {
    this.#connections.delete(socket);
  }

  check(): void {
    const now = this.now();
    for (const [socket, connection] of this.#connections) {
      if (connection.busy > 0) continue;
      if (connection.bytes === socket.bytesRead) connection.sinceMs = now;
      else if (now - connection.sinceMs >= this.limitMs) socket.destroy();
    }
  }

  /** Ends the connection that has been idle the longest. False: there is none. */
  endIdle(): boolean {
    let longest: Socket | undefined;
    let longestSinceMs = Infinity;
    for (const [socket, { busy, idleSinceMs }] of this.#connections)
      if (busy === 0 && idleSinceMs < longestSinceMs) {
        longest = socket;
        longestSinceMs = idleSinceMs;
      }
    if (!longest) return false;
    this.#connections.delete(longest);
    longest.destroy();
    return true;
  }

  closeIdle(): void {
    for (const [socket, { busy, bytes }] of this.#connections)
      if (busy === 0 && bytes === socket.bytesRead) socket.destroy();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
