// Who a transport's requests come from: a token that is given, read from a file or asked for, a name and a password, and
// whom they are made for. A file is read again once a minute and after a 401.
import { readFile } from "node:fs/promises";
import type { Clock } from "../api/clock.ts";
import { TransportError } from "./transport.ts";

const tokenReadIntervalMs = 60_000;

/** Tokens that are made when they are needed. */
export interface TokenSource {
  token(): Promise<string>;
  /** The server took this one no more. */
  refused(token: string): void;
}

export interface CredentialOptions {
  token?: string;
  /** Wins over token; read again once a minute. */
  tokenFile?: string;
  /** Wins over both. */
  tokenSource?: TokenSource;
  username?: string;
  password?: string;
  impersonate?: { user: string; groups?: readonly string[]; uid?: string };
}

export class RequestCredentials {
  #fileToken: { text: string; readMs: number } | undefined;
  #lastToken = "";

  constructor(
    private readonly options: CredentialOptions,
    private readonly clock: Clock,
  ) {}

  /** Sets the headers of one request. */
  async set(headers: Record<string, string | string[]>): Promise<void> {
    const { username, password, impersonate } = this.options;
    const token = await this.#token();
    if (token) headers["authorization"] = `Bearer ${token}`;
    else if (username !== undefined) {
      const pair = `${username}:${password ?? ""}`;
      headers["authorization"] =
        `Basic ${Buffer.from(pair).toString("base64")}`;
    }
    if (impersonate) {
      headers["impersonate-user"] = impersonate.user;
      if (impersonate.groups?.length)
        headers["impersonate-group"] = [...impersonate.groups];
      if (impersonate.uid) headers["impersonate-uid"] = impersonate.uid;
    }
  }

  /** After a 401: whether another token may be had now. */
  refused(): boolean {
    const { tokenFile, tokenSource } = this.options;
    this.#fileToken = undefined;
    tokenSource?.refused(this.#lastToken);
    return tokenFile !== undefined || tokenSource !== undefined;
  }

  async #token(): Promise<string | undefined> {
    const { token, tokenFile, tokenSource } = this.options;
    if (!tokenSource) return tokenFile ? this.#readToken(tokenFile) : token;
    this.#lastToken = await tokenSource.token();
    return this.#lastToken;
  }

  async #readToken(path: string): Promise<string> {
    const nowMs = this.clock.monotonic();
    if (
      !this.#fileToken ||
      nowMs - this.#fileToken.readMs > tokenReadIntervalMs
    ) {
      try {
        const text = (await readFile(path, "utf8")).trim();
        this.#fileToken = { text, readMs: nowMs };
      } catch (error) {
        // While it is being replaced the last good one still serves.
        if (!this.#fileToken)
          throw new TransportError(`cannot read token file ${path}`, {
            cause: error,
          });
      }
    }
    return this.#fileToken.text;
  }
}
