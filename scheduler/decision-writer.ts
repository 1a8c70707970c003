// Writes what the scheduler decided: bindings, the reason why a pod found no node (event FailedScheduling, condition
// PodScheduled), and the end of pods that have to make room.
import { disruptionTarget } from "../api/objects/pod-state.ts";
import { formatTime } from "../api/clock.ts";
import type { Clock } from "../api/clock.ts";
import { isNotFound } from "../api/errors.ts";
import { findCondition, setCondition } from "../api/objects/conditions.ts";
import type { Pod, PodStatus } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import type { EventRecorder } from "../client/event-recorder.ts";
import { pods } from "../client/resources.ts";
import type { Preemption } from "./preemption.ts";

interface DecisionWriterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventRecorder;
  readonly schedulerName: string;
}

/** What comes of a pod that found no node, beside the report. */
export interface FailureOutcome {
  readonly preemption?: Preemption | undefined;
  /** Pods that lose their nomination to the preemption's node. */
  readonly displaced?: readonly Pod[];
  /** The pod's own earlier nomination holds no more. */
  readonly forgetNomination?: boolean;
}

export class DecisionWriter {
  constructor(private readonly options: DecisionWriterOptions) {}

  async bind(pod: Pod, nodeName: string): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    await this.options.client
      .resource(pods)
      .createSubresource(name, namespace, "binding", {
        apiVersion: "v1",
        kind: "Binding",
        metadata: { name, namespace, uid },
        target: { kind: "Node", name: nodeName },
      });
  }

  reportBound(pod: Pod, nodeName: string): void {
    const { name, namespace } = pod.metadata;
    this.options.recorder.event(
      pod,
      "Normal",
      "Scheduled",
      `Successfully assigned ${namespace}/${name} to ${nodeName}`,
    );
  }

  /** The status is only written when it says something else. */
  async reportFailure(
    pod: Pod,
    reason: string,
    message: string,
    outcome: FailureOutcome = {},
  ): Promise<void> {
    const { preemption, displaced = [], forgetNomination = false } = outcome;
    const { clock, recorder } = this.options;
    recorder.event(pod, "Warning", "FailedScheduling", message);
    const known = findCondition(pod.status?.conditions, "PodScheduled");
    const reported =
      known?.status === "False" &&
      known.reason === reason &&
      known.message === message;
    if (!reported || preemption || forgetNomination)
      await this.#patchStatus(pod, {
        conditions: [
          ...setCondition(
            known && [known],
            { type: "PodScheduled", status: "False", reason, message },
            formatTime(clock.now()),
          ),
        ],
        ...(preemption ? { nominatedNodeName: preemption.node.name } : {}),
        ...(forgetNomination ? { nominatedNodeName: null } : {}),
      });
    if (preemption) await this.#preempt(pod, preemption);
    await Promise.all(
      displaced.map((other) =>
        this.#patchStatus(other, { nominatedNodeName: null }),
      ),
    );
  }

  async #preempt(pod: Pod, { node, victims }: Preemption): Promise<void> {
    await Promise.all(
      victims.map(({ pod: victim }) => this.#end(victim, pod, node.name)),
    );
  }

  async #end(victim: Pod, pod: Pod, nodeName: string): Promise<void> {
    if (victim.metadata.deletionTimestamp) return;
    const { client, clock, recorder, schedulerName } = this.options;
    await this.#patchStatus(victim, {
      conditions: [
        disruptionTarget(
          "PreemptionByScheduler",
          `${schedulerName}: preempting to accommodate a higher priority pod`,
          clock.now(),
        ),
      ],
    });
    const { name, namespace, uid } = victim.metadata;
    await client
      .resource(pods)
      .delete(name, namespace, uid ? { preconditions: { uid } } : {})
      .catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    recorder.event(
      victim,
      "Normal",
      "Preempted",
      `Preempted by pod ${pod.metadata.uid} on node ${nodeName}`,
    );
  }

  async #patchStatus(
    pod: Pod,
    status: Omit<PodStatus, "nominatedNodeName"> & {
      /** null takes it away. */
      nominatedNodeName?: string | null;
    },
  ): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    try {
      await this.options.client
        .resource(pods)
        .patch(
          name,
          namespace,
          { type: "strategic", body: { metadata: { uid }, status } },
          { subresource: "status" },
        );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
