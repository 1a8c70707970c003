// The reads and writes of the garbage collector on objects of any kind. Each write carries the uid, so that a namesake is
// never touched; changes of metadata carry the revision they were decided on as well. An edit of an object that is gone
// counts as done.
import { ApiError, isConflict, isNotFound } from "../../api/errors.ts";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import type { OwnerReference } from "../../api/types/meta-v1.ts";
import type { Client, ResourceRef } from "../../client/client.ts";
import type { Discovery } from "../discovery/resource-discovery.ts";

interface ObjectName {
  readonly name: string;
  readonly namespace: string;
}

export class ObjectEdits {
  constructor(
    private readonly client: Client,
    private readonly discovery: Discovery,
  ) {}

  /**
   * Undefined: there is no such object. Rejects when the kind is not served in that version any more, which says nothing
   * about its objects.
   */
  async read(
    ref: ResourceRef,
    { name, namespace }: ObjectName,
  ): Promise<KubeObject | undefined> {
    try {
      return await this.client
        .resource(ref)
        .get(name, ref.namespaced ? namespace : undefined);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      if (!namesObject(error)) await this.#checkServed(ref);
      return undefined;
    }
  }

  /** Rejects when the resource is served in another version only, or its group can't be read. */
  async #checkServed({ group, version, resource }: ResourceRef): Promise<void> {
    this.discovery.invalidate();
    const { resources, failures } = await this.discovery.resources();
    const served = resources.find(
      (each) => each.group === group && each.resource === resource,
    );
    const apiVersion = apiVersionOf({ group, version });
    const unread = failures.some((text) => text.startsWith(`${group}/`));
    if (served ? served.version !== version : unread)
      throw new Error(`${resource} are not served in ${apiVersion} now`);
  }

  async delete(
    ref: ResourceRef,
    { name, namespace, uid }: ObjectName & { readonly uid: string },
    propagationPolicy: string,
  ): Promise<void> {
    try {
      await this.client.resource(ref).delete(name, namespace || undefined, {
        preconditions: { uid },
        propagationPolicy,
      });
    } catch (error) {
      // Gone, or another object of that name by now.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }

  async dropOwners(
    ref: ResourceRef,
    object: KubeObject,
    drop: readonly OwnerReference[],
  ): Promise<void> {
    const uids = new Set(drop.map(({ uid }) => uid));
    const left = (object.metadata.ownerReferences ?? []).filter(
      ({ uid }) => !uids.has(uid),
    );
    await this.#patchMetadata(ref, object, {
      ownerReferences: left.length > 0 ? left : null,
    });
  }

  async unblockOwners(ref: ResourceRef, object: KubeObject): Promise<void> {
    const references = object.metadata.ownerReferences ?? [];
    await this.#patchMetadata(ref, object, {
      ownerReferences: references.map((reference) => ({
        ...reference,
        blockOwnerDeletion: false,
      })),
    });
  }

  async removeFinalizer(
    ref: ResourceRef,
    object: KubeObject,
    finalizer: string,
  ): Promise<void> {
    const finalizers = object.metadata.finalizers ?? [];
    if (!finalizers.includes(finalizer)) return;
    await this.#patchMetadata(ref, object, {
      finalizers: finalizers.filter((other) => other !== finalizer),
    });
  }

  async #patchMetadata(
    ref: ResourceRef,
    object: KubeObject,
    change: object,
  ): Promise<void> {
    const { name, namespace, uid, resourceVersion } = object.metadata;
    try {
      await this.client.resource(ref).patch(name, namespace, {
        type: "merge",
        body: { metadata: { uid, resourceVersion, ...change } },
      });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

/** An answer for a path that is not served names nothing. */
function namesObject(error: unknown): boolean {
  return error instanceof ApiError && Boolean(error.status.details?.name);
}
