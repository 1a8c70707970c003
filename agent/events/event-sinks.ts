// Where events go: the client's recorder when there is an API server, the log alone otherwise.
import type { Logger } from "pino";
import type { KubeObject } from "../../api/object.ts";
import type { EventRecorder } from "../../client/event-recorder.ts";
import type { EventSink } from "./pod-events.ts";
import {
  configMirrorAnnotation,
  configHashAnnotation,
  isStaticPod,
} from "../pods/shape/labels.ts";

export function logSink(logger: Logger): EventSink {
  return {
    event(object, type, reason, message) {
      const { name, namespace } = object.metadata;
      const fields = { kind: object.kind, name, namespace, reason };
      if (type === "Warning") logger.warn(fields, message);
      else logger.debug(fields, message);
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

export function recorderSink(
  recorder: EventRecorder,
  logger: Logger,
): EventSink {
  const log = logSink(logger);
  return {
    event(object, type, reason, message, { fieldPath, annotations } = {}) {
      log.event(object, type, reason, message);
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
