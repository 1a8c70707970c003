// ControllerRevisions: the past and present templates of DaemonSets and StatefulSets, numbered; equal templates share a
// revision, whose number goes up when it becomes the newest again (a rollback).
import { isAlreadyExists, isNotFound } from "../../api/errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { selectorFromObject, type Selector } from "../../api/selectors.ts";
import type {
  ControllerRevision,
  DaemonSet,
  StatefulSet,
} from "../../api/types/apps-v1.ts";
import type { PodTemplateSpec } from "../../api/types/core-v1.ts";
import type { Client, ResourceRef } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import { sameJson } from "../../api/objects/json-equality.ts";
import { controllerReference } from "../../api/objects/owner-references.ts";
import { controllerRevisions } from "../../client/resources.ts";
import { stableHash } from "../../api/objects/stable-hash.ts";
import { sortedKeys } from "../../api/patch/json-value.ts";
import { candidatesOf, claimObjects } from "./adoption.ts";

export const revisionHashLabel = "controller-revision-hash";
/** What the revisions of a kind are labelled with; its pods have revisionHashLabel. */
const hashLabels: Readonly<Record<string, string>> = {
  StatefulSet: "controller.kubernetes.io/hash",
};

interface RevisionOwner {
  client: Client;
  ref: ResourceRef;
  owner: KubeObject;
  selector: Selector;
  template: PodTemplateSpec;
  labels: Record<string, string>;
  collisionCount: number | undefined;
}

/**
 * The part of an owner that a revision keeps: enough for `kubectl rollout undo` to patch it back. Clients compare its
 * bytes with those they make of the owner themselves: names are sorted, and an unset time is written out.
 */
function dataOf(template: PodTemplateSpec): Record<string, unknown> {
  const metadata = { creationTimestamp: null, ...template.metadata };
  return sortedKeys({
    spec: { template: { ...template, metadata, $patch: "replace" } },
  }) as Record<string, unknown>;
}

export interface SyncedRevisions {
  /** As they were listed, oldest first. */
  readonly history: readonly ControllerRevision[];
  /** Of the present template. */
  readonly revision: ControllerRevision;
}

/**
 * The set's revisions, with one for its present template. Where another template has the revision's name, the next
 * collision count is written to the set's status and the call rejects, so that the reconcile is repeated with it.
 */
export async function syncRevisions(
  client: Client,
  ref: ResourceRef,
  set: DaemonSet | StatefulSet,
  informer: Informer<ControllerRevision>,
  writeCollisionCount: (count: number) => Promise<unknown>,
): Promise<SyncedRevisions> {
  const { template, selector } = set.spec;
  const given = {
    client,
    ref,
    owner: set,
    selector: selectorFromObject(selector),
    template,
    labels: template.metadata?.labels ?? {},
    collisionCount: set.status?.collisionCount,
  };
  const history = await listRevisions(given, informer);
  const { revision, collision } = await currentRevision(given, history);
  if (!collision) return { revision, history };
  await writeCollisionCount((set.status?.collisionCount ?? 0) + 1);
  throw new Error("controller revision name collided");
}

/** The owner's revisions, oldest first. */
async function listRevisions(
  { client, ref, owner, selector }: RevisionOwner,
  informer: Informer<ControllerRevision>,
): Promise<ControllerRevision[]> {
  const claimed = await claimObjects({
    client,
    ownerRef: ref,
    owner,
    selector,
    ref: controllerRevisions,
    candidates: candidatesOf(informer, owner),
  });
  return claimed.sort((a, b) => a.revision - b.revision);
}

/** The revision of the present template, made or renumbered where needed, and whether its name collided. */
async function currentRevision(
  given: RevisionOwner,
  history: readonly ControllerRevision[],
): Promise<{ revision: ControllerRevision; collision: boolean }> {
  const { client, ref, owner, template, labels, collisionCount } = given;
  const data = dataOf(template);
  const newest = history.at(-1);
  const equal = history.filter((old) => sameJson(old.data, data)).at(-1);
  const next = (newest?.revision ?? 0) + 1;
  const resource = client.resource(controllerRevisions);
  if (equal === newest && equal) return { revision: equal, collision: false };
  if (equal)
    return {
      revision: await resource.update({ ...equal, revision: next }),
      collision: false,
    };
  const hash = stableHash(template, collisionCount);
  const revision: ControllerRevision = {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: `${owner.metadata.name}-${hash}`,
      namespace: owner.metadata.namespace!,
      labels: { ...labels, [hashLabels[ref.kind] ?? revisionHashLabel]: hash },
      // Such as the change's cause, which `kubectl rollout history` shows.
      ...(owner.metadata.annotations
        ? { annotations: owner.metadata.annotations }
        : {}),
      ownerReferences: [controllerReference(ref, owner)],
    },
    data,
    revision: next,
  };
  try {
    return { revision: await resource.create(revision), collision: false };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await resource.get(
      revision.metadata.name,
      owner.metadata.namespace,
    );
    return { revision: found, collision: !sameJson(found.data, data) };
  }
}

/** Deletes the oldest revisions beyond the limit that nothing uses. */
export async function trimRevisions(
  client: Client,
  history: readonly ControllerRevision[],
  inUse: ReadonlySet<string>,
  limit: number,
): Promise<void> {
  const unused = history.filter(
    (revision) => !inUse.has(revisionHash(revision)),
  );
  for (const { metadata } of unused.slice(
    0,
    Math.max(0, unused.length - limit),
  ))
    try {
      await client
        .resource(controllerRevisions)
        .delete(metadata.name, metadata.namespace);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
}

export function revisionHash(revision: ControllerRevision): string {
  const { labels = {} } = revision.metadata;
  return (
    labels[revisionHashLabel] ?? labels["controller.kubernetes.io/hash"] ?? ""
  );
}
