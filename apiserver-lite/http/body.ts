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
    body.once("end", () =>
      resolve(chunks ? Buffer.concat(chunks, bytes) : (first ?? empty)),
    );
    body.once("error", () => reject(errors.badRequest("unexpected EOF")));
    body.once("aborted", () => reject(errors.badRequest("unexpected EOF")));
    body.once("close", () => reject(errors.badRequest("unexpected EOF")));
  });
}

const empty = Buffer.alloc(0);

function tooLarge(maxBytes: number) {
  return errors.tooLarge(`limit is ${maxBytes}`);
}
