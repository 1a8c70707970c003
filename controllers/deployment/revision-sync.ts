// Finds, or makes, the ReplicaSet of a Deployment's present template, and keeps the revision annotations of both in step.
import type { Deployment, ReplicaSet } from "../../api/types/apps-v1.ts";
import type { Clock } from "../../api/clock.ts";
import type { Client } from "../../client/client.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import { deployments } from "../../client/resources.ts";
import { errorText, isNamespaceTerminating } from "../workloads/pod-control.ts";
import { withCreationFailed, withNewSetNoted } from "./progress.ts";
import { HashCollision } from "./replica-set-writer.ts";
import type { ReplicaSetWriter } from "./replica-set-writer.ts";
import { findNewSet, revisionAnnotation, revisionOf } from "./revisions.ts";
import type { StatusWriter } from "./status-writer.ts";

interface RevisionSyncOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly recorder: EventWriter;
  readonly sets: ReplicaSetWriter;
  readonly statuses: StatusWriter;
}

export interface Revisions {
  /** With the revision's number, and with its progress noted in a status that is not written yet. */
  readonly deployment: Deployment;
  /** Undefined: there is none, and none was to be made or could be. */
  readonly newSet: ReplicaSet | undefined;
  readonly oldSets: readonly ReplicaSet[];
}

export class RevisionSync {
  constructor(private readonly options: RevisionSyncOptions) {}

  /** @param create makes the ReplicaSet when there is none; rejects when that failed, and the status says so */
  async sync(
    observed: Deployment,
    sets: readonly ReplicaSet[],
    create: boolean,
  ): Promise<Revisions> {
    const { sets: writer } = this.options;
    const found = findNewSet(observed, sets);
    const oldSets = sets.filter((set) => set !== found);
    const revision =
      oldSets.map(revisionOf).reduce((a, b) => (b > a ? b : a), 0n) + 1n;
    let newSet: ReplicaSet | undefined;
    if (found) newSet = await writer.refresh(observed, found, revision);
    else if (create)
      try {
        newSet = await writer.create(observed, oldSets, revision);
      } catch (error) {
        await this.#creationFailed(observed, error);
      }
    if (!newSet) return { deployment: observed, newSet, oldSets };
    const deployment = await this.#note(observed, newSet, !found);
    return { deployment, newSet, oldSets };
  }

  /** Resolves only where a namespace is being deleted. */
  async #creationFailed(deployment: Deployment, error: unknown): Promise<void> {
    if (isNamespaceTerminating(error)) return;
    const { clock, recorder, statuses } = this.options;
    const { status } = deployment;
    if (error instanceof HashCollision)
      await statuses.write(deployment, {
        ...status,
        collisionCount: (status?.collisionCount ?? 0) + 1,
      });
    else {
      const message = `Failed to create new replica set: ${errorText(error)}`;
      recorder.event(deployment, "Warning", "ReplicaSetCreateError", message);
      const failed = withCreationFailed(deployment, message, clock.now());
      if (failed && failed !== status) await statuses.write(deployment, failed);
    }
    throw error;
  }

  async #note(
    observed: Deployment,
    newSet: ReplicaSet,
    created: boolean,
  ): Promise<Deployment> {
    const { client, clock } = this.options;
    const { annotations } = observed.metadata;
    const revision = newSet.metadata.annotations?.[revisionAnnotation];
    const deployment =
      revision && annotations?.[revisionAnnotation] !== revision
        ? // Through the status, where annotations may change without a new generation: the user changed nothing. No patch:
          // the role of this controller has none on Deployments.
          await client.resource(deployments).updateStatus({
            ...observed,
            metadata: {
              ...observed.metadata,
              annotations: { ...annotations, [revisionAnnotation]: revision },
            },
          })
        : observed;
    const status = withNewSetNoted(deployment, newSet, created, clock.now());
    return status && status !== deployment.status
      ? { ...deployment, status }
      : deployment;
  }
}
