// A watch over HTTP, read as an async sequence of events. close() ends the sequence without an error, at any time.
import { ApiError } from "../api/errors.ts";
import type { KubeObject } from "../api/object.ts";
import type { Status } from "../api/types/meta-v1.ts";
import type { DecodedEvent } from "./content/body-codec.ts";
import type { WatchEvent, WatchOptions, WatchStream } from "./client.ts";

export function watchQuery(options: WatchOptions): Record<string, string> {
  const query: Record<string, string> = { watch: "1" };
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && value !== "" && name !== "namespace")
      query[name] = String(value);
  return query;
}

/** @param open sends the request and gives the answer's events; the signal aborts it */
export function watchStream(
  open: (signal: AbortSignal) => Promise<AsyncIterable<DecodedEvent>>,
): WatchStream<KubeObject> {
  const abort = new AbortController();
  async function* events(): AsyncGenerator<WatchEvent<KubeObject>> {
    try {
      for await (const event of await open(abort.signal)) {
        if (abort.signal.aborted) return;
        yield checkedEvent(event);
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

function checkedEvent(event: DecodedEvent): WatchEvent<KubeObject> {
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
    case "BOOKMARK":
      return event as WatchEvent<KubeObject>;
    case "ERROR": {
      const status = event.object as Status;
      throw new ApiError({ ...status, code: status.code ?? 500 });
    }
    default:
      throw new Error(`unknown type of watch event: ${String(event.type)}`);
  }
}
