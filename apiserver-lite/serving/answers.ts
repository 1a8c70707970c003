// How answers leave: one object; a list in parts, in slices of time and as fast as its client reads; gzip beyond the
// threshold; Warning headers.
import type { OutgoingHttpHeaders } from "node:http";
import type { Writable } from "node:stream";
import { gzip } from "node:zlib";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { Listed } from "../registry/verbs/list.ts";
import type { TimeSlices } from "../loop/time-slices.ts";
import { writeTo } from "../request/back-pressure.ts";
import { Compressor } from "./lists/compression.ts";
import type { ChunkPool } from "./chunk-pool.ts";
import {
  CompressedLists,
  maxSharedBytes,
  type Making,
} from "./lists/compressed-lists.ts";
import type { Exchange, FrameStream } from "../../http-kit/exchange.ts";
import type { ListParts } from "./formats.ts";
import type { HttpRequest } from "./http-request.ts";
import { KeptLists, type KeptList } from "./lists/kept-lists.ts";
import { warningHeaders } from "./warnings.ts";

const gzipThresholdBytes = 128 * 1024;
/** Shorter lists leave in one piece. */
const wholeBytes = 64 * 1024;
/** Entries whose bytes are looked at to say how long a list will be. */
const maxSampled = 64;
/** Of a kept list that leaves with one write. */
const maxPartBytes = 128 * 1024;
/** Of an answer whose client does not read. */
const bytesPerEntry = 16;
/** Of encryption and the system call. */
const msPerSentByte = 1.5e-6;

/** What is said beside an answer or an error. */
export function addWarnings({ headers, warnings }: HttpRequest): void {
  if (warnings.length > 0)
    (headers as Record<string, unknown>)["warning"] = warningHeaders(warnings);
}

export class Answers {
  readonly #compressed = new CompressedLists();
  readonly #lists = new KeptLists();
  readonly #compressor = new Compressor();

  constructor(
    private readonly compress: boolean,
    readonly slices: TimeSlices,
    readonly pool: ChunkPool,
  ) {}

  sendEntry(
    request: HttpRequest,
    status: number,
    entry: CacheEntry,
  ): void | Promise<void> {
    return this.#send(request, status, request.shown.entry(entry));
  }

  sendValue(
    request: HttpRequest,
    status: number,
    value: object,
  ): void | Promise<void> {
    return this.#send(request, status, request.shown.value(value));
  }

