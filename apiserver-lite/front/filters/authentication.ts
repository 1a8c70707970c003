// Finds the user of a request. Throws, or rejects with, ApiError 401.
import type { UserInfo } from "../../../api/contracts.ts";
import { errors } from "../../../api/errors.ts";
import {
  identify,
  type IdentifyOptions,
} from "../../../http-kit/authentication/identify.ts";
import { ANONYMOUS_USER } from "../../../http-kit/authentication/groups.ts";
import type {
  AccessMetrics,
  Authenticated,
} from "../../metrics/access-metrics.ts";
import type { HttpRequest } from "../../serving/http-request.ts";
import type { Filter } from "../filter.ts";

/** Credentials that were not taken are an error; none, where a user has to be known, are a failure. */
function failureOf({ exchange }: HttpRequest): Authenticated {
  const { headers, peer } = exchange;
  const given = headers.authorization ?? peer.clientCertificate;
  return given === undefined ? "failure" : "error";
}

/** @param refused notified before a request is refused */
export function authenticationFilter(
  options: IdentifyOptions,
  refused: (request: HttpRequest) => void,
  metrics: AccessMetrics,
): Filter {
  function identified(
    request: HttpRequest,
    user: UserInfo | undefined,
    beganMs: number,
  ): void {
    const result = user ? "success" : failureOf(request);
    metrics.authenticated(result, user?.name, beganMs);
    if (!user) {
      refused(request);
      throw errors.unauthorized();
    }
    request.user = user;
    request.original = user;
    request.exchange.peer.tenant =
      user.name === ANONYMOUS_USER ? undefined : user.name;
  }

  return {
    name: "authentication",
    skipsParts: true,
    enter(request) {
      const { headers, peer } = request.exchange;
      const beganMs = performance.now();
      const found = identify(options, {
        headers,
        exchange: request.exchange,
        path: request.info.path,
        clientCertificate: peer.clientCertificate,
        clientChain: peer.clientChain,
        remoteAddress: peer.remoteAddress,
        remarks: request,
      });
      return found instanceof Promise
        ? found.then((user) => identified(request, user, beganMs))
        : identified(request, found, beganMs);
    },
  };
}
