// SPDY/3 header blocks: `count, (length, name, length, value)*`, compressed with one zlib context a direction and the
// protocol's dictionary. Outgoing blocks are zlib "stored" blocks, free of compression state, and end with an empty one:
// Go's reader gives out what it has only there, and takes the end of input anywhere else for an error.
// Incoming blocks are inflated in order, with their size bounded (a small block can inflate to a large one).
import { constants, createInflate, type Inflate } from "node:zlib";
import { SpdyProtocolError } from "./spdy-frames.ts";

/** Names are lower-case; several values of one name are joined by NUL on the wire and by ", " here. */
export type SpdyHeaders = Readonly<Record<string, string>>;

const maxBlockBytes = 64 * 1024;
const maxPairs = 256;
const storedBlockBytes = 0xffff;

const dictionaryWords =
  "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow " +
  "authorization cache-control connection content-base content-encoding content-language content-length " +
  "content-location content-md5 content-range content-type date etag expect expires from host if-match " +
  "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma " +
  "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade " +
  "user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie " +
  "keep-alive origin";
const dictionaryTail =
  "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative " +
  "Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal " +
  "Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, " +
  "Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml," +
  "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=" +
  "iso-8859-1,utf-,*,enq=0.";

/** The protocol's compression dictionary (1423 bytes, Adler-32 e3c6a7c2): length-prefixed words, then plain text. */
export function spdyDictionary(): Buffer {
  const parts = dictionaryWords
    .split(" ")
    .map((word) => lengthPrefixed(word.replace("_", " ")));
  return Buffer.concat([...parts, Buffer.from(dictionaryTail)]);
}

/** zlib header with a preset dictionary, and the dictionary's Adler-32. */
const zlibHeader = Buffer.from([0x78, 0xbb, 0xe3, 0xc6, 0xa7, 0xc2]);

const emptyStoredBlock = Buffer.from([0, 0, 0, 0xff, 0xff]);

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text, "utf8");
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function stored(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += storedBlockBytes) {
    const piece = bytes.subarray(at, at + storedBlockBytes);
    const header = Buffer.alloc(5);
    header.writeUInt16LE(piece.length, 1);
    header.writeUInt16LE(~piece.length & 0xffff, 3);
    parts.push(header, piece);
  }
  parts.push(emptyStoredBlock);
  return parts;
}

export class HeaderWriter {
  #started = false;

  write(headers: SpdyHeaders): Buffer {
    const pairs = Object.entries(headers);
    const count = Buffer.allocUnsafe(4);
    count.writeUInt32BE(pairs.length);
    const block = Buffer.concat([
      count,
      ...pairs.flatMap(([name, value]) => [
        lengthPrefixed(name.toLowerCase()),
        lengthPrefixed(value),
      ]),
    ]);
    const parts = this.#started
      ? stored(block)
      : [zlibHeader, ...stored(block)];
    this.#started = true;
    return Buffer.concat(parts);
  }
}

function parseBlock(block: Buffer): SpdyHeaders {
  let at = 0;
  const word = (): number => {
    if (at + 4 > block.length)
      throw new SpdyProtocolError("a header block is truncated");
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = word();
    if (at + length > block.length)
      throw new SpdyProtocolError("a header block is truncated");
    at += length;
    return block.toString("utf8", at - length, at);
  };
  const count = word();
  if (count > maxPairs)
    throw new SpdyProtocolError("a header block has too many headers");
  const headers: Record<string, string> = Object.create(null) as Record<
    string,
    string
  >;
  for (let index = 0; index < count; index++) {
    const name = text().toLowerCase();
    headers[name] = text().replaceAll("\0", ", ");
  }
  return headers;
}

export class HeaderReader {
  #inflate: Inflate | undefined;
  #parts: Buffer[] = [];
  #size = 0;
  #fail: ((error: Error) => void) | undefined;

  /** Rejects with SpdyProtocolError; one call at a time, in the order of the frames. */
  read(compressed: Buffer): Promise<SpdyHeaders> {
    this.#inflate ??= this.#open();
    const inflate = this.#inflate;
    this.#parts = [];
    this.#size = 0;
    return new Promise((resolve, reject) => {
      this.#fail = reject;
      inflate.write(compressed);
      inflate.flush(constants.Z_SYNC_FLUSH, () => {
        this.#fail = undefined;
        if (this.#size > maxBlockBytes) {
          reject(new SpdyProtocolError("a header block is too large"));
          return;
        }
        try {
          resolve(parseBlock(Buffer.concat(this.#parts)));
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  }

  #open(): Inflate {
    const inflate = createInflate({
      dictionary: spdyDictionary(),
      flush: constants.Z_SYNC_FLUSH,
      chunkSize: 4096,
    });
    inflate.on("data", (part: Buffer) => {
      this.#size += part.length;
      if (this.#size > maxBlockBytes)
        inflate.destroy(new SpdyProtocolError("a header block is too large"));
      else this.#parts.push(part);
    });
    inflate.on("error", (error) =>
      this.#fail?.(
        error instanceof SpdyProtocolError
          ? error
          : new SpdyProtocolError("a header block can't be inflated", {
              cause: error,
            }),
      ),
    );
    inflate.on("end", () =>
      this.#fail?.(new SpdyProtocolError("the header compression was ended")),
    );
    return inflate;
  }

  close(): void {
    this.#inflate?.destroy();
    this.#fail?.(new SpdyProtocolError("the connection was closed"));
  }
}
