// Which flow a request belongs to, named in two headers of its answer, and its place among those that are worked on at
// once: now, or when its body has been received.
import type { FlowClassifier } from "../../flow-control/flow-classifier.ts";
import type { Limiter } from "../../flow-control/limiter.ts";
import type { Filter } from "../filter.ts";

/** @param flows undefined: priority and fairness is off */
export function flowFilter(flows: FlowClassifier | undefined): Filter {
  return {
    name: "flow classification",
    skipsParts: true,
    enter({ user, info, headers }) {
      const flow = flows?.classify(user, info);
      if (flow) Object.assign(headers, flow);
    },
  };
}

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
export function limitFilter(limiter: Limiter): Filter {
  return {
    name: "limits",
    enter(request) {
      const place = limiter.place(request);
      if (!place) return;
      request.place = place;
      const { info, exchange } = request;
      const readsBody = info.resourceRequest && bodyVerbs.has(info.verb);
      if (!readsBody || !exchange.hasBody) return place.take();
      place.expect();
    },
    answered: ({ place }) => place?.answered(),
    done: ({ place }) => place?.leave(),
  };
}
