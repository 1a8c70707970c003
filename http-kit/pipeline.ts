// Requests a client sends on an HTTP/1 connection without waiting for the answers before them. Node gives the connection
// to one answer after the other and looks after that one only: an answer that still waits for its turn is not closed when
// the client leaves, and an upgrade's socket may still belong to the answers before it. Nothing is kept for connections
// whose requests come one after the other.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Node's own field: the answer that has the connection now. */
interface AnsweringSocket extends Socket {
  readonly _httpMessage?: ServerResponse | null;
}

export class Pipeline {
  /** Of each connection, the answers that waited for their turn and are not complete. */
  readonly #waiting = new WeakMap<Socket, Set<ServerResponse>>();

  /** A request came, whose answer this is. */
  add(socket: Socket, response: ServerResponse): void {
    if (response.socket) return;
    const waiting = this.#waiting.get(socket) ?? this.#begin(socket);
    waiting.add(response);
    response.once("close", () => waiting.delete(response));
  }

  /** Calls back when all answers of the connection are complete; never when it ends before. */
  afterAll(socket: AnsweringSocket, next: () => void): void {
    const waiting = [...(this.#waiting.get(socket) ?? [])];
    const last = waiting.at(-1) ?? socket._httpMessage;
    if (!last) return next();
    last.once("close", () => {
      if (socket.writable) next();
    });
  }

  #begin(socket: Socket): Set<ServerResponse> {
    const waiting = new Set<ServerResponse>();
    this.#waiting.set(socket, waiting);
    socket.once("close", () => closeAll(waiting));
    return waiting;
  }
}

/** Node closes the one that has the connection. */
function closeAll(waiting: ReadonlySet<ServerResponse>): void {
  for (const response of [...waiting])
    if (!response.socket) {
      response.destroy();
      response.emit("close");
    }
}
