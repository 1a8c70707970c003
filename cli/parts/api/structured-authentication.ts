// The issuers of --authentication-config while the server runs: the file is looked at once a minute, and a good new version
// takes the place of the old one; a bad one is logged and changes nothing. An issuer that both versions have keeps its keys.
import { readFile } from "node:fs/promises";
import type { Logger } from "pino";
import { Issuer, OidcAuthenticator } from "../../../apiserver-lite/index.ts";
import type { Clock, Timer } from "../../../api/clock.ts";
import type { TokenAuthenticator, UserInfo } from "../../../api/contracts.ts";
import { isDeepStrictEqual } from "node:util";
import type { OptionValues } from "../../options/parse.ts";
import { UsageError } from "../../options/table.ts";
import { readOptionFile } from "../option-files.ts";
import {
  readAuthenticationConfig,
  type AuthenticationConfig,
  type JwtIssuer,
} from "./authentication-config.ts";

const option = "authentication-config";
const lookEveryMs = 60_000;
/** Any that can be checked, as at the reference. */
const algorithms = [
  ...["RS256", "RS384", "RS512"],
  ...["ES256", "ES384", "ES512"],
  ...["PS256", "PS384", "PS512"],
];

interface StructuredOptions {
  readonly values: OptionValues;
  /** Audiences this server answers to. */
  readonly audiences: readonly string[];
  /** Of service account tokens. */
  readonly ownIssuers: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Known {
  readonly key: string;
  readonly issuer: Issuer;
}

/** @throws UsageError; undefined without the option */
export async function structuredAuthentication(
  options: StructuredOptions,
): Promise<StructuredAuthentication | undefined> {
  const { values } = options;
  const file = values.optionalText(option);
  if (!file) return undefined;
  if (
    values.map("feature-gates")["StructuredAuthenticationConfiguration"] ===
    "false"
  )
    throw new UsageError(
      `--${option} needs the feature gate StructuredAuthenticationConfiguration`,
    );
  const text = readOptionFile(option, file);
  const config = await readAuthenticationConfig(text, file, options.ownIssuers);
  if (config.anonymous !== undefined && values.isSet("anonymous-auth"))
    throw new UsageError(
      `--anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file (--${option})`,
    );
  return new StructuredAuthentication(options, file, text, config);
}

class StructuredAuthentication implements TokenAuthenticator {
  /** As the request chain takes it; undefined: the file does not say. Changes need a restart. */
  readonly anonymous: AuthenticationConfig["anonymous"];
  readonly #options: StructuredOptions;
  readonly #file: string;
  #text: string;
  #known: readonly Known[] = [];
  #authenticators: readonly OidcAuthenticator[] = [];
  #timer: Timer | undefined;
  #started = false;
  #closed = false;

  constructor(
    options: StructuredOptions,
    file: string,
    text: string,
    config: AuthenticationConfig,
  ) {
    this.#options = options;
    this.#file = file;
    this.#text = text;
    this.anonymous = config.anonymous;
    this.#use(config.issuers);
  }

  /** Undefined: of no issuer of the file. Rejects with why the token is bad. */
  async authenticateToken(
    token: string,
    audiences?: readonly string[],
  ): Promise<UserInfo | undefined> {
    for (const each of this.#authenticators) {
      const user = await each.authenticateToken(token, audiences);
      if (user) return user;
    }
    return undefined;
  }

  start(): void {
    this.#started = true;
    for (const { issuer } of this.#known) issuer.start();
    this.#lookLater();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.cancel();
    await Promise.all(this.#known.map(({ issuer }) => issuer.close()));
  }

  #lookLater(): void {
    this.#timer = this.#options.clock.after(lookEveryMs, () => {
      void this.#reload().then(() => {
        if (!this.#closed) this.#lookLater();
      });
    });
  }

  /** Never rejects. */
  async #reload(): Promise<void> {
    const { logger, ownIssuers } = this.#options;
    try {
      const text = await readFile(this.#file, "utf8");
      if (text === this.#text) return;
      // A bad version is reported once.
      this.#text = text;
      const config = await readAuthenticationConfig(
        text,
        this.#file,
        ownIssuers,
      );
      if (!isDeepStrictEqual(config.anonymous, this.anonymous))
        throw new Error("changes of `anonymous` need a restart");
      if (this.#closed) return;
      this.#use(config.issuers);
      logger.info({ file: this.#file }, "the authentication file was reloaded");
    } catch (err) {
      logger.error(
        { err, file: this.#file },
        "the authentication file can't be reloaded: the version before stays in force",
      );
    }
  }

  #use(issuers: readonly JwtIssuer[]): void {
    const { clock, logger, audiences } = this.#options;
    const before = new Map(this.#known.map((each) => [each.key, each]));
    this.#known = issuers.map(({ url, discoveryUrl, authority }) => {
      const key = JSON.stringify([url, discoveryUrl, authority]);
      const kept = before.get(key);
      if (kept) {
        before.delete(key);
        return kept;
      }
      const issuer = new Issuer({
        url,
        ...(discoveryUrl === undefined ? {} : { discoveryUrl }),
        ...(authority === undefined ? {} : { authority }),
        ...{ clock, logger },
      });
      if (this.#started) issuer.start();
      return { key, issuer };
    });
    this.#authenticators = issuers.map(
      ({ audiences: clientIds, mapping }, index) =>
        new OidcAuthenticator({
          issuer: this.#known[index]!.issuer,
          ...{ clientIds, algorithms, mapping, audiences, clock },
        }),
    );
    for (const { issuer } of before.values())
      issuer
        .close()
        .catch((err: unknown) =>
          logger.warn({ err }, "the connections of an issuer can't be closed"),
        );
  }
}
