// A watch over HTTP: one JSON document a line, read as an async sequence of events. A line may be at most 32 MiB: what
// is longer can't be an object a server stores. close() ends the sequence without an error, at any time.
import { ApiError } from "../api/errors.ts";
import type { KubeObject } from "../api/object.ts";
import type { Status } from "../api/types/meta-v1.ts";
import type { WatchEvent, WatchOptions, WatchStream } from "./client.ts";

const maxLineBytes = 32 << 20;
const newline = 0x0a;

export function watchQuery(options: WatchOptions): Record<string, string> {
  const query: Record<string, string> = { watch: "1" };
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && value !== "" && name !== "namespace")
      query[name] = String(value);
  return query;
}

/**
 * Splits chunks at newlines; the text after the last newline is returned too. Throws when a line is longer than the
 * bound.
 */
export async function* lines(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes = maxLineBytes,
): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (
      let end = chunk.indexOf(newline);
      end >= 0;
      end = chunk.indexOf(newline, start)
    ) {
      parts.push(chunk.subarray(start, end));
      yield Buffer.concat(parts).toString("utf8");
      parts = [];
      length = 0;
      start = end + 1;
    }
    if (start === chunk.length) continue;
    length += chunk.length - start;
    if (length > limitBytes)
      throw new Error(`a line of the watch is longer than ${limitBytes} bytes`);
    parts.push(chunk.subarray(start));
  }
  if (length > 0) yield Buffer.concat(parts).toString("utf8");
}

/** @param open sends the request and gives the body's chunks; the signal aborts it */
export function watchStream(
  open: (signal: AbortSignal) => Promise<AsyncIterable<Uint8Array>>,
): WatchStream<KubeObject> {
  const abort = new AbortController();
  async function* events(): AsyncGenerator<WatchEvent<KubeObject>> {
    try {
      const body = await open(abort.signal);
      for await (const line of lines(body)) {
        if (abort.signal.aborted) return;
        if (line.trim() === "") continue;
        yield parseEvent(line);
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    } finally {
      abort.abort();
    }
  }
  return {
    [Symbol.asyncIterator]: () => events(),
    close: () => abort.abort(),
  };
}

function parseEvent(line: string): WatchEvent<KubeObject> {
  const event = JSON.parse(line) as { type: string; object: KubeObject };
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
    case "BOOKMARK":
      return event as WatchEvent<KubeObject>;
    case "ERROR": {
      const status = event.object as unknown as Status;
      throw new ApiError({ ...status, code: status.code ?? 500 });
    }
    default:
      throw new Error(`unknown type of watch event: ${String(event.type)}`);
  }
}
