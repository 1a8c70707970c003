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
    let first: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let bytes = 0;
    const giveUp = (error: Error): void => {
      receiving?.delete(stop);
      body.removeAllListeners("data");
      body.resume();
      first = chunks = undefined;
      reject(error);
    };
    const stop = (): void =>
      giveUp(errors.unavailable("the server is shutting down"));
    receiving?.add(stop);
    body.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      try {
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        gate?.received(chunk.length);
      } catch (error) {
        return giveUp(error as Error);
      }
      if (!first) first = chunk;
      else (chunks ??= [first]).push(chunk);
    });
    let ended = false;
    // `on`, as each of these comes once, and a wrapper that takes itself away costs more than the rest.
    body.on("end", () => {
      ended = true;
      receiving?.delete(stop);
      resolve(chunks ? Buffer.concat(chunks, bytes) : (first ?? empty));
    });
    // Every body closes in the end: an error, with its stack, is only made when something broke off.
    const broken = (): void => {
      if (ended) return;
      ended = true;
      receiving?.delete(stop);
      reject(errors.badRequest("unexpected EOF"));
    };
    body.on("error", broken);
    body.on("aborted", broken);
    body.on("close", broken);
    onClose?.(broken);
  });
}

const empty = Buffer.alloc(0);

function tooLarge(maxBytes: number) {
  return errors.tooLarge(`Request entity too large: limit is ${maxBytes}`);
}
