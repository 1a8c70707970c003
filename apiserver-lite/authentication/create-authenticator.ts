// The chain every request goes through: front proxy, client certificate, bearer token, anonymous. The first that knows
// the request decides; one that finds its own credential bad answers 401 for all, as the reference does.
import type {
  AuthenticationRemarks,
  TokenAuthenticator,
  UserInfo,
} from "../../api/contracts.ts";
import { errors } from "../../api/errors.ts";
import type {
  AuthenticationRequest,
  AuthenticationResult,
  RequestAuthenticator,
} from "../../http-kit/authentication/authenticator.ts";
import {
  ANONYMOUS_USER,
  withAuthenticatedGroup,
} from "../../http-kit/authentication/groups.ts";
import { subprotocolToken } from "./bearer-subprotocol.ts";

const UNAUTHENTICATED_GROUP = "system:unauthenticated";

interface AuthenticatorOptions {
  readonly requestHeader?: RequestAuthenticator;
  readonly clientCertificate?: RequestAuthenticator;
  /** In order. Further kinds (OIDC, webhooks) are just more of these. */
  readonly tokens: readonly TokenAuthenticator[];
  /** May requests without credentials pass as system:anonymous? A list: only for these paths. */
  readonly anonymous: boolean | readonly string[];
}

const BEARER = /^bearer +([^\s]+)$/i;

export function createAuthenticator(
  options: AuthenticatorOptions,
): RequestAuthenticator {
  const certificates = [
    options.requestHeader,
    options.clientCertificate,
  ].filter((part) => part !== undefined);
  const anonymous: UserInfo = {
    name: ANONYMOUS_USER,
    groups: [UNAUTHENTICATED_GROUP],
    extra: {},
  };
  const allowsAnonymous = (path: string): boolean =>
    typeof options.anonymous === "boolean"
      ? options.anonymous
      : options.anonymous.includes(path);

  const byToken = async (
    token: string,
    remarks: AuthenticationRemarks | undefined,
  ): Promise<AuthenticationResult> => {
    const user = await authenticateToken(
      options.tokens,
      token,
      undefined,
      remarks,
    );
    if (!user) throw errors.unauthorized();
    return authenticated({ user });
  };
  const withoutCertificate = (
    request: AuthenticationRequest,
  ): AuthenticationResult | Promise<AuthenticationResult> => {
    const token = bearerToken(request);
    if (token !== undefined) return byToken(token, request.remarks);
    if (allowsAnonymous(request.path)) return { user: anonymous };
    throw errors.unauthorized();
  };
  const ask = (
    request: AuthenticationRequest,
    at: number,
  ): AuthenticationResult | Promise<AuthenticationResult> => {
    const part = certificates[at];
    if (!part) return withoutCertificate(request);
    const found = part.authenticate(request);
    if (found instanceof Promise)
      return found.then((known) =>
        known ? authenticated(known) : ask(request, at + 1),
      );
    return found ? authenticated(found) : ask(request, at + 1);
  };
  return { authenticate: (request) => ask(request, 0) };
}

/** Asks one authenticator after the other; a rejection counts only when no other one knows the token. */
export async function authenticateToken(
  authenticators: readonly TokenAuthenticator[],
  token: string,
  audiences?: readonly string[],
  remarks?: AuthenticationRemarks,
): Promise<UserInfo | undefined> {
  let failure: unknown;
  for (const authenticator of authenticators) {
    try {
      const user = await authenticator.authenticateToken(
        token,
        audiences,
        remarks,
      );
      if (user) return user;
    } catch (error) {
      failure ??= error;
    }
  }
  if (failure) throw failure;
  return undefined;
}

function authenticated(result: AuthenticationResult): AuthenticationResult {
  const user = withAuthenticatedGroup(result.user);
  return user === result.user ? result : { ...result, user };
}

/** From the Authorization header, or from a WebSocket subprotocol. */
function bearerToken({ headers }: AuthenticationRequest): string | undefined {
  const match = BEARER.exec(headers.authorization?.trim() ?? "");
  return match ? match[1] : subprotocolToken(headers);
}
