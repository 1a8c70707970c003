// Reading request bodies: bounded, and given up when the client is too slow or goes away.
import type { Readable } from "node:stream";
import { errors } from "../api/errors.ts";

const maxBodyBytes = 3 * 1024 * 1024;

/** Asked while a body comes in. */
export interface BodyGate {
  /** So many bytes more are held. Throws when they are too many. */
  received(bytes: number): void;
  /** All of it is there, and the work begins. Throws when there is no place for it. */
  take(): void | Promise<void>;
}

interface ReadBodyOptions {
  readonly maxBytes?: number;
  readonly gate?: BodyGate | undefined;
  /** Calls back when the request has been answered or its client has gone: the body of an answered request emits nothing more. */
  readonly onClose?: (callback: () => void) => void;
  /** While the body comes in, it holds what gives it up; the reading rejects with ApiError 503 then. */
  readonly receiving?: Set<() => void>;
}

/** Rejects with ApiError 413 beyond `maxBytes`, 400 when the client broke off, and with what the gate throws. */
export function readBody(
  body: Readable,
  contentLength: string | undefined,
  options: ReadBodyOptions = {},
): Promise<Buffer> {
  const receiving = receive(body, contentLength, options);
  const { gate } = options;
  if (!gate) return receiving;
  return receiving.then((bytes) => {
    const entered = gate.take();
    return entered ? entered.then(() => bytes) : bytes;
  });
}

function receive(
  body: Readable,
  contentLength: string | undefined,
  { maxBytes = maxBodyBytes, gate, onClose, receiving }: ReadBodyOptions,
): Promise<Buffer> {
  if (contentLength !== undefined && Number(contentLength) > maxBytes) {
    body.resume();
    return Promise.reject(tooLarge(maxBytes));
  }
  return new Promise((resolve, reject) => {
    new Reception(body, maxBytes, receiving, {
      gate,
      resolve,
      reject,
    }).begin(onClose);
  });
}

/** What is wanted of a body until all of it is there. */
interface Receiver {
  readonly gate: BodyGate | undefined;
  readonly resolve: (bytes: Buffer) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A body that comes in. Its stream, and what keeps the old tables of a set, hold it longer than that: an HTTP/2 stream
 * lives until the client has read the answer. So it is emptied when it is over.
 */
class Reception {
  #first: Buffer | undefined;
  #chunks: Buffer[] | undefined;
  #bytes = 0;
  /** Undefined: it is over. */
  #receiver: Receiver | undefined;

  constructor(
    private readonly body: Readable,
    private readonly maxBytes: number,
    private readonly receiving: Set<() => void> | undefined,
    receiver: Receiver,
  ) {
    this.#receiver = receiver;
  }

  begin(onClose: ReadBodyOptions["onClose"]): void {
    const { body } = this;
    this.receiving?.add(this.#stop);
    body.on("data", (chunk: Buffer) => this.#data(chunk));
    // `on`, as each of these comes once, and a wrapper that takes itself away costs more than the rest.
    body.on("end", () => this.#end());
    // Every body closes in the end: an error, with its stack, is only made when something broke off.
    const broken = (): void => {
      if (this.#receiver)
        this.#over()?.reject(errors.badRequest("unexpected EOF"));
    };
    body.on("error", broken);
    body.on("aborted", broken);
    body.on("close", broken);
    onClose?.(broken);
  }

  #data(chunk: Buffer): void {
    this.#bytes += chunk.length;
    try {
      if (this.#bytes > this.maxBytes) throw tooLarge(this.maxBytes);
      this.#receiver?.gate?.received(chunk.length);
    } catch (error) {
      return this.#giveUp(error as Error);
    }
    if (!this.#first) this.#first = chunk;
    else (this.#chunks ??= [this.#first]).push(chunk);
  }

  #end(): void {
    const first = this.#first ?? empty;
    const chunks = this.#chunks;
    this.#over()?.resolve(chunks ? Buffer.concat(chunks, this.#bytes) : first);
  }

  /** What comes still is thrown away. */
  #giveUp(error: Error): void {
    this.body.removeAllListeners("data");
    this.body.resume();
    this.#over()?.reject(error);
  }

  readonly #stop = (): void =>
    this.#giveUp(errors.unavailable("the server is shutting down"));

  #over(): Receiver | undefined {
    const receiver = this.#receiver;
    this.#receiver = this.#first = this.#chunks = undefined;
    this.receiving?.delete(this.#stop);
    return receiver;
  }
}

const empty = Buffer.alloc(0);

function tooLarge(maxBytes: number) {
  return errors.tooLarge(`Request entity too large: limit is ${maxBytes}`);
}
