// Requests that offer an upgrade where there is none (`Upgrade: h2c` beside an ordinary GET): they are answered as if they
// had not offered it. Node hands over the bare socket of every such request, so that the response, and what there is of
// a body, are put together again here. The connection ends with the answer.
import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { PassThrough, type Duplex, type Readable } from "node:stream";
import { Http1Exchange, type Peer } from "./exchange.ts";

const connectPath = /\/(exec|attach|portforward|proxy|log)(\/|\?|$)/;
const watchPath = /\/watch\/|[?&]watch\b/;

/** Can the upgrade that is offered be taken: a stream to a node, or a watch over WebSocket? */
export function takesUpgrade({ url = "", headers }: IncomingMessage): boolean {
  if (headers["transfer-encoding"] !== undefined) return true;
  return (
    connectPath.test(url) ||
    (headers.upgrade?.toLowerCase() === "websocket" && watchPath.test(url))
  );
}

export class DeclinedUpgrade extends Http1Exchange {
  readonly #body: Readable;

  constructor(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    peer: Peer,
  ) {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once("finish", () => socket.end());
    super(request, response, peer);
    const length = Number(request.headers["content-length"] ?? 0);
    this.#body = bodyOf(socket, head, length);
  }

  override get body(): Readable {
    return this.#body;
  }
}

/** The `length` bytes that follow the header: first those of `head`. */
function bodyOf(socket: Duplex, head: Buffer, length: number): Readable {
  const body = new PassThrough();
  let left = length;
  const take = (chunk: Buffer): void => {
    const part = chunk.subarray(0, left);
    left -= part.length;
    if (!body.write(part) && left > 0) {
      socket.pause();
      body.once("drain", () => socket.resume());
    }
    if (left > 0) return;
    socket.off("data", take);
    body.end();
    socket.resume();
  };
  if (length > 0) socket.on("data", take);
  take(head);
  socket.once("close", () => body.destroy());
  return body;
}
