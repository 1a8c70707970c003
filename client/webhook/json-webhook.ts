// A webhook that a kubeconfig names: JSON is posted to the server's URL itself. One connection pool; nothing is tried again
// here.
import type { Dispatcher } from "undici";
import type { HttpTransportOptions } from "../http-transport.ts";

export type WebhookConnection = Pick<
  HttpTransportOptions,
  "server" | "tls" | "token" | "username" | "password"
>;

/** More than any answer needs. */
const MAX_ANSWER_BYTES = 1024 * 1024;

class WebhookStatusError extends Error {
  override readonly name = "WebhookStatusError";
  constructor(readonly statusCode: number) {
    super(`the webhook answered ${statusCode}`);
  }
}

export class JsonWebhook {
  #dispatcher: Promise<Dispatcher> | undefined;

  constructor(
    private readonly connection: WebhookConnection,
    private readonly timeoutMs: number,
  ) {}

  /** The answer's text. Rejects with WebhookStatusError for 300 and above, and when there is no answer in time. */
  async post(body: string): Promise<string> {
    const { server, token, username, password } = this.connection;
    const basic =
      username === undefined
        ? undefined
        : `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}`;
    const authorization = token ? `Bearer ${token}` : basic;
    const { request } = await import("undici");
    const answer = await request(server, {
      method: "POST",
      dispatcher: await (this.#dispatcher ??= this.#connect()),
      headers: {
        "content-type": "application/json",
        accept: "application/json, */*",
        ...(authorization ? { authorization } : {}),
      },
      body,
      headersTimeout: this.timeoutMs,
      bodyTimeout: this.timeoutMs,
    });
    if (answer.statusCode >= 300) {
      await answer.body.dump();
      throw new WebhookStatusError(answer.statusCode);
    }
    let text = "";
    for await (const chunk of answer.body) {
      text += (chunk as Buffer).toString();
      if (text.length > MAX_ANSWER_BYTES)
        throw new Error("the webhook's answer is too large");
    }
    return text;
  }

  async close(): Promise<void> {
    await (await this.#dispatcher)?.close();
  }

  async #connect(): Promise<Dispatcher> {
    const { Agent } = await import("undici");
    const { tls } = this.connection;
    return new Agent({
      connect: {
        ...(tls?.ca ? { ca: tls.ca } : {}),
        ...(tls?.cert ? { cert: tls.cert } : {}),
        ...(tls?.key ? { key: tls.key } : {}),
        ...(tls?.serverName ? { servername: tls.serverName } : {}),
        rejectUnauthorized: !tls?.insecureSkipVerify,
        timeout: this.timeoutMs,
      },
    });
  }
}
