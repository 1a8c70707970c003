// A plain HTTPS client of one API server, without the project's own: requests with JSON bodies, and watches line by line.
import type * as http from "node:http";
import * as https from "node:https";

export interface Answer {
  readonly status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- as the server wrote it
  readonly body: any;
}

export interface WatchLine {
  readonly type: string;
  readonly object: {
    readonly kind?: string;
    readonly code?: number;
    readonly metadata: {
      readonly name: string;
      readonly resourceVersion: string;
    };
    readonly data?: { readonly value: string };
  };
}

/** Of a user that may do everything; for --token-auth-file. */
const token = "robustness";
export const tokenFile = `${token},admin,admin,system:masters\n`;

export class ApiClient {
  readonly #agent = new https.Agent({
    keepAlive: true,
    rejectUnauthorized: false,
  });

  constructor(private readonly port: number) {}

  /** Rejects when no whole answer came: what became of the request is unknown. */
  request(method: string, path: string, body?: unknown): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const request = this.#open(method, path, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", reject);
        response.once("close", () => {
          if (!response.complete) return reject(new Error("cut off"));
          const text = Buffer.concat(chunks).toString();
          try {
            resolve({
              status: response.statusCode!,
              body: JSON.parse(text) as unknown,
            });
          } catch {
            resolve({ status: response.statusCode!, body: text });
          }
        });
      });
      request.once("error", reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  /** Resolves when the watch has ended; a cut last line is dropped. */
  watch(path: string, onLine: (line: WatchLine) => void): Promise<void> {
    return new Promise((resolve) => {
      const request = this.#open("GET", path, (response) => {
        let rest = "";
        response.on("data", (chunk: Buffer) => {
          const lines = (rest + chunk.toString()).split("\n");
          rest = lines.pop()!;
          for (const line of lines)
            if (response.statusCode === 200)
              onLine(JSON.parse(line) as WatchLine);
        });
        response.once("error", () => undefined);
        response.once("close", () => {
          if (response.statusCode !== 200)
            onLine({
              type: "ERROR",
              object: {
                code: response.statusCode!,
                metadata: { name: "", resourceVersion: "0" },
              },
            });
          resolve();
        });
      });
      request.once("error", () => resolve());
      request.end();
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #open(
    method: string,
    path: string,
    onResponse: (response: http.IncomingMessage) => void,
  ): http.ClientRequest {
    return https.request(
      {
        ...{ method, path, host: "127.0.0.1", port: this.port },
        agent: this.#agent,
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${token}`,
        },
      },
      onResponse,
    );
  }
}
