// What a Deployment does to its ReplicaSets: making the new one, sizing, and removing old revisions.
import { isAlreadyExists } from "../../api/errors.ts";
import type { Deployment, ReplicaSet } from "../../api/types/apps-v1.ts";
import type { Client } from "../../client/client.ts";
import type { EventWriter } from "../../client/event-recorder.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import {
  controllerReference,
  isControlledBy,
} from "../../api/objects/owner-references.ts";
import { deployments, replicaSets } from "../../client/resources.ts";
import { stableHash } from "../../api/objects/stable-hash.ts";
import {
  hashLabel,
  newSetAnnotations,
  revisionOf,
  sameTemplate,
  sizeAnnotations,
} from "./revisions.ts";
import { newSetReplicas, replicasOf } from "./sizes.ts";

/** The name is taken by a ReplicaSet of another template: the collision count has to go up. */
export class HashCollision extends Error {}

export class ReplicaSetWriter {
  constructor(
    private readonly client: Client,
    private readonly recorder: EventWriter,
  ) {}

  /** Creates the ReplicaSet of the present template, already sized. Rejects with HashCollision when the name is taken. */
  async create(
    deployment: Deployment,
    oldSets: readonly ReplicaSet[],
    revision: bigint,
  ): Promise<ReplicaSet> {
    const { template, selector, minReadySeconds } = deployment.spec;
    const hash = stableHash(template, deployment.status?.collisionCount);
    const name = `${deployment.metadata.name}-${hash}`;
    const labels = { ...template.metadata?.labels, [hashLabel]: hash };
    const set: ReplicaSet = {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: {
        name,
        namespace: deployment.metadata.namespace!,
        labels,
        annotations: newSetAnnotations(deployment, undefined, revision, false),
        ownerReferences: [controllerReference(deployments, deployment)],
      },
      spec: {
        replicas: 0,
        ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
        selector: {
          ...selector,
          matchLabels: { ...selector.matchLabels, [hashLabel]: hash },
        },
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    };
    set.spec.replicas = newSetReplicas(deployment, [...oldSets, set], set);
    try {
      const created = await this.client.resource(replicaSets).create(set);
      if (replicasOf(created) > 0)
        this.recorder.event(
          deployment,
          "Normal",
          "ScalingReplicaSet",
          `Scaled up replica set ${name} from 0 to ${replicasOf(created)}`,
        );
      return created;
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const found = await this.client
        .resource(replicaSets)
        .get(name, deployment.metadata.namespace);
      if (
        isControlledBy(found, deployment) &&
        found.spec.template &&
        sameTemplate(found.spec.template, template)
      )
        return found;
      throw new HashCollision(
        `ReplicaSet ${name} exists with another template`,
      );
    }
  }

  /** Brings revision annotations and minReadySeconds of the new ReplicaSet up to date. */
  async refresh(
    deployment: Deployment,
    set: ReplicaSet,
    revision: bigint,
  ): Promise<ReplicaSet> {
    const { minReadySeconds } = deployment.spec;
    const annotations = newSetAnnotations(
      deployment,
      set.metadata.annotations ?? {},
      revision,
      true,
    );
    const sameSeconds =
      (set.spec.minReadySeconds ?? 0) === (minReadySeconds ?? 0);
    if (sameJson(annotations, set.metadata.annotations ?? {}) && sameSeconds)
      return set;
    return this.client.resource(replicaSets).update({
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: { ...set.spec, minReadySeconds: minReadySeconds ?? 0 },
    });
  }

  /** Sets size and size annotations; returns the ReplicaSet as it then is. */
  async scale(
    deployment: Deployment,
    set: ReplicaSet,
    replicas: number,
  ): Promise<ReplicaSet> {
    const annotations = {
      ...set.metadata.annotations,
      ...sizeAnnotations(deployment),
    };
    const before = replicasOf(set);
    if (
      before === replicas &&
      sameJson(annotations, set.metadata.annotations ?? {})
    )
      return set;
    const scaled = await this.client.resource(replicaSets).update({
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: { ...set.spec, replicas },
    });
    if (before !== replicas)
      this.recorder.event(
        deployment,
        "Normal",
        "ScalingReplicaSet",
        `Scaled ${before < replicas ? "up" : "down"} replica set ${set.metadata.name} from ${before} to ${replicas}`,
      );
    return scaled;
  }

  /** Deletes empty old ReplicaSets beyond the history limit, lowest revision first. */
  async removeOldRevisions(
    deployment: Deployment,
    oldSets: readonly ReplicaSet[],
  ): Promise<void> {
    const limit = deployment.spec.revisionHistoryLimit ?? 10;
    const alive = oldSets.filter((set) => !set.metadata.deletionTimestamp);
    const surplus = alive.length - limit;
    if (surplus <= 0) return;
    const oldest = alive
      .sort((a, b) => Number(revisionOf(a) - revisionOf(b)))
      .slice(0, surplus);
    for (const set of oldest) {
      const busy =
        (set.status?.replicas ?? 0) !== 0 ||
        replicasOf(set) !== 0 ||
        (set.metadata.generation ?? 0) > (set.status?.observedGeneration ?? 0);
      if (busy) continue;
      await this.client
        .resource(replicaSets)
        .delete(set.metadata.name, set.metadata.namespace, {
          propagationPolicy: "Background",
        });
    }
  }
}
