// Ends a pod for the node's sake.
import type { Logger } from "pino";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import type { Eviction } from "../../../eviction/eviction-manager.ts";
import type { EndRequest } from "./worker-state.ts";

interface EvictContext {
  readonly workers: { end(uid: string, request: EndRequest): void };
  readonly events: PodEvents;
  readonly logger: Logger;
}

export function evictPod(
  { workers, events, logger }: EvictContext,
  pod: Pod,
  { message, graceSeconds, annotations, disruption }: Eviction,
): void {
  const { name, namespace, uid = "" } = pod.metadata;
  logger.warn({ pod: name, namespace, message }, "evicting a pod");
  events.pod(pod, "Warning", "Evicted", message, { annotations });
  workers.end(uid, {
    graceSeconds,
    failure: { reason: "Evicted", message, disruption },
  });
}
