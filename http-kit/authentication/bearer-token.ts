// Bearer tokens, checked by a TokenAuthenticator. Any other Authorization header is a bad
// credential too.
import type { TokenAuthenticator } from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import type {
  AuthenticationRequest,
  AuthenticationResult,
  RequestAuthenticator,
} from "./authenticator.ts";

export class BearerTokenAuthenticator implements RequestAuthenticator {
  /** @param tokens undefined: no token is known */
  constructor(private readonly tokens: TokenAuthenticator | undefined) {}

  authenticate({
    headers: { authorization },
  }: AuthenticationRequest): undefined | Promise<AuthenticationResult> {
    if (authorization === undefined) return undefined;
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (token === undefined || !this.tokens) throw errors.unauthorized();
    return this.#known(this.tokens, token);
  }

  async #known(
    tokens: TokenAuthenticator,
    token: string,
  ): Promise<AuthenticationResult> {
    const user = await tokens.authenticateToken(token);
    if (!user) throw errors.unauthorized();
    return { user };
  }
}