  #send(
    { exchange, headers, shown }: HttpRequest,
    status: number,
    body: Buffer,
  ): void | Promise<void> {
    headers["content-type"] = shown.contentType;
    headers["cache-control"] = "no-cache, private";
    if (body.length > gzipThresholdBytes && this.#compresses(exchange))
      return this.#sendGzip(exchange, headers, status, body);
    exchange.respond(status, headers, body);
  }

  /** @param key names the list's bytes for ever: they are kept for the next who asks; undefined: they are new each time */
  async sendList(
    request: HttpRequest,
    listed: Listed,
    key?: string,
  ): Promise<void> {
    const { exchange, headers, shown } = request;
    const compresses = this.#compresses(exchange);
    if (key !== undefined) {
      headers["content-type"] = shown.contentType;
      headers["cache-control"] = "no-cache, private";
      const list = compresses
        ? (this.#compressed.get(key) ?? (await this.#compressed.made(key)))
        : this.#lists.get(key);
      if (list) {
        if (compresses) setGzip(headers);
        const [part] = list.parts;
        return list.parts.length === 1
          ? exchange.respond(200, headers, part as Buffer)
          : this.#sendKept(request, listed, list);
      }
    }
    if (!compresses || key === undefined)
      return await this.#sendNew(request, listed, key, undefined);
    const making = this.#compressed.begin(key);
    try {
      await this.#sendNew(request, listed, key, making);
    } finally {
      making.end(undefined);
    }
  }

  /** @param making where the list goes when it is compressed and others may wait for it */
  async #sendNew(
    request: HttpRequest,
    listed: Listed,
    key: string | undefined,
    making: Making | undefined,
  ): Promise<void> {
    const { exchange, headers, shown } = request;
    const compresses = this.#compresses(exchange);
    const { bytes, parts } = shown.list(listed);
    headers["content-type"] = shown.contentType;
    headers["cache-control"] = "no-cache, private";
    const first: Buffer[] = [];
    let firstBytes = 0;
    const limit = compresses ? gzipThresholdBytes : wholeBytes;
    for (;;) {
      const { done, value } = parts.next();
      if (done) {
        headers["content-length"] = firstBytes;
        exchange.respond(200, headers, Buffer.concat(first));
        for (const part of first) this.pool.give(part);
        return;
      }
      if (value) {
        first.push(value);
        firstBytes += value.length;
        if (firstBytes > limit) break;
      }
      if (this.slices.over) await this.slices.next(exchange);
    }
    if (compresses)
      return await this.#sendGzipped(
        request,
        listed,
        chained(first, parts),
        making,
      );
    const collects =
      key !== undefined &&
      jsonBytes(listed) <= this.#lists.maxListBytes &&
      this.#lists.asked(key);
    const collected = new Collected(
      collects ? this.#lists.maxListBytes : 0,
      bytes,
    );
    const answer = new ListAnswer(request, listed, this, bytes);
    for (const part of chained(first, parts)) {
      if (part) {
        collected.add(part);
        const full = answer.write(part);
        if (full) await full;
      }
      if (this.slices.over) await this.slices.next(exchange);
      if (answer.closed) return;
    }
    answer.end();
    const list = collected.list;
    if (collects && list) this.#lists.keep(key, list);
  }

  async #sendKept(
    request: HttpRequest,
    listed: Listed,
    list: KeptList,
  ): Promise<void> {
    const { exchange } = request;
    const answer = new ListAnswer(request, listed, this, list.bytes);
    for (const part of list.parts) {
      const full = answer.write(part);
      if (full) await full;
      if (this.slices.over) await this.slices.next(exchange);
      if (answer.closed) return;
    }
    answer.end();
  }

  async #sendGzipped(
    request: HttpRequest,
    listed: Listed,
    parts: ListParts,
    making: Making | undefined,
  ): Promise<void> {
    setGzip(request.headers);
    const compressed = this.#compressedParts(request.exchange, parts);
    if (!making) return await this.#stream(request, listed, compressed);
    // No part leaves before the list is whole, or too large to be shared: others may wait for it.
    const collected: Buffer[] = [];
    let bytes = 0;
    for await (const made of compressed) {
      collected.push(...made);
      bytes += made.reduce((sum, part) => sum + part.length, 0);
      if (bytes > maxSharedBytes) {
        making.end(undefined);
        return await this.#stream(
          request,
          listed,
          withFirst(collected, compressed),
        );
      }
      if (request.exchange.closed && !making.isAwaited) return;
    }
    const list = inParts({ parts: collected, bytes });
    making.end(list);
    await this.#sendKept(request, listed, list);
  }

  /** Compressed in slices of time; ends early only by its `return`. */
  async *#compressedParts(
    exchange: Exchange,
    parts: ListParts,
  ): AsyncGenerator<Buffer[], void, undefined> {
    const stream = this.#compressor.begin();
    try {
      for (const part of parts) {
        if (part) {
          yield await stream.add(part);
          this.pool.give(part);
        }
        if (this.slices.over) await this.slices.next(exchange);
      }
      yield await stream.end();
    } finally {
      stream.close();
    }
  }

  /** Sends parts as fast as the client reads. */
  async #stream(
    request: HttpRequest,
    listed: Listed,
    parts: AsyncIterable<readonly Buffer[]>,
  ): Promise<void> {
    const answer = new ListAnswer(request, listed, this, undefined);
    for await (const made of parts) {
      for (const part of made) await answer.write(part);
      if (answer.closed) return;
    }
    answer.end();
  }

  #compresses(exchange: Exchange): boolean {
    return this.compress && exchange.method === "GET" && acceptsGzip(exchange);
  }

  async #sendGzip(
    exchange: Exchange,
    headers: OutgoingHttpHeaders,
    status: number,
    body: Buffer,
  ): Promise<void> {
    const compressed = await compress(body);
    setGzip(headers);
    exchange.respond(status, headers, compressed);
  }
}

