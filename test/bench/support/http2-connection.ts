// One HTTP/2 connection for many requests at once, which throws the bodies of answers away.
import { once } from "node:events";
import * as http2 from "node:http2";
import type { Answer, Target } from "./connection.ts";

export class Http2Connection {
  readonly #session: http2.ClientHttp2Session;
  /** The server's settings are there: without them more streams are opened than it allows. */
  readonly #ready: Promise<unknown>;

  constructor(private readonly target: Target) {
    const { url, ca, cert, key, insecure } = target;
    this.#session = http2.connect(url, {
      ca,
      cert,
      key,
      rejectUnauthorized: !insecure,
    });
    this.#session.on("error", () => undefined);
    this.#ready = once(this.#session, "remoteSettings");
  }

  async request(
    method: string,
    path: string,
    _body?: undefined,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    await this.#ready;
    const { token } = this.target;
    const stream = this.#session.request(
      {
        ":method": method,
        ":path": path,
        ...(token && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      { endStream: true },
    );
    return new Promise((resolve, reject) => {
      let bytes = 0;
      let status = 0;
      stream.on("response", (answer) => (status = answer[":status"] ?? 0));
      stream.on("data", (chunk: Buffer) => (bytes += chunk.length));
      stream.on("end", () => resolve({ status, bytes, body: "" }));
      stream.on("error", reject);
    });
  }

  /** All of its requests end, those of others too. */
  close(): void {
    this.#session.close();
  }
}
