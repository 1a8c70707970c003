// How answers leave: one object, a list in parts, gzip beyond the threshold, Warning headers; and the errors of paths.
import type { OutgoingHttpHeaders } from "node:http";
import type { Writable } from "node:stream";
import { gzip } from "node:zlib";
import type { UserInfo } from "../../api/contracts.ts";
import type { AuditTrail } from "../audit/auditor.ts";
import type { CacheEntry } from "../cache/cache-entry.ts";
import type { Exchange } from "./exchange.ts";
import { KeptLists } from "./kept-lists.ts";
import { warningHeaders } from "./warnings.ts";
import type { Representation } from "./representation.ts";
import type { RequestInfo } from "./request-info.ts";

/** What the filters know of a request. */
export interface Asked {
  readonly info: RequestInfo;
  readonly query: URLSearchParams;
  readonly rawQuery: string;
  readonly user: UserInfo;
  /** Who impersonates `user`; the same without impersonation. */
  readonly original: UserInfo;
  /** Headers every answer has: audit id, flow control. */
  readonly headers: OutgoingHttpHeaders;
  readonly signal: () => AbortSignal;
  /** Undefined when the request is not audited. */
  readonly trail?: AuditTrail | undefined;
}

const gzipThresholdBytes = 128 * 1024;
/** Compressed lists that are kept; an unchanged collection asked for again costs no compression. */
const maxKept = 8;
const maxKeptBytes = 2 * 1024 * 1024;

/** What is said beside an answer or an error. */
export function addWarnings(
  { headers }: Asked,
  warnings: readonly string[],
): void {
  if (warnings.length > 0)
    (headers as Record<string, unknown>)["warning"] = warningHeaders(warnings);
}

export class Answers {
  readonly #compressed = new Map<string, Buffer>();
  readonly #lists = new KeptLists();

  constructor(private readonly compress: boolean) {}

  sendEntry(
    exchange: Exchange,
    asked: Asked,
    shown: Representation,
    status: number,
    entry: CacheEntry,
  ): void | Promise<void> {
    return this.#send(
      exchange,
      asked,
      status,
      shown.contentType,
      shown.entry(entry),
    );
  }

  sendValue(
    exchange: Exchange,
    asked: Asked,
    shown: Representation,
    status: number,
    value: object,
  ): void | Promise<void> {
    return this.#send(
      exchange,
      asked,
      status,
      shown.contentType,
      shown.value(value),
    );
  }

  #send(
    exchange: Exchange,
    asked: Asked,
    status: number,
    contentType: string,
    body: Buffer,
  ): void | Promise<void> {
    const { headers } = asked;
    headers["content-type"] = contentType;
    headers["cache-control"] = "no-cache, private";
    if (body.length > gzipThresholdBytes && this.#compresses(exchange))
      return this.#sendGzip(exchange, asked, [body]);
    exchange.respond(status, headers, body);
  }

  /** Answers a list whose bytes are kept as they are wanted; false when they are not. */
  sendKept(
    exchange: Exchange,
    asked: Asked,
    contentType: string,
    key: string,
  ): boolean | Promise<true> {
    const { headers } = asked;
    if (!this.#compresses(exchange)) {
      const list = this.#lists.get(key);
      if (!list) return false;
      headers["content-type"] = contentType;
      headers["cache-control"] = "no-cache, private";
      headers["content-length"] = list.bytes;
      if (exchange.method === "HEAD") {
        exchange.respond(200, headers);
        return true;
      }
      return writeParts(exchange.open(200, headers), list.parts).then(
        () => true,
      );
    }
    const body = this.#compressed.get(key);
    if (!body) return false;
    headers["content-type"] = contentType;
    headers["cache-control"] = "no-cache, private";
    headers["content-encoding"] = "gzip";
    headers["vary"] = "Accept-Encoding";
    exchange.respond(200, headers, body);
    return true;
  }

  sendParts(
    exchange: Exchange,
    asked: Asked,
    contentType: string,
    parts: Uint8Array[],
    /** Names these bytes for ever: they are kept for the next who asks. */
    key?: string,
  ): void | Promise<void> {
    const { headers } = asked;
    headers["content-type"] = contentType;
    headers["cache-control"] = "no-cache, private";
    let bytes = 0;
    for (const part of parts) bytes += part.byteLength;
    if (bytes > gzipThresholdBytes && this.#compresses(exchange))
      return this.#sendGzip(exchange, asked, parts, key);
    if (parts.length === 1) return exchange.respond(200, headers, parts[0]!);
    if (bytes < 65536 || exchange.method === "HEAD")
      return exchange.respond(200, headers, Buffer.concat(parts, bytes));
    headers["content-length"] = bytes;
    if (key !== undefined) this.#lists.offer(key, { parts, bytes });
    return writeParts(exchange.open(200, headers), parts);
  }

  #compresses(exchange: Exchange): boolean {
    return this.compress && exchange.method === "GET" && acceptsGzip(exchange);
  }

  async #sendGzip(
    exchange: Exchange,
    asked: Asked,
    parts: readonly Uint8Array[],
    key?: string,
  ): Promise<void> {
    const { headers } = asked;
    const kept = key === undefined ? undefined : this.#compressed.get(key);
    const body = kept ?? (await compress(parts));
    if (key !== undefined && !kept && body.length <= maxKeptBytes) {
      if (this.#compressed.size >= maxKept) {
        const [oldest] = this.#compressed.keys();
        this.#compressed.delete(oldest!);
      }
      this.#compressed.set(key, body);
    }
    headers["content-encoding"] = "gzip";
    headers["vary"] = "Accept-Encoding";
    exchange.respond(200, headers, body);
  }
}

function compress(parts: readonly Uint8Array[]): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) =>
    gzip(
      parts.length === 1 ? parts[0]! : Buffer.concat(parts),
      { level: 1, memLevel: 9 },
      (error, result) => (error ? reject(error) : resolve(result)),
    ),
  );
}

export async function writeParts(
  out: Writable,
  parts: readonly Uint8Array[],
): Promise<void> {
  for (const part of parts) {
    if (out.destroyed) return;
    if (!out.write(part))
      await new Promise<void>((resolve) => {
        const done = (): void => {
          out.off("drain", done);
          out.off("close", done);
          resolve();
        };
        out.once("drain", done);
        out.once("close", done);
      });
  }
  out.end();
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
