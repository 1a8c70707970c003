// One HTTP exchange of orbitctl: any method, content type and encoding, with the credentials of the connection; the
// server's warnings go to stderr. Connections end with close().
import { trimEnd } from "../../api/patterns/trim.ts";
import type { Readable } from "node:stream";
import type { Agent, Dispatcher } from "undici";
import { ApiError } from "../../api/errors.ts";
import { statusError } from "../../client/content/status-error.ts";
import type { HttpTransportOptions } from "../../client/http-transport.ts";

import { orbitVersion } from "../version.ts";
import { checkServerNames } from "../../api/pki/server-names.ts";

export interface CtlConnection extends HttpTransportOptions {
  namespace: string;
  warningsAsErrors?: boolean;
  compression?: boolean;
}

interface CtlRequest {
  method?: string;
  /** With its query. */
  path: string;
  accept?: string;
  contentType?: string;
  body?: Buffer | string;
}

interface CtlAnswer {
  status: number;
  contentType: string;
  body: Buffer;
}

export class CtlHttp {
  #agent: Promise<Agent> | undefined;
  #closed = false;
  readonly base: URL;
  /** How many warnings the server sent. */
  warnings = 0;

  constructor(readonly connection: CtlConnection) {
    this.base = new URL(connection.server);
  }

  async #dispatcher(): Promise<Agent> {
    const { Agent } = await import("undici");
    const { ca, cert, key, serverName, insecureSkipVerify } =
      this.connection.tls ?? {};
    return new Agent({
      connect: {
        ...(ca ? { ca } : {}),
        ...(cert ? { cert } : {}),
        ...(key ? { key } : {}),
        ...(serverName ? { servername: serverName } : {}),
        ...(insecureSkipVerify ? { rejectUnauthorized: false } : {}),
        checkServerIdentity: checkServerNames,
      },
    });
  }

  /** Authentication and impersonation, also for WebSockets. */
  async headers(): Promise<Record<string, string | string[]>> {
    const { token, tokenFile, username, password, impersonate } =
      this.connection;
    const headers: Record<string, string | string[]> = {
      "user-agent": `orbitctl/${orbitVersion}`,
    };
    const bearer = tokenFile
      ? (
          await (await import("node:fs/promises")).readFile(tokenFile, "utf8")
        ).trim()
      : token;
    if (bearer) headers.authorization = `Bearer ${bearer}`;
    else if (username)
      headers.authorization = `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}`;
    if (impersonate) {
      headers["impersonate-user"] = impersonate.user;
      if (impersonate.groups && impersonate.groups.length > 0)
        headers["impersonate-group"] = [...impersonate.groups];
      if (impersonate.uid) headers["impersonate-uid"] = impersonate.uid;
    }
    return headers;
  }

  path(path: string): string {
    return trimEnd(this.base.pathname, "/") + path;
  }

  async #send(request: CtlRequest): Promise<Dispatcher.ResponseData> {
    this.#agent ??= this.#dispatcher();
    const dispatcher = await this.#agent;
    const timeoutMs = this.connection.requestTimeoutMs ?? 0;
    const headers = await this.headers();
    headers.accept = request.accept ?? "application/json";
    if (request.body !== undefined)
      headers["content-type"] = request.contentType ?? "application/json";
    const response = await dispatcher.request({
      origin: this.base.origin,
      path: this.path(request.path),
      method: (request.method ?? "GET") as Dispatcher.HttpMethod,
      headers,
      body: request.body ?? null,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    const warnings = response.headers.warning;
    for (const warning of warnings === undefined ? [] : [warnings].flat()) {
      for (const [, text] of warning.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)) {
        this.warnings++;
        process.stderr.write(`Warning: ${text!.replace(/\\(.)/g, "$1")}\n`);
      }
    }
    return response;
  }

  /** Rejects with an ApiError on a status of 400 and more. */
  async call(request: CtlRequest): Promise<CtlAnswer> {
    const response = await this.#send(request);
    const body = Buffer.from(await response.body.arrayBuffer());
    if (response.statusCode >= 400)
      throw statusError(response.statusCode, body.toString(), response.headers);
    return {
      status: response.statusCode,
      contentType: String(response.headers["content-type"] ?? ""),
      body,
    };
  }

  async json<T = unknown>(request: CtlRequest): Promise<T> {
    const { body } = await this.call(request);
    return JSON.parse(body.toString()) as T;
  }

  /** The body as it comes: logs, watches. */
  async stream(request: CtlRequest): Promise<Readable> {
    const response = await this.#send(request);
    if (response.statusCode >= 400)
      throw statusError(
        response.statusCode,
        await response.body.text(),
        response.headers,
      );
    return response.body;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await (await this.#agent)?.destroy();
  }
}

/** `Error from server (NotFound): pods "x" not found`, as users of kubectl know it. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) {
    return error.reason
      ? `Error from server (${error.reason}): ${error.message}`
      : `Error from server: ${error.message}`;
  }
  const { code, message } = error as { code?: string; message?: string };
  if (
    code === "ECONNREFUSED" ||
    code === "ENOTFOUND" ||
    code === "ETIMEDOUT" ||
    code === "UND_ERR_CONNECT_TIMEOUT"
  ) {
    return `The connection to the server was refused or timed out - did you specify the right host or port? (${message ?? code})`;
  }
  return `error: ${message ?? String(error)}`;
}
