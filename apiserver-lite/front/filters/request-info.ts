// What the request asks for, from its method, path and query. Throws a PlainAnswer of 400 or 414.
import { parseRequest } from "../../request/request-info.ts";
import { parseTarget } from "../../request/request-target.ts";
import { malformed } from "../../request/route.ts";
import type { Filter } from "../filter.ts";

export const requestInfoFilter: Filter = {
  name: "request info",
  enter(request) {
    const { method, url } = request.exchange;
    const { path, rawQuery, query } = parseTarget(url);
    request.query = query;
    request.rawQuery = rawQuery;
    try {
      request.info = parseRequest(method, path, query);
    } catch {
      throw malformed(400, "400 Bad Request");
    }
  },
};
