// What an OpenID Connect issuer publishes: its discovery document, which must name the issuer itself, and its keys. Both
// are fetched in the background from the start on, and keys again when a token names an unknown one, at most once in ten
// seconds. The keys, too, are fetched from https URLs only.
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Dispatcher } from "undici";
import { dialedConnector } from "../../../client/egress/dialed-connector.ts";
import type { Dial } from "../../../client/egress/egress-dialer.ts";
import type { Clock, Timer } from "../../../api/clock.ts";
import {
  issuerKeys,
  type IssuerKey,
  type PublishedKey,
} from "./signed-token.ts";

interface IssuerOptions {
  /** https://… */
  readonly url: string;
  /** Where its discovery document is, where it isn't below its URL. */
  readonly discoveryUrl?: string;
  /** PEM; the machine's roots without it. */
  readonly authority?: string;
  /** How connections leave; undefined: directly. */
  readonly dial?: Dial | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const RETRY_MS = 10_000;
const MAX_PARTIES = 16;
/** As long as the reference keeps who a token is. */
const CLAIMS_MS = 10_000;
const MAX_CLAIM_CHARACTERS = 4 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 1024 * 1024;

export class Issuer {
  readonly #options: IssuerOptions;
  #dispatcher: Promise<Dispatcher> | undefined;
  #keySetUrl: string | undefined;
  #keys: readonly IssuerKey[] | undefined;
  #fetchedMs = -Infinity;
  #fetching: Promise<void> | undefined;
  #retry: Timer | undefined;
  #closed = false;
  /** By their URLs, the one that was asked for last at the end. */
  readonly #parties = new Map<string, Issuer>();
  /** Each request brings the token that names them. */
  readonly #claimTokens = new LRUCache<string, string>({
    ttl: CLAIMS_MS,
    maxSize: MAX_CLAIM_CHARACTERS,
    sizeCalculation: (token, key) => token.length + key.length,
  });

  constructor(options: IssuerOptions) {
    this.#options = options;
  }

  get url(): string {
    return this.#options.url;
  }

  start(): void {
    void this.#refresh().then(() => {
      if (this.#keys || this.#closed) return;
      this.#retry = this.#options.clock.after(RETRY_MS, () => this.start());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#retry?.cancel();
    const parties = [...this.#parties.values()];
    await Promise.all(parties.map((party) => party.close()));
    await (await this.#dispatcher)?.destroy();
  }

  /** Who holds claims of this issuer's users: itself, or another issuer, whose keys are asked with the same roots. */
  party(url: string): Issuer {
    if (url === this.url) return this;
    const { discoveryUrl: _, ...options } = this.#options;
    const found = this.#parties.get(url) ?? new Issuer({ ...options, url });
    this.#parties.delete(url);
    this.#parties.set(url, found);
    const [[oldest, forgotten] = []] = this.#parties;
    if (this.#parties.size > MAX_PARTIES && oldest && forgotten) {
      this.#parties.delete(oldest);
      forgotten.close().catch(() => undefined);
    }
    return found;
  }

  /** The token with claims that a party answers, or answered a moment ago. @param url https://… */
  async claimToken(url: string, accessToken: string): Promise<string> {
    const key = JSON.stringify([url, accessToken]);
    const known = this.#claimTokens.get(key);
    if (known !== undefined) return known;
    const headers: Record<string, string> =
      accessToken === "" ? {} : { authorization: `Bearer ${accessToken}` };
    const token = await this.#text(url, headers);
    this.#claimTokens.set(key, token);
    return token;
  }

  /** Undefined: the issuer could not be asked yet. */
  keys(): readonly IssuerKey[] | undefined {
    return this.#keys;
  }

  /** The keys after another look, unless the last one was just now. */
  async newerKeys(): Promise<readonly IssuerKey[] | undefined> {
    const { clock } = this.#options;
    if (this.#fetching) await this.#fetching;
    else if (clock.monotonic() - this.#fetchedMs >= RETRY_MS)
      await this.#refresh();
    return this.#keys;
  }

  #refresh(): Promise<void> {
    return (this.#fetching ??= this.#fetch()
      .catch((err: unknown) => {
        if (!this.#closed)
          this.#options.logger.warn(
            { err, issuer: this.url },
            "oidc: the issuer's keys can't be fetched",
          );
      })
      .finally(() => {
        this.#fetchedMs = this.#options.clock.monotonic();
        this.#fetching = undefined;
      }));
  }

  async #fetch(): Promise<void> {
    this.#keySetUrl ??= await this.#discover();
    const { keys } = (await this.#get(this.#keySetUrl)) as {
      keys?: PublishedKey[];
    };
    if (!Array.isArray(keys)) throw new Error("oidc: no keys in the key set");
    this.#keys = issuerKeys(keys);
  }

  async #discover(): Promise<string> {
    const document = (await this.#get(
      this.#options.discoveryUrl ??
        `${this.url.replace(/\/$/, "")}/.well-known/openid-configuration`,
    )) as { issuer?: string; jwks_uri?: string };
    if (document.issuer !== this.url)
      throw new Error(
        `oidc: issuer did not match the issuer returned by provider, expected ${JSON.stringify(this.url)} got ${JSON.stringify(document.issuer)}`,
      );
    const url = document.jwks_uri ?? "";
    if (!url.startsWith("https://"))
      throw new Error("oidc: jwks_uri must be an https URL");
    return url;
  }

  async #get(url: string): Promise<unknown> {
    return JSON.parse(await this.#text(url, { accept: "application/json" }));
  }

  async #text(url: string, headers: Record<string, string>): Promise<string> {
    const { request } = await import("undici");
    const answer = await request(url, {
      dispatcher: await (this.#dispatcher ??= this.#connect()),
      headers,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    let text = "";
    for await (const chunk of answer.body) {
      text += (chunk as Buffer).toString();
      if (text.length > MAX_BYTES) throw new Error(`${url}: too large`);
    }
    if (answer.statusCode !== 200)
      throw new Error(`${url}: status ${answer.statusCode}`);
    return text;
  }

  async #connect(): Promise<Dispatcher> {
    const { Agent, buildConnector } = await import("undici");
    const { authority, dial } = this.#options;
    const tls = {
      ...(authority ? { ca: authority } : {}),
      timeout: TIMEOUT_MS,
    };
    return new Agent({
      connect: dial ? dialedConnector(dial, buildConnector(tls)) : tls,
    });
  }
}
