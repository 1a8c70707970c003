// Where events go: the client's recorder when there is an API server, the log alone otherwise.
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Clock } from "../../api/clock.ts";
import type { KubeObject } from "../../api/object.ts";
import type { EventRecorder } from "../../client/event-recorder.ts";
import type { EventSink } from "./pod-events.ts";
import {
  configMirrorAnnotation,
  configHashAnnotation,
  isStaticPod,
} from "../pods/shape/labels.ts";

const rememberedWarnings = 1024;
/** As long as similar events are one at the recorder. */
const rememberedMs = 600_000;

/**
 * Warnings are lines of the log, other events only of its level debug. A warning that repeats is written at its times
 * 1, 2, 4, 8 …: a container that waits for its image has the same one at each pass over its pod.
 */
export function logSink(logger: Logger, clock: Clock): EventSink {
  const timesOf = new LRUCache<string, number>({
    max: rememberedWarnings,
    ttl: rememberedMs,
    ttlResolution: 0,
    perf: { now: () => clock.monotonic() },
  });
  return {
    event(object, type, reason, message, { fieldPath } = {}) {
      const { name, namespace, uid = "" } = object.metadata;
      const fields = { kind: object.kind, name, namespace, reason, fieldPath };
      if (type === "Normal") {
        logger.debug(fields, message);
        return;
      }
      const key = [uid, name, namespace, fieldPath, reason, message].join("\n");
      const times = (timesOf.get(key) ?? 0) + 1;
      timesOf.set(key, times);
      if (times === 1) logger.warn(fields, message);
      else if ((times & (times - 1)) === 0)
        logger.warn({ ...fields, times }, message);
    },
  };
}

/** Each event goes to all of them. */
export function allSinks(...sinks: readonly EventSink[]): EventSink {
  return {
    event(...words) {
      for (const sink of sinks) sink.event(...words);
    },
  };
}

/** To the client's recorder, and to the log. */
export function recorderSink(
  recorder: EventRecorder,
  logger: Logger,
  clock: Clock,
): EventSink {
  const log = logSink(logger, clock);
  return {
    event(object, type, reason, message, { fieldPath, annotations } = {}) {
      log.event(object, type, reason, message, { fieldPath });
      const { name, namespace, resourceVersion } = object.metadata;
      recorder.event(
        {
          apiVersion: object.apiVersion ?? "v1",
          kind: object.kind ?? "",
          name,
          ...(namespace ? { namespace } : {}),
          uid: eventUid(object),
          ...(resourceVersion ? { resourceVersion } : {}),
          ...(fieldPath ? { fieldPath } : {}),
        },
        type,
        reason,
        message,
        annotations ? { annotations } : {},
      );
    },
  };
}

/** Events of a static pod are found by its mirror's hash, as the reference files them; a node's uid is its name. */
function eventUid(object: KubeObject): string {
  if (object.kind === "Node") return object.metadata.name;
  const annotations = object.metadata.annotations ?? {};
  if (object.kind === "Pod" && isStaticPod(object as never))
    return (
      annotations[configMirrorAnnotation] ??
      annotations[configHashAnnotation] ??
      ""
    );
  return object.metadata.uid ?? "";
}