/** An answer that goes out in parts, each with one write: chunks of HTTP/1.1 are framed here where their length is unknown. */
class ListAnswer {
  readonly #out: Writable;
  readonly #stream: FrameStream | undefined;
  readonly #frames: boolean;

  constructor(
    private readonly request: HttpRequest,
    private readonly listed: Listed,
    private readonly answers: Answers,
    bytes: number | undefined,
  ) {
    const { exchange, headers } = request;
    if (bytes !== undefined) {
      headers["content-length"] = bytes;
      this.#out = exchange.open(200, headers);
      this.#frames = false;
    } else {
      this.#stream = exchange.stream(200, headers);
      this.#out = this.#stream.out;
      this.#frames = exchange.chunks && !this.#stream.framed;
    }
  }

  /** The client reads no more. */
  get closed(): boolean {
    return this.#out.destroyed;
  }

  write(part: Uint8Array): Promise<void> | undefined {
    const { request, listed } = this;
    const { pool, slices } = this.answers;
    // An empty chunk would end the answer.
    if (part.length === 0) return undefined;
    const bytes = this.#frames ? pool.framed(part) : part;
    const full = writeTo(this.#out, bytes, () => pool.give(part));
    const { place, exchange } = request;
    exchange.sentBytes += part.length;
    // HTTP/2 encrypts and sends at the end of the turn.
    if (exchange.http2) slices.follows(part.length * msPerSentByte);
    if (!full || !place) return full;
    place.stalls(listed.entries.length * bytesPerEntry);
    return full.then(() => place.goesOn());
  }

  end(): void {
    (this.#stream ?? this.#out).end();
  }
}

/** The parts of a list that is kept, as long as they are few enough. */
class Collected {
  #parts: Uint8Array[] | undefined;
  #bytes = 0;

  constructor(
    private readonly maxBytes: number,
    expectedBytes = 0,
  ) {
    if (maxBytes > 0 && expectedBytes <= maxBytes) this.#parts = [];
  }

  add(part: Uint8Array): void {
    this.#bytes += part.byteLength;
    if (this.#bytes > this.maxBytes) this.#parts = undefined;
    // Its buffer will be used again.
    this.#parts?.push(Buffer.from(part));
  }

  get list(): KeptList | undefined {
    return this.#parts && { parts: this.#parts, bytes: this.#bytes };
  }
}

/** About what the entries' JSON takes, by some of them; other encodings take about as much. */
function jsonBytes({ entries }: Listed): number {
  const step = Math.ceil(entries.length / maxSampled);
  let bytes = 0;
  for (let at = 0; at < entries.length; at += step)
    bytes += entries[at]!.bytes * step;
  return bytes;
}

/** In as few parts as may be written at once. */
function inParts({ parts, bytes }: KeptList): KeptList {
  const all = Buffer.concat(parts, bytes);
  const joined: Buffer[] = [];
  for (let at = 0; at < bytes; at += maxPartBytes)
    joined.push(all.subarray(at, at + maxPartBytes));
  return { parts: joined, bytes };
}

function setGzip(headers: OutgoingHttpHeaders): void {
  headers["content-encoding"] = "gzip";
  headers["vary"] = "Accept-Encoding";
}

function compress(body: Buffer): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) =>
    gzip(body, { level: 1, memLevel: 9 }, (error, result) =>
      error ? reject(error) : resolve(result),
    ),
  );
}

export function acceptsGzip({ headers }: Exchange): boolean {
  return /\bgzip\b(?!;q=0(?:[,;\s]|$))/.test(
    String(headers["accept-encoding"] ?? ""),
  );
}

export function wantsPretty(
  exchange: Exchange,
  query: URLSearchParams,
): boolean {
  const asked = query.get("pretty");
  if (asked) return /^(1|t|T|true|TRUE|True)$/.test(asked);
  const agent = exchange.headers["user-agent"];
  return agent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(agent);
}

function* chained(first: readonly Buffer[], rest: ListParts): ListParts {
  yield* first;
  yield* rest;
}

async function* withFirst(
  first: readonly Buffer[],
  rest: AsyncIterable<readonly Buffer[]>,
): AsyncGenerator<readonly Buffer[], void, undefined> {
  yield first;
  yield* rest;
}
