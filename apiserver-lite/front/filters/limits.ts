// The place of a request among those that are worked on at once, taken now or when its body has been received, and which
// flow it belongs to, named in two headers of its answer.
import type { Limiter, Place } from "../../flow-control/limiter.ts";
import type { Observer } from "../../request/observer.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import { PlainAnswer } from "../../request/route.ts";
import type { HttpRequest } from "../../serving/http-request.ts";
import type { Filter } from "../filter.ts";

/** Whose bodies are read before anything is done. */
const bodyVerbs: ReadonlySet<string> = new Set([
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
]);

/**
 * Throws, or rejects with, a PlainAnswer of 429. A request that takes too long for its client keeps its place until it
 * is done.
 */
export function limitFilter(limiter: Limiter, observer?: Observer): Filter {
  const refused = (info: RequestInfo, error: unknown): never => {
    if (error instanceof PlainAnswer && error.status === 429)
      observer?.terminated?.(info, 429);
    throw error;
  };
  return {
    name: "limits",
    enter(request) {
      const { info } = request;
      try {
        const waiting = takePlace(limiter, request);
        return waiting?.catch((error: unknown) => refused(info, error));
      } catch (error) {
        return refused(info, error);
      }
    },
    answered: ({ place }) => place?.answered(),
    done: ({ place }) => place?.leave(),
  };
}

function takePlace(
  limiter: Limiter,
  request: HttpRequest,
): ReturnType<Place["take"]> | undefined {
  const place = limiter.place(request);
  if (!place) return;
  request.place = place;
  const { info, exchange, headers } = request;
  const { flow } = place;
  if (flow) {
    headers["x-kubernetes-pf-flowschema-uid"] = flow.schemaUid;
    headers["x-kubernetes-pf-prioritylevel-uid"] = flow.level.uid;
  }
  if (info.verb === "watch") exchange.onClose(() => place.over());
  else if (info.verb === "list") place.expectUnread();
  const readsBody = info.resourceRequest && bodyVerbs.has(info.verb);
  if (!readsBody || !exchange.hasBody) return place.take();
  place.expect();
}
