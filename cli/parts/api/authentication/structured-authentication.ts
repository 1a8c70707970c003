// The issuers of --authentication-config while the server runs: the file is looked at once a minute, and a good new version
// takes the place of the old one; a bad one is logged and changes nothing. An issuer that both versions have keeps its keys.
import type { Logger } from "pino";
import { Issuer, OidcAuthenticator } from "../../../../apiserver-lite/index.ts";
import type { Clock } from "../../../../api/clock.ts";
import type {
  TokenAuthenticator,
  UserInfo,
} from "../../../../api/contracts.ts";
import { isDeepStrictEqual } from "node:util";
import type { Dial } from "../../../../client/egress/egress-dialer.ts";
import type { OptionValues } from "../../../options/parse.ts";
import { UsageError } from "../../../options/table.ts";
import { FollowedFile } from "../../followed-file.ts";
import { readOptionFile } from "../../option-files.ts";
import {
  readAuthenticationConfig,
  type AuthenticationConfig,
  type JwtIssuer,
} from "./authentication-config.ts";

const option = "authentication-config";
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
  /** May the file say on which paths requests need no credentials? */
  readonly anonymousPaths: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How connections leave; undefined: directly. */
  readonly dial?: Dial | undefined;
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
  // The text is the reference's, its gate's name as well.
  if (config.anonymous !== undefined && !options.anonymousPaths)
    throw new UsageError(
      `${file}: anonymous: Forbidden: anonymous is not supported when AnonymousAuthConfigurableEnpoints feature gate is disabled`,
    );
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
  readonly #followed: FollowedFile;
  #known: readonly Known[] = [];
  #authenticators: readonly OidcAuthenticator[] = [];
  #started = false;

  constructor(
    options: StructuredOptions,
    file: string,
    text: string,
    config: AuthenticationConfig,
  ) {
    this.#options = options;
    this.#file = file;
    this.#followed = new FollowedFile({
      ...{ file, text, clock: options.clock },
      use: (changed) => this.#reload(changed),
      failed: (err) =>
        options.logger.error(
          { err, file },
          "the authentication file can't be reloaded: the version before stays in force",
        ),
    });
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
    this.#followed.start();
  }

  async close(): Promise<void> {
    this.#followed.stop();
    await Promise.all(this.#known.map(({ issuer }) => issuer.close()));
  }

  async #reload(text: string): Promise<void> {
    const { logger, ownIssuers } = this.#options;
    const config = await readAuthenticationConfig(text, this.#file, ownIssuers);
    if (!isDeepStrictEqual(config.anonymous, this.anonymous))
      throw new Error("changes of `anonymous` need a restart");
    if (this.#followed.stopped) return;
    this.#use(config.issuers);
    logger.info({ file: this.#file }, "the authentication file was reloaded");
  }

  #use(issuers: readonly JwtIssuer[]): void {
    const { clock, logger, audiences, dial } = this.#options;
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
        ...{ clock, logger, dial },
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
