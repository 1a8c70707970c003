// A request that offers to switch protocols (`Upgrade: websocket`, SPDY/3.1, h2c …). Node hands over its bare socket.
// Its handler may take the offer: then the socket is the taker's and `switched` is called. Until then it is an
// exchange like any other: the response, and what there is of a body, are put together again here when they are first
// needed, so that a request whose offer is not taken is answered as if it had not offered, and a refusal is a complete
// answer (clients fall back only after one). The connection ends with the answer.
import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import {
  PassThrough,
  type Duplex,
  type Readable,
  type Writable,
} from "node:stream";
import type { OutgoingHttpHeaders } from "node:http";
import { ChunkedBody } from "./chunked-body.ts";
import {
  Http1Exchange,
  type FrameStream,
  type Peer,
  type Upgrade,
} from "./exchange.ts";

/** How long a client that was answered may leave its side of the connection open. */
const lingerMs = 5_000;

export class UpgradeExchange extends Http1Exchange {
  override readonly upgrade: Upgrade;
  #body: Readable | undefined;
  #atClose: (() => void)[] | undefined;
  #assigned = false;
  #switched = false;
  readonly #response: ServerResponse;

  constructor(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    peer: Peer,
  ) {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    super(request, response, peer);
    this.#response = response;
    this.upgrade = { request, socket, head };
    // Nothing reads the socket yet, so its end would go unnoticed. The bytes read here are kept for the taker.
    socket.once("end", this.#clientLeft);
    socket.read(0);
  }

  readonly #clientLeft = (): void => void this.upgrade.socket.destroy();

  override get body(): Readable {
    return (this.#body ??= bodyOf(this.upgrade));
  }

  override get started(): boolean {
    return this.#switched || super.started;
  }

  override get closed(): boolean {
    return this.upgrade.socket.destroyed || super.closed;
  }

  override respond(
    status: number,
    headers: OutgoingHttpHeaders,
    body?: Uint8Array | string,
  ): void {
    this.#assign();
    super.respond(status, headers, body);
  }

  override open(status: number, headers: OutgoingHttpHeaders): Writable {
    this.#assign();
    return super.open(status, headers);
  }

  override stream(status: number, headers: OutgoingHttpHeaders): FrameStream {
    this.#assign();
    return super.stream(status, headers);
  }

  /** One listener for all: filters and handlers have more of them than Node lets a socket have without a warning. */
  override onClose(callback: () => void): void {
    if (this.#atClose) this.#atClose.push(callback);
    else {
      const callbacks = (this.#atClose = [callback]);
      this.upgrade.socket.once("close", () => {
        for (const each of callbacks.splice(0)) each();
      });
    }
  }

  override switched(status = 101): void {
    this.#switched = true;
    this.status = status;
    this.upgrade.socket.off("end", this.#clientLeft);
  }

  override destroy(): void {
    this.upgrade.socket.destroy();
  }

  #assign(): void {
    if (this.#assigned) return;
    this.#assigned = true;
    const { socket } = this.upgrade;
    this.#response.assignSocket(socket as Socket);
    this.#response.once("finish", () => {
      socket.end();
      const timer = setTimeout(() => socket.destroy(), lingerMs);
      socket.once("close", () => clearTimeout(timer));
      socket.resume();
    });
  }
}

/** What follows the header as the header says, first of it the bytes of `head`. Nothing behind it is read as a request. */
function bodyOf(upgrade: Upgrade): Readable {
  const { headers } = upgrade.request;
  // Other codings were refused by the header.
  return headers["transfer-encoding"] === undefined
    ? bytesOf(upgrade, Number(headers["content-length"] ?? 0))
    : chunksOf(upgrade);
}

function bytesOf({ socket, head }: Upgrade, length: number): Readable {
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
  if (left > 0) socket.on("data", take);
  take(head);
  socket.once("close", () => body.destroy());
  return body;
}

function chunksOf({ socket, head }: Upgrade): Readable {
  const body = new ChunkedBody(() => {
    socket.off("data", take);
    socket.resume();
  });
  const take = (chunk: Buffer): void => {
    if (body.destroyed || body.write(chunk)) return;
    socket.pause();
    body.once("drain", () => socket.resume());
  };
  socket.on("data", take);
  take(head);
  socket.once("close", () => body.destroy());
  return body;
}
