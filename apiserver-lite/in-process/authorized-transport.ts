// The in-process transport of a user who may not do everything: each request is authorized as if it came over HTTP, by the
// same attributes, before it is performed. It watches nothing: what it is for shares the informers of another transport.
import type { Authorizer, UserInfo } from "../../api/contracts.ts";
import { methods, withQuery } from "../../client/http-transport.ts";
import { checkRequest, resourcePath } from "../../client/http-paths.ts";
import type { Transport } from "../../client/transport.ts";
import { attributesOf } from "../front/filters/authorization.ts";
import { forbidden } from "../front/forbidden.ts";
import { parseRequest } from "../request/request-info.ts";

/** @param transport of the same user, which authorizes nothing */
export function authorizedTransport(
  transport: Transport,
  user: UserInfo,
  authorizer: Authorizer,
): Transport {
  const authorize = async (method: string, url: string): Promise<void> => {
    const { pathname, searchParams } = new URL(url, "http://in-process");
    const info = parseRequest(method, pathname, searchParams);
    const attributes = attributesOf({ info, user, query: searchParams });
    const { decision, reason, error } = await authorizer.authorize(attributes);
    if (decision !== "allow") throw forbidden(attributes, error ?? reason);
  };
  return {
    async request(request) {
      checkRequest(request);
      const path = withQuery(resourcePath(request), request.query ?? {});
      await authorize(methods[request.verb], path);
      return transport.request(request);
    },
    async raw(method, path, body) {
      await authorize(method.toUpperCase(), path);
      return transport.raw(method, path, body);
    },
    watch() {
      throw new Error("this transport watches nothing");
    },
    close: () => transport.close(),
  };
}
