// The time a request may take, which the chain keeps: --request-timeout, or less with the `timeout` parameter. Throws
// ApiError 400 for one that is no duration.
import { allottedMs, isLongRunning } from "../../request/deadline.ts";
import type { HttpRequest } from "../../serving/http-request.ts";
import type { Filter } from "../filter.ts";

/** @param refused notified before a request is refused: it is not known yet who asks */
export function deadlineFilter(
  maxMs: number,
  refused: (request: HttpRequest) => void,
): Filter {
  return {
    name: "deadline",
    enter(request) {
      if (isLongRunning(request.info)) return;
      try {
        request.limitMs = allottedMs(request.query, maxMs);
      } catch (error) {
        refused(request);
        throw error;
      }
    },
  };
}
