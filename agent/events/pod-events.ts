// Events about pods and the node, as the rooms of the agent emit them. Backed by the client's event recorder where
// there is an API server; without one they go to the log only.
import type { Pod } from "../../api/types/core-v1.ts";
import type { KubeObject } from "../../api/object.ts";

type EventType = "Normal" | "Warning";

interface EventExtra {
  /** Narrows the object, e.g. `spec.containers{app}`. */
  readonly fieldPath?: string;
  /** Of the Event itself. */
  readonly annotations?: Record<string, string>;
}

export interface EventSink {
  event(
    object: KubeObject,
    type: EventType,
    reason: string,
    message: string,
    extra?: EventExtra,
  ): void;
}

export class PodEvents {
  constructor(
    readonly sink: EventSink,
    readonly nodeObject: () => KubeObject,
  ) {}

  pod(
    pod: Pod,
    type: EventType,
    reason: string,
    message: string,
    extra: EventExtra = {},
  ): void {
    this.sink.event(
      { ...pod, apiVersion: "v1", kind: "Pod" } as KubeObject,
      type,
      reason,
      message,
      extra,
    );
  }

  container(
    pod: Pod,
    containerName: string,
    type: EventType,
    reason: string,
    message: string,
  ): void {
    const list = pod.spec.initContainers?.some(
      ({ name }) => name === containerName,
    )
      ? "initContainers"
      : pod.spec.ephemeralContainers?.some(({ name }) => name === containerName)
        ? "ephemeralContainers"
        : "containers";
    this.pod(pod, type, reason, message, {
      fieldPath: `spec.${list}{${containerName}}`,
    });
  }

  node(type: EventType, reason: string, message: string): void {
    this.sink.event(this.nodeObject(), type, reason, message);
  }
}
