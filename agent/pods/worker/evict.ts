// Ends a pod for the node's sake.
import type { Logger } from "pino";
import type { Pod } from "../../../api/types/core-v1.ts";
import type { PodEvents } from "../../events/pod-events.ts";
import type { EndRequest } from "./worker-state.ts";

interface EvictContext {
  readonly workers: { end(uid: string, request: EndRequest): void };
  readonly events: Pick<PodEvents, "pod">;
  readonly logger: Logger;
}

/** Hardly any time is left to an evicted pod: the node needs what it holds. */
const graceSeconds = 1;

export function evictPod(
  { workers, events, logger }: EvictContext,
  pod: Pod,
  message: string,
): void {
  const { name, namespace, uid = "" } = pod.metadata;
  logger.warn({ pod: name, namespace, message }, "evicting a pod");
  events.pod(pod, "Warning", "Evicted", message);
  workers.end(uid, {
    graceSeconds,
    failure: { reason: "Evicted", message, disruption: true },
  });
}
