// get: an object, or what a subresource with code of its own answers.
import type { CacheEntry } from "../cache/cache-entry.ts";
import { get } from "../registry/verbs/get.ts";
import { runSubresource } from "../registry/verbs/subresource.ts";
import { callOf, type Outcome, type RequestContext } from "./request.ts";

export function performGet(
  request: RequestContext,
): Outcome | Promise<Outcome> {
  const { endpoint, subresource } = request;
  const call = callOf(request);
  if (
    !endpoint.isObject(subresource) &&
    endpoint.strategy.subresources?.[subresource]
  )
    return runSubresource(call, "get", undefined).then((value) => ({
      status: 200,
      value,
    }));
  const found = get(call);
  return found instanceof Promise ? found.then(outcomeOf) : outcomeOf(found);
}

const outcomeOf = (entry: CacheEntry): Outcome => ({ status: 200, entry });
