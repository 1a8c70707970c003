// The open connections of a listener, those whose handshake is under way among them, and how many there may be. Beyond that
// the listener ends one that is not in use, or the new one is refused.
import type { Socket } from "node:net";
import type { Logger } from "pino";

interface OpenConnectionsOptions {
  readonly max: number;
  /** Ends a connection; false: every one is in use. */
  readonly makeRoom: () => boolean;
  readonly logger: Logger;
}

/** How often refused connections are logged, at most. */
const refusalLogMs = 60_000;
/** After so long without a packet the peer is asked whether it is still there; the reference's. */
const keepAliveMs = 3 * 60_000;

export class OpenConnections {
  readonly #open = new Set<Socket>();
  #refused = 0;
  #loggedMs = -refusalLogMs;

  constructor(private readonly options: OpenConnectionsOptions) {}

  /** False: the connection was ended, as too many are in use. */
  admit(socket: Socket): boolean {
    const { max, makeRoom } = this.options;
    if (this.#open.size >= max && !makeRoom()) {
      socket.destroy();
      this.#logRefusal();
      return false;
    }
    this.#open.add(socket);
    socket.setKeepAlive(true, keepAliveMs);
    socket.once("close", () => this.#open.delete(socket));
    return true;
  }

  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }

  #logRefusal(): void {
    this.#refused++;
    if (performance.now() - this.#loggedMs < refusalLogMs) return;
    this.#loggedMs = performance.now();
    this.options.logger.warn(
      { connections: this.#open.size, refused: this.#refused },
      "too many connections: new ones are refused",
    );
  }
}
