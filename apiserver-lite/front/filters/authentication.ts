// Who asks: the first authenticator that knows the request says so; else it is anonymous, where that is allowed, or 401.
// A bad credential is 401 as well.
import type { Logger } from "pino";
import type { UserInfo } from "../../../api/contracts.ts";
import { ApiError, errors } from "../../../api/errors.ts";
import type {
  AuthenticationResult,
  RequestAuthenticator,
} from "../../../http-kit/authentication/authenticator.ts";
import type { HttpRequest } from "../../serving/http-request.ts";
import type { Filter } from "../filter.ts";

interface AuthenticationOptions {
  readonly authenticators: readonly RequestAuthenticator[];
  /** May requests without credentials pass? */
  readonly anonymous: boolean;
  /** Notified before a request is refused. */
  readonly refused: (request: HttpRequest) => void;
  readonly logger: Logger;
}

export function authenticationFilter(options: AuthenticationOptions): Filter {
  const { authenticators, anonymous, refused, logger } = options;

  function authenticated(request: HttpRequest, user: UserInfo): void {
    request.user = user;
    request.original = user;
  }

  function unknown(request: HttpRequest, bad: boolean): void {
    if (anonymous && !bad) return authenticated(request, anonymousUser);
    refused(request);
    throw errors.unauthorized();
  }

  function isBad(error: unknown): true {
    if (!(error instanceof ApiError))
      logger.debug({ err: error }, "authentication failed");
    return true;
  }

  /** The authenticators from `at` on. Waits only where one of them does. */
  function ask(
    request: HttpRequest,
    credentials: Parameters<RequestAuthenticator["authenticate"]>[0],
    at: number,
    bad: boolean,
  ): void | Promise<void> {
    for (; at < authenticators.length; at++) {
      let answer: ReturnType<RequestAuthenticator["authenticate"]>;
      try {
        answer = authenticators[at]!.authenticate(credentials);
      } catch (error) {
        bad = isBad(error);
        continue;
      }
      if (answer instanceof Promise)
        return answer
          .then(
            (result): Outcome => ({ result, bad }),
            (error): Outcome => ({ result: undefined, bad: isBad(error) }),
          )
          .then((outcome) =>
            outcome.result
              ? authenticated(request, outcome.result.user)
              : ask(request, credentials, at + 1, outcome.bad),
          );
      if (answer) return authenticated(request, answer.user);
    }
    unknown(request, bad);
  }

  return {
    name: "authentication",
    skipsParts: true,
    enter(request) {
      const { headers, peer } = request.exchange;
      const credentials = {
        headers,
        path: request.info.path,
        clientCertificate: peer.clientCertificate,
        clientChain: peer.clientChain,
        remoteAddress: peer.remoteAddress,
      };
      return ask(request, credentials, 0, false);
    },
  };
}

interface Outcome {
  readonly result: AuthenticationResult | undefined;
  /** A credential was refused. */
  readonly bad: boolean;
}

const anonymousUser: UserInfo = Object.freeze({
  name: "system:anonymous",
  groups: Object.freeze(["system:unauthenticated"]),
  extra: Object.freeze({}),
});
