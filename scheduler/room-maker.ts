// Looks for room for a pod that no node takes, and keeps what is made: the pod's nomination to a node, until it is placed
// or nothing can help it.
import { objectKey } from "../api/object.ts";
import type { Pod } from "../api/types/core-v1.ts";
import type { Client } from "../client/client.ts";
import { podDisruptionBudgets } from "../client/resources.ts";
import type { ClusterState } from "./cluster-state.ts";
import type { FailureOutcome } from "./decision-writer.ts";
import type { SchedulerMetrics } from "./metrics/scheduler-metrics.ts";
import type { NodeInfo } from "./node-info.ts";
import type { Rejection } from "./plugin.ts";
import type { PodViews } from "./pod-view.ts";
import {
  bestCandidate,
  findCandidates,
  type CandidateResult,
} from "./preemption.ts";
import type { SchedulingProfile } from "./profile.ts";

/** Where room could be made; undefined: none is looked for. */
export type Room = CandidateResult | undefined;

interface RoomMakerOptions {
  readonly client: Client;
  readonly state: ClusterState;
  readonly views: PodViews;
  readonly metrics: SchedulerMetrics | undefined;
}

export class RoomMaker {
  constructor(private readonly options: RoomMakerOptions) {}

  /** Where ending pods of lower priority would make the pod fit. */
  look(
    pod: Pod,
    { preemption: args, filters, name }: SchedulingProfile,
    rejections: ReadonlyMap<NodeInfo, Rejection>,
  ): Room {
    if (rejections.size === 0 || !args) return undefined;
    const { client, state, views, metrics } = this.options;
    const budgets = client.informer(podDisruptionBudgets).lister.list();
    const startMs = performance.now();
    const options = { filters, rejections, budgets, args };
    const found = findCandidates(views.of(pod), state, options);
    metrics?.preempts(name, "candidates" in found, startMs);
    return found;
  }

  /** Keeps the room that is to be made, or gives up what an earlier preemption made where it can't help any more. */
  settle(pod: Pod, room: Room): FailureOutcome {
    const { state, metrics } = this.options;
    if (room && "candidates" in room) {
      const preemption = bestCandidate(room.candidates);
      metrics?.victims(preemption.victims.length);
      const displaced = state.nominate(pod, preemption.node.name);
      return { preemption, displaced };
    }
    const hopeless = state.nodes().length === 0 || (room && "hopeless" in room);
    if (!hopeless) return {};
    state.dropNomination(objectKey(pod));
    return { forgetNomination: pod.status?.nominatedNodeName !== undefined };
  }
}
