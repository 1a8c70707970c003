// A server in memory on a real socket, and a client that shows status, headers and body of every answer.
import pino from "pino";
import {
  createApiServer,
  type ApiServer,
} from "../../../apiserver-lite/server.ts";
import type { ApiServerOptions } from "../../../apiserver-lite/server-options.ts";
import { createMemoryStore } from "../../../storage/memory/memory-store.ts";
import { eventually } from "../../support/eventually.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** Tests look into answers freely. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Json = any;

export interface Answer {
  status: number;
  headers: Headers;
  body: Json;
  text: string;
}

export interface TestServer {
  server: ApiServer;
  url: string;
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  watch(path: string, headers?: Record<string, string>): Promise<WatchReader>;
  stop(): Promise<void>;
}

/** What is written to its store is written by the test alone: it does not renew a lease of its own. */
export async function startTestServer(
  options: Partial<ApiServerOptions> = {},
): Promise<TestServer> {
  const server = createApiServer({
    store: createMemoryStore(),
    logger: pino({ level: "silent" }),
    ...options,
    featureGates: { APIServerIdentity: false, ...options.featureGates },
  });
  await server.start();
  const url = `http://127.0.0.1:${server.port}`;
  return {
    server,
    url,
    async call(method, path, body, headers = {}) {
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : {
              body:
                typeof body === "string" || body instanceof Uint8Array
                  ? (body as string)
                  : JSON.stringify(body),
            }),
      });
      const text = await response.text();
      let parsed: Json = {};
      try {
        parsed = JSON.parse(text);
      } catch {
        // Not JSON: the test looks at text.
      }
      return {
        status: response.status,
        headers: response.headers,
        body: parsed,
        text,
      };
    },
    watch: (path, headers) => WatchReader.open(url + path, headers),
    stop: () => stopServer(server, options.clock),
  };
}

/** What a stop waits for may end by the server's clock. */
async function stopServer(
  server: ApiServer,
  clock: ApiServerOptions["clock"],
): Promise<void> {
  const stopping = server.stop();
  if (clock instanceof FakeClock) {
    let over = false;
    const noted = (): void => void (over = true);
    stopping.then(noted, noted);
    await eventually(async () => {
      await clock.advanceAsync(20);
      return over;
    });
  }
  return stopping;
}

export interface Frame {
  type: string;
  object: Json;
}

/** Reads a watch frame by frame. */
export class WatchReader {
  #text = "";
  /** A piece may end within a character. */
  readonly #decoder = new TextDecoder();
  readonly #frames: Frame[] = [];
  readonly #abort: AbortController;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  private constructor(
    abort: AbortController,
    reader: ReadableStreamDefaultReader<Uint8Array>,
    readonly status: number,
  ) {
    this.#abort = abort;
    this.#reader = reader;
  }

  static async open(
    url: string,
    headers: Record<string, string> = {},
  ): Promise<WatchReader> {
    const abort = new AbortController();
    const response = await fetch(url, { headers, signal: abort.signal });
    return new WatchReader(abort, response.body!.getReader(), response.status);
  }

  /** The next frame; undefined at the end of the stream. */
  async next(): Promise<Frame | undefined> {
    while (this.#frames.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
      const lines = this.#text.split("\n");
      this.#text = lines.pop()!;
      for (const line of lines)
        if (line) this.#frames.push(JSON.parse(line) as Frame);
    }
    return this.#frames.shift();
  }

  async take(count: number): Promise<string[]> {
    const shown: string[] = [];
    for (let index = 0; index < count; index++) {
      const frame = await this.next();
      shown.push(
        frame ? `${frame.type} ${frame.object["metadata"]?.name ?? ""}` : "end",
      );
    }
    return shown;
  }

  close(): void {
    this.#abort.abort();
  }
}

export const configMaps = "/api/v1/namespaces/default/configmaps";

export function configMap(name: string, fields: object = {}): object {
  return {
    kind: "ConfigMap",
    apiVersion: "v1",
    metadata: { name },
    ...fields,
  };
}
