// Which objects belong to a controller: those whose controller reference names it and whose labels match its selector.
// Orphans that match are adopted, own ones that no longer match are released, as the reference does; both by patch with
// a uid precondition, so that a namesake is never touched. A terminating owner adopts nothing, and adoption first reads
// the owner itself, as the informer's state may be old.
import { isInvalid, isNotFound } from "../../api/errors.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Selector } from "../../api/selectors.ts";
import type { Client, ResourceRef } from "../../client/client.ts";
import type { Informer } from "../../client/informer.ts";
import {
  controllerOf,
  controllerReference,
} from "../../api/objects/owner-references.ts";
import { orphansOf } from "./informer-indexes.ts";

interface ClaimOptions<T extends KubeObject> {
  client: Client;
  ownerRef: ResourceRef;
  owner: KubeObject;
  selector: Selector;
  ref: ResourceRef<T>;
  /** The owner's objects and the orphans of its namespace. */
  candidates: readonly T[];
  /** Goes onto what is adopted, and off what is released. */
  finalizer?: string;
}

/** Where the informer's index is controllerIndex: the objects of an owner, and those of its namespace without one. */
export function candidatesOf<T extends KubeObject>(
  { lister }: Pick<Informer<T>, "lister">,
  { metadata }: KubeObject,
): T[] {
  return [
    ...lister.byIndex("controller", metadata.uid ?? ""),
    ...lister.byIndex("controller", orphansOf(metadata.namespace)),
  ];
}

/** The candidates that are the owner's after adopting and releasing. Rejects when an adoption failed. */
export async function claimObjects<T extends KubeObject>(
  options: ClaimOptions<T>,
): Promise<T[]> {
  const { owner, selector } = options;
  const claimed: T[] = [];
  let mayAdopt: Promise<boolean> | undefined;
  for (const candidate of options.candidates) {
    const controller = controllerOf(candidate);
    const matches = selector.matches(candidate.metadata.labels);
    if (controller) {
      if (controller.uid !== owner.metadata.uid) continue;
      if (matches) claimed.push(candidate);
      else if (!owner.metadata.deletionTimestamp)
        await release(options, candidate);
      continue;
    }
    if (
      !matches ||
      owner.metadata.deletionTimestamp ||
      candidate.metadata.deletionTimestamp
    )
      continue;
    mayAdopt ??= stillAlive(options);
    if (!(await mayAdopt)) continue;
    const adopted = await adopt(options, candidate);
    if (adopted) claimed.push(adopted);
  }
  return claimed;
}

async function stillAlive<T extends KubeObject>(
  options: ClaimOptions<T>,
): Promise<boolean> {
  const { client, owner, ownerRef } = options;
  const { name, namespace, uid } = owner.metadata;
  const fresh = await client.resource(ownerRef).get(name, namespace);
  return fresh.metadata.uid === uid && !fresh.metadata.deletionTimestamp;
}

async function adopt<T extends KubeObject>(
  options: ClaimOptions<T>,
  object: T,
): Promise<T | undefined> {
  const { client, owner, ownerRef, ref, finalizer } = options;
  const { name, namespace, uid } = object.metadata;
  try {
    return await client.resource(ref).patch(name, namespace, {
      type: "strategic",
      body: {
        metadata: {
          ownerReferences: [controllerReference(ownerRef, owner)],
          uid,
          ...(finalizer ? { finalizers: [finalizer] } : {}),
        },
      },
    });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function release<T extends KubeObject>(
  options: ClaimOptions<T>,
  object: T,
): Promise<void> {
  const { client, owner, ref, finalizer } = options;
  const { name, namespace, uid } = object.metadata;
  try {
    await client.resource(ref).patch(name, namespace, {
      type: "strategic",
      body: {
        metadata: {
          ownerReferences: [{ $patch: "delete", uid: owner.metadata.uid }],
          uid,
          ...(finalizer
            ? { "$deleteFromPrimitiveList/finalizers": [finalizer] }
            : {}),
        },
      },
    });
  } catch (error) {
    // Gone, or another object of that name, or no owner any more: nothing to release.
    if (!isNotFound(error) && !isInvalid(error)) throw error;
  }
}
