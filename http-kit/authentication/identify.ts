// The identity of a request's sender: the first authenticator that knows it reports it; else it is anonymous, where that
// is allowed. A bad credential is refused also where anonymous requests are not.
import type { Logger } from "pino";
import type { UserInfo } from "../../api/contracts.ts";
import { ApiError } from "../../api/errors.ts";
import type {
  AuthenticationRequest,
  AuthenticationResult,
  RequestAuthenticator,
} from "./authenticator.ts";
import { ANONYMOUS_USER } from "./groups.ts";

export interface IdentifyOptions {
  readonly authenticators: readonly RequestAuthenticator[];
  /** May requests without credentials pass? */
  readonly anonymous: boolean;
  readonly logger: Pick<Logger, "debug">;
}

type Answer = AuthenticationResult | undefined | "bad";

/** Undefined: 401. A promise only where an authenticator waits for something. */
export function identify(
  options: IdentifyOptions,
  request: AuthenticationRequest,
): UserInfo | undefined | Promise<UserInfo | undefined> {
  return identifyFrom(options, request, 0, false);
}

/** Asks the authenticators from `at` on. @param bad a credential has been refused */
function identifyFrom(
  options: IdentifyOptions,
  request: AuthenticationRequest,
  at: number,
  bad: boolean,
): UserInfo | undefined | Promise<UserInfo | undefined> {
  const { authenticators, anonymous, logger } = options;
  const refused = (error: unknown): "bad" => {
    if (!(error instanceof ApiError))
      logger.debug({ err: error }, "authentication failed");
    return "bad";
  };
  for (; at < authenticators.length; at++) {
    let answer: Answer | Promise<AuthenticationResult | undefined>;
    try {
      answer = authenticators[at]!.authenticate(request);
    } catch (error) {
      answer = refused(error);
    }
    if (answer instanceof Promise)
      return answer
        .catch(refused)
        .then((late) =>
          late === undefined || late === "bad"
            ? identifyFrom(options, request, at + 1, bad || late === "bad")
            : late.user,
        );
    if (answer === "bad") bad = true;
    else if (answer) return answer.user;
  }
  return anonymous && !bad ? anonymousUser : undefined;
}

const anonymousUser: UserInfo = Object.freeze({
  name: ANONYMOUS_USER,
  groups: Object.freeze(["system:unauthenticated"]),
  extra: Object.freeze({}),
});
