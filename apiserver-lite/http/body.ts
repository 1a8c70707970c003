// Reading request bodies: bounded, and given up when the client is too slow or goes away.
import type { Readable } from "node:stream";
import { errors } from "../../api/errors.ts";

export const maxBodyBytes = 3 * 1024 * 1024;

/** Rejects with ApiError 413 beyond `maxBytes`, 400 when the client broke off. */
export function readBody(
  body: Readable,
  contentLength: string | undefined,
  maxBytes = maxBodyBytes,
): Promise<Buffer> {
  if (contentLength !== undefined && Number(contentLength) > maxBytes) {
    body.resume();
    return Promise.reject(tooLarge(maxBytes));
  }
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let bytes = 0;
    body.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        body.removeAllListeners("data");
        body.resume();
        reject(tooLarge(maxBytes));
      } else if (!first) first = chunk;
      else (chunks ??= [first]).push(chunk);
    });
    let ended = false;
    body.once("end", () => {
      ended = true;
      resolve(chunks ? Buffer.concat(chunks, bytes) : (first ?? empty));
    });
    // Every body closes in the end: an error, with its stack, is only made when something broke off.
    const broken = (): void => {
      if (!ended) reject(errors.badRequest("unexpected EOF"));
    };
    body.once("error", broken);
    body.once("aborted", broken);
    body.once("close", broken);
  });
}

const empty = Buffer.alloc(0);

function tooLarge(maxBytes: number) {
  return errors.tooLarge(`Request entity too large: limit is ${maxBytes}`);
}
